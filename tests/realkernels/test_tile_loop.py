"""The models' instruction counts are those of the compiled kernels, fresh or as recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import import_module

import pytest

from gpusim.hardware.occupancy import shared_memory
from gpusim.hardware.profile import load_profile
from gpusim.program import Compute, CpAsync, KernelProgram, Load, Role, StoreShared, TmaLoad, sass
from gpusim.validation.recording import TOTALS, Totals, is_stale, recorded_devices
from realkernels._parts import cp_async_tiles, tma_tiles
from realkernels._parts.hopper import MAX_PER_CTA, RESERVED_PER_CTA, SHARED_PER_SM
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import FMA_UNROLL, TILE_TOLERANCE, shares, shares_apart, tile_mix
from realkernels.sync_tile import model as sync_model
from realkernels.tma_warp_specialized import model as tma_model
from tests.realkernels.compiled import REGISTER_STEP, allocated, assemble, instructions_of, within

TECHNIQUES = ("sync_tile", "cp_async_multistage", "tma_warp_specialized")
COUNTED_APART = {"FFMA", "FADD", "LDS", "STS", "LDG", "LDGSTS", "SYNCS", "BAR", "LDGDEPBAR", "DEPBAR", "UBLKCP"}

# (tile bytes, FMAs per element, warps): even and uneven shares, less than one vector per thread,
# straight and rolled FMAs, rolled copies.
SHAPES = [
    (2048, 0, 16), (2048, 16, 2), (5008, 17, 3), (10000, 16, 4), (16384, 40, 4), (20496, 16, 4),
    (24576, 256, 8), (33328, 64, 16), (45072, 7, 8), (65536, 256, 2), (65536, 3, 3),
]  # fmt: skip
RINGS = ("cp_async_multistage", "tma_warp_specialized")
CASES = [("sync_tile", *shape, None) for shape in SHAPES]
CASES += [(name, *shape, 3) for name in RINGS for shape in SHAPES]
CASES += [(name, *shape, stages) for name in RINGS for shape in SHAPES[2:6:3] for stages in (1, 2, 8)]


def params_of(name: str, tile_bytes: int, fma: int, warps: int, stages: int | None):
    """Params of a technique, whatever it calls its warps."""
    technique = import_module(f"realkernels.{name}").TECHNIQUE
    values = {"tile_bytes": tile_bytes, "fma_per_element": fma, "ctas_per_sm": 1}
    values["consumer_warps" if name == "tma_warp_specialized" else "warps"] = warps
    return technique.params(**values | ({} if stages is None else {"stages": stages}))


@dataclass(frozen=True)
class Profile:
    """Instructions of a kernel's tile loop: by opcode family, and those not counted apart."""

    vector: Counter
    vector_other: int
    roll: Counter
    roll_other: int
    turn_other: int | None
    tile_other: int
    placeholders: int
    turn_placeholders: int
    producer_other: int | None
    registers: int
    spilled: int


def compile_profile(name: str, params) -> Profile:
    """The profile of a fresh compilation for sm_90a; skips without tools."""
    spec = import_module(f"realkernels.{name}.launch").build(params).plan.spec()
    instructions, report = assemble(spec)
    words = report.split()
    registers = int(words[words.index("Used") + 1])
    spilled = int(report.split(" bytes spill stores")[0].split()[-1])
    return profile(instructions, registers, spilled)


def profile(instructions, registers: int, spilled: int) -> Profile:
    """Split the tile loop into what runs per vector, per rolled iteration, per copy turn and per tile."""
    loops = sass.branch_loops(instructions)

    def body(loop, without=()):
        return instructions_of(instructions, loop, without)

    def counted(listing):
        apart = [i for i in listing if i.root in COUNTED_APART or i.text.startswith("@!PT")]
        return Counter(i.root for i in apart), len(listing) - len(apart)

    def holds(loop, opcode):
        return any(i.opcode.startswith(opcode) and not i.text.startswith("@!PT") for i in body(loop))

    def placeholders(listing):
        return sum(i.text.startswith("@!PT") for i in listing)

    vector = next(loop for loop in loops if holds(loop, "LDS"))
    rolls = [loop for loop in loops if within(loop, vector)]
    # Waits that jump back from code placed behind the loop look like larger loops; the tile loop is
    # the smallest that waits or meets.
    tile = next(loop for loop in loops if within(vector, loop) and (holds(loop, "SYNCS") or holds(loop, "BAR")))
    turns = [loop for loop in loops if within(loop, tile) and (holds(loop, "LDGSTS") or holds(loop, "STS"))]
    producers = [loop for loop in loops if holds(loop, "UBLKCP") and holds(loop, "SYNCS") and not holds(loop, "LDS")]
    vector_counts, vector_other = counted(body(vector, rolls))
    roll_counts, roll_other = counted(body(rolls[0])) if rolls else (Counter(), 0)
    # A poll of a barrier inside the loop is repeated while waiting; its branch belongs to the tile once.
    return Profile(
        vector_counts, vector_other, roll_counts, roll_other,
        counted(body(turns[0]))[1] if turns else None,
        counted(body(tile, [vector, *turns]))[1],
        placeholders(body(tile, turns)), placeholders(body(turns[0])) if turns else 0,
        counted(body(producers[0]))[1] if producers else None,
        registers, spilled,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_the_model_states_the_instructions_and_registers_of_the_compiled_kernel(case) -> None:
    """Vector loop exactly, overhead per tile within TILE_TOLERANCE, registers within two steps, no spills."""
    name, tile_bytes, fma, warps, stages = case
    params = params_of(name, tile_bytes, fma, warps, stages)
    found = compile_profile(name, params)
    assert_vector_loop(found, fma)
    OVERHEAD[name](found, params)
    program = import_module(f"realkernels.{name}").TECHNIQUE.build(params)
    assert found.spilled == 0
    assert program.registers - 2 * REGISTER_STEP <= allocated(found.registers) <= program.registers + REGISTER_STEP


def assert_vector_loop(found: Profile, fma: int) -> None:
    """LDS, FFMA + FADD and other instructions per vector and per rolled iteration are the model's."""
    rolls = fma // FMA_UNROLL if fma > FMA_UNROLL else 0
    one = tile_mix(1, fma, 0)
    assert found.vector["LDS"] == one.lds
    assert found.vector["FFMA"] + found.vector["FADD"] + rolls * found.roll["FFMA"] == one.ffma
    # What stands around the rolled FMAs is code around a loop (`Mix.setup`), the loop's own is not.
    around, inside = (found.vector_other, rolls * found.roll_other) if rolls else (0, found.vector_other)
    assert (around, inside) == (one.setup, one.other)


def assert_sync_overhead(found: Profile, params) -> None:
    """Around the batches, and per batch when they are rolled."""
    around, per_batch = sync_model.tile_other(params)
    full, rest = sync_model.batches(params)
    if found.turn_other is None:
        around += per_batch * full
    else:
        assert abs(found.turn_other - per_batch) <= 2
    assert abs(found.tile_other - around - sync_model.BATCH_OTHER * bool(rest)) <= TILE_TOLERANCE


def assert_cp_async_overhead(found: Profile, params) -> None:
    """Issue and tile loop together; a turn of a rolled issue loop may differ by two."""
    expected = cp_async_tiles.tile_other(params) + cp_async_tiles.issue_other(params)
    turns = params.tile_bytes // 16 // (32 * params.warps) // cp_async_tiles.ISSUE_UNROLL if found.turn_other else 0
    actual = found.tile_other + turns * (found.turn_other or 0)
    assert abs(actual - expected) <= TILE_TOLERANCE + 2 * turns
    assert found.placeholders + turns * found.turn_placeholders == cp_async_tiles.placeholders(params)


def assert_tma_overhead(found: Profile, params) -> None:
    """Consumer and producer."""
    assert abs(found.tile_other - tma_tiles.consumer_other(params)) <= TILE_TOLERANCE
    assert abs(found.producer_other - tma_model.producer_other(params)) <= TILE_TOLERANCE


OVERHEAD = {
    "sync_tile": assert_sync_overhead,
    "cp_async_multistage": assert_cp_async_overhead,
    "tma_warp_specialized": assert_tma_overhead,
}


@pytest.mark.parametrize("name", TECHNIQUES)
def test_recorded_counts_agree_with_the_model(name) -> None:
    """Recordings carry the SASS they were made with; FFMA, LDS and shared memory must fit the model."""
    technique = import_module(f"realkernels.{name}").TECHNIQUE
    rows = [
        row
        for device in recorded_devices(technique)
        if (path := technique.folder / "recorded" / device / TOTALS).exists()
        for row in Totals.load(path).rows
    ]
    assert rows, f"no recordings of {name}"
    for row in rows:
        program = technique.build(technique.params(**row.params))
        assert row.local_bytes == 0, row.params
        assert row.shared_bytes == padded_shared_bytes(program.shared_bytes, row.params["ctas_per_sm"]), row.params
        assert row.max_active_ctas == row.params["ctas_per_sm"], row.params
        if is_stale(technique, row) or row.vector_loop is None:
            continue
        vector = row.vector_loop
        fma = row.params["fma_per_element"]
        rolled = FMA_UNROLL + fma % FMA_UNROLL if fma > FMA_UNROLL else fma
        assert sass.family(vector, "FFMA") == 4 * rolled, row.params
        assert sass.family(vector, "FADD") == 4, row.params
        assert sum(vector.values()) == 4 * rolled + 4 + 1 + (9 if fma > FMA_UNROLL else 3), row.params


@pytest.mark.parametrize("tile_bytes", [2048, 2064, 5008, 16384, 45072, 65536])
@pytest.mark.parametrize("warps", [2, 3, 7, 16])
@pytest.mark.parametrize("divide", [shares, shares_apart])
def test_shares_cover_every_vector_of_a_tile_once(tile_bytes, warps, divide) -> None:
    """Vector v belongs to thread v mod threads: bytes, warps and iterations follow."""
    parts = divide(tile_bytes, warps)
    assert sum(part.bytes for part in parts) == tile_bytes
    assert sum(part.warps for part in parts) == warps
    owners = Counter(v % (32 * warps) // 32 for v in range(tile_bytes // 16))
    per_warp = [-(-owners[warp] // 32) for warp in range(warps)]
    lengths = [max(Counter(v % (32 * warps) for v in range(tile_bytes // 16) if v % (32 * warps) // 32 == w).values(),
                   default=0) for w in range(warps)]  # fmt: skip
    assert [part.iterations for part in parts for _ in range(part.warps)] == lengths
    assert all(count <= length for count, length in zip(per_warp, lengths, strict=True))


@pytest.mark.parametrize(
    ("tile_bytes", "expected"),
    [
        (3072, [("", 6, False)]),
        (2560, [("", 5, False), ("_tail", 1, False)]),
        (2304, [("", 4, False), ("_part", 1, True), ("_tail", 1, False)]),
        (3088, [("", 1, True), ("_tail", 5, False)]),
    ],
)
def test_a_warp_filled_in_part_is_a_share_of_its_own(tile_bytes, expected) -> None:
    """Of six warps, 512 bytes for each vector of one; who meets at every tile waits for it and stays one share."""
    assert [(part.suffix, part.warps, part.parted) for part in shares_apart(tile_bytes, 6)] == expected
    assert shares(tile_bytes, 6)[0].parted == any(parted for *_, parted in expected)


@pytest.mark.parametrize("case", CASES[:3] + CASES[-6:], ids=lambda case: "-".join(str(part) for part in case))
def test_the_program_moves_and_computes_every_byte_once(case) -> None:
    """Conservation: bytes loaded are tiles × tile bytes, and so are the vectors computed."""
    name, tile_bytes, fma, warps, stages = case
    program = import_module(f"realkernels.{name}").TECHNIQUE.build(params_of(name, tile_bytes, fma, warps, stages))
    tiles = 6
    ops = [(role, op) for role in program.roles for op in role.body(tiles)]
    copied = sum(op.bytes for _, op in ops if isinstance(op, Load | CpAsync | TmaLoad))
    stored = sum(op.bytes for _, op in ops if isinstance(op, StoreShared))
    lanes = sum(role.warps * op.mix.lds for role, op in ops if isinstance(op, Compute) and op.tile >= 0)
    assert copied == tiles * tile_bytes
    assert stored in (0, copied)
    assert tiles * tile_bytes / 512 <= lanes <= tiles * (tile_bytes / 512 + 1)


@pytest.mark.parametrize("ctas", [1, 2, 3, 4])
def test_padding_admits_exactly_the_ctas_asked_for(ctas) -> None:
    """The share of an SM, less the driver's kilobyte, as the model has it; larger demands stay as they are."""
    padded = padded_shared_bytes(2048, ctas)
    program = KernelProgram(
        "one", 1, 1, (Role("worker", 1, lambda _tiles: iter(())),), shared_bytes=2048, share_of_sm=ctas
    )
    assert shared_memory(program, load_profile("h200_sxm")) == padded
    assert SHARED_PER_SM // (padded + RESERVED_PER_CTA) == ctas
    assert padded <= MAX_PER_CTA
    assert padded_shared_bytes(200_000, ctas) >= 200_000
