"""What the model said of every recording when the accuracy report was last written, kept beside each of them.

``recorded/<device>/predicted.json`` holds one row per parameter set of ``totals.json``. Predicting all of them takes
minutes; a page that shows them all reads this instead. What was measured is not repeated but for the hidden fraction,
which takes a whole timeline to tell.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpusim.errors import RecordingError
from gpusim.files import write_atomically
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.roofline import FP32
from gpusim.validation.band import KnownGap, known_gaps
from gpusim.validation.cases import Measurement, measurements
from gpusim.validation.comparison import Comparison
from gpusim.validation.recording import params_key, recordings_folder
from gpusim.validation.report import RecordedCase

__all__ = ["PREDICTED", "kept_cases", "write_predicted"]

PREDICTED = "predicted.json"
_DIGITS = 7
"""Of a kept number: more than any recording tells."""
_WORK = ("bytes_read", "bytes_written", "flop", "peak_bytes_per_s", "peak_flop_per_s", "arithmetic")
"""What a roofline takes from a prediction's ``meta``: the recording does not repeat how much work it was."""
_COLUMNS = ("predicted_s", "hidden_predicted", "hidden_measured", *_WORK)


def write_predicted(cases: Iterable[RecordedCase]) -> list[Path]:
    """Keep what was predicted in ``cases``, a file for each technique and device; the files."""
    rows: dict[tuple[str, str], list[list[Any]]] = defaultdict(list)
    for case in cases:
        rows[case.technique, case.device].append([case.params, *_numbers(case.comparison)])
    folders = {one.technique.name: recordings_folder(one.technique) for one in measurements()}
    written = []
    for (name, device), found in rows.items():
        lines = ",\n".join(" " + json.dumps(row, separators=(",", ":"), allow_nan=False) for row in found)
        head = json.dumps(["params", *_COLUMNS])
        path = folders[name] / device / PREDICTED
        write_atomically(path, f'{{"columns": {head},\n"rows": [\n{lines}\n]}}\n')
        written.append(path)
    return written


def _numbers(comparison: Comparison) -> list[Any]:
    """The columns of a row; None where a number is not known."""
    hidden, meta = comparison.metric("hidden_fraction"), comparison.predicted.meta
    sides = (None, None) if hidden is None else (hidden.predicted, hidden.measured)
    return [_rounded(value) for value in (comparison.predicted.total_s, *sides, *(meta.get(name) for name in _WORK))]


def _rounded(value: Any) -> Any:
    if not isinstance(value, int | float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short


def kept_cases() -> tuple[list[RecordedCase], int]:
    """Every measurement with the prediction kept of it, in the order of `measurements`, and how many have none.

    Timelines have no intervals; those measured know their work, so that `roofline` takes them. Raises RecordingError
    for a broken file.
    """
    kept: dict[Path, Mapping[str, Mapping[str, Any]]] = {}
    gaps: dict[str, tuple[KnownGap, ...]] = {}
    cases, missing = [], 0
    for measurement in measurements():
        name, device = measurement.technique.name, measurement.device
        path = recordings_folder(measurement.technique) / device / PREDICTED
        if path not in kept:
            kept[path] = _read(path) if path.exists() else {}
        row = kept[path].get(params_key(measurement.params))
        if row is None:
            missing += 1
            continue
        if name not in gaps:
            gaps[name] = known_gaps(measurement.technique.folder)
        gap = next((gap.reason for gap in gaps[name] if gap.covers(device, measurement.params)), "")
        cases.append(
            RecordedCase(
                name, device, dict(measurement.params), _comparison(measurement, row, gap), measurement.spread,
                rings=measurement.rings,
            )
        )  # fmt: skip
    return cases, missing


def _comparison(measurement: Measurement, row: Mapping[str, Any], gap: str) -> Comparison:
    predicted_s, total_s = row["predicted_s"], measurement.total_s
    hidden = row["hidden_predicted"], row["hidden_measured"]
    work = {name: row[name] for name in _WORK if row[name] is not None}
    work.setdefault("arithmetic", FP32)
    sides = (
        TimelineBuilder().build(source=source, device=measurement.device, total_s=seconds, **work)
        for source, seconds in (("predicted", predicted_s), ("measured", total_s))
    )
    return Comparison.of_numbers(*sides, None if None in hidden else hidden, gap)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Rows by their parameters."""
    try:
        data = json.loads(path.read_bytes())
        columns = data["columns"]
        rows = [dict(zip(columns, row, strict=True)) for row in data["rows"]]
        for row in rows:
            if set(row) != {"params", *_COLUMNS} or not row["predicted_s"] > 0:
                raise ValueError(f"a row has {', '.join(row)}")  # noqa: TRY301 - told with the file below
        return {params_key(row["params"]): row for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"not kept predictions ({error}); gpusim report --write makes them", path=path) from error
