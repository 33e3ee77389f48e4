"""Runs one configuration of a tile kernel: allocate, compile, check, time, record a timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from gpusim.program import sass
from gpusim.scenario.technique import Technique
from gpusim.timeline import Timeline
from gpusim.validation.recording import source_hash
from realkernels._harness import oracle
from realkernels._harness.compile import CompiledKernel, KernelSpec, compile_kernel
from realkernels._harness.observe import Buffers, observe
from realkernels._harness.timing import Times, make_flush, time_launch

__all__ = ["A", "B", "Launcher", "Plan"]

KERNEL = "tile_kernel"
SEED = 20260901
CHUNK = 1 << 26
"""Floats drawn from one generator; larger inputs are further chunks, so that a prefix never changes."""
A, B = np.float32(0.999), np.float32(0.0005)
"""The affine map. Its fixed point 0.5 lies in the middle of the inputs and 256 applications leave
three quarters of their spread, so that a wrong element still shows in the sum."""


@dataclass(frozen=True)
class Plan:
    """What a technique says about its kernel.

    ``warps`` compute; ``producer_warps`` come before them in the CTA. ``role`` is the name of
    the computing role. A kernel with a ``ring`` has an observer warp in its instrumented build, or with
    ``observer_warps`` 0 lets a warp observe that is there anyway; a step computes with its own tile of it and with
    ``reach`` tiles behind. ``output_ring`` is what a storer empties. ``lanes`` names the probe's lanes where they are
    not head, tail and producer. ``grid`` and ``tiles`` (per CTA) default to the parameters' own, the
    kernel's integer ``argument`` to the tiles. With ``halves`` each float of the input is two numbers
    of FP16. The kernel writes ``output_floats``, one per computing warp unless said otherwise, and
    ``compare`` checks them.
    """

    technique: Technique
    params: Any
    defines: Mapping[str, int]
    warps: int
    role: str
    shared_bytes: int
    producer_warps: int = 0
    observer_warps: int = 1
    ring: str | None = None
    output_ring: str | None = None
    reach: int = 0
    lanes: Mapping[int, str] | None = None
    grid: int | None = None
    tiles: int | None = None
    argument: int | None = None
    input_floats: int | None = None
    halves: bool = False
    output_floats: int | None = None
    compare: Callable[[Any, Any, Any, np.float32, np.float32], float] = oracle.compare

    @property
    def ctas(self) -> int:
        """CTAs in the grid."""
        return self.params.grid if self.grid is None else self.grid

    @property
    def tiles_per_cta(self) -> int:
        """Tiles of a CTA, at most."""
        return self.params.tiles_per_cta if self.tiles is None else self.tiles

    @property
    def count(self) -> int:
        """The kernel's integer argument."""
        return self.tiles_per_cta if self.argument is None else self.argument

    @property
    def floats_in(self) -> int:
        """Floats that the kernel reads."""
        if self.input_floats is not None:
            return self.input_floats
        return self.ctas * self.tiles_per_cta * self.params.tile_bytes // 4

    @property
    def floats_out(self) -> int:
        """Floats that the kernel writes."""
        return self.ctas * self.warps if self.output_floats is None else self.output_floats

    def threads(self, instrumented: bool = False) -> int:
        """Threads of one CTA."""
        observer = self.observer_warps if instrumented and self.ring else 0
        return 32 * (self.warps + self.producer_warps + observer)

    def spec(self, instrumented: bool = False) -> KernelSpec:
        """What to compile."""
        defines = dict(self.defines) | ({"PROBE": 1} if instrumented else {})
        return KernelSpec(self.technique.folder / "kernel.cu", KERNEL, defines)


class Launcher:
    """One configuration on the attached GPU. Call `prepare` first and `check` before `time`."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.shared_bytes = plan.shared_bytes
        self._kernel: CompiledKernel | None = None
        self._checked = False

    def compile(self) -> Launcher:
        """Compile only; touches no device. Raises CompileError."""
        if self._kernel is None:
            self._kernel = _compile(self.plan.spec())
        return self

    def prepare(self) -> Launcher:
        """Compile and allocate. Raises CompileError, or RuntimeError if the CTAs do not fit as asked."""
        import cupy

        params = self.plan.params
        self.compile()
        self._input = _random_halves(self.plan.floats_in) if self.plan.halves else _random_input(self.plan.floats_in)
        self._out = cupy.full(self.plan.floats_out, cupy.nan, dtype=cupy.float32)
        if self.max_active_ctas != params.ctas_per_sm:
            raise RuntimeError(
                f"{self.plan.technique.name} {asdict(params)}: {self.max_active_ctas} CTAs fit on an SM, not "
                f"{params.ctas_per_sm} ({self.shared_bytes} B shared memory, {self.registers} registers, "
                f"{self.plan.threads()} threads per CTA); use smaller tiles, fewer stages or fewer warps"
            )
        return self

    @property
    def kernel(self) -> CompiledKernel:
        """The compiled kernel. Raises RuntimeError before `prepare`."""
        if self._kernel is None:
            raise RuntimeError("call prepare() first")
        return self._kernel

    @property
    def registers(self) -> int:
        """Registers per thread."""
        return self.kernel.registers

    @property
    def local_bytes(self) -> int:
        """Spilled bytes per thread; 0 in a kernel fit to be measured."""
        return self.kernel.local_bytes

    @property
    def max_active_ctas(self) -> int:
        """CTAs that fit on one SM, by the driver's own count."""
        return self.kernel.max_active_ctas(self.plan.threads(), self.shared_bytes)

    @cached_property
    def vector_loop(self) -> dict[str, int] | None:
        """Instructions, by opcode, of the shortest loop that reads shared memory; None without one or its listing."""
        loops = self.kernel.sass_loops() or []
        return next((dict(loop.counts) for loop in loops if sass.family(loop.counts, "LDS")), None)

    def source_sha256(self, *, instrumented: bool = False) -> str:
        """Hash of the kernel's source and includes."""
        return source_hash(self.plan.technique.folder / "kernel.cu", instrumented=instrumented)

    def launch(self) -> None:
        """Enqueue the kernel once."""
        self.kernel.launch(self.plan.ctas, self.plan.threads(), self._arguments(), self.shared_bytes)

    def check(self) -> float:
        """Run once and compare with NumPy; returns the largest error in units of the tolerance.

        Raises AssertionError if the kernel computes something else.
        """
        import cupy

        self._out.fill(cupy.nan)
        self.launch()
        worst = self.plan.compare(self._input, self._out, self.plan, A, B)
        self._checked = True
        return worst

    def time(self, repeats: int = 15) -> Times:
        """Cold-L2 run times, event to event. Checks the output first if nobody has."""
        if not self._checked:
            self.check()
        return time_launch(self.launch, repeats=repeats, warmup=2, flush=make_flush())

    def timeline(self, plain_total_s: float | None = None, max_tiles: int = 150) -> Timeline:
        """What the CTAs of two SMs did, from the instrumented build, cold L2.

        ``plain_total_s``: the un-instrumented time if it is known already, else it is measured.
        Raises RuntimeError if the observer warp keeps CTAs from fitting, or the result differs.
        """
        import cupy

        plan, params = self.plan, self.plan.params
        plain = plain_total_s if plain_total_s is not None else self.time().median_s
        self.check()
        expected = self._out.copy()
        kernel = _compile(plan.spec(instrumented=True))
        fit = kernel.max_active_ctas(plan.threads(True), self.shared_bytes)
        if fit != params.ctas_per_sm:
            raise RuntimeError(f"{fit} CTAs of the instrumented kernel fit on an SM, not {params.ctas_per_sm}")
        flush = make_flush()

        def launch(more: tuple) -> float:
            arguments = (*self._arguments(), *more)
            return time_launch(
                lambda: kernel.launch(plan.ctas, plan.threads(True), arguments, self.shared_bytes),
                repeats=1, warmup=0, flush=flush,
            ).median_s  # fmt: skip

        observed = observe(launch, Buffers(plan.ctas, min(plan.tiles_per_cta, max_tiles)), plain)
        if not bool(cupy.array_equal(expected, self._out, equal_nan=True)):
            raise RuntimeError("the instrumented kernel computes something else")
        return observed.timeline(
            role=plan.role,
            ring=plan.ring,
            output_ring=plan.output_ring,
            reach=plan.reach,
            names=plan.lanes,
            tile_bytes=params.tile_bytes,
            max_tiles=max_tiles,
            meta={
                "technique": plan.technique.name,
                "params": asdict(params),
                "total_s": plain,
                "instrumented_total_s": observed.total_s,
                "overhead": observed.overhead,
                "source_sha256": self.source_sha256(instrumented=True),
            },
        )

    def release(self) -> None:
        """Give the output back; the shared input stays for the next launcher."""
        self._input = self._out = None

    def _arguments(self) -> tuple:
        return self._input, self._out, np.int32(self.plan.count), A, B


def _compile(spec: KernelSpec) -> CompiledKernel:
    return compile_kernel(spec.source, spec.name, spec.defines)


def _random_input(count: int) -> Any:
    """The first ``count`` floats of one endless random sequence in [0, 1), shared by all launchers."""
    chunks = -(-count // CHUNK)
    held = _pool()
    if held.get("chunks", 0) < chunks:
        import cupy

        held.clear()
        cupy.get_default_memory_pool().free_all_blocks()
        data = cupy.empty(chunks * CHUNK, dtype=cupy.float32)
        for i in range(chunks):
            generator = cupy.random.Generator(cupy.random.XORWOW(SEED + i))
            data[i * CHUNK : (i + 1) * CHUNK] = generator.random(CHUNK, dtype=cupy.float32)
        held.update(chunks=chunks, data=data)
    return held["data"][:count]


def _random_halves(count: int) -> Any:
    """The first ``2 * count`` numbers of that sequence in FP16, as so many floats."""
    import cupy

    return _random_input(2 * count).astype(cupy.float16).view(cupy.float32)


@cache
def _pool() -> dict[str, Any]:
    return {}
