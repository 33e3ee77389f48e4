"""One configuration of a host technique on the attached GPU: check, time, trace."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

from gpusim.program.host import HostProgram
from gpusim.scenario.technique import Technique
from gpusim.timeline import Timeline
from gpusim.validation.recording import source_hash
from realkernels._harness import cupti_trace
from realkernels._harness.host_calls import Call
from realkernels._harness.host_memory import Arena, memory_needed
from realkernels._harness.host_run import HostRunner
from realkernels._harness.host_timeline import from_events, from_records
from realkernels._harness.timing import Times

__all__ = ["HostLauncher", "reserve"]

MIN_REPEATS, MAX_REPEATS = 7, 21
TIME_FOR_REPEATS_S = 0.15

Kernels = Callable[[HostProgram], Mapping[str, Callable[[int], Call]]]


_arenas: list[Arena] = []


def reserve(bytes: int) -> Arena:
    """Memory that all launchers of a process use one after another: at least ``bytes`` in each place.

    Reserve what the largest program needs before the first is prepared: pinning takes seconds a gigabyte.
    """
    if not _arenas or _arenas[-1].bytes < bytes:
        _arenas.append(Arena(bytes))
    return _arenas[-1]


class HostLauncher:
    """Call `prepare` first. ``kernels`` makes the real kernels of a program's `KernelProgram` launches."""

    def __init__(self, technique: Technique, params: Any, kernels: Kernels | None = None) -> None:
        self.technique = technique
        self.params = params
        self.program: HostProgram = technique.build(params)
        self._kernels = kernels
        self._runner: HostRunner | None = None

    def prepare(self) -> HostLauncher:
        """Compile, allocate what exists beforehand, capture graphs."""
        kernels = self._kernels(self.program) if self._kernels else None
        self._runner = HostRunner(self.program, reserve(memory_needed(self.program)), kernels)
        return self

    @property
    def runner(self) -> HostRunner:
        if self._runner is None:
            raise RuntimeError("call prepare() first")
        return self._runner

    def check(self) -> None:
        """Raises AssertionError if host memory does not hold what it must after a run."""
        wrong = self.runner.check()
        if wrong:
            raise AssertionError(f"{self.technique.name} {self.params}: {wrong}")

    def time(self) -> Times:
        """Un-traced runs: seconds of host time from the first call to an idle device. Checks first."""
        if not self.runner.checked:
            self.check()
        gc.collect()
        self.runner.run()
        samples, begin = [], time.perf_counter()
        while len(samples) < MIN_REPEATS or (
            len(samples) < MAX_REPEATS and time.perf_counter() - begin < TIME_FOR_REPEATS_S
        ):
            samples.append(self.runner.run())
        return Times(tuple(samples))

    def trace(self) -> dict[str, Any]:
        """{"method", "total_s", and "records" (CUPTI) or "events"}: one traced run, as it came."""
        ok, reason = cupti_trace.available()
        if not ok:
            total, events = self.runner.run_with_events()
            return {"method": f"CUDA events ({reason})", "total_s": total, "events": events}
        self.runner.run()
        total, records = cupti_trace.trace(self.runner.run)
        return {"method": f"CUPTI activity records ({reason})", "total_s": total, "records": records}

    def timeline(self, plain_total_s: float | None = None) -> Timeline:
        """The traced run as a timeline; its ``total_s`` is that of un-traced runs."""
        plain = plain_total_s if plain_total_s is not None else self.time().median_s
        traced = self.trace()
        make = from_records if "records" in traced else from_events
        return make(self.program, traced, {
            "technique": self.technique.name, "total_s": plain, "source_sha256": self.source_sha256(),
            "overhead": traced["total_s"] / plain - 1.0,
        })  # fmt: skip

    def source_sha256(self) -> str:
        """Hash of the kernel's source and includes."""
        return source_hash(self.technique.folder / "kernel.cu")
