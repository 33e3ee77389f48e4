"""`conv1d_async`: its instructions are those of the kernel, a textbook's cycles come out, and outputs are checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware import load_profile, occupancy, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Compute, CpAsync, Load, Store, StoreShared, sass
from gpusim.program.sass import dispatch_stalls
from gpusim.scenario import load, predict, with_overrides
from realkernels.conv1d_async import HALOS, TECHNIQUE, Params, launch, model, oracle
from realkernels.conv1d_async.design import CLASSIC, DESIGN, LARGE
from tests.realkernels.compiled import compile_spec
from tests.realkernels.test_oracle import Device

NS, US = 1e-9, 1e-6
SCENARIO = Path(__file__).parents[2] / "scenarios" / "convolution_textbook.yaml"
FREE = {"BAR", "LDGDEPBAR", "DEPBAR", "NOP"}
"""Barriers and groups are ops of their own; padding is never issued."""
FAMILIES = ("LDS", "STS", "LDG", "STG", "LDGSTS", "FFMA")

# (tile, kernel points, halo, vector, asynchronous, warps): one output per thread and several, all copy widths, copies
# that divide evenly and such that only some threads have one, few warps and many.
CASES = [
    (256, 5, "copy", 4, True, 8), (256, 5, "copy", 4, False, 8), (256, 5, "true", 4, True, 8),
    (256, 5, "true", 4, False, 8), (256, 31, "copy", 16, True, 8), (2048, 9, "copy", 16, True, 8),
    (2048, 9, "true", 16, False, 8), (4096, 31, "true", 4, True, 8), (768, 15, "copy", 8, False, 3),
    (480, 17, "true", 16, True, 3), (32, 3, "copy", 16, True, 1), (512, 21, "copy", 4, False, 1),
    (8192, 7, "true", 8, True, 16), (224, 9, "true", 4, True, 1), (384, 27, "copy", 8, False, 1),
    (384, 31, "true", 16, True, 1),
]  # fmt: skip


def params_of(case) -> Params:
    """A signal of three tiles, with CTAs that fit whatever they are."""
    tile, points, halo, vector, asynchronous, warps = case
    return Params(3 * tile, tile, points, halo, vector, asynchronous, warps, ctas_per_sm=2)


def ops_of(params: Params) -> list:
    """What a CTA does."""
    return list(TECHNIQUE.build(params).roles[0].body(1))


def issued(params: Params) -> float:
    """Instructions of one warp that the model states, those that move only part of a warp's bytes as such a part."""
    total = 0.0
    for op in ops_of(params):
        if isinstance(op, Compute):
            total += op.mix.issue_slots
        elif isinstance(op, CpAsync | Load | StoreShared | Store):
            total += op.bytes / (op.width * 32 * params.warps) + op.other + getattr(op, "masked", 0.0)
    return total


def executed(instructions: list[sass.Instruction], outputs: int) -> list[str]:
    """Opcode families of one warp's way through the kernel, the loop over outputs as often as it turns."""
    last = max(i.address for i in instructions if i.opcode.startswith("EXIT"))
    loops = [loop for loop in sass.branch_loops(instructions) if sass.family(loop.counts, "STG")]
    found = []
    for one in instructions:
        name = one.root
        if one.address <= last and name not in FREE:
            turns = outputs if loops and loops[0].first <= one.address <= loops[0].last else 1
            found += [name] * turns
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_model_states_the_instructions_of_the_compiled_kernel(case) -> None:
    """Memory and FFMA exactly, all others within the tolerance, registers as an upper bound, no spills or conflicts.

    How far the compiler loads ahead in the loop over outputs within a factor of two.
    """
    params = params_of(case)
    compiled = compile_spec(launch.build(params).plan.spec())
    found = executed(compiled.instructions, params.outputs)
    mix, true, copied = model.output_mix(params), params.halo == "true", model.copies(params)
    ends = {"LDS": 0, "STS": 0} if true else {"LDS": 2, "STS": 2}
    halo = 2 if true else 0
    through_registers = 0 if params.asynchronous else copied + halo
    assert {name: found.count(name) for name in FAMILIES} == {
        "LDS": mix.lds + ends["LDS"],
        "STS": 1 + ends["STS"] + through_registers,
        "LDG": 1 + through_registers,
        "STG": params.outputs,
        "LDGSTS": copied + halo if params.asynchronous else 0,
        "FFMA": mix.ffma,
    }
    assert abs(len(found) - issued(params)) <= model.OTHER_TOLERANCE
    for loop in sass.branch_loops(compiled.instructions):
        if sass.family(loop.counts, "STG"):
            body = [one for one in compiled.instructions if loop.first <= one.address <= loop.last]
            # Kernels of the same points differ by as much where the tile has another size.
            assert 0.5 <= mix.loads_in_flight / sass.loads_ahead(body, loop=True).in_flight <= 2.0
    assert dispatch_stalls(compiled.instructions).register_conflicts <= model.LEFT_OUT_CONFLICTS
    assert compiled.spilled == 0
    assert model.registers(params) - 16 <= compiled.registers <= model.registers(params)


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_instrumented_kernel_compiles_without_spills(asynchronous) -> None:
    """With the observer warp where there are asynchronous copies to observe."""
    plan = launch.build(replace(LARGE, ctas_per_sm=4, asynchronous=asynchronous)).plan
    assert compile_spec(plan.spec(instrumented=True)).spilled == 0
    assert plan.threads(instrumented=True) == 256 + 32 * asynchronous


def phases(asynchronous: bool) -> tuple[float, dict[str, float]]:
    """Total of the textbook scenario, and when its tile and its weights have arrived and its arithmetic begins."""
    timeline = predict(with_overrides(load(SCENARIO), {"kernel.params.asynchronous": asynchronous}))
    worker = [i for i in timeline if i.lane == "sm[0].cta[0].worker"]
    loads = [i.end_s for i in worker if i.kind == "load"]
    computes = [i.start_s for i in worker if i.kind == "compute"]
    return timeline.total_s / NS, {"weights": loads[-1] / NS, "compute": computes[-1] / NS}


def test_the_textbook_takes_650_cycles_and_550_with_the_tile_copied_asynchronously() -> None:
    """500 for the tile, 100 for the weights after it or meanwhile, 50 for the rest: 7.7 % busy, 100 cycles less."""
    serial, at = phases(asynchronous=False)
    assert serial == pytest.approx(650)
    assert at["compute"] == pytest.approx(600)
    overlapped, at = phases(asynchronous=True)
    assert overlapped == pytest.approx(550)
    assert at["compute"] == pytest.approx(500)
    assert at["weights"] < 500
    assert 50 / serial == pytest.approx(0.077, abs=5e-4)


def test_the_textbooks_case_is_launch_bound_on_a_real_device() -> None:
    """The launch takes most of it, and what the copy gains is a twentieth at best; of a long signal it is bandwidth."""
    profile = load_profile("h200_sxm")
    serial, overlapped = (
        simulate_kernel(TECHNIQUE.build(replace(CLASSIC, asynchronous=a)), profile, trace=False) for a in (False, True)
    )
    assert serial.meta["launch_s"] > 0.6 * serial.total_s
    assert 0 < serial.total_s - overlapped.total_s < 0.06 * serial.total_s
    long = simulate_kernel(TECHNIQUE.build(replace(LARGE, floats=1 << 26)), profile, trace=False)
    moved = long.meta["bytes_read"] + long.meta["bytes_written"]
    assert 0.7 < moved / long.total_s / profile.value("hbm.read_bandwidth") < 1.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_float_is_read_once_and_written_once(case) -> None:
    """Besides one line of weights and the sectors of a true halo, which are hits."""
    params = params_of(case)
    traffic = Traffic.of(TECHNIQUE.build(params))
    extra = model.WEIGHT_BYTES + model.halo_bytes(params)
    assert traffic.written_bytes == 4 * params.floats
    assert traffic.read_bytes == 4 * params.floats + extra * params.grid
    assert traffic.flop == pytest.approx(2 * params.kernel_points * params.floats)
    loads = [op for op in ops_of(params) if isinstance(op, Load | CpAsync)]
    assert sum(op.bytes for op in loads if op.l2_hit == 1.0) == extra
    stored = sum(op.bytes for op in ops_of(params) if isinstance(op, StoreShared) and op.ring)
    assert stored == (0 if params.asynchronous else params.tile_bytes + model.halo_bytes(params))


@pytest.mark.parametrize(("points", "sectors"), [(3, 2), (17, 2), (19, 4), (31, 4)])
def test_a_true_halo_is_whole_sectors_on_either_side(points, sectors) -> None:
    """Eight floats each; repeated ends read nothing."""
    assert model.halo_bytes(Params(kernel_points=points, halo="true")) == 32 * sectors
    assert model.halo_bytes(Params(kernel_points=points, halo="copy")) == 0


def problem(case):
    """Input, plan and the outputs of the kernel in float32, of a signal of seven tiles."""
    params = replace(params_of(case), floats=7 * case[0])
    plan = SimpleNamespace(technique=TECHNIQUE, params=params)
    data = np.random.default_rng(4).random(oracle.WEIGHT_FLOATS + params.floats, dtype=np.float32)
    weights, signal = data[: params.kernel_points], data[oracle.WEIGHT_FLOATS :]
    mode = {"mode": "edge"}
    if params.halo == "true":
        padded = np.pad(signal, params.radius, **mode)[None]
    else:
        padded = np.pad(signal.reshape(-1, params.tile), [(0, 0), (params.radius, params.radius)], **mode)
    out = np.zeros((len(padded), padded.shape[1] - 2 * params.radius), np.float32)
    for j, weight in enumerate(weights):
        out += weight * padded[:, j : j + out.shape[1]]
    return data.view(Device), plan, out.reshape(-1)


@pytest.mark.parametrize("case", CASES[::2], ids=str)
def test_a_float32_convolution_passes_the_oracle(case) -> None:
    """Rounding stays well inside the tolerance."""
    data, plan, out = problem(case)
    assert oracle.compare(data, out.view(Device), plan) < 0.7


@pytest.mark.parametrize("halo", HALOS)
@pytest.mark.parametrize("spoil", ["first", "last", "edge", "missing", "halo", "weights"])
def test_a_wrong_output_fails_the_oracle(halo, spoil) -> None:
    """At either end of the signal, at a tile's edge, never written; the other halo; weights the wrong way round."""
    data, plan, out = problem((256, 5, halo, 4, True, 8))
    if spoil == "halo":
        _, _, out = problem((256, 5, "true" if halo == "copy" else "copy", 4, True, 8))
    elif spoil == "weights":
        turned = data.copy()
        turned[:5] = turned[4::-1]
        data = turned
    else:
        at = {"first": 0, "last": -1, "edge": 256, "missing": 700}[spoil]
        out[at] = np.nan if spoil == "missing" else out[at] * np.float32(1.00001)
    with pytest.raises(AssertionError, match=r"off by|never written"):
        oracle.compare(data, out.view(Device), plan)


def test_the_design_fills_the_space_and_fits() -> None:
    """At least 40 points from 30 us on, each kind of kernel among them, besides the classic case as it grows."""
    points, groups = DESIGN.points(), DESIGN.compared()
    everything = [*points, *(member for group in groups for member in group)]
    assert len(set(points)) == len(points) >= 40
    assert points == DESIGN.points()
    assert {p.halo for p in points} == set(HALOS)
    assert {p.vector for p in points} == {4, 8, 16}
    assert {p.asynchronous for p in points} == {False, True}
    assert CLASSIC in everything
    assert replace(CLASSIC, asynchronous=False) in everything
    assert 0.9 * (1 << 28) < max(p.floats for p in points) <= 1 << 28
    profile = load_profile("h200_sxm")
    for params in everything:
        assert occupancy(TECHNIQUE.build(params), profile).ctas_per_sm == params.ctas_per_sm
    timelines = DESIGN.with_timelines()
    assert len(timelines) >= 4
    assert all(DESIGN.fits(params, observer=True) for params in timelines)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tile": 128}, "multiple of 256"),
        ({"tile": 8192, "floats": 8192, "warps": 8}, "up to 4096"),
        ({"floats": 1000}, "use 1024"),
        ({"kernel_points": 4}, "odd"),
        ({"ctas_per_sm": 9}, "fewer warps"),
    ],
)
def test_impossible_parameters_say_what_to_do(values, message) -> None:
    """The error names a way out."""
    with pytest.raises(ValueError, match=message):
        Params(**values)
