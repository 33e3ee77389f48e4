"""``import``: what a trace of another tool says about overlap, without a scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.cli.export_command import writer_of
from gpusim.cli.inputs import positive
from gpusim.cli.output import console, print_json, print_table, seconds, share
from gpusim.files import write_atomically
from gpusim.timeline import Timeline
from gpusim.timeline.metrics import busy_by_lane, summary, wait_by_reason
from gpusim.validation import read_timeline

__all__ = ["import_trace"]

_ROWS = {
    "total_s": "total time", "period_s": "period per tile", "hidden_fraction": "hidden fraction of the copy time",
    "exposed_s": "exposed copy time",
}  # fmt: skip
_ALIKE = re.compile(r"\b(sm|cta|warp)\[\d+\]")
"""Parts of a lane's name of which there are many that do the same."""
_MOST_ROWS = 40


def import_trace(path: Path, output: Path | None, name: str | None, clock: str | None, *, json: bool) -> None:
    """Tell what is in a file of timelines and, for ``output``, write it in another format."""
    write = writer_of(output) if output else None
    clock_hz = None if clock is None else positive(clock, "--clock", "frequency", "1.98GHz")
    name, timeline = read_timeline(path, name, clock_hz)
    if output and write:
        write_atomically(output, write({"measured": timeline}))
    if json:
        print_json(_data(path, output, name, timeline))
    else:
        _print(output, name, timeline)


def _data(path: Path, output: Path | None, name: str, timeline: Timeline) -> dict[str, Any]:
    meta = timeline.meta
    return {
        "file": str(path), "timeline": name, "device": meta.get("device"), "intervals": len(timeline),
        "measured": summary(timeline), "lanes": busy_by_lane(timeline), "waits": wait_by_reason(timeline),
        "scopes": meta.get("scopes", {}), "left_out": meta.get("skipped", 0),
        "written": str(output) if output else None,
    }  # fmt: skip


def _print(output: Path | None, name: str, timeline: Timeline) -> None:
    out, values = console(), summary(timeline)
    rows = [
        (text, share(values[key]) if key == "hidden_fraction" else seconds(values[key]))
        for key, text in _ROWS.items()
        if values[key] is not None
    ]
    print_table(f"{name}: {len(timeline):,} intervals on {len(timeline.lanes):,} lanes", ("", "measured"), rows)
    busy = _busy(timeline)
    print_table("share of the total time", ("lanes", "number", "busy with"), busy[:_MOST_ROWS], words=("busy with",))
    if len(busy) > _MOST_ROWS:
        out.print(f"and {len(busy) - _MOST_ROWS:,} more, which --json has")
    waits = [(reason, seconds(value)) for reason, value in wait_by_reason(timeline).items()]
    if waits:
        print_table("waiting, all lanes together", ("reason", "time"), waits)
    scopes = timeline.meta.get("scopes", {})
    if scopes:
        told = ", ".join(f"{scope!r} as {kind or 'nothing of its own'}" for scope, kind in scopes.items())
        out.print(f"scopes count as their names tell, else as compute: {told}")
    if timeline.meta.get("skipped"):
        out.print(f"left out: {timeline.meta['skipped']:,} events of no kind that is known")
    if output:
        out.print(f"written: {output}")


def _busy(timeline: Timeline) -> list[tuple[str, int, str]]:
    """(name, number of lanes, mean shares by kind) of lanes that differ in SM, CTA or warp alone."""
    alike: dict[str, list[dict[str, float]]] = {}
    for lane, shares in busy_by_lane(timeline).items():
        alike.setdefault(_ALIKE.sub(r"\1[*]", lane), []).append(shares)
    rows = []
    for lanes, found in alike.items():
        kinds = dict.fromkeys(kind for shares in found for kind in shares)
        means = {kind: float(np.mean([shares.get(kind, 0.0) for shares in found])) for kind in kinds}
        told = ", ".join(f"{kind} {mean:.1%}" for kind, mean in sorted(means.items(), key=lambda one: -one[1]))
        rows.append((lanes, len(found), told))
    return rows
