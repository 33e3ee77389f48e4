"""`register_split`: registers, spills and instructions are those of the compiled kernel, and the sums are checked."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware import load_profile, occupancy, simulate_kernel
from gpusim.hardware.occupancy import shared_memory
from gpusim.program import Compute, Load, SetMaxNReg, Store, sass
from gpusim.scenario import loads
from gpusim.validation.recording import TOTALS, TotalRow, Totals, is_stale, recorded_devices
from realkernels._harness.launcher import A, B
from realkernels._parts.hopper import REGISTERS_PER_SM
from realkernels._parts.tile_loop import FMA_UNROLL, TILE_TOLERANCE
from realkernels.register_split import PRODUCER_WARPS, TECHNIQUE, Params, launch, model, spills
from realkernels.register_split.design import DESIGN
from tests.realkernels.compiled import assemble, instructions_of, within
from tests.realkernels.test_oracle import Device

SPILL_TOLERANCE = 8
"""Sums by which a kernel short of more than `spills.STEEP` registers may differ; otherwise the count is exact."""
STATE_TOLERANCE = 2
"""Local loads, and stores, per tile by which a kernel that spills may differ: what else it keeps in memory varies."""

# (mode, accumulators, producer registers, FMAs, consumer warps, CTAs per SM, stages, tile bytes): all fits, just
# fits, just does not, does not at all; straight and rolled FMAs; even and uneven tiles; one stage.
CASES = [
    ("uniform", 16, 24, 0, 4, 1, 3, 16384),
    ("uniform", 112, 24, 0, 4, 2, 3, 16384),
    ("uniform", 112, 24, 40, 4, 2, 3, 16384),
    ("uniform", 128, 24, 16, 4, 2, 1, 5008),
    ("uniform", 160, 24, 0, 8, 1, 3, 16384),
    ("uniform", 80, 24, 0, 8, 2, 3, 16384),
    ("uniform", 96, 24, 64, 8, 2, 2, 10000),
    ("uniform", 160, 24, 3, 12, 2, 2, 8192),
    ("split", 160, 24, 0, 4, 2, 3, 16384),
    ("split", 80, 24, 0, 8, 2, 3, 16384),
    ("split", 96, 24, 17, 8, 2, 8, 2048),
    ("split", 96, 40, 0, 8, 2, 3, 16384),
    ("split", 160, 32, 8, 12, 1, 1, 33328),
    ("split", 112, 24, 0, 16, 1, 2, 16384),
    ("split", 144, 24, 35, 4, 4, 4, 3520),
    ("uniform", 96, 24, 3, 8, 4, 3, 5584),
]


def params_of(case) -> Params:
    """The configuration of a case."""
    mode, accumulators, kept, fma, warps, ctas, stages, tile = case
    return Params(mode, accumulators, kept, tile, stages, fma, warps, ctas, 132 * ctas)


@dataclass(frozen=True)
class Compiled:
    """A fresh compilation: what the tile loops hold, and what the compiler says."""

    vector: Counter
    vector_other: int
    tile: Counter
    tile_other: int
    producer_other: int
    rolled: int
    registers: int
    local_bytes: int
    moves: list[tuple[str, int]]
    """setmaxnreg: (dealloc or alloc, registers)."""


def compiled(params: Params, *defines: str) -> Compiled:
    """``kernel.cu`` for sm_90a; skips without compiler and disassembler."""
    instructions, report = assemble(launch.build(params).plan.spec(), *defines)
    assert "setmaxnreg ignored" not in report
    frame, registers = re.search(r"(\d+) bytes stack frame", report), re.search(r"Used (\d+)", report)
    return taken_apart(instructions, int(registers.group(1)), int(frame.group(1)))


def taken_apart(instructions, registers: int, local_bytes: int) -> Compiled:
    """What runs per vector, per tile of a consumer and per tile of the producer."""
    loops = sass.branch_loops(instructions)

    def body(loop, without=()):
        return instructions_of(instructions, loop, without)

    def families(listing):
        return Counter(i.root for i in listing)

    vector = next(loop for loop in loops if sass.family(loop.counts, "LDS"))
    rolls = [loop for loop in loops if within(loop, vector)]
    tile = next(loop for loop in loops if within(vector, loop) and sass.family(loop.counts, "SYNCS"))
    producer = next(loop for loop in loops if {"UBLKCP", "SYNCS"} <= set(families(body(loop))))
    straight, around = families(body(vector, rolls)), families(body(tile, [vector]))
    made = families(body(producer))
    return Compiled(
        vector=straight,
        vector_other=sum(straight.values()) - sum(straight[op] for op in ("FFMA", "LDS", "LDL", "STL")),
        tile=around,
        tile_other=sum(around.values()) - sum(around[op] for op in ("SYNCS", "LDL", "STL")),
        producer_other=sum(made.values()) - made["SYNCS"] - made["UBLKCP"],
        rolled=families(body(rolls[0]))["FFMA"] if rolls else 0,
        registers=registers,
        local_bytes=local_bytes,
        moves=[
            (i.opcode.split(".")[1], int(i.text.split()[-1].rstrip(",;"), 16))
            for i in instructions
            if i.opcode.startswith("USETMAXREG")
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_the_model_states_what_the_compiler_made(case) -> None:
    """Spills exactly where stated, local accesses per vector, arithmetic, overheads, registers."""
    params = params_of(case)
    found = compiled(params)
    assert (found.local_bytes > 0) is spills.spills(params)
    slack = SPILL_TOLERANCE if params.accumulators - params.consumer_registers > spills.STEEP else 0
    assert abs(found.vector["STL"] - spills.swapped(params)) <= slack + (params.fma_per_element > FMA_UNROLL)
    assert abs(found.vector["LDL"] - spills.vector_loads(params)) <= slack + (params.fma_per_element > FMA_UNROLL)
    rolls = params.fma_per_element // FMA_UNROLL if params.fma_per_element > FMA_UNROLL else 0
    mix = model.consumer_mix(params, 1)
    assert found.vector["FFMA"] + rolls * found.rolled == mix.ffma
    assert found.vector["LDS"] == 1
    assert abs(found.vector_other - (6 if rolls else 3) - model.vector_other(params)) <= (rolls > 0)
    for opcode, stated in zip(("LDL", "STL"), spills.tile_local(params), strict=True):
        assert abs(found.tile[opcode] - stated) <= STATE_TOLERANCE
    assert abs(found.tile_other - model.tile_other(params)) <= TILE_TOLERANCE
    assert abs(found.producer_other - model.producer_other(params)) <= TILE_TOLERANCE
    stated = TECHNIQUE.build(params).registers
    assert stated - 8 <= found.registers <= stated


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case[0] == "split"], ids=str)
def test_the_split_asks_for_no_more_registers_than_the_cta_has(case) -> None:
    """Or its consumers would wait for ever; the compiler gives the kernel its whole bound at launch."""
    params = params_of(case)
    found = compiled(params)
    assert sorted(found.moves) == [("DEALLOC", params.producer_registers), ("TRY_ALLOC", params.consumer_registers)]
    assert found.registers == params.launch_registers


@pytest.mark.slow
@pytest.mark.parametrize("params", DESIGN.with_timelines(), ids=lambda p: f"{p.mode}-{p.accumulators}")
def test_the_instrumented_build_spills_no_further_sums(params) -> None:
    """A timeline shows the same loop; what stamps add is swapped around it."""
    found = compiled(params, "-DPROBE=1")
    assert found.vector["STL"] == spills.swapped(params)
    assert launch.build(params).plan.threads(instrumented=True) == 32 * params.warps


def recordings() -> list[TotalRow]:
    """Of this kernel on all devices, or skip."""
    found = [
        row
        for device in recorded_devices(TECHNIQUE)
        for row in Totals.load(TECHNIQUE.folder / "recorded" / device / TOTALS).rows
        if not is_stale(TECHNIQUE, row)
    ]
    return found or pytest.skip("no recordings of register_split")


def test_recorded_kernels_spill_where_the_model_says() -> None:
    """Recordings carry registers, local memory and the vector loop they were made with."""
    for row in recordings():
        params = TECHNIQUE.make_params(dict(row.params))
        program = TECHNIQUE.build(params)
        assert (row.local_bytes > 0) is spills.spills(params), row.params
        assert row.registers <= program.registers, row.params
        assert row.shared_bytes == shared_memory(program, load_profile("h200_sxm")), row.params
        assert row.max_active_ctas == params.ctas_per_sm, row.params
        if row.vector_loop is not None and params.fma_per_element <= FMA_UNROLL:
            slack = SPILL_TOLERANCE if params.accumulators - params.consumer_registers > spills.STEEP else 0
            assert abs(sass.family(row.vector_loop, "STL") - spills.swapped(params)) <= slack, row.params
            assert sass.family(row.vector_loop, "FFMA") == model.consumer_mix(params, 1).ffma, row.params


def test_local_accesses_go_where_they_fit() -> None:
    """Per vector and warp 128 bytes for each STL and LDL, through L2; to DRAM as far as L2 has no room for them."""
    few, many = Params("split", 96, 40, consumer_warps=8), Params("uniform", 144, consumer_warps=16)
    for params, hit in ((few, 1.0), (many, 0.0)):
        ops = list(TECHNIQUE.build(params).roles[1].body(1))
        vectors = params.tile_bytes // 512
        stores = [op for op in ops if isinstance(op, Store) and op.tile == 0]
        loads = [op for op in ops if isinstance(op, Load)]
        mixes = [op.mix for op in ops if isinstance(op, Compute) and op.tile == 0 and op.reads]
        assert spills.swapped(params) > 0
        tile_loads, tile_stores = (128 * params.consumer_warps * count for count in spills.tile_local(params))
        assert sum(op.bytes for op in stores) == 128 * vectors * spills.swapped(params) + tile_stores
        assert sum(op.bytes for op in loads) == 128 * vectors * spills.vector_loads(params) + tile_loads
        assert sum(mix.lds for mix in mixes) == vectors / params.consumer_warps
        assert sum(mix.setup for mix in mixes) == model.consumer_mix(params, 1).setup
        assert all(op.l2_hit == hit for op in (*loads, *stores))


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if spills.spills(params_of(case))], ids=str)
def test_loads_are_waited_for_as_often_as_the_model_says(case) -> None:
    """Were every load to take 300 cycles, a lone warp would lose so many times as much."""
    params = params_of(case)
    instructions, _ = assemble(launch.build(params).plan.spec())
    loops = sass.branch_loops(instructions)
    vector = next(loop for loop in loops if sass.family(loop.counts, "LDS"))
    body = [one for one in instructions if vector.first <= one.address <= vector.last]
    waits = (span(body, 300) - span(body, 33)) / (300 - 33)
    assert waits == pytest.approx(spills.waited_for(params), abs=1.3, rel=0.25)


def span(instructions: list[sass.Instruction], latency: int) -> int:
    """Cycles of a lone warp whose local loads take so long, by the stall counts."""
    now, ready = 0, {}
    for one in instructions:
        registers = re.findall(r"\bR\d+\b", one.text)
        now = max([now, *(ready.pop(register) for register in registers if register in ready)])
        if one.root == "LDL":
            ready[registers[0]] = now + latency
        now += max(one.stall or 1, 1)
    return now


def test_recorded_kernels_keep_as_many_values_in_memory_as_the_model_says() -> None:
    """By the bytes of a thread that the driver reports: 1.1 values off on average, of 2 to 137."""
    off = []
    for row in recordings():
        params = TECHNIQUE.make_params(dict(row.params))
        if spills.spills(params):
            off.append(spills.local_values(params) - row.local_bytes / spills.LOCAL_BYTES)
    assert len(off) >= 58
    assert np.mean(np.abs(off)) <= 1.2
    assert max(map(abs, off)) <= SPILL_TOLERANCE


def test_a_split_hands_on_what_the_producers_keep_not() -> None:
    """Registers of a CTA are conserved, in steps of eight per thread."""
    for params in DESIGN.points():
        if params.mode == "split":
            kept = params.producer_registers * PRODUCER_WARPS + params.consumer_registers * params.consumer_warps
            assert params.launch_registers < params.consumer_registers
            assert kept <= params.launch_registers * params.warps
        assert 32 * params.ctas_per_sm * params.warps * params.launch_registers <= REGISTERS_PER_SM


@pytest.mark.parametrize(("values", "message"), [
    ({"consumer_warps": 16, "ctas_per_sm": 4}, "80 warps, but an SM holds 64"),
    ({"consumer_warps": 16, "ctas_per_sm": 3}, "leave 32 registers per thread"),
    ({"consumer_warps": 4, "ctas_per_sm": 1}, "240 registers of 255 at launch"),
])  # fmt: skip
def test_what_cannot_be_is_refused(values, message) -> None:
    """With the parameters to change."""
    with pytest.raises(ValueError, match=message):
        Params(**values)


def test_the_program_moves_registers_once_per_cta_and_fits() -> None:
    """Both sides, before the first tile; uniform not at all."""
    profile = load_profile("h200_sxm")
    for mode, registers in (("split", [24, 104]), ("uniform", [])):
        params = Params(mode)
        program = TECHNIQUE.build(params)
        moved = [op.registers for role in program.roles for op in role.body(3) if isinstance(op, SetMaxNReg)]
        assert moved == registers
        assert occupancy(program, profile).ctas_per_sm == params.ctas_per_sm
        assert program.warps == params.warps


def test_the_split_is_predicted_to_pay_where_sums_just_do_not_fit() -> None:
    """96 sums: a third of them is swapped without it; with 64 it makes no difference."""
    profile = load_profile("h200_sxm")

    def total(mode: str, accumulators: int) -> float:
        program = TECHNIQUE.build(Params(mode, accumulators))
        return simulate_kernel(program, profile, trace=False).total_s

    assert total("uniform", 96) > 1.8 * total("split", 96)
    assert total("uniform", 64) == pytest.approx(total("split", 64), rel=0.01)


def test_sums_conserve_the_work() -> None:
    """Every vector is added to all accumulators once."""
    params = Params("uniform", 32, tile_bytes=10000, fma_per_element=5)
    ops = [(role, op) for role in TECHNIQUE.build(params).roles for op in role.body(4)]
    done = sum(role.warps * 32 * op.mix.ffma for role, op in ops if isinstance(op, Compute) and op.tile >= 0)
    vectors = 4 * 10000 // 16
    assert vectors * (4 * 5 + 32) <= done <= (vectors + 4 * 32) * (4 * 5 + 32)


def emulated(data: np.ndarray, params, warps: int) -> np.ndarray:
    """The kernel in float32: weighted sums per thread, added up over them and over the warp."""
    floats, count = params.tile_bytes // 4, params.accumulators // 4
    x = data.reshape(params.tiles_per_cta, params.grid, floats).copy()
    for _ in range(params.fma_per_element):
        x = (x * A + B).astype(np.float32)
    vectors = floats // 4
    weights = (1.0 + np.arange(count) / 64).astype(np.float32)
    out = np.zeros((params.grid, warps), np.float32)
    thread = np.arange(vectors) % (32 * warps)
    for cta in range(params.grid):
        sums = np.zeros((32 * warps, count, 4), np.float32)
        for tile in x[:, cta].reshape(-1, vectors, 4):
            for first in range(0, vectors, 32 * warps):
                part = tile[first : first + 32 * warps]
                sums[thread[first : first + len(part)]] += weights[:, None] * part[:, None, :]
        by_thread = sums.sum(axis=1, dtype=np.float32).sum(axis=1, dtype=np.float32)
        out[cta] = by_thread.reshape(warps, 32).sum(axis=1, dtype=np.float32)
    return out.reshape(-1)


@pytest.mark.parametrize("accumulators", [16, 96, 160])
@pytest.mark.parametrize("fma", [0, 17])
def test_a_float32_kernel_passes_and_one_lost_sum_is_found(accumulators, fma) -> None:
    """Rounding stays inside the tolerance; a sum that was never written back does not."""
    params = SimpleNamespace(
        tile_bytes=2064, fma_per_element=fma, grid=2, tiles_per_cta=12, accumulators=accumulators
    )  # fmt: skip
    plan = SimpleNamespace(technique=SimpleNamespace(name="emulated"), params=params, warps=4)
    data = np.random.default_rng(3).random(2 * 12 * 2064 // 4, dtype=np.float32)
    out = emulated(data, params, 4)
    assert launch.compare(data.view(Device), out.view(Device), plan, A, B) < 0.9
    out[0] *= np.float32(1 - 1 / (accumulators / 4) / 32)  # one of the sums, in one of the threads
    with pytest.raises(AssertionError, match="off by"):
        launch.compare(data.view(Device), out.view(Device), plan, A, B)


def test_design_covers_both_modes_and_what_spills() -> None:
    """At least forty points, both modes, with and without spills, groups that differ in the split alone."""
    points = DESIGN.points()
    assert len(set(points)) >= 40
    assert min(Counter(p.mode for p in points).values()) >= 12
    assert 10 <= sum(spills.spills(p) for p in points) <= len(points) - 10
    assert {p.consumer_warps for p in points} == {4, 8, 12, 16}
    assert len(DESIGN.with_timelines()) >= 4
    for group in DESIGN.compared():
        assert len(group) == 3
        rest = {tuple((k, v) for k, v in asdict(p).items() if k not in ("mode", "producer_registers")) for p in group}
        assert len(rest) == 1


def test_a_wrong_combination_in_a_scenario_names_the_parameter() -> None:
    """What Params refuses reaches the user with a line."""
    text = (
        "question: q\ndevice: h200_sxm\nkernel:\n  technique: register_split\n  params:\n    consumer_warps: 16\n"
        "    ctas_per_sm: 4\n"
    )
    with pytest.raises(ValueError, match=r"kernel\.params.*80 warps"):
        loads(text)
