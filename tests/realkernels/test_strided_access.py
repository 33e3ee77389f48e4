"""`strided_access`: addresses, instructions and hits are those of the kernel, and its sums are checked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware.memory.access import GRANULE_BYTES
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Compute, Load
from realkernels._harness.launcher import A, B
from realkernels._parts.l2 import HELD_BYTES
from realkernels.strided_access import LARGEST, STRIDES, TECHNIQUE, Params, launch, model
from realkernels.strided_access.design import DESIGN
from tests.realkernels.compiled import compile_spec
from tests.realkernels.test_oracle import Device

MIB = 1 << 20

# (pattern, stride, vector bytes, warps, CTAs per SM, loads, footprint): both patterns, every width and number of
# loads, smallest and largest arrays and strides, one warp, a full SM.
CASES = [
    ("strided", 1, 4, 8, 8, 1, LARGEST), ("strided", 1, 8, 4, 16, 2, 8 * MIB), ("strided", 1, 16, 8, 8, 4, LARGEST),
    ("strided", 64, 4, 6, 3, 4, 128 * MIB), ("strided", 2, 16, 32, 2, 2, LARGEST),
    ("strided", 64, 16, 1, 16, 4, LARGEST), ("random", 1, 4, 8, 8, 1, LARGEST),
    ("random", 1, 4, 32, 2, 4, 8 * MIB), ("random", 1, 8, 12, 5, 2, 64 * MIB),
    ("random", 1, 16, 8, 8, 4, LARGEST), ("random", 1, 16, 1, 16, 1, 8 * MIB), ("random", 1, 8, 16, 4, 4, 256 * MIB),
]  # fmt: skip


def params_of(case, **more) -> Params:
    """The configuration of a case."""
    pattern, stride, width, warps, ctas, loads, footprint = case
    values = {"grid": 132 * ctas, "footprint_bytes": footprint} | more
    return Params(pattern, stride, width, warps, loads, **values)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_the_model_states_the_instructions_of_the_compiled_kernel(case) -> None:
    """Loads with their width, additions and everything else of a turn, exactly; registers bounded, no spills."""
    params = params_of(case)
    found = compile_spec(launch.build(params).plan.spec())
    load, compute = turn(params)
    suffix = {4: "LDG.E", 8: "LDG.E.64", 16: "LDG.E.128"}[params.vector_bytes]
    assert found.loop[suffix] == found.family("LDG") == params.loads
    assert found.family("FADD") == compute.mix.ffma
    assert found.other("LDG", "FADD") == load.other + compute.mix.setup
    assert found.spilled == 0
    program = TECHNIQUE.build(params)
    assert program.registers - 24 <= found.registers <= program.registers


def turn(params: Params) -> tuple[Load, Compute]:
    """The ops of one turn."""
    ops = [op for op in TECHNIQUE.build(params).roles[0].body(1) if op.tile == 0]
    assert [type(op) for op in ops] == [Load, Compute]
    return ops[0], ops[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_lanes_lie_where_the_model_says(case) -> None:
    """Sectors and lines of a warp's access, and the distance of its lanes, against the kernel's own addresses."""
    params = params_of(case)
    load, _ = turn(params)
    sectors, lines = model.touched(params)
    for warp in (0, 1, 777, 123_456):
        at = launch.places(params, np.arange(32, dtype=np.uint64) + np.uint64(32 * warp)).astype(np.int64)
        assert (at >= 0).all()
        assert (at % params.vector_bytes == 0).all()
        assert (at < params.footprint_bytes).all()
        if params.pattern == "strided":
            assert (np.diff(at) == load.stride).all()
            assert len(set(at // 32)) == sectors
            assert len(set(at // 128)) == lines
        else:
            # Two of 32 lanes may meet by chance.
            assert sectors == lines == 32
            assert len(set(at // 32)) >= 31
            assert load.scatter == params.vector_bytes


def test_random_addresses_use_the_whole_array_evenly() -> None:
    """Each of 64 parts gets its share within 3 %, and as many sectors come up as chance would have it."""
    params = params_of(("random", 1, 4, 8, 8, 4, 8 * MIB))
    count, sectors = 1 << 20, 8 * MIB // 32
    at = launch.places(params, np.arange(count, dtype=np.uint64))
    shares = np.bincount(at // (8 * MIB // 64), minlength=64) / (count / 64)
    assert np.abs(shares - 1.0).max() < 0.03
    assert len(np.unique(at // 32)) / sectors == pytest.approx(1.0 - np.exp(-count / sectors), abs=0.01)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))
def test_the_program_reads_what_the_kernel_uses(case) -> None:
    """Useful bytes of all turns, the ones in which L2 fills included; one sum per warp is written."""
    params = params_of(case, tiles_per_cta=40)
    program = TECHNIQUE.build(params)
    traffic = Traffic.of(program)
    assert traffic.read_bytes == 40 * params.grid * params.tile_bytes
    assert traffic.written_bytes == 4 * params.warps * params.grid
    assert program.warps == params.warps


@pytest.mark.parametrize("case", [("strided", 4, 4), ("strided", 1, 16), ("strided", 16, 16), ("random", 1, 8)])
def test_hits_of_an_array_that_fits_are_counted_from_its_addresses(case) -> None:
    """What an array of 8 MiB is asked for the first time in a turn misses; the rest hits."""
    pattern, stride, width = case
    params = Params(pattern, stride, width, 8, 4, 132, 24, 8 * MIB)
    warming, steady = model.hits(params)
    per_turn = 132 * 32 * 8 * 4
    # A sweep asks for each vector once; at random, one that shares a granule with another finds it there.
    unit = width if pattern == "strided" else GRANULE_BYTES
    seen, found = np.zeros(8 * MIB // unit, dtype=bool), []
    for first in range(0, 24 * per_turn, per_turn):
        asked = np.unique(launch.places(params, np.arange(first, first + per_turn, dtype=np.uint64)) // unit)
        found.append(1.0 - np.count_nonzero(~seen[asked]) / per_turn)
        seen[asked] = True
    stated = [*warming, *[steady] * (24 - len(warming))]
    assert stated == pytest.approx(found, abs=0.04)


def test_an_array_beyond_l2_is_read_from_memory() -> None:
    """Strided sweeps over much more than L2 hit nothing; random reads hit half of the lines that L2 holds."""
    assert model.hits(params_of(CASES[2], tiles_per_cta=1000)) == ((), 0.0)
    warming, steady = model.hits(params_of(CASES[9], tiles_per_cta=1000))
    assert len(warming) == 1
    assert steady == pytest.approx(HELD_BYTES / LARGEST / 2, rel=0.02)


def test_a_slow_start_is_spread_over_the_run() -> None:
    """Of one CTA alone L2 takes thousands of turns to fill, of which none is spelled out."""
    params = Params("random", 1, 4, 1, 1, 1, 5000, 8 * MIB)
    warming, steady = model.hits(params)
    assert warming == ()
    assert 0.2 < steady < 0.7


def problem(case):
    """Input, plan and the sums that the kernel would write, by its own arithmetic on 32-bit numbers."""
    params = params_of(case, grid=3, tiles_per_cta=5)
    data = np.random.default_rng(1).random(params.footprint_bytes // 4, dtype=np.float32)
    plan = SimpleNamespace(technique=TECHNIQUE, params=params)
    threads, loads, width = 32 * params.warps, params.loads, params.vector_bytes
    advance, low = launch.advance(params), (1 << 32) - 1
    out = np.zeros((3, params.warps), np.float32)
    for cta in range(3):
        for thread in range(threads):
            at, total = (cta * threads + thread) * advance & low, np.zeros(width // 4, np.float32)
            for _ in range(5 * loads):
                place = at & (params.footprint_bytes - 1)
                if params.pattern == "random":
                    mixed = (at ^ at >> 16) * launch.MIXES[0] & low
                    mixed = (mixed ^ mixed >> 13) * launch.MIXES[1] & low
                    place = (mixed ^ mixed >> 16) >> 32 - (params.footprint_bytes.bit_length() - 1) & low - width + 1
                total += data[place // 4 : (place + width) // 4]
                at = at + 3 * threads * advance & low
            out[cta, thread // 32] += total.sum(dtype=np.float32)
    return data.view(Device), plan, out.reshape(-1).view(Device)


SMALL = [("strided", 64, 16, 2, 1, 2, 8 * MIB), ("random", 1, 8, 3, 1, 1, 8 * MIB), ("strided", 1, 4, 2, 1, 4, 8 * MIB)]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: "-".join(str(part) for part in case))
def test_right_sums_pass_the_oracle_and_wrong_ones_fail(case) -> None:
    """Every CTA is looked at; one sum exchanged for another's, one missing, other addresses."""
    data, plan, out = problem(case)
    assert launch.compare(data, out, plan, A, B) < 0.7
    for spoil in ("exchanged", "missing", "elsewhere"):
        wrong, source = np.asarray(out).copy(), data
        if spoil == "exchanged":
            wrong[[0, -1]] = wrong[[-1, 0]]
        elif spoil == "missing":
            wrong[1] = np.nan
        else:
            source = np.roll(np.asarray(data), 8).view(Device)
        with pytest.raises(AssertionError, match=r"off by|never written"):
            launch.compare(source, wrong.view(Device), plan, A, B)


def test_the_design_reaches_every_corner() -> None:
    """At least 40 different points that fit and last; all strides, widths and loads, arrays small and large."""
    points = DESIGN.points()
    members = [member for group in DESIGN.compared() for member in group]
    assert points == DESIGN.points()
    assert len(set(points)) == len(points) >= 40
    assert {p.stride for p in points} == set(STRIDES)
    assert {p.vector_bytes for p in points} == {4, 8, 16}
    assert {p.pattern for p in points} == {"strided", "random"}
    assert min(p.footprint_bytes for p in points) == 8 * MIB
    assert max(p.footprint_bytes for p in points) == LARGEST
    assert all(DESIGN.is_measurable(p) and p.grid <= 132 * p.ctas_per_sm for p in points + members)
    assert DESIGN.with_timelines() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"footprint_bytes": 100 * MIB}, "67108864 or 134217728"),
        ({"pattern": "random", "stride": 2}, "leave it at 1"),
    ],
)
def test_impossible_parameters_say_what_to_do(values, message) -> None:
    """The error names a way out."""
    with pytest.raises(ValueError, match=message):
        Params(**values)
