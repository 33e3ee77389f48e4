"""Variants of a scenario that do the same work another way: one lever pulled at a time.

The rule is equal work (`gpusim.scenario.work`): a variant that reads other bytes or does other FLOPs is no advice but
another question. A larger tile therefore means fewer of them, more CTAs per SM a larger grid with fewer tiles
each; where that does not come out even, the variant is left out. Fusing kernels is the one exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import Proposal, label
from gpusim.scenario.levers import hosts as host_levers
from gpusim.scenario.levers import kernels as spelled_levers
from gpusim.scenario.levers.techniques import of_technique
from gpusim.scenario.loader import with_overrides
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.schema import SpelledKernel, TechniqueKernel
from gpusim.scenario.technique import technique
from gpusim.scenario.work import same_work, work_of

__all__ = ["CTAS", "MOST", "Refused", "Variant", "variants"]

MOST = 12
"""Variants that are worth the time of a prediction each."""

CTAS = (Kind.GRID, Kind.PER_SM)
"""Levers that change the number of CTAs, not what a tile is."""


@dataclass(frozen=True)
class Variant:
    """The scenario with one lever pulled. ``overrides`` make it from the original; see `Proposal` for the rest."""

    lever: str
    change: str
    overrides: Mapping[str, Any]
    scenario: Scenario
    order: int = 0
    enough: str = ""
    kind: Kind | None = None


@dataclass(frozen=True)
class Refused:
    """A change that cannot be, and why."""

    change: str
    why: str


def variants(scenario: Scenario, most: int = MOST) -> list[Variant | Refused]:
    """At most ``most`` variants of equal work, the levers in turn, and the changes that cannot be.

    What does not fit the device is found by predicting it. Raises what `Scenario.program` raises.
    """
    work = Amounts.of(scenario.program())
    found: list[Variant | Refused] = []
    count = 0
    for proposal in filter(None, chain.from_iterable(zip_longest(*_columns(scenario)))):
        one = _realised(scenario, work, proposal)
        if one is not None:
            found.append(one)
            count += isinstance(one, Variant)
        if count == most:
            break
    return found


@dataclass(frozen=True)
class Amounts:
    """The amounts of a program, and the tiles of all its CTAs together (0 for streams and copies)."""

    amounts: Mapping[str, float]
    tiles: int

    @classmethod
    def of(cls, program: KernelProgram | HostProgram) -> Amounts:
        """The amounts of ``program``."""
        return cls(work_of(program), program.total_tiles if isinstance(program, KernelProgram) else 0)

    def same(self, other: Amounts, kind: Kind | None) -> bool:
        """Whether a lever of this ``kind`` leaves the work equal; other numbers of CTAs do all the same tiles."""
        return same_work(self.amounts, other.amounts) and (kind not in CTAS or self.tiles == other.tiles)


def _realised(scenario: Scenario, work: Amounts, proposal: Proposal) -> Variant | Refused | None:
    """The variant, why it cannot be, or None where the work cannot be kept equal."""
    try:
        changed, other = _build(scenario, proposal.overrides)
    except ValueError as error:
        # A scenario's error without its place, which is in no file.
        return Refused(_words(proposal.change, proposal.also), str(getattr(error, "problem", error)))
    if work.same(other, proposal.kind):
        return _variant(proposal, changed, proposal.overrides, proposal.also)
    if proposal.fuses:
        moved = other.amounts.get("bytes moved", 0.0) / max(work.amounts.get("bytes moved", 0.0), 1.0)
        return _variant(proposal, changed, proposal.overrides, (*proposal.also, f"moves {moved:.2g} × the bytes"))
    ratio = _ratio(work.amounts, other.amounts)
    for path, present in proposal.balance.items():
        scaled = round(present * ratio)
        if scaled < 1 or abs(scaled - present * ratio) > 1e-6 * scaled:
            continue
        overrides = {**proposal.overrides, path: scaled}
        try:
            changed, other = _build(scenario, overrides)
        except ValueError:  # beyond the limits of the count, which says nothing of the lever
            continue
        if work.same(other, proposal.kind):
            count = f"{label(path.rpartition('.')[2])} {present} → {scaled}"
            return _variant(proposal, changed, overrides, (*proposal.also, count))
    return None


def _build(scenario: Scenario, overrides: Mapping[str, Any]) -> tuple[Scenario, Amounts]:
    changed = with_overrides(scenario, overrides)
    return changed, Amounts.of(changed.program())


def _variant(proposal: Proposal, changed: Scenario, overrides: Mapping[str, Any], also: tuple[str, ...]) -> Variant:
    change = _words(proposal.change, also)
    return Variant(proposal.lever, change, dict(overrides), changed, proposal.order, proposal.enough, proposal.kind)


def _words(change: str, also: tuple[str, ...]) -> str:
    return change + (f" ({', '.join(also)})" if also else "")


def _ratio(work: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The factor by which the loop has to run more often; the first amount that both have says it."""
    return next((value / other[name] for name, value in work.items() if value and other.get(name)), 0.0)


def _columns(scenario: Scenario) -> list[Iterator[Proposal]]:
    """Proposals by lever."""
    kernel, host = scenario.model.kernel, scenario.model.host
    sms = int(scenario.profile().value("sm.count"))
    if isinstance(kernel, TechniqueKernel):
        return of_technique(technique(kernel.technique), scenario.params, "kernel.params", sms)
    if isinstance(kernel, SpelledKernel):
        return spelled_levers.of_kernel(kernel, "kernel", sms)
    columns = [] if host is None else host_levers.of_host(host)
    for name, one in {} if host is None else host.kernels.items():
        if isinstance(one, TechniqueKernel):
            place = f"host.kernels.{name}.params"
            columns += of_technique(technique(one.technique), scenario.host_params[name], place, sms, f"{name}: ")
    return columns
