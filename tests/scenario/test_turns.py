"""Roles that take turns: each has tiles of its own, and may wait for the others."""

import math

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import Compute, Release, Store, TmaLoad, WaitFull
from gpusim.scenario import loads, predict
from tests.scenario.kernel_texts import PING_PONG


class TestTurns:
    """Roles that treat every second or third tile only."""

    def test_each_role_gets_its_own_tiles(self):
        """Even ones, odd ones; the op carries the tile's number, so that stage and phase are right."""
        roles = {role.name: role for role in loads(PING_PONG).program().roles}
        waits = {name: [op.tile for op in roles[name].body(7) if isinstance(op, WaitFull)] for name in ("ping", "pong")}
        assert waits == {"ping": [0, 2, 4, 6], "pong": [1, 3, 5]}
        assert [op.tile for op in roles["producer"].body(3) if isinstance(op, TmaLoad)] == [0, 1, 2]

    def test_a_stage_is_free_when_the_role_whose_turn_it_was_has_released_it(self):
        """Four arrivals, not eight; with two groups of three by three all the same."""
        program = loads(PING_PONG).program()
        assert program.rings[0].empty_arrivals == 4
        assert program.turn == 2

    def test_one_group_computes_in_the_gaps_of_the_other(self):
        """A chain of 128 dependent FMAs takes 512 cycles: 12 tiles 12 times that, with two groups in turns half."""
        one = PING_PONG[: PING_PONG.index("    pong")].replace("every: 2, ", "")
        alone, together = (predict(loads(text), exact=True).total_s for text in (one, PING_PONG))
        assert alone == pytest.approx((12 * 512 + 128) * 1e-9, rel=0.02)
        assert together == pytest.approx((6 * 512 + 2 * 128) * 1e-9, rel=0.02)

    @pytest.mark.parametrize("stages", [2, 4])
    def test_extrapolated_turns_agree_with_exact_ones(self, stages):
        """As all loops do, where the ring comes round with the roles."""
        text = PING_PONG.replace("stages: 3", f"stages: {stages}")
        scenario = loads(text.replace("tiles_per_cta: 12", "tiles_per_cta: 400"))
        assert predict(scenario).total_s == pytest.approx(predict(scenario, exact=True).total_s, rel=1e-3)

    def test_flop_are_those_of_all_tiles(self):
        """No tile is counted twice or left out."""
        assert predict(loads(PING_PONG)).meta["flop"] == 4 * 12 * 2 * 128 * 128

    def test_an_order_among_groups_is_a_barrier_of_the_tile_before(self):
        """``lag: 1`` on a barrier on which whoever is done arrives: the groups compute one after the other."""
        ordered = PING_PONG.replace("  roles:", "  barriers: {order: {arrivals: 4}}\n  roles:")
        ordered = ordered.replace("{compute", "{mbarrier_wait: {barrier: order, lag: 1}}, {compute")
        ordered = ordered.replace(", {release: input}", ", {arrive: order}, {release: input}")
        assert predict(loads(ordered), exact=True).total_s == pytest.approx((12 * 512 + 128) * 1e-9, rel=0.02)

    def test_ahead_counts_tiles_and_the_epilogue_has_the_last_own_tile(self):
        """A role of odd tiles that fetches two tiles early fetches its next one."""
        text = """\
question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 8
  rings: {input: {stages: 4, bytes: 4 KiB}}
  roles:
    odd:
      warps: 4
      every: 2
      offset: 1
      prologue: [sync_threads]
      per_tile: [{cp_async: {ring: input, ahead: 2}}, {commit_group: {ahead: 2}}, {wait_group: 1}, {compute: {ffma: 1}}]
      epilogue: [{store: 16}, {store: {bytes: 32, tile: -1}}]
"""
        body = list(loads(text).program().roles[0].body(8))
        copies = [op.tile for op in body if type(op).__name__ == "CpAsync"]
        assert copies == [1, 3, 5, 7]
        assert [type(op).__name__ for op in body[1:4]] == ["CpAsync", "CommitGroup", "CpAsync"]
        assert [op.tile for op in body if isinstance(op, Compute)] == [1, 3, 5, 7]
        assert [op.tile for op in body if isinstance(op, Store)] == [7, 7]
        assert [op.tile for op in loads(text).program().roles[0].body(7) if isinstance(op, Store)] == [5, 6]

    def test_three_groups_take_turns(self):
        """Any number of them, as long as each tile has one."""
        third = "    third: {warps: 4, every: 3, offset: 2, per_tile: [{wait: input}, {release: input}]}\n"
        program = loads(PING_PONG.replace("every: 2", "every: 3") + third).program()
        assert program.turn == 3
        assert program.rings[0].empty_arrivals == 4
        done = sorted(op.tile for role in program.roles for op in role.body(9) if isinstance(op, Release))
        assert done == list(range(9))

    def test_tiles_may_differ_between_ctas(self):
        """A CTA with one tile leaves the second group without work."""
        text = PING_PONG.replace("tiles_per_cta: 12", "tiles_per_cta: [1, 2, 3, 7]")
        assert math.isfinite(predict(loads(text)).total_s)

    @pytest.mark.parametrize(("old", "new", "message"), [
        ("offset: 1", "offset: 2", r"roles\.pong\.offset: is 2 with every 2 .allowed: at most 1"),
        ("every: 2, offset: 1, ", "", "number 1 is waited for by 4 warps, number 0 waited for by 8 warps, but"),
        ("offset: 1, ", "", r"rings\.input: of every 2 tiles number 1 is waited for by no warps, number 0"),
        ("{warps: 1, per_tile", "{warps: 1, every: 2, per_tile", "number 1 is filled by no arrivals, number 0"),
        ("tiles_per_cta: 12", "tiles_per_cta: 1", "offset: the role never runs: it begins with tile 1, no CTA"),
        ("every: 2, offset: 1", "every: 0, offset: 1", "every: 0 is not possible .allowed: at least 1"),
        ("every: 2, offset: 1", "every: 17, offset: 1", "at most 16"),
    ])  # fmt: skip
    def test_turns_that_leave_a_tile_to_nobody_are_explained(self, old, new, message):
        """Which tile, by how many warps, and what to look at."""
        assert old in PING_PONG
        with pytest.raises(ScenarioError, match=message):
            loads(PING_PONG.replace(old, new))

    def test_turns_that_never_come_together_are_refused(self):
        """16 and 15 and 7 meet after 1680 tiles."""
        roles = "".join(
            f"    r{n}: {{warps: 1, every: {n}, per_tile: [{{compute: {{ffma: 1}}}}]}}\n" for n in (16, 15, 7)
        )
        with pytest.raises(
            ScenarioError, match=r"every: .* r16 16, r15 15, r7 7\) come together only after 1680 tiles"
        ):
            loads(PING_PONG + roles)

    def test_stated_arrivals_are_the_users_own(self):
        """Whoever counts them need not be told."""
        text = PING_PONG.replace("bytes: 4 KiB", "bytes: 4 KiB, empty_arrivals: 4").replace("offset: 1, ", "")
        assert loads(text).program().rings[0].empty_arrivals == 4


class TestNamedBarrierWithoutWait:
    """bar.arrive of one group, bar.sync of the other, as consumers hand each other their turns."""

    def test_groups_compute_one_after_the_other(self):
        """The second begins a tile when the first has arrived, and the other way round; 12 times 512 cycles."""
        ping = "{named_barrier: {id: 2, warps: 8}}, COMPUTE, {named_barrier: {id: 3, warps: 8, wait: false}}"
        pong = "{named_barrier: {id: 3, warps: 8}}, COMPUTE, {named_barrier: {id: 2, warps: 8, wait: false}}"
        compute = "{compute: {ffma: 128, ilp: 1}}"
        head, tail = PING_PONG.split("    pong")
        head = head.replace(compute, ping.replace("COMPUTE", compute))
        tail = tail.replace(compute, pong.replace("COMPUTE", compute))
        first = "prologue: [{named_barrier: {id: 2, warps: 8, wait: false}}], per_tile"
        text = head + "    pong" + tail.replace("per_tile", first)
        assert predict(loads(text), exact=True).total_s == pytest.approx((12 * 512 + 128) * 1e-9, rel=0.02)
