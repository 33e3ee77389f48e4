"""`stencil2d`: its instructions are those of the kernel, its ring is just long enough, and its outputs are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.errors import HazardError
from gpusim.hardware import load_profile, occupancy, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import WARP_SIZE, Compute, CpAsync, KernelProgram, Op, Ring, Store, WaitGroup, sass
from gpusim.timeline.metrics import hidden_fraction, period_s
from realkernels._harness.launcher import A, B
from realkernels._parts.hopper import REGISTERS_PER_SM
from realkernels._parts.tile_loop import FMA_UNROLL, ROLL_SETUP
from realkernels.stencil2d import TECHNIQUE, Params, launch, model, oracle
from realkernels.stencil2d.design import DESIGN, ONE_PER_SM, TWO_PER_SM
from tests.realkernels.compiled import REGISTER_STEP, allocated, compile_spec
from tests.realkernels.test_oracle import Device
from tests.tile_programs import NS, textbook

FREE = {"BAR", "LDGDEPBAR", "DEPBAR", "NOP"}
"""Barriers and groups are ops of their own; padding is never issued."""
ARITHMETIC = {"FFMA": "FFMA", "FMUL": "FFMA"}
APART = ("FFMA", "LDS", "STG", "LDGSTS")

# (tile width, radius, stages, FMAs per element, warps): one vector per thread and several, every radius, one stage and
# many, no FMAs, a straight run of them and rolled ones.
CASES = [
    (1024, 1, 4, 0, 8), (1024, 1, 1, 0, 8), (1024, 2, 2, 16, 8), (512, 3, 8, 4, 4), (512, 4, 1, 256, 4),
    (128, 4, 3, 1, 1), (2048, 1, 4, 0, 8), (1024, 2, 3, 1, 2), (2048, 4, 2, 40, 4), (1536, 3, 1, 0, 6),
    (768, 1, 8, 17, 2), (1152, 4, 4, 8, 3),
]  # fmt: skip


def params_of(case, **more) -> Params:
    """Nine CTAs side by side and one below the other, such that they fit whatever they are."""
    width, radius, stages, fma, warps = case
    given = {"ctas_per_sm": 1, "strips": 3, "grid": 9, "tiles_per_cta": 7} | more
    return Params(width, radius, stages, fma, warps, **given)


@dataclass(frozen=True)
class Loops:
    """What the loop over rows is made of: inside the loop over vectors (if there is one), rolled FMAs, and around."""

    row: Counter
    vector: Counter
    roll: Counter

    @staticmethod
    def of(instructions: list[sass.Instruction]) -> Loops:
        """Split the shortest loop that meets at a barrier."""
        loops = sass.branch_loops(instructions)
        row = next(loop for loop in loops if sass.family(loop.counts, "BAR"))
        inner = [loop for loop in loops if row.first <= loop.first and loop.last < row.last]
        vectors = [loop for loop in inner if sass.family(loop.counts, "LDS")]
        rolls = [loop for loop in inner if not sass.family(loop.counts, "LDS")]

        def counted(loop: sass.Loop, without: list[sass.Loop]) -> Counter:
            found = (
                one.root
                for one in instructions
                if loop.first <= one.address <= loop.last
                and not any(other.first <= one.address <= other.last for other in without)
            )
            return Counter(ARITHMETIC.get(name, name) for name in found if name not in FREE)

        return Loops(
            counted(row, vectors + rolls),
            counted(vectors[0], rolls) if vectors else Counter(),
            counted(rolls[0], []) if rolls else Counter(),
        )


def other(counts: Counter) -> int:
    """Instructions that are none of `APART`."""
    return sum(count for name, count in counts.items() if name not in APART)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_model_states_the_instructions_of_the_compiled_kernel(case) -> None:
    """Loads, FFMAs, copies and stores exactly, what stands around within the tolerance, registers within a step."""
    params = params_of(case)
    compiled = compile_spec(launch.build(params).plan.spec())
    found, mix = Loops.of(compiled.instructions), model.row_mix(params)
    fma = params.fma_per_element
    turns = fma // FMA_UNROLL if fma > FMA_UNROLL else 0
    row, vector, roll = (Counter({n: c[n] for n in APART}) for c in (found.row, found.vector, found.roll))
    per_row = Counter()
    for counts, times in ((row, 1), (vector, params.vectors), (roll, params.vectors * turns)):
        per_row.update({name: count * times for name, count in counts.items()})
    # The halo's copy is issued by all warps, two lanes of one execute it.
    assert per_row == {"LDS": mix.lds, "FFMA": mix.ffma, "STG": params.vectors, "LDGSTS": params.vectors + 1}
    inside = params.vectors * (other(found.vector) + turns * other(found.roll))
    if params.vectors > 1:
        around_rolls = ROLL_SETUP if turns else 0
        assert other(found.vector) == model.vector_other(params) + around_rolls
    issued = model.ISSUE_OTHER + model.PLACEHOLDERS
    stated = issued + mix.setup + mix.other + mix.interleaved
    assert abs(other(found.row) + inside - stated) <= model.ROW_TOLERANCE
    assert compiled.spilled == 0
    assert abs(allocated(compiled.registers) - model.registers(params)) <= REGISTER_STEP


@pytest.mark.slow
@pytest.mark.parametrize("params", DESIGN.with_timelines()[::3], ids=str)
def test_the_instrumented_kernel_compiles_without_spills(params) -> None:
    """And fits with its observer warp."""
    plan = launch.build(params).plan
    compiled = compile_spec(plan.spec(instrumented=True))
    assert compiled.spilled == 0
    assert (params.warps + 1) * WARP_SIZE * allocated(compiled.registers) * params.ctas_per_sm <= REGISTERS_PER_SM
    assert plan.threads(instrumented=True) == 32 * (params.warps + 1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_row_is_read_once_and_written_once(case) -> None:
    """Besides the rows above and below each band, and the halo, which is a hit."""
    params = params_of(case)
    traffic = Traffic.of(TECHNIQUE.build(params))
    rows = params.tiles_per_cta + 2 * params.radius
    assert traffic.written_bytes == 4 * params.width * params.height
    assert traffic.read_bytes == 9 * rows * (params.tile_bytes + model.HALO_BYTES)
    ops = list(TECHNIQUE.build(params).roles[0].body(params.tiles_per_cta))
    copies = [op for op in ops if isinstance(op, CpAsync)]
    assert [op.tile for op in copies] == list(range(rows))
    assert all(op.bytes * op.l2_hit == pytest.approx(model.HALO_BYTES) for op in copies)
    assert [op.tile for op in ops if isinstance(op, Store)] == list(range(params.tiles_per_cta))
    points = 4 * params.radius + 1 + params.fma_per_element
    assert traffic.flop == pytest.approx(2.0 * points * params.width * params.height)


def changed(program: KernelProgram, change) -> KernelProgram:
    """The program with ``change`` made to each op of its only role."""

    def body(tiles: int) -> Iterator[Op]:
        return map(change, role.body(tiles))

    (role,) = program.roles
    return replace(program, roles=(replace(role, body=body),))


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("radius", [1, 4])
class TestRing:
    """The ring holds what is read and what is on its way, and no row more."""

    def program(self, radius: int, stages: int) -> KernelProgram:
        """Of one CTA with enough rows for the ring to go round."""
        params = params_of((256, radius, stages, 0, 2), strips=1, grid=1, tiles_per_cta=40)
        return TECHNIQUE.build(params)

    def test_it_runs_as_it_is(self, radius, stages) -> None:
        """No row is overwritten while it is read, or read before it is there."""
        program = self.program(radius, stages)
        assert program.rings[0].stages == stages + 2 * radius
        assert simulate_kernel(program, load_profile("h200_sxm"), exact=True).total_s > 0

    def test_a_row_less_is_a_hazard(self, radius, stages) -> None:
        """The newest row would overwrite the oldest one that is still read."""
        program = self.program(radius, stages)
        ring = program.rings[0]
        with pytest.raises(HazardError, match=r"overwritten|although it holds"):
            simulate_kernel(replace(program, rings=(Ring(ring.name, ring.stages - 1, ring.bytes),)), textbook())

    def test_waiting_for_a_group_less_is_a_hazard(self, radius, stages) -> None:
        """The newest row that is read would still be on its way."""
        program = changed(
            self.program(radius, stages),
            lambda op: WaitGroup(op.pending + 1, tile=op.tile) if isinstance(op, WaitGroup) else op,
        )
        with pytest.raises(HazardError, match="in flight"):
            simulate_kernel(program, textbook(lsu__cp_async_l2_latency="9000 cycles"), exact=True)


def test_one_stage_adds_the_load_to_the_computation_and_more_hide_it() -> None:
    """Textbook costs, arithmetic longer than the load: L + C per row, then C alone."""
    base = params_of((1024, 1, 1, 32, 8), strips=1, grid=1, tiles_per_cta=60)
    periods = [
        period_s(simulate_kernel(TECHNIQUE.build(replace(base, stages=stages)), textbook(), exact=True)) / NS
        for stages in (1, 2, 3, 4)
    ]
    load = (base.tile_bytes + model.HALO_BYTES) / 32
    assert periods[0] - periods[1] == pytest.approx(load, rel=0.1)
    assert periods[1] > load
    assert periods[1:] == pytest.approx([periods[1]] * 3, rel=0.02)


def test_stages_pay_while_latency_is_visible_and_not_with_many_ctas() -> None:
    """One CTA per SM gains more from eight stages than eight CTAs do; neither beats memory."""
    profile = load_profile("h200_sxm")
    many = replace(TWO_PER_SM, tile_width=256, warps=2, ctas_per_sm=8, strips=48, grid=1056)
    gains = []
    for base in (ONE_PER_SM, many):
        slow, fast = (
            simulate_kernel(TECHNIQUE.build(replace(base, stages=stages)), profile, trace=False) for stages in (1, 8)
        )
        gains.append(slow.total_s / fast.total_s)
        moved = fast.meta["bytes_read"] + fast.meta["bytes_written"]
        assert 0.6 < moved / fast.total_s / profile.value("hbm.read_bandwidth") < 1.0
    assert gains[0] > 1.5 * gains[1] > 1.5


def test_arithmetic_hides_the_load_only_if_it_was_asked_for_before() -> None:
    """Hidden fraction of the copies: none with one stage, most of it with four and enough arithmetic."""
    profile = load_profile("h200_sxm")
    base = replace(ONE_PER_SM, radius=4, fma_per_element=128, tiles_per_cta=48)
    alone, ahead = (
        simulate_kernel(TECHNIQUE.build(replace(base, stages=stages)), profile, exact=True) for stages in (1, 4)
    )
    assert hidden_fraction(alone) < 0.05
    assert hidden_fraction(ahead) > 0.8


def problem(case):
    """Input, plan and the outputs of the kernel in float32."""
    params = params_of(case)
    plan = SimpleNamespace(technique=TECHNIQUE, params=params)
    data = np.random.default_rng(5).random(oracle.input_floats(params), dtype=np.float32)
    radius = params.radius
    field = data.reshape(params.height + 2 * radius, -1)
    centre = slice(oracle.MARGIN, oracle.MARGIN + params.width)
    weights = oracle.weights(radius).astype(np.float32)
    out = weights[0] * field[radius:-radius, centre]
    for k in range(1, radius + 1):
        columns = [field[radius:-radius, centre.start + d : centre.stop + d] for d in (-k, k)]
        rows = [field[radius + d : radius + d + params.height, centre] for d in (-k, k)]
        for i, part in enumerate((*columns, *rows)):
            out += weights[4 * k - 3 + i] * part
    for _ in range(params.fma_per_element):
        out = (out * A + B).astype(np.float32)
    return data.view(Device), plan, out


@pytest.mark.parametrize("case", CASES[1::3], ids=str)
def test_a_float32_stencil_passes_the_oracle(case) -> None:
    """Rounding stays well inside the tolerance."""
    data, plan, out = problem(case)
    assert oracle.compare(data, out.reshape(-1).view(Device), plan, A, B) < 0.7


@pytest.mark.parametrize("spoil", ["corner", "last", "missing", "turned", "row", "fma"])
def test_a_wrong_output_fails_the_oracle(spoil) -> None:
    """At the field's corners, never written, arms exchanged, one row too low, one FMA too few."""
    data, plan, out = problem((128, 2, 3, 1, 1))
    if spoil == "corner":
        out[0, 0] *= np.float32(1.00001)
    elif spoil == "last":
        out[-1, -1] *= np.float32(1.00001)
    elif spoil == "missing":
        out[10, 200] = np.nan
    elif spoil == "turned":
        field = np.asarray(data).reshape(plan.params.height + 4, -1)
        data = np.ascontiguousarray(field[:, ::-1]).reshape(-1).view(Device)
        out = np.ascontiguousarray(out[:, ::-1])
    elif spoil == "row":
        out = np.roll(out, 1, axis=0)
    else:
        plan.params = replace(plan.params, fma_per_element=2)
    with pytest.raises(AssertionError, match=r"off by|never written"):
        oracle.compare(data, out.reshape(-1).view(Device), plan, A, B)


def test_the_oracle_looks_at_both_ends_of_long_ctas() -> None:
    """All rows of short ones."""
    assert oracle.stretches(100, 200) == [(100, 200)]
    assert oracle.stretches(0, 1000) == [(0, oracle.MOST_ROWS), (1000 - oracle.MOST_ROWS, oracle.MOST_ROWS)]
    assert {0, 11, 252, 263} <= set(oracle.sample(264, 12))


def test_the_design_fills_the_space_and_fits() -> None:
    """At least 40 points of all radii and stages, groups that differ in their stages alone, timelines that fit."""
    points, groups = DESIGN.points(), DESIGN.compared()
    assert len(set(points)) == len(points) >= 40
    assert points == DESIGN.points()
    assert {p.radius for p in points} == {1, 2, 3, 4}
    assert {p.stages for p in points} == set(range(1, 9))
    assert {p.vectors for p in points} == {1, 2, 3, 4}
    assert min(p.fma_per_element for p in points) == 0
    assert max(p.fma_per_element for p in points) > 90
    assert sum(len(group) >= 4 for group in groups) >= 5
    for group in groups:
        assert len({replace(params, stages=1) for params in group}) == 1
    profile = load_profile("h200_sxm")
    for params in [*points, *(member for group in groups for member in group)]:
        assert occupancy(TECHNIQUE.build(params), profile).ctas_per_sm == params.ctas_per_sm
    assert len(DESIGN.with_timelines()) >= 4


@pytest.mark.parametrize(
    ("values", "message"),
    [({"tile_width": 1000}, "multiple of 1024"), ({"tile_width": 8192}, "up to 4096"), ({"grid": 100}, "use 96")],
)
def test_impossible_parameters_say_what_to_do(values, message) -> None:
    """The error names a way out."""
    with pytest.raises(ValueError, match=message):
        Params(**values)


def test_the_newest_row_is_read_as_well() -> None:
    """An op without instructions says so, since the others read the oldest."""
    params = params_of((1024, 2, 3, 0, 8))
    reads = [op for op in TECHNIQUE.build(params).roles[0].body(5) if isinstance(op, Compute) and op.reads]
    assert [op.tile for op in reads if op.mix.issue_slots] == [0, 1, 2, 3, 4]
    assert [op.tile for op in reads if not op.mix.issue_slots] == [4, 5, 6, 7, 8]
