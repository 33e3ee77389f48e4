"""Measures the host techniques on the attached GPU.

    python -m realkernels._harness.host_measure --out DIR [--technique a,b] [--limit N] [--seconds S] [--traces-only]
    python -m realkernels._harness.host_measure --install DIR [DIR ...]

``--out`` leaves ``host_totals.json`` (per technique: meta and one row per configuration) and
``host_traces.json.gz`` (activity records of the traced runs, as they came). ``--install`` makes of them
``realkernels/<technique>/recorded/<device>/`` and needs no GPU; of several runs, which should be from several
machines, the median, because hosts differ. A timeline is that of the run which took nearest to what is recorded. A
configuration that fails, or does not compute what it must, is reported and left out. Each technique runs in a process
of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from gpusim.validation.recording import (
    TIMELINES,
    TOTALS,
    TotalRow,
    Totals,
    device_folder,
    recordings_folder,
    save_timeline,
)
from realkernels._harness.design import design_of
from realkernels._harness.host_design import host_designs
from realkernels._harness.host_timeline import from_events, from_records
from realkernels._harness.quick_core import one_thread_only, stay_on_a_quick_core
from realkernels._harness.timeline_names import timeline_name

__all__ = ["main", "measure_one"]

METHOD = (
    "host clock from the first call to an idle device, un-traced; median; copies checked against NumPy; programs of "
    "one thread, without host functions, on the core on which launches are quickest"
)
CACHE = "as the program leaves it"
TOTALS_FILE, TRACES_FILE = "host_totals.json", "host_traces.json.gz"
CHILD_LIMIT_S = 150.0
MOST_RECORDS = 12_000


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m realkernels._harness.host_measure")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--install", type=Path, nargs="+")
    parser.add_argument("--technique", help="comma-separated; default all")
    parser.add_argument("--limit", type=int, help="first N configurations of each")
    parser.add_argument(
        "--seconds", type=float, default=80.0, help="give up on further configurations of a technique after this"
    )
    parser.add_argument("--traces-only", action="store_true", help="timelines alone; totals stay as they are")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.install:
        return install(options.install)
    if options.out is None:
        parser.error("--out or --install is needed")
    if options.worker:
        return _worker(options)
    names = options.technique.split(",") if options.technique else list(host_designs())
    return _supervise(list(names), options)


def _supervise(names: list[str], options: argparse.Namespace) -> int:
    """One child after another, so that a fault or a full pool of one technique cannot reach the next."""
    options.out.mkdir(parents=True, exist_ok=True)
    everything: dict[str, Any] = {}
    traces: dict[str, Any] = {}
    failed = False
    for name in names:
        part = options.out / f".{name}.json"
        command = [sys.executable, "-m", "realkernels._harness.host_measure", "--worker", name, "--out", str(part)]
        command += ["--seconds", str(options.seconds)] + (["--limit", str(options.limit)] if options.limit else [])
        command += ["--traces-only"] if options.traces_only else []
        try:
            failed |= subprocess.run(command, timeout=CHILD_LIMIT_S, check=False).returncode != 0
        except subprocess.TimeoutExpired:
            print(f"{name}: gave up after {CHILD_LIMIT_S:.0f} s", file=sys.stderr)
            failed = True
        if part.exists():
            data = json.loads(part.read_text())
            traces[name] = data.pop("traces")
            everything[name] = data
            part.unlink()
        # Written after each, so that a run that is cut short leaves what it has.
        (options.out / TOTALS_FILE).write_text(
            json.dumps(everything, indent=None).replace('{"params"', '\n{"params"') + "\n"
        )
        with gzip.open(options.out / TRACES_FILE, "wt") as file:
            json.dump(traces, file)
    return 1 if failed else 0


def _worker(options: argparse.Namespace) -> int:
    from realkernels._harness.host_launcher import reserve
    from realkernels._harness.host_memory import memory_needed

    name, begin = options.worker, time.perf_counter()
    technique = import_module(f"realkernels.{name}").TECHNIQUE
    data: dict[str, Any] = {
        "technique": name, "meta": metadata(),
        "rows": [], "failures": [], "traces": [],
    }  # fmt: skip
    design = design_of(technique)
    chosen, traced = (_possible(technique, given)[: options.limit] for given in (design.points(), design.traced))
    if options.traces_only:
        chosen = []
    if not chosen + traced:
        print(f"{name}: every configuration needs more GPUs than there are")
        return 0
    programs = [technique.build(params) for params in chosen + traced]
    reserve(max(map(memory_needed, programs)))
    if one_thread_only(programs):
        data["meta"]["host"]["launch_by_core"] = stay_on_a_quick_core()
    for params in chosen:
        if time.perf_counter() - begin > options.seconds:
            data["failures"].append({"params": asdict(params), "error": "no time left"})
            continue
        try:
            data["rows"].append(_row(technique, params))
        except Exception as error:
            data["failures"].append({"params": asdict(params), "error": f"{type(error).__name__}: {error}"})
            print(f"{name} {params}: {error}", file=sys.stderr)
    # Tracing comes last: once CUPTI has been loaded, calls may cost more.
    for params in traced:
        try:
            data["traces"].append(_trace(technique, params, data["rows"]))
        except Exception:
            data["failures"].append({"params": asdict(params), "error": traceback.format_exc()[-600:]})
            traceback.print_exc()
    options.out.write_text(json.dumps(data))
    print(f"{name}: {len(data['rows'])} of {len(chosen)} configurations, {len(data['traces'])} traces in "
          f"{time.perf_counter() - begin:.1f} s", flush=True)  # fmt: skip
    return 1 if data["failures"] else 0


def _possible(technique: Any, given: Iterable[Any]) -> list[Any]:
    """Those that need no more GPUs than there are."""
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    return [params for params in given if technique.build(params).devices <= count]


def metadata() -> dict[str, Any]:
    """What a recording says about the device, the host and the method."""
    from realkernels._harness.device import describe_device
    from realkernels._harness.timing import sample_clock
    from realkernels.microbench.host import describe_host

    device = describe_device()
    return {
        "device": device, "driver": device["driver"], "cuda": device["runtime_cuda"], "date": device["date"],
        "host": describe_host(), "method": METHOD, "cache": CACHE, "clock_hz": sample_clock(),
    }  # fmt: skip


def measure_one(technique: Any, launcher: Any, *, timeline: bool = True, record: bool = True) -> TotalRow:
    """Measure one configuration and, to ``record`` it, merge it into the technique's own recordings.

    Raises AssertionError if it does not compute what it must.
    """
    meta = metadata()
    target = recordings_folder(technique) / device_folder(meta["device"]["name"])
    row = _total(launcher.prepare())
    if not record:
        return row
    path = target / TOTALS
    totals = Totals.load(path) if path.exists() else Totals(technique.name, meta)
    totals.merge([row])
    totals.save(path)
    if timeline:
        recorded = launcher.timeline(row.total_s).with_meta(params=dict(row.params), device=target.name)
        save_timeline(target / TIMELINES, timeline_name(launcher.params), recorded)
    return row


def _total(launcher: Any) -> TotalRow:
    return TotalRow(**{key: value for key, value in _row_of(launcher).items() if key != "samples_s"})


def _row(technique: Any, params: Any) -> dict[str, Any]:
    return _row_of(technique.launch(params).prepare())


def _row_of(launcher: Any) -> dict[str, Any]:
    from realkernels._harness.timing import sample_clock

    params = launcher.params
    times = launcher.time()
    row = TotalRow(
        params=asdict(params), total_s=times.median_s, min_s=times.min_s, max_s=times.max_s, iqr_s=times.iqr,
        repeats=len(times.samples), clock_hz=sample_clock(20e-6), registers=0, local_bytes=0, shared_bytes=0,
        max_active_ctas=0, source_sha256=launcher.source_sha256(), date=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    return {**dataclasses.asdict(row), "samples_s": [round(sample, 9) for sample in times.samples]}


def _trace(technique: Any, params: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    launcher = technique.launch(params).prepare()
    known = next((row["total_s"] for row in rows if row["params"] == asdict(params)), None)
    plain = known if known is not None else launcher.time().median_s
    traced = launcher.trace()
    if len(traced.get("records", ())) > MOST_RECORDS:
        traced["dropped"] = len(traced["records"]) - MOST_RECORDS
        traced["records"] = traced["records"][:MOST_RECORDS]
    return {"params": asdict(params), "plain_total_s": plain, "source_sha256": launcher.source_sha256(), **traced}


def install(folders: list[Path]) -> int:
    """Spread the files of the runs over the techniques' folders."""
    runs = [json.loads((folder / TOTALS_FILE).read_text()) for folder in folders]
    traces = [_read_traces(folder) for folder in folders]
    for name, data in runs[-1].items():
        technique = import_module(f"realkernels.{name}").TECHNIQUE
        target = recordings_folder(technique) / device_folder(data["meta"]["device"]["name"])
        path = target / TOTALS
        totals = Totals.load(path) if path.exists() else Totals(name, data["meta"])
        if data["rows"]:
            totals.meta = {**data["meta"], "runs": [run[name]["meta"]["date"] for run in runs if name in run]}
            totals.merge(_middle_rows([run[name]["rows"] for run in runs if name in run]))
            totals.save(path)
        chosen = _usual(totals, [traced for each in traces for traced in each.get(name, [])])
        for traced in chosen:
            params = technique.params(**traced["params"])
            program = technique.build(params)
            make = from_records if "records" in traced else from_events
            meta = {"technique": name, "params": traced["params"], "device": target.name,
                    "total_s": traced["plain_total_s"], "source_sha256": traced["source_sha256"],
                    "overhead": traced["total_s"] / traced["plain_total_s"] - 1.0,
                    "dropped": traced.get("dropped", 0), "clock_hz": data["meta"]["clock_hz"]}  # fmt: skip
            save_timeline(target / TIMELINES, timeline_name(params), make(program, traced, meta))
        print(f"{name}: {len(data['rows'])} totals, {len(chosen)} timelines")
    return 0


def _read_traces(folder: Path) -> dict[str, list[dict[str, Any]]]:
    with gzip.open(folder / TRACES_FILE, "rt") as file:
        return json.load(file)


def _usual(totals: Totals, traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the traces of each configuration the one that took nearest to what is recorded for runs without a tracer."""
    recorded = {json.dumps(row.params, sort_keys=True): row.total_s for row in totals.rows}
    nearest: dict[str, tuple[float, dict[str, Any]]] = {}
    for traced in traces:
        case = json.dumps(traced["params"], sort_keys=True)
        far_s = abs(traced["total_s"] - recorded.get(case, traced["plain_total_s"]))
        if case not in nearest or far_s < nearest[case][0]:
            nearest[case] = far_s, traced
    return [traced for _, traced in nearest.values()]


def _middle_rows(runs: list[list[dict[str, Any]]]) -> list[TotalRow]:
    """Each configuration's median over the runs that have it; of several runs the spread is what lies between them."""
    known = {field.name for field in dataclasses.fields(TotalRow)}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in (row for run in runs for row in run):
        found.setdefault(json.dumps(row["params"], sort_keys=True), []).append(row)
    rows = []
    for same in found.values():
        row = {key: value for key, value in same[-1].items() if key in known}
        times = [each["total_s"] for each in same]
        if len(same) > 1:
            row |= {
                "total_s": median(times), "iqr_s": max(times) - min(times), "min_s": min(r["min_s"] for r in same),
                "max_s": max(r["max_s"] for r in same), "repeats": sum(r["repeats"] for r in same),
            }  # fmt: skip
        rows.append(TotalRow(**row))
    return rows


if __name__ == "__main__":
    sys.exit(main())
