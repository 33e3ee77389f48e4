"""What to change about a scenario, found by changing it and predicting again; or to leave it as it is."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gpusim.errors import GpusimError
from gpusim.program import KernelProgram
from gpusim.scenario.kinds import Kind
from gpusim.scenario.levers.variants import CTAS, Refused, Variant, variants
from gpusim.scenario.loader import from_data
from gpusim.scenario.overrides import assignment
from gpusim.scenario.prediction import predict
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.sweeps.parallel import run_parallel
from gpusim.timeline import Timeline
from gpusim.timeline.bottleneck import CRITICAL_PATH, PEAK, Bottleneck, bottleneck
from gpusim.timeline.roofline import Roofline, roofline

__all__ = ["HARDLY", "WORTH_IT", "Advice", "Lever", "advise"]

WORTH_IT = 0.02
"""Part of the time that a change must gain to be advised; below it the model cannot tell, nor does it pay."""

HARDLY = 0.01
"""Part of the time that something simpler may cost to be called enough."""


@dataclass(frozen=True)
class Lever:
    """One change with its predicted duration in seconds.

    ``gain`` is the part of the time that it saves, negative where it costs; ``overrides`` give it with
    `gpusim.with_overrides`, on the command line as ``arguments``.
    """

    name: str
    change: str
    total_s: float
    gain: float
    overrides: Mapping[str, Any]
    order: int = 0
    enough: str = ""

    @property
    def brief(self) -> str:
        """The change without what goes along with it to keep the work equal."""
        return self.change.partition(" (")[0]

    @property
    def arguments(self) -> str:
        """``--set kernel.params.stages=4``, ready for a shell."""
        return " ".join(f"--set {shlex.quote(assignment(*pair))}" for pair in self.overrides.items())


@dataclass(frozen=True)
class Advice:
    """What to do about a scenario. ``levers``: the one that gains most first; ``refused``: what cannot be.

    ``total_s`` is the duration that gains refer to. ``roofline`` is None for streams and copies.
    """

    total_s: float
    bottleneck: Bottleneck | None
    roofline: Roofline | None
    levers: tuple[Lever, ...]
    refused: tuple[Refused, ...] = ()

    @property
    def best(self) -> Lever | None:
        """The change to make, or None to leave it. Of those that gain about as much, the one that changes least."""
        if not self.levers or self.levers[0].gain <= WORTH_IT:
            return None
        least = max(self.levers[0].gain - HARDLY, WORTH_IT)
        return min(
            (lever for lever in self.levers if lever.gain >= least),
            key=lambda lever: (len(lever.overrides), lever.order),
        )

    @property
    def held_by(self) -> str:
        """What holds the scenario back, with its share: ``memory bandwidth, at 92 % of the peak``."""
        limit = self.bottleneck
        if limit is None:
            return ""
        share = f"{100 * limit.share:.0f} %"
        held = f"{limit.name}, {'at ' if limit.of == PEAK else ''}{share} of {limit.of}"
        if limit.of != CRITICAL_PATH or self.roofline is None or self.roofline.regime != "memory-bound":
            return held
        # It bounds a kernel from a smaller share of its peak on than it is the bottleneck: say how both go together.
        reached = round(100 * self.roofline.share)
        return f"{held}; memory, at {reached} % of its peak, leaves at most {100 - reached} % while the bytes stay"

    @property
    def enough(self) -> tuple[str, ...]:
        """What is simpler and hardly slower: ``2 stages are enough (0.4 % slower)``; the simplest of each lever."""
        changed = self.best.name if self.best else ""
        simplest: dict[str, Lever] = {}
        for lever in sorted(self.levers, key=lambda lever: lever.order):
            if lever.enough and lever.name != changed and -HARDLY <= lever.gain <= WORTH_IT:
                simplest[lever.name] = lever
        return tuple(f"{lever.enough} enough ({_loss(lever.gain)})" for lever in simplest.values())

    @property
    def verdict(self) -> str:
        """One or a few sentences."""
        held = f" Held back by {self.held_by}." if self.held_by else ""
        if self.best is not None:
            first = f"Change {self.best.change}: {100 * self.best.gain:.1f} % less time.{held}"
        elif self.levers:
            first = f"Leave it: no lever gains more than {100 * WORTH_IT:.0f} %.{held}"
        else:
            first = f"Leave it: there is no lever that keeps the work equal.{held}"
        return " ".join([first, *(f"{text[:1].upper()}{text[1:]}." for text in self.enough)])

    def as_dict(self) -> dict[str, Any]:
        """Plain data; seconds, bytes/s, FLOP/s and fractions."""
        place = self.roofline
        return {
            "verdict": self.verdict,
            "leave": self.best is None,
            "best": None if self.best is None else self.best.change,
            "total_s": self.total_s,
            "bottleneck": None if self.bottleneck is None else asdict(self.bottleneck),
            "roofline": None if place is None else {
                **asdict(place), "roof": place.roof, "share": place.share, "regime": place.regime,
            },
            "levers": [
                {"lever": one.name, "change": one.change, "total_s": one.total_s, "gain": one.gain,
                 "set": dict(one.overrides), "arguments": one.arguments}
                for one in self.levers
            ],
            "enough": list(self.enough),
            "refused": [asdict(one) for one in self.refused],
        }  # fmt: skip


def advise(scenario: Scenario, timeline: Timeline | None = None, *, workers: int | None = None) -> Advice:
    """Predict the scenario's variants of equal work and rank them by what they gain.

    ``timeline`` is the scenario's own prediction, made here where it is not given; ``workers`` the processes to
    spread long predictions over (default: one per core). Changes of the device are no advice. Raises as `predict`
    does for the scenario itself; variants that cannot be, or that leave to luck what the scenario does not, are told
    in ``refused``.
    """
    if timeline is None:
        timeline = predict(scenario)
    # An exact simulation differs from an extrapolated one by up to 0.1 %; gains compare like with like.
    total_s = predict(scenario, trace=False).total_s if timeline.meta.get("exact") else timeline.total_s
    resident = _resident(scenario, timeline)
    tried = variants(scenario)
    refused = [one for one in tried if isinstance(one, Refused)]
    able = [one for one in tried if isinstance(one, Variant)]
    doubts = scenario.doubts()
    jobs = [(number, one.scenario.resolved(), doubts) for number, one in enumerate(able)]
    levers: list[Lever] = []
    for number, found in sorted(run_parallel(_predicted, jobs, workers=workers)):
        variant = able[number]
        if isinstance(found, str):
            refused.append(Refused(variant.change, found))
        elif variant.kind is Kind.PER_SM and 0 < found[1] < (variant.scenario.program().share_of_sm or 1):
            refused.append(Refused(variant.change, f"no more than {found[1]} come together on an SM"))
        else:
            levers.append(_lever(variant, total_s, resident, *found))
    levers.sort(key=lambda lever: (-round(lever.gain, 6), lever.order))
    return Advice(total_s, bottleneck(timeline), roofline(timeline), tuple(levers), tuple(refused))


def _predicted(job: tuple[int, dict[str, Any], tuple[str, ...]]) -> tuple[int, tuple[float, int] | str]:
    """Number of the variant, with its duration and the CTAs on an SM, or with why it cannot be."""
    number, data, doubts = job
    scenario = from_data(data)
    try:
        found = predict(scenario, trace=False)
    except GpusimError as error:
        return number, error.message
    told = scenario.doubts()
    if len(told) > len(doubts):
        return number, next((doubt for doubt in told if doubt not in doubts), told[-1])
    return number, (found.total_s, _resident(scenario, found))


def _lever(variant: Variant, own_s: float, resident: int, total_s: float, after: int) -> Lever:
    told = after >= resident or variant.kind in CTAS
    fewer = "" if told else f", {after} instead of {resident} CTAs on an SM"
    return Lever(
        variant.lever, variant.change + fewer, total_s, 1.0 - total_s / own_s, variant.overrides, variant.order,
        variant.enough,
    )  # fmt: skip


def _resident(scenario: Scenario, timeline: Timeline) -> int:
    """CTAs that are on an SM at the same time: those that fit, or all there are; 0 for streams and copies."""
    program = scenario.program()
    if not isinstance(program, KernelProgram):
        return 0
    sms = int(scenario.profile().value("sm.count"))
    return min(timeline.meta["occupancy"]["ctas_per_sm"], -(-program.grid // sms))


def _loss(gain: float) -> str:
    size = f"{100 * abs(gain):.1f} %"
    return "as fast" if size == "0.0 %" else f"{size} {'faster' if gain > 0 else 'slower'}"
