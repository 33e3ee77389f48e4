"""A source of made-up cases for tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from synthetic_timelines import dense, pipeline

from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.page.case import UNCHANGED, Asked, Badge, Case, CaseError, Entry, Finder, Numbers, Point
from gpusim.dashboard.page.form import Field, Form
from gpusim.dashboard.page.scenario_text import ScenarioText, changed_lines
from gpusim.dashboard.page.sweeps import Sweep, SweepRow
from gpusim.dashboard.page.text_edits import edited
from gpusim.scenario.levers.advice import Advice, Lever
from gpusim.timeline import Timeline
from gpusim.timeline.bottleneck import PEAK, Bottleneck
from gpusim.timeline.metrics import summary
from gpusim.timeline.roofline import Roofline

STAGES = "kernel.params.stages"


def case_of(name: str, predicted: Timeline, measured: Timeline | None = None, **more) -> Case:
    """A case around two timelines, with the numbers that their metrics give."""

    def numbers(timeline: Timeline) -> Numbers:
        found = summary(timeline)
        return Numbers(found["total_s"], found["hidden_fraction"], found["exposed_s"], found["period_s"], 1.62)

    badges = (
        Badge("recorded", "good", "Replayed from a recording."), Badge("H200 SXM"),
        Badge("instrumented +1.8 %", "warn", "The probe costs time."),
    )  # fmt: skip
    defaults = {
        "question": "How many stages hide the load of a 16 KiB tile?",
        "facts": ("synthetic", "tma_warp_specialized", "tile 16 KiB", "3 stages", "4 consumer warps"),
        "band": 0.05, "hidden_band": 0.05, "baseline": "one stage",
        "bottleneck": "HBM bandwidth", "lever": "larger tiles: −4 %", "occupancy": "2 CTAs / SM",
        "limiter": "shared memory", "badges": badges,
    }  # fmt: skip
    return Case(
        name=name, predicted=Track(predicted, "predicted"),
        other=Track(measured, "measured") if measured is not None else None,
        predicted_numbers=numbers(predicted), other_numbers=numbers(measured) if measured is not None else None,
        **(defaults | more),
    )  # fmt: skip


def _ring() -> Case:
    return case_of(
        "ring", pipeline(ctas=2), pipeline(ctas=2, copy_us=0.96, jitter=0.06, source="measured", seed=3),
        points=(Point("own", "scenario"), Point("s4", "stages 4")), point="own",
    )  # fmt: skip


def _alone() -> Case:
    return case_of("alone", pipeline(), badges=(Badge("prediction only", "warn"),), question="What if nobody measured?")


def _dense(count: int) -> Callable[[], Case]:
    return lambda: case_of(f"dense{count}", dense(count // 2), dense(count // 2, source="measured", seed=1))


def _bad() -> Case:
    raise CaseError(
        "bad.yaml:7:3: kernel.params.stages: must be at least 1 (allowed: 1 … 16)", "bad.yaml cannot be read"
    )


def _stages(asked: Asked) -> str:
    return next((change.removeprefix(f"{STAGES}=") for change in asked.changes if change.startswith(STAGES)), "3")


class Synthetic:
    """Cases by name, made when first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Case]] | None = None) -> None:
        self.makers = dict(makers or {
            "ring": _ring, "alone": _alone, "dense100000": _dense(100_000), "dense200000": _dense(200_000),
            "dense1000000": _dense(1_000_000), "bad": _bad,
        })  # fmt: skip
        self._made: dict[str, Case] = {}

    def entries(self) -> list[Entry]:
        """One entry per maker."""
        return [Entry(name, f"Question of {name}?", "unreadable" if name == "bad" else "") for name in self.makers]

    def case(self, asked: Asked, *, quick: bool = False) -> Case:
        """The case asked for; changes make its copies longer by the new number of stages. Raises CaseError."""
        if asked.name not in self.makers:
            raise CaseError(f"There is no scenario called {asked.name!r}.", "Unknown scenario")
        if asked.name not in self._made:
            self._made[asked.name] = self.makers[asked.name]()
        case = self._made[asked.name]
        if asked.imported:
            other = Track(pipeline(ctas=2, copy_us=0.5, source="measured"), "measured")
            case = replace(case, other=other, imported=asked.imported)
        if asked.text is not None:
            if "stages" not in asked.text:
                raise CaseError(f"{asked.name}.yaml:1:1: kernel.params.stages: is missing", lines=[1])
            case = replace(case, altered=True)
        if not asked.changes:
            return case
        stages = int(_stages(asked))
        if not 1 <= stages <= 16:
            raise CaseError(f"--set {STAGES}: {STAGES}: {stages} is not possible (allowed: 1 … 16)", fields=[STAGES])
        changed = case_of(asked.name, pipeline(ctas=2, copy_us=0.3 * stages), case.predicted.timeline)
        other = replace(changed.other, side="measured", title=UNCHANGED)
        predicted = replace(changed.predicted, title="what if")
        return replace(
            changed, predicted=predicted, other=other, changes=asked.changes, altered=True, against=UNCHANGED
        )

    def form(self, asked: Asked) -> Form:
        """One field, the number of stages."""
        self.case(asked)
        value = _stages(asked)
        field = Field(STAGES, "stages", value, "3", "tiles in flight", whole=True, least=1, most=16)
        quantities = {"hbm.read_bandwidth": "4.4 TB/s"}
        return Form((field,), (), quantities, f"gpusim run {asked.name}.yaml")

    def text(self, asked: Asked) -> ScenarioText:
        """One line a scenario, or what it was edited to."""
        own = f"kernel: {{params: {{stages: 3}}}} # {asked.name}\n" if asked.name in self.makers else ""
        after = edited(own if asked.text is None else asked.text, asked.changes)
        return ScenarioText(after, changed_lines(own, after))

    def sweep(self, asked: Asked) -> Sweep:
        """One to four stages, of which three are measured and one cannot run. Raises CaseError."""
        self.case(asked)
        times = {"1": (9e-6, 9.2e-6), "2": (5e-6, 4.9e-6), "3": (4.8e-6, 5.1e-6), "4": (None, None)}
        rows = (
            SweepRow((stages,), (f"{STAGES}={stages}",), *pair, "" if pair[0] else "does not fit")
            for stages, pair in times.items()
        )
        return Sweep((STAGES,), ("stages",), tuple(rows))

    def finder(self) -> Finder:
        """No made-up case is of a technique."""
        return lambda technique, device, params: None

    def import_trace(self, asked: Asked, file: str, content: bytes) -> str:
        """A made-up timeline, called as the file; a file must hold something. Raises CaseError."""
        if not content:
            raise CaseError(f"{file}: truncated or not a timeline file")
        return file

    def save(self, asked: Asked, name: str) -> None:
        """Keep it as a scenario of its own. Raises CaseError for a name that is taken."""
        if name in self.makers:
            raise CaseError(f"{name}.yaml is there already; choose another name")
        self.makers[name] = self.makers[asked.name]

    def stamp(self, name: str) -> str:
        """Files that never change."""
        return "1" if name in self.makers else ""

    def advice(self, asked: Asked) -> Advice:
        """What to do about it: pull a lever for "ring", else leave it. Raises CaseError."""
        name, case = asked.name, self.case(asked)
        gains = {"stages 3 → 4": 0.042, "tile 16 KiB → 32 KiB": 0.013, "stages 3 → 2": -0.008, "warps 4 → 8": -0.03}
        if name != "ring":
            del gains["stages 3 → 4"]
        total_s = case.predicted.timeline.total_s
        levers = tuple(
            Lever(change.split()[0], change, total_s * (1 - gain), gain, {f"kernel.params.{change.split()[0]}": 4})
            for change, gain in gains.items()
        )
        held = Bottleneck("memory bandwidth", 0.92, "move fewer bytes", PEAK)
        return Advice(total_s, held, Roofline(4.3e12, 0.92, 3.6e13, 0.55, 8.5, 14.3), levers)
