"""``export``: the timelines of a scenario, for other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gpusim.cli.inputs import single_scenario
from gpusim.cli.output import console, print_json
from gpusim.errors import GpusimError
from gpusim.files import write_atomically
from gpusim.scenario import predict
from gpusim.timeline import Timeline
from gpusim.timeline.export import to_chrome_json, to_csv
from gpusim.timeline.perfetto_export import to_perfetto
from gpusim.validation import measurement_of

__all__ = ["export", "writer_of"]

_WRITERS: dict[str, Callable[[Mapping[str, Timeline]], str | bytes]] = {
    ".json": to_chrome_json, ".csv": to_csv, ".pftrace": to_perfetto,
}  # fmt: skip
_PAGE = ".html"


def export(
    path: Path, output: Path, assignments: list[str] | None, device: str | None, *, json: bool, exact: bool
) -> None:
    """Write timelines in the format that the file's ending names."""
    write = None if output.suffix == _PAGE else writer_of(output, _PAGE)
    scenario = single_scenario(path, assignments, device)
    timelines: dict[str, Timeline] = {"predicted": predict(scenario, exact=exact)}
    recording = measurement_of(scenario)
    if recording:
        timelines["measured"] = recording.timeline()
    if write is None:
        from gpusim.dashboard.page.exporting import page_of

        write_atomically(output, page_of(scenario, timelines["predicted"]))
    else:
        write_atomically(output, write(timelines))
    intervals = {name: len(timeline) for name, timeline in timelines.items()}
    if json:
        print_json({"file": str(output), "intervals": intervals})
    else:
        told = ", ".join(f"{count} {name} intervals" for name, count in intervals.items())
        console().print(f"{output}: {told}")


def writer_of(output: Path, *more: str) -> Callable[[Mapping[str, Timeline]], str | bytes]:
    """What writes timelines as the ending of a file says; ``more`` are endings that somebody else writes."""
    if output.suffix not in _WRITERS:
        allowed = ", ".join((*_WRITERS, *more))
        raise GpusimError(f"{output}: unknown format {output.suffix!r} (allowed: {allowed})")
    return _WRITERS[output.suffix]
