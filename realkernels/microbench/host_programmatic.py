"""Programmatic dependent launches: when the next kernel begins, and when its wait for the one ahead returns.

Everything is queued before any of it runs, so no host time is in these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import compile_kernel
from realkernels._harness.programmatic import launch
from realkernels.microbench.bench import HERE, KIB
from realkernels.microbench.host_lab import Lab, spread

NOTES = {
    "begins_s": "first block of the next kernel, after the last block has let it begin (or has ended)",
    "goes_on_s": "return from griddepcontrol.wait, after the last block of the kernel ahead has ended",
    "period_s": "from one kernel's end to the next one's",
    "kind": "early: each kernel may begin while the one ahead runs; plain: ordinary launches of the same kernel",
    "who": "lets the next kernel begin: nobody before the end, all threads, the first thread, the first warp",
    "late": "the host was slower than its head start; the row is void",
}
CHAIN = 24
FROM = 90
"""First compute capability with programmatic launches."""
SOURCE = HERE / "host_programmatic.cu"
WHO = ("nobody", "all", "first thread", "first warp")


class _Chain:
    """Kernels that each may begin while the one ahead runs."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._kernel = compile_kernel(SOURCE, "early")
        self._out = lab.cupy.zeros((CHAIN, 4), dtype=lab.cupy.uint64)

    def row(self, *, graph: bool, grid: int, block: int, shared: int, prologue_s: float, before_s: float,
            after_s: float, who: int, programmatic: bool = True) -> dict:  # fmt: skip
        lab, (stream,) = self._lab, self._lab.streams(1)
        kernel = self._kernel.prepared(shared)
        times = [np.uint64(round(seconds * 1e9)) for seconds in (prologue_s, before_s, after_s)]
        out = np.uint64(self._out.data.ptr)
        calls = [
            launch(
                kernel, grid, block, (out, np.int32(i), *times, np.int32(who)), shared, stream,
                programmatic=programmatic,
            )
            for i in range(CHAIN)
        ]  # fmt: skip
        blank = np.zeros((CHAIN, 4), dtype=np.uint64)
        blank[:, :2] = np.iinfo(np.uint64).max
        self._out[...] = lab.cupy.asarray(blank)
        captured = None
        if graph:
            stream.begin_capture()
            for call in calls:
                call()
            captured = stream.end_capture()
            captured.upload(stream)
        with lab.released([stream], 2e-3):
            for call in [lambda: captured.launch(stream)] if graph else calls:
                call()
        stamps = self._out.get()
        start, waited, trigger = ((stamps[:, column] - stamps[0, 0]) * 1e-9 for column in range(3))
        end = trigger + after_s
        lets = trigger if who else end
        return {
            "kind": "early" if programmatic else "plain", "graph": graph, "grid": grid, "block": block,
            "shared_bytes": shared,
            "prologue_s": prologue_s, "before_s": before_s, "after_s": after_s, "who": WHO[who],
            **{f"begins_{key}": value for key, value in spread((start[1:] - lets[:-1])[1:]).items()},
            **{f"goes_on_{key}": value for key, value in spread((waited[1:] - end[:-1])[1:]).items()},
            "period_s": float(np.median(np.diff(end)[1:])), "late": lab.late,
        }  # fmt: skip


def _launches(lab: Lab) -> bool:
    """Whether the device has programmatic launches."""
    return int(lab.cupy.cuda.Device().compute_capability) >= FROM


def _chains(lab: Lab) -> Iterator[dict]:
    """Where there is room for both kernels."""
    chain = _Chain(lab)
    for graph in (False, True):
        for grid, block in ((1, 32), (132, 128), (132, 1024)):
            for who, programmatic in ((0, False), (0, True), (1, True)):
                for before_s, after_s in ((0.0, 2e-6), (1e-6, 5e-6), (5e-6, 5e-6), (5e-6, 20e-6)):
                    yield chain.row(graph=graph, grid=grid, block=block, shared=0, prologue_s=0.0, before_s=before_s,
                                    after_s=after_s, who=who, programmatic=programmatic)  # fmt: skip


def _prologues(lab: Lab) -> Iterator[dict]:
    """What a kernel does before its wait, shorter and longer than the kernel ahead."""
    chain = _Chain(lab)
    for who in (0, 1):
        for prologue_s in (1e-6, 4e-6, 12e-6):
            yield chain.row(graph=False, grid=132, block=128, shared=0, prologue_s=prologue_s, before_s=0.0,
                            after_s=10e-6, who=who)  # fmt: skip


def _rooms(lab: Lab) -> Iterator[dict]:
    """Where the next kernel finds room only when blocks have ended."""
    chain = _Chain(lab)
    for grid, shared in ((132, 200 * KIB), (264, 100 * KIB), (264, 60 * KIB), (528, 60 * KIB)):
        for who in (0, 1):
            yield chain.row(graph=False, grid=grid, block=128, shared=shared, prologue_s=2e-6, before_s=1e-6,
                            after_s=5e-6, who=who)  # fmt: skip


def _threads(lab: Lab) -> Iterator[dict]:
    """Whether all threads of a block have to let the next kernel begin."""
    chain = _Chain(lab)
    for who in (1, 2, 3):
        yield chain.row(
            graph=False, grid=132, block=128, shared=0, prologue_s=0.0, before_s=1e-6, after_s=10e-6, who=who
        )


def _instructions(lab: Lab) -> Iterator[dict]:
    """What the two instructions cost a warp that need not wait."""
    out = lab.cupy.zeros(2, dtype=lab.cupy.int64)
    for _ in range(3):
        compile_kernel(SOURCE, "instructions").launch(1, 32, (out,))
    wait, lets = (int(cycles) for cycles in out.get())
    yield {"kind": "instructions", "wait_cycles": wait, "launch_dependents_cycles": lets}


def _all(lab: Lab) -> Iterator[dict]:
    for section in (_chains, _prologues, _rooms, _threads, _instructions) if _launches(lab) else ():
        yield from section(lab)


SECTIONS = (_all,)
