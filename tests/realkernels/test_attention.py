"""`attention`: its oracle reads what the kernel reads, its instructions are those of the kernel, and who hides whom."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import sass
from gpusim.timeline.metrics import hidden_fraction
from realkernels.attention import TECHNIQUE, Params, launch, model, oracle
from tests.realkernels.compiled import compile_spec
from tests.realkernels.test_oracle import Device

SMALL = Params(head=64, tile_keys=64, warpgroups=1, query_tiles=2, heads=2, tiles_per_cta=2)
FEW = 14
"""Instructions by which one compilation may differ; the most is 13 of 162, with turns, heads of 128 and 64 keys."""
CYCLES = 0.1
"""The same of cycles, as a fraction, as one compilation hides more behind the exponentials than another."""


def packed(tiles: np.ndarray) -> np.ndarray:
    """``tiles`` [tiles, rows, depth] in core matrices of 8 rows of 8 halves, first along the rows."""
    count, rows, depth = tiles.shape
    cores = tiles.reshape(count, rows // 8, 8, depth // 8, 8)
    return np.ascontiguousarray(cores.transpose(0, 3, 1, 2, 4)).reshape(count, -1)


def test_packing_is_undone():
    """First along the rows and then along what is summed up over."""
    plain = np.random.default_rng(1).random((3, 64, 128), dtype=np.float32).astype(np.float16)
    assert np.array_equal(oracle.unpacked(packed(plain), 64, 128), plain)


def error_of(change: float = 0.0) -> float:
    """What the oracle finds in an attention of two heads that was made in another way, one number off by ``change``."""
    random = np.random.default_rng(2)
    queries, keys, values = (random.random((4, 64, 64), dtype=np.float32).astype(np.float16) for _ in range(3))
    out = np.empty((4, 64, 64))
    for cta in range(4):
        of_head = slice(2 * (cta // 2), 2 * (cta // 2) + 2)
        total = np.zeros((64, 1))
        out[cta] = 0.0
        # Tile by tile, without a maximum: numbers are small.
        for key, value in zip(keys[of_head].astype(np.float64), values[of_head].astype(np.float64), strict=True):
            weights = np.exp(queries[cta].astype(np.float64) @ key.T / 8.0)
            out[cta] += weights @ value
            total += weights.sum(axis=1, keepdims=True)
        out[cta] /= total
    out[0, 5, 7] *= 1.0 + change
    halves = np.concatenate([packed(one).ravel() for one in (queries, keys, values.transpose(0, 2, 1))])
    plan = SimpleNamespace(params=SMALL, technique=TECHNIQUE)
    return oracle.compare(halves.view(np.float32).view(Device), out.astype(np.float32).ravel().view(Device), plan)


def test_the_oracle_takes_attention_and_nothing_else():
    """A hundredth is too much, and so is an element that nobody has written."""
    assert error_of() < 0.01
    with pytest.raises(AssertionError, match="off by"):
        error_of(0.01)
    with pytest.raises(AssertionError, match="never written"):
        error_of(np.nan)


def test_what_l2_has_is_what_other_ctas_of_the_head_have_asked_for():
    """Of keys and values that fit each byte comes once; of more of them once a wave."""
    fits = Params(query_tiles=4, heads=33, tiles_per_cta=8)
    assert model.l2_hit(fits) == 0.75
    large = Params(query_tiles=66, heads=6, tiles_per_cta=400)
    assert model.l2_hit(large) == 1 - 6 / 396
    assert model.l2_hit(replace(large, query_tiles=88, heads=3)) == 1 - (2 + 2) / 264  # the second one in both waves
    traffic = Traffic.of(model.build(fits))
    assert traffic.missed_bytes == pytest.approx(33 * (8 * fits.tile_bytes + 4 * fits.query_bytes))
    assert traffic.tensor_flop == 4 * (4 * 33 * fits.queries) * (8 * fits.tile_keys) * fits.head


def test_ping_pong_takes_two_warpgroups():
    """The message says what is allowed."""
    with pytest.raises(ValueError, match="ping_pong is for two warpgroups, not 3"):
        Params(head=64, warpgroups=3, ping_pong=True)


def test_what_would_spill_is_refused():
    """Three warpgroups have 160 registers a thread, and wide tiles need more."""
    with pytest.raises(ValueError, match="take 188 registers per thread, 1 CTAs of 3 warpgroups leave 160"):
        Params(warpgroups=3)
    assert Params(head=64, warpgroups=3).consumer_registers == 160


def test_a_second_stage_hides_the_copies():
    """With one the next keys are asked for when the last ones have been multiplied."""
    device = load_profile("h200_sxm")
    alone = Params(tile_keys=64, warpgroups=1, query_tiles=12, heads=11, tiles_per_cta=24)
    one, two = (hidden_fraction(simulate_kernel(model.build(replace(alone, stages=s)), device)) for s in (1, 2))
    assert two > one + 0.5


@pytest.mark.slow
@pytest.mark.parametrize("ping_pong", [False, True])
@pytest.mark.parametrize(("head", "keys"), [(64, 64), (64, 128), (128, 64), (128, 128)])
@pytest.mark.parametrize("pending", [0, 1])
def test_the_model_states_what_the_kernel_executes(head, keys, pending, ping_pong) -> None:
    """Products and arithmetic of a turn, nothing spilled, exponentials in front of the wait; skips without tools."""
    params = Params(head=head, tile_keys=keys, pending=pending, ping_pong=ping_pong)
    compiled = compile_spec(launch.build(params).plan.spec())
    assert compiled.spilled == 0
    # The way back from a poll behind the loop goes over products, too; both kinds are in the loop over tiles only.
    turn = (head + keys) // model.PRODUCT_DEPTH
    loops = [one for one in sass.branch_loops(compiled.instructions) if sass.family(one.counts, "HGMMA") == turn]
    loop = min(loops, key=lambda one: one.last - one.first)
    body = [one for one in compiled.instructions if loop.first <= one.address <= loop.last]
    waits = [at for at, one in enumerate(body) if "DEPBAR" in one.opcode]
    parts = (body[waits[0] : waits[1]], body[waits[1] :])
    stated = (model.exponentials(params), model.rescaled(params))
    if not pending:
        parts, stated = ((*parts[0], *parts[1]),), (model.softmax(params),)
    for part, mix in zip(parts, stated, strict=True):
        arithmetic = [one.root for one in part]
        assert sum(root in ("FFMA", "FADD", "FMUL") for root in arithmetic) == pytest.approx(mix.ffma, abs=FEW)
        assert arithmetic.count("MUFU") == mix.mufu
        assert len(part) == pytest.approx(mix.issue_slots, abs=FEW)
        assert sass.cycles_alone(part, loop=False) == pytest.approx(mix.alone, rel=CYCLES)
