"""`fused_softmax_scale`: instructions are those of the kernels, launches hand on arrays, and rows are checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from gpusim.hardware import load_profile, occupancy
from gpusim.hardware.memory.traffic import Traffic
from gpusim.host import simulate_host
from gpusim.program import Compute, Load, Store, SyncThreads
from realkernels._harness.host_design import host_designs
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import TILE_TOLERANCE
from realkernels.fused_softmax_scale import LARGEST, TECHNIQUE, VARIANTS, Params, launch, model
from realkernels.fused_softmax_scale.design import sized
from tests.realkernels.compiled import Compiled, compile_spec
from tests.realkernels.test_oracle import Device

MIB = 1 << 20
TREE = ("FADD", "FMUL", "FFMA", "FMNMX")
APART = (*TREE, "MUFU", "SHFL", "LDS", "STS", "LDG", "STG", "BAR")

# (row floats, warps): shortest and longest rows, one to eight vectors per thread, few warps and many.
SHAPES = [(256, 2), (2048, 2), (512, 4), (1536, 4), (4096, 4), (3072, 8), (5120, 8), (8192, 8), (2048, 16), (8192, 16)]


def params_of(shape, **more) -> Params:
    """The configuration of a shape, with CTAs that fit whatever it is."""
    row, warps = shape
    return Params(row_floats=row, warps=warps, ctas_per_sm=2, grid=264, **more)


def counts(mixes) -> Counter:
    """Instructions of some mixes by kind."""
    total: Counter = Counter()
    for mix in mixes:
        kinds = {"tree": mix.ffma, "mufu": mix.mufu, "lds": mix.lds, "sts": mix.sts, "setup": mix.setup}
        total += Counter(kinds)
    return total


def assert_counted(found: Compiled, mixes, start: int, params: Params, barriers: int) -> None:
    """Arithmetic, shuffles, shared and global memory exactly; what stands around them within the tolerance."""
    stated = counts(mixes)
    assert found.family(*TREE) == stated["tree"]
    assert found.family("MUFU") == stated["mufu"]
    assert found.family("SHFL", "LDS") == stated["lds"]
    assert found.family("STS") == stated["sts"]
    assert found.family("BAR") == barriers
    assert found.loop["LDG.E.128"] == found.loop["STG.E.128"] == params.vectors
    assert abs(found.other(*APART) - stated["setup"]) <= TILE_TOLERANCE
    first = next(i.address for i in found.instructions if i.opcode.startswith("LDG"))
    assert abs(sum(i.address < first for i in found.instructions) - start) <= TILE_TOLERANCE
    assert found.spilled == 0
    bound = model.REGISTERS[params.vectors - 1]
    assert bound - 24 <= found.registers <= bound


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_model_states_the_instructions_of_the_compiled_kernels(shape) -> None:
    """Both functions; the fused kernel is the softmax kernel."""
    params = params_of(shape)
    assert launch.spec(params, "fused") == launch.spec(params, "softmax")
    assert launch.spec(params, "scale") == launch.spec(params, "dropout")
    before, after = model.softmax_mixes(params)
    scale, softmax = (compile_spec(launch.spec(params, name)) for name in ("scale", "softmax"))
    assert_counted(softmax, before + after, model.SOFTMAX_START, params, 1)
    assert_counted(scale, [model.scale_mix(params)], model.SCALE_START, params, 0)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_kernel_moves_its_array_once_in_and_once_out(variant, shape) -> None:
    """And computes what its mixes say, row by row."""
    params = params_of(shape, variant=variant, rows_per_cta=5)
    program = TECHNIQUE.build(params)
    kernels = [op.kernel for op in program.threads[0].ops]
    assert len(kernels) == {"fused": 1, "separate": 3}[variant]
    for kernel in kernels:
        traffic = Traffic.of(kernel)
        assert traffic.read_bytes == traffic.written_bytes == params.array_bytes == 5 * 264 * 4 * shape[0]
        ops = [op for op in kernel.roles[0].body(5) if op.tile == 3]
        softmax = kernel.name in model.SOFTMAX
        mixes = [mix for part in model.softmax_mixes(params) for mix in part] if softmax else [model.scale_mix(params)]
        assert [op.mix for op in ops if isinstance(op, Compute)] == mixes
        assert sum(isinstance(op, SyncThreads) for op in ops) == softmax
        assert [type(op) for op in (ops[0], ops[-1])] == [Load, Store]


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_kernel_reads_what_the_one_before_wrote(variant) -> None:
    """Each writes right behind what it reads; the buffer holds x, what lies between, and y."""
    program = TECHNIQUE.build(Params(variant=variant))
    size, launches = Params().array_bytes, program.threads[0].ops
    assert [op.offset for op in launches] == [i * size for i in range(len(launches))]
    assert {op.stream for op in launches} == {"main"}
    assert program.buffers[0].bytes == (len(launches) + 1) * size


def test_small_arrays_are_found_in_l2_and_large_ones_are_not() -> None:
    """All arrays fit; only neighbours do; none does."""
    tiny, small, large = (sized(Params(variant="separate"), size * MIB) for size in (4, 12, 256))
    assert [model.hit(tiny, name) for name in model.STEPS["separate"]] == [1.0, 1.0, 1.0]
    first, second, third = (model.hit(small, name) for name in model.STEPS["separate"])
    assert 0.1 < first < 0.5
    assert second == third == 1.0
    assert [model.hit(large, name) < 1e-3 for name in model.STEPS["separate"]] == [True, True, True]
    assert model.hit(sized(Params(), 12 * MIB), "fused") == 1.0


def test_fusing_gains_most_of_three_times_where_memory_is_the_limit() -> None:
    """Near three for arrays beyond L2, about two where launches rule, more for each larger array beyond these."""
    profile, gains = load_profile("h200_sxm"), []
    for size in (4, 16, 64, 256):
        fused, separate = (
            simulate_host(TECHNIQUE.build(sized(Params(variant=variant), size * MIB)), profile, trace=False).total_s
            for variant in VARIANTS
        )
        gains.append(separate / fused)
    assert gains[1:] == sorted(gains[1:])
    assert max(gains[:2]) < 2.2
    assert 2.5 < gains[-1] < 3.1


def emulate(x: np.ndarray, warps: int, scale: np.float32, keep: np.float32) -> np.ndarray:
    """`softmax_rows` in float32: maxima and sums of warps, then of the row."""
    rows, floats = x.shape
    log2_e = np.float32(1.44269504)
    # Vector v of a row belongs to thread v mod (32 warps).
    of_warp = x.reshape(rows, -1, warps, 128)
    factor = np.float32(scale * log2_e)
    own = factor * of_warp.max(axis=(1, 3), keepdims=True)
    # A fused multiply-add rounds once.
    powers = np.exp2((of_warp.astype(np.float64) * factor - own).astype(np.float32))
    sums = powers.sum(axis=(1, 3), dtype=np.float32, keepdims=True)
    most = own.max(axis=2, keepdims=True)
    of_row = (sums * np.exp2(own - most)).sum(axis=2, dtype=np.float32, keepdims=True)
    return (powers * (keep * np.exp2(own - most) / of_row)).reshape(rows, floats)


def problem(shape, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """x, and y as the kernels of a variant would leave it."""
    row, warps = shape
    x = (np.random.default_rng(2).random((70, row), dtype=np.float32) - np.float32(0.5)) * np.float32(16)
    y = x
    for name in model.STEPS[variant]:
        scale, keep = launch.FACTORS[name]
        y = emulate(y, warps, scale, keep) if name in model.SOFTMAX else y * scale
    return x, y


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", [(256, 2), (1536, 4), (8192, 16)], ids=str)
def test_right_rows_pass_the_oracle_and_wrong_ones_fail(shape, variant) -> None:
    """Rounding is no error; a missing element, rows exchanged, a sum that lacks one, a row that nobody scaled are."""
    x, y = problem(shape, variant)
    assert launch.compare(x.view(Device), y.view(Device), "emulated") < 0.7
    missing, exchanged, short, unscaled = (y.copy() for _ in range(4))
    missing[33, 7] = np.nan
    exchanged[[0, 69]] = exchanged[[69, 0]]
    most = x[69].argmax()
    short[69] /= 1.0 - y[69, most] / launch.KEEP
    unscaled[0] = launch.KEEP * np.exp(x[0] - x[0].max()) / np.exp(x[0] - x[0].max()).sum()
    for wrong in (missing, exchanged, short, unscaled):
        with pytest.raises(AssertionError, match=r"off by|never written"):
            launch.compare(x.view(Device), wrong.view(Device), "emulated")


class Recorder:
    """Stands for a compiled kernel: remembers what it is called with."""

    local_bytes = 0

    def __init__(self, source, function, defines) -> None:
        self.function, self.defines = function, defines

    def max_active_ctas(self, block, shared_bytes) -> int:
        """As if the driver had said so."""
        return 2

    def prepared(self, shared_bytes):
        """A launch gives back what it was made with."""
        return lambda grid, block, arguments, shared_mem: (self.function, grid, block, arguments, shared_mem)


@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_are_launched_with_their_arrays_and_factors(variant, monkeypatch) -> None:
    """In the order of the program, each with its function; the last one's target is y."""
    monkeypatch.setattr(launch, "compile_kernel", Recorder)
    params = params_of((512, 4), variant=variant, rows_per_cta=3)
    launcher = launch.build(params)
    program, base = launcher.program, 1 << 32
    kernels = launcher._kernels_of(program)
    calls = [kernels[op.kernel.name](base + op.offset)() for op in program.threads[0].ops]
    size = params.array_bytes
    assert [call[0] for call in calls] == {
        "fused": ["softmax_rows"], "separate": ["scale_rows", "softmax_rows", "scale_rows"],
    }[variant]  # fmt: skip
    for i, (_, grid, block, arguments, shared) in enumerate(calls):
        assert (grid, block, shared) == (
            (264,),
            (128,),
            padded_shared_bytes(model.shared_bytes(params), params.ctas_per_sm),
        )
        assert arguments[:3] == (base + i * size, base + (i + 1) * size, 3)
    assert (launcher._x, launcher._y) == (base, base + len(calls) * size)
    assert np.prod([factor for call in calls for factor in call[3][3:]]) == launch.SCALE * launch.KEEP


def test_a_kernel_that_does_not_fit_as_asked_is_refused(monkeypatch) -> None:
    """The recording would be of something else."""
    monkeypatch.setattr(launch, "compile_kernel", Recorder)
    launcher = launch.build(replace(params_of((512, 4)), ctas_per_sm=3))
    with pytest.raises(RuntimeError, match="2 CTAs of it fit on an SM, not 3"):
        launcher._kernels_of(launcher.program)


def test_the_design_measures_pairs_over_all_sizes() -> None:
    """At least 40 configurations, fused and separate of the same arrays; exactly the CTAs asked for fit."""
    design, profile = host_designs()[TECHNIQUE.name], load_profile("h200_sxm")
    points = design.points()
    assert len(set(points)) == len(points) >= 40
    assert all(replace(a, variant="separate") == b for a, b in zip(points[::2], points[1::2], strict=True))
    assert min(p.array_bytes for p in points) < 5 * MIB
    assert 1000 * MIB < max(p.array_bytes for p in points) < 1100 * MIB
    assert {p.warps for p in points} == {2, 4, 8, 16}
    assert any(p.rows_per_cta == 1 for p in points)
    for params in [*points, *design.traced]:
        for name in model.STEPS[params.variant]:
            assert occupancy(model.kernel(params, name), profile).ctas_per_sm == params.ctas_per_sm


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"row_floats": 256, "warps": 8}, "multiple of 1024"),
        ({"row_floats": 8192, "warps": 2}, "up to 2048"),
        ({"row_floats": 8192, "warps": 8, "ctas_per_sm": 5}, "registers for 32"),
        ({"rows_per_cta": 1_000_000}, f"more than {LARGEST}"),
    ],
)
def test_impossible_parameters_say_what_to_do(values, message) -> None:
    """The error names a way out."""
    with pytest.raises(ValueError, match=message):
        Params(**values)
