"""Runs the program of `model.py` on the real runtime; needs CuPy and a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram, Launch
from realkernels._harness.compile import CompiledKernel, KernelSpec, compile_kernel
from realkernels._harness.host_calls import Call
from realkernels._harness.host_launcher import HostLauncher
from realkernels._harness.oracle import EPS
from realkernels._parts.padding import padded_shared_bytes
from realkernels.fused_softmax_scale import TECHNIQUE, Params
from realkernels.fused_softmax_scale.model import SOFTMAX, min_ctas

SCALE, KEEP = np.float32(0.5), np.float32(1.25)
"""The first factor, and the one that makes up for dropping a fifth."""
SPREAD = 8.0
"""x lies between minus and plus this."""
TOLERANCE = 64 * EPS
"""Relative. An exponent of up to SCALE * 2 * SPREAD / ln 2 = 12 is off by as many EPS and so is the exponential; the
rest is the two units of ex2.approx, the rounding of a sum and of four products."""
ONE = np.float32(1)
FACTORS = {"fused": (SCALE, KEEP), "scale": (SCALE, ONE), "softmax": (ONE, ONE), "dropout": (KEEP, ONE)}
"""Arguments ``scale`` and ``keep`` of each kernel; `scale_rows` knows the first alone."""
SEED, CHUNK = 20260901, 1 << 26
ROWS_CHECKED = 64


def build(params: Params) -> HostLauncher:
    """The launcher of one configuration."""
    return SoftmaxLauncher(params)


def spec(params: Params, name: str) -> KernelSpec:
    """What to compile for one of the program's kernels."""
    function = "softmax_rows" if name in SOFTMAX else "scale_rows"
    defines = {"VECTORS": params.vectors, "WARPS": params.warps, "MIN_CTAS": min_ctas(params)}
    return KernelSpec(TECHNIQUE.folder / "kernel.cu", function, defines)


class SoftmaxLauncher(HostLauncher):
    """Fills x with random numbers and compares y with NumPy, besides what every host program is checked for."""

    def __init__(self, params: Params) -> None:
        super().__init__(TECHNIQUE, params, self._kernels_of)
        self._x = self._y = 0
        """Addresses, known once the kernels have been bound."""

    def prepare(self) -> SoftmaxLauncher:
        """Compile, allocate, fill x. Raises RuntimeError if a kernel spills or its CTAs do not fit as asked."""
        super().prepare()
        x = self._array(self._x)
        import cupy

        for start in range(0, len(x), CHUNK):
            generator = cupy.random.Generator(cupy.random.XORWOW(SEED + start))
            part = x[start : start + CHUNK]
            part[:] = generator.random(len(part), dtype=cupy.float32)
            part -= np.float32(0.5)
            part *= np.float32(2 * SPREAD)
        return self

    def check(self) -> None:
        """Raises AssertionError if an element of y was never written or a row of the sample is wrong."""
        y = self._array(self._y)
        y.fill(np.nan)
        super().check()
        shape = self.params.grid * self.params.rows_per_cta, self.params.row_floats
        compare(self._array(self._x).reshape(shape), y.reshape(shape), str(self.params))

    def _kernels_of(self, program: HostProgram) -> Mapping[str, Callable[[int], Call]]:
        launches = [op for op in program.threads[0].ops if isinstance(op, Launch)]
        last = launches[-1].kernel.name
        return {op.kernel.name: self._bind(op.kernel, op.offset == 0, op.kernel.name == last) for op in launches}

    def _bind(self, program: KernelProgram, first: bool, last: bool) -> Callable[[int], Call]:
        """A kernel reads one array at the pointer it is given and writes the next one behind it."""
        params, name = self.params, program.name
        compiled = compile_kernel(spec(params, name).source, spec(params, name).name, spec(params, name).defines)
        _insist(compiled, program, params)
        shared = padded_shared_bytes(program.shared_bytes, params.ctas_per_sm)
        function, shape = compiled.prepared(shared), ((params.grid,), (program.threads,))

        def bind(pointer: int) -> Call:
            target = pointer + params.array_bytes
            self._x, self._y = pointer if first else self._x, target if last else self._y
            arguments = (np.uint64(pointer), np.uint64(target), np.int32(params.rows_per_cta), *FACTORS[name])
            return lambda: function(*shape, arguments, shared_mem=shared)

        return bind

    def _array(self, pointer: int) -> Any:
        import cupy

        size = self.params.array_bytes
        memory = cupy.cuda.UnownedMemory(pointer, size, self)
        return cupy.ndarray((size // 4,), dtype=cupy.float32, memptr=cupy.cuda.MemoryPointer(memory, 0))


def _insist(compiled: CompiledKernel, program: KernelProgram, params: Params) -> None:
    """Raises RuntimeError if the kernel is not the one that the model describes."""
    fit = compiled.max_active_ctas(program.threads, padded_shared_bytes(program.shared_bytes, params.ctas_per_sm))
    if compiled.local_bytes or fit != params.ctas_per_sm:
        raise RuntimeError(
            f"{TECHNIQUE.name} {params}: {program.name} spills {compiled.local_bytes} B per thread, and {fit} CTAs of "
            f"it fit on an SM, not {params.ctas_per_sm}; use fewer floats per thread"
        )


def expected(x: np.ndarray) -> np.ndarray:
    """What becomes of rows ``x``, float64."""
    exponents = float(SCALE) * x.astype(np.float64)
    powers = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return float(KEEP) * powers / powers.sum(axis=1, keepdims=True)


def compare(x: Any, y: Any, where: str) -> float:
    """Largest relative error of a sample of rows in units of `TOLERANCE`; first and last are always among them.

    ``x`` and ``y`` are CuPy arrays [rows, floats].
    Raises AssertionError beyond the tolerance, or if anything is missing.
    """
    # NaN and infinity stay what they are in a sum.
    if not np.isfinite(float(y.sum())):
        raise AssertionError(f"{TECHNIQUE.name} {where}: elements of y were never written")
    rows = len(x)
    drawn = np.random.default_rng(rows).integers(0, rows, size=ROWS_CHECKED - 2)
    chosen = np.unique([0, rows - 1, *drawn])
    wanted = expected(x[chosen].get())
    error = np.abs(y[chosen].get() - wanted) / wanted
    worst = float(error.max()) / TOLERANCE
    if worst > 1.0:
        row = int(chosen[error.max(axis=1).argmax()])
        raise AssertionError(
            f"{TECHNIQUE.name} {where}: row {row} is off by {error.max():.3g} (relative), allowed is {TOLERANCE:.3g}"
        )
    return worst
