"""Words for the page: what was asked of which device, and what the numbers rest on."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpusim.dashboard.figure.recorded import overhead_of, run_name, tiles_kept
from gpusim.dashboard.figure.text import bytes_text, counted, percent, signed_percent, time_text
from gpusim.dashboard.page.case import Badge
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram
from gpusim.scenario import Scenario
from gpusim.timeline import Timeline
from gpusim.timeline.bottleneck import bottleneck
from gpusim.timeline.lane_names import last_part
from gpusim.validation import Measurement

NO_BREAK = "\u00a0"
LONG_NAME = 24
"""Letters of a file's name on a badge."""

__all__ = ["badges_of", "bottleneck_text", "facts_of", "measured_note", "occupancy_text", "parameter_text",
           "predicted_note", "unmeasured_text"]  # fmt: skip


def facts_of(scenario: Scenario) -> tuple[str, ...]:
    """Technique or program and its parameters, shortest useful form."""
    technique = scenario.technique
    if technique is not None:
        return (technique.title or technique.name, *parameter_text(type(scenario.params), _values(scenario.params)))
    program = scenario.program()
    return _kernel_facts(program) if isinstance(program, KernelProgram) else _host_facts(program, scenario)


def _kernel_facts(program: KernelProgram) -> tuple[str, ...]:
    rings = (f"{ring.name} {ring.stages} × {bytes_text(ring.bytes)}" for ring in program.rings)
    roles = (f"{role.name} {counted(role.warps, 'warp')}" for role in program.roles)
    return (program.name, f"grid {program.grid:,}", *rings, *roles)


def _host_facts(program: HostProgram, scenario: Scenario) -> tuple[str, ...]:
    # Without a technique a host program is always one that the scenario spells out.
    spelled = scenario.model.host
    one = len(spelled.threads) == 1
    return (
        f"host program, {scenario.host_api}",
        *(f"{'host' if one else name} {counted(thread.chunks, 'chunk')}" for name, thread in spelled.threads.items()),
        counted(len(program.streams), "stream"),
        *(f"kernel {name}" for name in spelled.kernels),
        *(f"{slots.name} {counted(slots.count, 'slot')}" for slots in program.slots),
        *(f"graph {graph.name}" for graph in program.graphs),
    )


def _values(params: Any) -> dict[str, Any]:
    """A ``Params`` object's values by name."""
    return {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}


def parameter_text(params: type, values: Mapping[str, Any]) -> tuple[str, ...]:
    """``tile 16 KiB``, ``stages 3``, …: every parameter in the order of its technique."""
    texts = []
    for field in dataclasses.fields(params):
        if field.name in values:
            unit = (field.metadata or {}).get("unit")
            name = (
                field.name.removesuffix("_bytes")
                .removesuffix("_s" if unit == "s" else "")
                .replace("_per_sm", "/SM")
                .replace("_per_cta", "/CTA")
            )
            name = name.replace("ctas", "CTAs").replace("fma_per_element", "FMA/element").replace("_", " ")
            texts.append(_chip(name, values[field.name], unit))
    return tuple(texts)


def _chip(name: str, value: Any, unit: str | None) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if value == "none":
        return f"{name}: none"
    return f"{name} {_value(value, unit)}"


def _value(value: Any, unit: str | None) -> str:
    if unit == "bytes" and isinstance(value, int):
        return bytes_text(value)
    if unit == "s":
        return time_text(1e6 * value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def badges_of(
    scenario: Scenario,
    predicted: Timeline,
    measurement: Measurement | None,
    measured: Timeline | None,
    *,
    point: bool = False,
    changes: Sequence[str] = (),
    edited: bool = False,
    imported: str = "",
) -> tuple[Badge, ...]:
    """Provenance at a glance: recorded or not, changed, device, stale, overhead, assumptions."""
    badges: list[Badge] = []
    if point:
        badges.append(Badge("other parameters", "warn", "A recorded point of the technique, not the scenario's own."))
    if edited:
        badges.append(
            Badge("edited text", "warn", "Of the scenario's text as it stands in the panel, not in the file.")
        )
    if changes:
        badges.append(Badge(counted(len(changes), "change"), "warn", "What if " + ", ".join(changes)))
    badges += [_imported_badge(imported, measured)] if imported else _recording_badges(measurement, measured)
    other = scenario.model.device.set
    if other:
        text = ", ".join(f"{name} = {value}" for name, value in other.items())
        badges.append(Badge(f"{scenario.device}, changed", "warn", f"Device with other quantities: {text}"))
    else:
        badges.append(Badge(scenario.device, "plain", "Device profile of the prediction."))
    badges += _lane_badges(measured)
    if predicted.meta.get("elided"):
        why = "The steady middle of the prediction repeats too often to be drawn; its time is in the total."
        badges.append(Badge("middle left out", "warn", why))
    doubts = scenario.doubts()
    if doubts:
        badges.append(Badge(counted(len(doubts), "doubt"), "warn", " · ".join(doubts)))
    assumed = list(predicted.meta.get("assumed", ()))
    if assumed:
        count = counted(len(assumed), "assumed quantity")
        badges.append(Badge(count, "plain", "Not measured on this device, assumed: " + ", ".join(map(str, assumed))))
    return tuple(badges)


def _imported_badge(file: str, measured: Timeline | None) -> Badge:
    """That the measured side is the user's own."""
    skipped = measured.meta.get("skipped") if measured is not None else 0
    left_out = f" {skipped:,} events of no known category are left out." if skipped else ""
    name = file if len(file) <= LONG_NAME else f"{file[: LONG_NAME - 1]}…"
    return Badge(f"imported {name}", "warn", f"The measured side is of {file}, not of a recording.{left_out}")


def _recording_badges(measurement: Measurement | None, measured: Timeline | None) -> list[Badge]:
    """Whether there is a recording, of what, and whether it is still of the same kernel."""
    if measurement is None:
        return [Badge("prediction only", "warn", "No recording of this kernel with these parameters here.")]
    row = measurement.row
    badges = [Badge("recorded", "good", f"Replayed from a recording of {row.date}, {row.repeats} runs.")]
    if measured is None:
        badges.append(Badge("total only", "plain", "Only the run time was recorded for these parameters."))
    if measurement.stale:
        badges.append(Badge("stale", "warn", "The kernel's source has changed since it was recorded."))
    return badges


def _lane_badges(measured: Timeline | None) -> list[Badge]:
    """What recording the lanes of a kernel or program has cost, and what they leave out."""
    overhead = overhead_of(measured)
    if overhead is None:
        return []
    why = f"The lanes are of a {run_name(measured)}, which took so much longer than the plain runs of the total."
    badges = [Badge(f"instrumented {signed_percent(overhead)}", "warn" if overhead > 0.03 else "plain", why)]
    if kept := tiles_kept(measured):
        badges.append(Badge("first {:,} of {:,} tiles".format(*kept), "warn", "The probe keeps no more per CTA."))
    dropped = int(measured.meta.get("dropped") or 0)
    if dropped:
        badges.append(Badge(f"{dropped:,} events dropped", "warn", "The probe's buffer was full."))
    return badges


def bottleneck_text(predicted: Timeline) -> dict[str, str]:
    """What holds the prediction back, and what would move it."""
    limit = bottleneck(predicted)
    if limit is None:
        return {}
    share = percent(limit.share, 0).replace(" ", NO_BREAK)
    name = limit.name
    return {"bottleneck": f"{name[:1].upper()}{name[1:]}, {share}", "lever": limit.lever}


def occupancy_text(predicted: Timeline, scenario: Scenario) -> dict[str, str]:
    """CTAs that are on an SM, with the part of its warps that they are, and what keeps another one out."""
    fits = predicted.meta.get("occupancy") or {}
    program = scenario.program()
    if not fits or not isinstance(program, KernelProgram):
        return {}
    able = int(fits.get("ctas_per_sm", 0))
    there = int(fits.get("resident", able))
    share = percent(fits["fraction"] * there / able, 0).replace(" ", NO_BREAK) if able else "–"
    if there < able:
        return {
            "occupancy": f"{there} of {able} CTAs/SM",
            "limiter": f"grid of {program.grid:,} ({share} of the warps)",
        }
    return {"occupancy": f"{counted(able, 'CTA')}/SM, {share}", "limiter": scenario.limiter(fits)}


def unmeasured_text(scenario: Scenario, changes: Sequence[str] = (), *, in_file: bool = True) -> str:
    """What would measure the scenario with its changes, or why nobody can."""
    if scenario.technique is None:
        return "not measured: a program that is only spelled out has no real one behind it"
    if scenario.model.device.set:
        return "not measured: the scenario changes the device"
    if not in_file:
        return "not measured; to record it, save the edited text as a file"
    path = Path(scenario.source.name)
    sets = "".join(f" --set {shlex.quote(change)}" for change in changes)
    return f"not measured; to record it: gpusim measure {path.parent.name}/{path.name}{sets}"


def predicted_note(predicted: Timeline) -> str:
    """What the simulated lanes stand for."""
    alike = [c for c in predicted.meta.get("sm_classes", ()) if int(c["sms"]) > 1]
    if not alike:
        return ""
    lanes = _listed([last_part(c["lane"]).index for c in alike])
    counts = _listed([str(c["sms"]) for c in alike])
    without = sum(int(c.get("without_last_cta", 0)) for c in alike)
    but = f", {without} of them without the last CTA" if without else ""
    return f"SM {lanes} stand{'s' * (len(alike) == 1)} for {counts} SMs alike{but}"


def _listed(words: Sequence[str]) -> str:
    """``0``, ``0 and 43``, ``0, 43 and 89``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def measured_note(measured: Timeline) -> str:
    """Which part of the device and of its work the measured lanes show."""
    notes = []
    if kept := tiles_kept(measured):
        notes.append("first {:,} of {:,} tiles of a CTA recorded".format(*kept))
    ids = [str(number) for number in measured.meta.get("sm_ids", ())]
    if ids:
        notes.append(f"hardware SM{'s' * (len(ids) > 1)} {_listed(ids)} observed")
    return ", ".join(notes)
