"""Measures techniques on the attached GPU and writes their recordings.

    python -m realkernels._harness.measure --out DIR [--technique a,b] [--timelines] [--limit N] [--points FILE]
    python -m realkernels._harness.measure --install DIR

``--out`` leaves ``<technique>__totals.json`` and ``<technique>__timelines.npz`` in one folder;
``--install`` merges such files into ``realkernels/<technique>/recorded/<device>/``. Needs CuPy. A configuration
that fails is reported and left out. ``--points`` names a JSON file,
``{"technique": [{"tile_bytes": 16384, …}, …]}``: these configurations are measured instead of the design,
parameters left out having their defaults.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from gpusim.scenario.technique import Technique
from gpusim.validation.recording import (
    TIMELINES,
    TOTALS,
    TotalRow,
    Totals,
    device_folder,
    list_timelines,
    load_timeline,
    recordings_folder,
    save_timeline,
)
from realkernels._harness import host_measure
from realkernels._harness.compile import CompileError, compile_many
from realkernels._harness.design import design_of
from realkernels._harness.device import describe_device
from realkernels._harness.host_launcher import HostLauncher
from realkernels._harness.launcher import Launcher
from realkernels._harness.timeline_names import timeline_name
from realkernels._harness.timing import sample_clock

__all__ = ["main", "measurable", "measure_one", "technique_named"]

METHOD = "CUDA events around one launch held back by a spin kernel; median; output checked against NumPy"
CACHE = "cold: L2 filled with other data before each run"


def technique_named(name: str) -> Technique:
    """The technique in ``realkernels/<name>``, found without installed entry points."""
    return import_module(f"realkernels.{name}").TECHNIQUE


def measurable() -> tuple[str, ...]:
    """Techniques whose launcher runs a single kernel: every folder of ``realkernels`` that has one."""
    root = Path(__file__).resolve().parent.parent
    folders = sorted(path.parent.name for path in root.glob("*/kernel.cu") if (path.parent / "launch.py").exists())
    techniques = {name: technique_named(name) for name in folders}
    return tuple(name for name, found in techniques.items() if isinstance(found.launch(found.params()), Launcher))


def metadata() -> dict[str, Any]:
    """What a recording says about the device and the method."""
    device = describe_device()
    date = device.pop("date", datetime.now(UTC).isoformat(timespec="seconds"))
    return {
        "device": device, "driver": device.get("driver"), "cuda": device.get("runtime_cuda"), "date": date,
        "clock_hz": sample_clock(), "method": METHOD, "cache": CACHE,
    }  # fmt: skip


def measure_total(launcher: Launcher, repeats: int = 15) -> TotalRow:
    """Check and time one prepared configuration. Raises AssertionError if it computes something else."""
    launcher.check()
    times = launcher.time(repeats)
    clock_hz = sample_clock()
    return TotalRow(
        params=asdict(launcher.plan.params),
        total_s=times.median_s,
        min_s=times.min_s,
        max_s=times.max_s,
        iqr_s=times.iqr,
        repeats=len(times.samples),
        clock_hz=clock_hz,
        registers=launcher.registers,
        local_bytes=launcher.local_bytes,
        shared_bytes=launcher.shared_bytes,
        max_active_ctas=launcher.max_active_ctas,
        source_sha256=launcher.source_sha256(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        vector_loop=launcher.vector_loop,
    )


def measure_one(technique: Technique, params: Any, *, timeline: bool = True, record: bool = True) -> TotalRow:
    """Measure one configuration and, to ``record`` it, merge it into the technique's own recordings.

    Raises CompileError, RuntimeError (does not fit) or AssertionError (wrong result).
    """
    launcher = technique.launch(params)
    if isinstance(launcher, HostLauncher):
        return host_measure.measure_one(technique, launcher, timeline=timeline, record=record)
    meta = metadata()
    folder = recordings_folder(technique) / device_folder(meta["device"]["name"])
    launcher.prepare()
    row = measure_total(launcher)
    if not record:
        return row
    _merge_totals(folder / TOTALS, Totals(technique.name, meta, [row]))
    if timeline:
        recorded = launcher.timeline(row.total_s).with_meta(device=meta["device"]["name"], date=row.date)
        save_timeline(folder / TIMELINES, timeline_name(params), recorded)
    return row


def measure_all(work: Mapping[str, tuple[list[Launcher], list[Launcher]]], out: Path) -> int:
    """Measure (totals, timelines) of each technique; returns how many configurations failed."""
    start = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    everything = [launcher for totals, traced in work.values() for launcher in (*totals, *traced)]
    specs = [launcher.plan.spec() for launcher in everything]
    specs += [launcher.plan.spec(instrumented=True) for _, traced in work.values() for launcher in traced]
    for result in compile_many(specs):
        if isinstance(result, CompileError):
            print(f"compile error: {result}", file=sys.stderr)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda launcher: _attempt(lambda: launcher.compile().vector_loop), everything))
    print(f"{len(specs)} kernels compiled and disassembled after {time.perf_counter() - start:.0f} s", flush=True)
    meta, failures = metadata(), 0
    _attempt(max(everything, key=lambda launcher: launcher.plan.floats_in).prepare)  # allocates the input once for all
    for name, (totals, traced) in work.items():
        failures += _measure_technique(name, totals, traced, out, meta)
        print(f"{name}: done after {time.perf_counter() - start:.0f} s", flush=True)
    return failures


def install(folder: Path) -> None:
    """Merge what `measure_all` wrote into the techniques' own folders."""
    for path in sorted(folder.glob("*__totals.json")):
        name = path.name.removesuffix("__totals.json")
        totals = Totals.load(path)
        target = recordings_folder(technique_named(name)) / device_folder(totals.meta["device"]["name"])
        _merge_totals(target / TOTALS, totals, drop_older=True)
        print(f"{name}: {len(totals.rows)} rows into {target / TOTALS}")
        traces = folder / f"{name}__timelines.npz"
        if traces.exists():
            for entry in list_timelines(traces):
                save_timeline(target / TIMELINES, entry, load_timeline(traces, entry))
            print(f"{name}: {len(list_timelines(traces))} timelines into {target / TIMELINES}")


def read_points(path: Path) -> dict[str, list[Any]]:
    """``--points``: Params by technique name. Raises ValueError naming what is wrong."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not all(isinstance(points, list) for points in data.values()):
        raise ValueError(f'{path}: expected {{"technique": [{{parameter: value, …}}, …]}}')
    if unknown := sorted(set(data) - set(measurable())):
        raise ValueError(f"{path}: unknown technique {', '.join(unknown)} (known: {', '.join(measurable())})")
    found: dict[str, list[Any]] = {}
    for name, points in data.items():
        technique = technique_named(name)
        for number, values in enumerate(points):
            try:
                found.setdefault(name, []).append(technique.make_params(values))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}: {name}[{number}]: {error}") from error
    return found


def given(technique: Technique, points: Sequence[Any], timelines: bool) -> tuple[list[Launcher], list[Launcher]]:
    """Launchers of ``points``: their totals, or with ``timelines`` both."""
    launchers = [technique.launch(params) for params in points]
    return ([], launchers) if timelines else (launchers, [])


def planned(technique: Technique, timelines: bool, limit: int | None) -> tuple[list[Launcher], list[Launcher]]:
    """Launchers of the technique's design."""
    design = design_of(technique)
    chosen = design.points()[:limit]
    if limit is None:
        chosen += [member for group in design.compared() for member in group]
    traced = design.with_timelines()[:limit] if timelines else []
    unique = list({timeline_name(params): params for params in chosen}.values())
    return [technique.launch(params) for params in unique], [technique.launch(params) for params in traced]


def _measure_technique(name: str, totals: list[Launcher], traced: list[Launcher], out: Path, meta: dict) -> int:
    """Totals of all, then timelines of ``traced``. Both files are written as points come in."""
    file, failures = Totals(name, meta), 0
    print(f"{name}: parameters | median us | IQR % | GB/s | registers, spilled bytes")
    for number, launcher in enumerate(totals + traced):
        row = _attempt(lambda launcher=launcher: measure_total(launcher.prepare()))
        launcher.release()
        failures += row is None
        if row is not None:
            file.merge([row])
            print(_line(launcher, row), flush=True)
        if number % 20 == 19:
            file.save(out / f"{name}__totals.json")
    file.save(out / f"{name}__totals.json")
    for launcher in traced:
        failures += _attempt(lambda launcher=launcher: _trace(name, launcher, file, out, meta)) is None
        launcher.release()
    return failures


def _trace(name: str, launcher: Launcher, file: Totals, out: Path, meta: dict) -> bool:
    params = launcher.plan.params
    row = file.find(asdict(params))
    recorded = launcher.prepare().timeline(None if row is None else row.total_s)
    recorded = recorded.with_meta(device=meta["device"]["name"], date=meta["date"])
    save_timeline(out / f"{name}__timelines.npz", timeline_name(params), recorded)
    about = recorded.meta
    print(
        f"  timeline {timeline_name(params)}: {len(recorded)} intervals, total {about['total_s'] * 1e6:.1f} us, "
        f"instrumented {about['overhead']:+.1%}, last stamp {about['last_stamp_s'] * 1e6:.1f} us, "
        f"dropped {about['dropped']}, SM clocks agree within {about['alignment_s'] * 1e9:.0f} ns",
        flush=True,
    )
    return True


def _attempt(action: Callable[[], Any]) -> Any:
    """The action's result, or None after printing why it failed: one bad point must not cost the rest."""
    try:
        return action()
    except Exception as error:
        print(f"  FAILED: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return None


def _merge_totals(path: Path, new: Totals, *, drop_older: bool = False) -> None:
    """Add rows to a file, if need be a new one; ``drop_older`` leaves out rows of another kernel source."""
    sources = {row.source_sha256 for row in new.rows}
    known = Totals.load(path).rows if path.exists() else []
    merged = Totals(new.technique, new.meta, [r for r in known if not drop_older or r.source_sha256 in sources])
    merged.merge(new.rows)
    merged.save(path)


def _line(launcher: Launcher, row: TotalRow) -> str:
    rate = 4 * launcher.plan.floats_in / row.total_s / 1e9
    return (
        f"  {timeline_name(launcher.plan.params):44s} {row.total_s * 1e6:9.1f} {row.iqr_s / row.total_s:6.2%} "
        f"{rate:6.0f} {row.registers:3d} {row.local_bytes}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; exit 1 when a configuration failed."""
    parser = argparse.ArgumentParser(prog="python -m realkernels._harness.measure", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the recordings")
    parser.add_argument("--technique", help="names separated by commas; default all")
    parser.add_argument("--timelines", action="store_true", help="also record in-kernel timelines")
    parser.add_argument("--limit", type=int, help="only the first N points of each technique, no stage groups")
    parser.add_argument("--points", type=Path, metavar="FILE", help="measure these instead of the design")
    parser.add_argument("--install", type=Path, metavar="DIR", help="merge recordings from DIR into the repository")
    options = parser.parse_args(arguments)
    if options.install:
        install(options.install)
        return 0
    if options.out is None:
        parser.error("--out or --install is needed")
    known = measurable()
    names = [name for name in (options.technique or "").split(",") if name] or list(known)
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"unknown technique {', '.join(unknown)} (known: {', '.join(known)})")
    if options.points:
        try:
            chosen = {name: found for name, found in read_points(options.points).items() if name in names}
        except (OSError, ValueError) as error:
            parser.error(str(error))
        work = {name: given(technique_named(name), found, options.timelines) for name, found in chosen.items()}
    else:
        work = {name: planned(technique_named(name), options.timelines, options.limit) for name in names}
    if not any(totals or traced for totals, traced in work.values()):
        parser.error("nothing to measure")
    return 1 if measure_all(work, options.out) else 0


if __name__ == "__main__":
    sys.exit(main())
