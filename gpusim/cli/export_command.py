"""``export``: the timelines of a scenario, for other tools."""

from __future__ import annotations

from pathlib import Path

from gpusim.cli.inputs import single_scenario
from gpusim.cli.output import console, print_json
from gpusim.errors import GpusimError
from gpusim.files import write_atomically
from gpusim.scenario import predict
from gpusim.timeline import Timeline
from gpusim.timeline.export import to_chrome_json, to_csv
from gpusim.validation import measurement_of

__all__ = ["export"]


def export(
    path: Path, output: Path, assignments: list[str] | None, device: str | None, *, json: bool, exact: bool
) -> None:
    """Write timelines in the format that the file's ending names."""
    writers = {".json": to_chrome_json, ".csv": to_csv}
    if output.suffix not in writers:
        raise GpusimError(f"{output}: unknown format {output.suffix!r} (allowed: {', '.join(writers)})")
    scenario = single_scenario(path, assignments, device)
    timelines: dict[str, Timeline] = {"predicted": predict(scenario, exact=exact)}
    recording = measurement_of(scenario)
    if recording:
        timelines["measured"] = recording.timeline()
    write_atomically(output, writers[output.suffix](timelines))
    intervals = {name: len(timeline) for name, timeline in timelines.items()}
    if json:
        print_json({"file": str(output), "intervals": intervals})
    else:
        told = ", ".join(f"{count} {name} intervals" for name, count in intervals.items())
        console().print(f"{output}: {told}")
