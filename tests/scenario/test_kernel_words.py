"""Everything the ops can say can be said in a scenario file."""

import dataclasses

import pytest

from gpusim import program as ops
from gpusim.errors import HazardError, ScenarioError
from gpusim.program import (
    Arrive,
    Atomic,
    Compute,
    Load,
    Mix,
    Op,
    Store,
    StoreShared,
    TmaLoad,
    Wait,
    WaitLoads,
)
from gpusim.scenario import loads, predict
from gpusim.scenario.kernel.op_schema import OPS
from tests.scenario.kernel_texts import PING_PONG

WORDS = {
    "acquire": ops.Acquire, "tma_load": ops.TmaLoad, "wait": ops.WaitFull, "compute": ops.Compute,
    "release": ops.Release, "load": ops.Load, "wait_loads": ops.WaitLoads, "store_shared": ops.StoreShared,
    "cp_async": ops.CpAsync, "commit_group": ops.CommitGroup, "wait_group": ops.WaitGroup,
    "producer_commit": ops.ProducerCommit, "tma_store": ops.TmaStore, "bulk_wait": ops.BulkWait, "store": ops.Store,
    "atomic": ops.Atomic,
    "sync_threads": ops.SyncThreads, "named_barrier": ops.NamedBarrier, "arrive": ops.Arrive,
    "expect_tx": ops.ExpectTx, "mbarrier_wait": ops.Wait, "set_max_nreg": ops.SetMaxNReg,
    "grid_dependency_wait": ops.GridDependencyWait, "launch_dependents": ops.LaunchDependents,
    "cluster_sync": ops.ClusterSync, "wgmma": ops.Wgmma, "wgmma_wait": ops.WgmmaWait,
    "load_cluster": ops.LoadCluster, "store_cluster": ops.StoreCluster,
}  # fmt: skip

UNEQUAL = """\
question: q
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: TILES
  registers: 32
  rings: {input: {stages: 4, bytes: 8 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {lds: 4, ffma: 400}}, {release: input}]}
"""


def only_op(spelled: str, step: str) -> Op:
    """What becomes of one step in the consumer's list."""
    text = spelled.replace("{wait: input}, ", f"{{wait: input}}, {step}, ")
    return list(loads(text).program().roles[1].body(1))[1]


def test_every_op_has_a_word():
    """An op that is added to the program comes into the scenario file, or this fails."""
    assert set(WORDS) == set(OPS)
    assert set(WORDS.values()) == set(Op.__args__)


@pytest.mark.parametrize("word", OPS)
def test_every_field_of_an_op_can_be_said(word):
    """And of the instruction mix of a compute op."""
    said = set(OPS[word].spec.model_fields)
    needed = {field.name for field in dataclasses.fields(WORDS[word])} - {"mix"}
    if WORDS[word] is Compute:
        needed |= {field.name for field in dataclasses.fields(Mix)}
    assert needed <= said


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("{compute: {setup: 12, other: 3}}", Compute(Mix(setup=12, other=3), tile=0)),
        (
            "{load: {bytes: 4 KiB, stride: 256, align: 32, width: 4}}",
            Load(4096, width=4, stride=256, align=32, tile=0),
        ),
        ("{load: {bytes: 4 KiB, scatter: 64}}", Load(4096, scatter=64, tile=0)),
        ("{store: {bytes: 1 KiB, stride: 128 B, width: 8}}", Store(1024, width=8, stride=128, tile=0)),
        (
            "{atomic: {bytes: 1 KiB, scatter: 4, distinct: 1 KiB, returns: true, floating: true}}",
            Atomic(1024, scatter=4, distinct=1024, returns=True, floating=True, tile=0),
        ),
        ("{atomic: 4 KiB}", Atomic(4096, tile=0)),
        ("wait_loads", WaitLoads(tile=0)),
        ("{store: {bytes: 1 KiB, scatter: 32}}", Store(1024, scatter=32, tile=0)),
        ("{store: {bytes: 1 KiB, stride: 32, completed: 1}}", Store(1024, stride=32, completed=1.0, tile=0)),
        ("{store_shared: {ring: input, bytes: 0}}", StoreShared(0, ring="input", tile=0)),
        ("{producer_commit: input}", ops.ProducerCommit("input", tile=0)),
        (
            "{producer_commit: {ring: input, asynchronous: true}}",
            ops.ProducerCommit("input", asynchronous=True, tile=0),
        ),
    ],
)
def test_what_was_said_reaches_the_op(spelled, step, expected):
    """With its unit taken off."""
    assert only_op(spelled, step) == expected


@pytest.mark.parametrize("written", ["wait_loads: 1", "wait_loads: {pending: 1}"])
def test_loads_may_be_spared_as_long_as_there_are_more(spelled, written):
    """Of two ops under way one; of one, also where it was asked for in the prologue, none is left to wait for."""
    load = "{load: {bytes: 4 KiB, wait: false}}"
    text = spelled.replace("{wait: input}, ", f"{{wait: input}}, {load}, {load}, {{{written}}}, wait_loads, ")
    assert list(loads(text).program().roles[1].body(1))[3] == WaitLoads(1, tile=0)
    with pytest.raises(ScenarioError, match=r"wait_loads: allows 1 loads in flight, .* more than 1, .*at most 0"):
        loads(text.replace(f"{load}, ", "", 1))
    ahead = load.replace("wait: false", "wait: false, ahead: 1")
    assert loads(text.replace(f"{load}, {load}", ahead).replace(", wait_loads, ", ", ")).program()


def test_shared_memory_outside_the_ring_is_no_read_of_it(spelled):
    """A shuffle after the stage was released is no hazard; without the word it would be one."""
    after = "{release: input}, {compute: {lds: 5, lds_bytes: 4, ffma: 400%s}}"
    text = spelled.replace("stages: 3", "stages: 1")
    assert predict(loads(text.replace("{release: input}", after % ", reads: false"))).total_s > 0
    with pytest.raises(HazardError, match=r"consumer .* reads a tile that it has released"):
        predict(loads(text.replace("{release: input}", after % "")))
    assert only_op(spelled, "{compute: {lds: 5, reads: input}}").reads == "input"
    with pytest.raises(ScenarioError, match="there is no ring 'inputs'"):
        only_op(spelled, "{compute: {lds: 5, reads: inputs}}")


def test_alignment_of_copies_reaches_the_op(spelled):
    """A bulk copy that starts at multiples of 16 only."""
    text = spelled.replace("{tma_load: {ring: input}}", "{tma_load: {ring: input, align: 16}}")
    assert list(loads(text).program().roles[0].body(1))[1] == TmaLoad("input", 16384, align=16, tile=0)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{load: {bytes: 4 KiB, align: 48}}", "align: expected 0 or a power of two"),
        ("{store: {bytes: 4 KiB, completed: 1}}", "completed: .*in part.* .allowed: with a stride or scatter"),
        ("{load: {bytes: 4 KiB, completed: 1}}", "completed: .*in part.* .allowed: with a stride or scatter"),
        ("{store: {bytes: 4 KiB, width: 4, shift: 16, stride: 8}}", "shift: .*side by side.*without stride"),
        ("{store: {bytes: 4 KiB, width: 16, shift: 8}}", "shift: .*does not begin at 8 .allowed: a multiple of the wi"),
        ("{store: {bytes: 4 KiB, shift: 32}}", "shift: .*32"),
        ("{store: {bytes: 4 KiB, run: 512}}", "run: is of stores that begin off a sector .allowed: with a shift"),
        ("{load: {bytes: 4 KiB, stride: 256, scatter: 64}}", "scatter: .*not both .allowed: stride or scatter"),
        ("{load: {bytes: 4 KiB, stride: -1}}", "is negative"),
        ("{store: {bytes: 4 KiB, align: 32}}", "unknown key"),
        ("{compute: {setup: -1}}", "at least 0"),
        ("{wait_loads: -1}", r"wait_loads\.pending: -1 is not possible .allowed: at least 0"),
        ("{wait_loads: 65}", "at most 64"),
        ("{wait_loads: {pendin: 1}}", "pendin: unknown key .*Did you mean 'pending'"),
        ("{compute: {lds: 4, lds_wavefronts: 64}}", "lds_wavefronts: "),
        ("{compute: {atoms: 4, atoms_waits: 9}}", "atoms_waits: waits for 9 of 4 atomics .*at most 4"),
        ("{compute: {other: 4, setup: 2, ldc: 9}}", "ldc: 9 of 6 instructions .*at most 6"),
    ],
)
def test_what_cannot_be_is_explained(spelled, step, message):
    """With its place."""
    with pytest.raises(ScenarioError, match=message):
        only_op(spelled, step)


def test_a_bulk_copy_starts_at_multiples_of_16(spelled):
    """The copy unit takes no others."""
    with pytest.raises(ScenarioError, match=r"align: a bulk copy from an address .* 8 .allowed: at least 16"):
        loads(spelled.replace("{ring: input}", "{ring: input, align: 8}"))


def test_lanes_that_ask_for_a_copy_each_share_the_stage(spelled):
    """And each copy is a multiple of 16 bytes."""
    text = spelled.replace("{tma_load: {ring: input}}", "{tma_load: {ring: input, copies: 32}}")
    assert list(loads(text).program().roles[0].body(1))[1] == TmaLoad("input", 16384, copies=32, tile=0)
    with pytest.raises(ScenarioError, match=r"2048 bulk copies of 16384 B together .allowed: a multiple of 32768"):
        loads(text.replace("copies: 32", "copies: 2048"))
    with pytest.raises(ScenarioError, match=r"copies: .*at least 1"):
        loads(text.replace("copies: 32", "copies: 0"))


def test_loads_past_the_end_go_on_counting():
    """Two tiles early: the last two waits find as many loads behind theirs as all others, of no bytes."""
    text = """\
question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 3
  roles: {all: {warps: 4, per_tile: [{load: {bytes: 4 KiB, wait: false, ahead: 2}}, {wait_loads: %s}]}}
"""
    spared, all_of_them = (list(loads(text % pending).program().roles[0].body(3)) for pending in (2, 0))
    assert [(op.tile, op.bytes) for op in spared if isinstance(op, Load)] == [
        (0, 4096), (1, 4096), (2, 4096), (3, 0), (4, 0),
    ]  # fmt: skip
    assert [op.tile for op in all_of_them if isinstance(op, Load)] == [0, 1, 2]


class TestOpsOfSomeTiles:
    """What stands at the end of an item of several tiles."""

    ITEMS = UNEQUAL.replace("TILES", "64").replace("{release: input}", "{release: input}, LAST")

    def test_it_runs_for_every_so_manyth_tile(self):
        """The last one of each eight; bytes and the period of the program know it."""
        last = "{store: {bytes: 4 KiB, every: 8, offset: 7}}"
        program = loads(self.ITEMS.replace("LAST", last)).program()
        assert [op.tile for op in program.roles[1].body(20) if isinstance(op, Store)] == [7, 15]
        assert program.turn == 8
        assert predict(loads(self.ITEMS.replace("LAST", last))).meta["bytes_written"] == 132 * 8 * 4096

    def test_extrapolated_items_agree_with_exact_ones(self):
        """A turn is an item."""
        text = self.ITEMS.replace("tiles_per_cta: 64", "tiles_per_cta: 1600")
        scenario = loads(text.replace("LAST", "{compute: {ffma: 2000, every: 4, offset: 3}}"))
        assert predict(scenario).total_s == pytest.approx(predict(scenario, exact=True).total_s, rel=1e-3)

    def test_a_barrier_counts_its_own_phases(self):
        """One phase for each item, so that who waits for every fourth tile waits for phases 0, 1, 2."""
        waits = "{arrive: {barrier: item, every: 4}}, {mbarrier_wait: {barrier: item, every: 4}}"
        text = self.ITEMS.replace("LAST", waits).replace("  rings:", "  barriers: {item: {arrivals: 4}}\n  rings:")
        program = loads(text).program()
        assert [op.phase for op in program.roles[1].body(12) if isinstance(op, Wait)] == [0, 1, 2]
        assert predict(loads(text)).total_s > 0

    def test_an_array_of_barriers_is_taken_in_turn(self):
        """Tile t has number t modulo 3, whose phases go on every third tile; one tile earlier is another of them."""
        waits = "{arrive: item}, {mbarrier_wait: item}, {mbarrier_wait: {barrier: item, lag: 1}}"
        text = self.ITEMS.replace("LAST", waits)
        text = text.replace("  rings:", "  barriers: {item: {arrivals: 4, stages: 3}}\n  rings:")
        program = loads(text).program()
        assert [barrier.name for barrier in program.barriers] == ["item[0]", "item[1]", "item[2]"]
        ops = list(program.roles[1].body(5))
        assert [op.barrier for op in ops if isinstance(op, Arrive)] == [f"item[{t % 3}]" for t in range(5)]
        waited = [(op.barrier, op.phase) for op in ops if isinstance(op, Wait)]
        assert waited[::2] == [("item[0]", 0), ("item[1]", 0), ("item[2]", 0), ("item[0]", 1), ("item[1]", 1)]
        assert waited[1::2] == [("item[2]", -1), *waited[:-2:2]]
        assert predict(loads(text)).total_s > 0


class TestRoleThatNeverRuns:
    """Nothing to do is a mistake; warps that only exist have a name of their own."""

    def test_no_op_at_all(self):
        """Says what to write instead."""
        text = PING_PONG + "    lazy: {warps: 1, per_tile: []}\n"
        with pytest.raises(ScenarioError, match=r"roles\.lazy\.per_tile: is empty.*idle_warps: n"):
            loads(text)

    def test_work_before_the_first_tile_is_work(self):
        """A warp that only sets something up is fine."""
        text = PING_PONG + "    setup: {warps: 1, prologue: [{compute: {other: 20}}], per_tile: []}\n"
        assert predict(loads(text)).total_s > 0

    def test_no_cta_has_a_tile(self):
        """Neither in one number nor in a list."""
        for tiles in ("0", "[0, 0, 0, 0]"):
            with pytest.raises(ScenarioError, match=r"tiles_per_cta: gives no CTA a tile, so that no role ever runs"):
                loads(PING_PONG.replace("tiles_per_cta: 12", f"tiles_per_cta: {tiles}"))

    def test_one_cta_with_many_more_tiles_is_fine(self):
        """How late the slowest is follows from the tiles it has, not from those that the last CTA has."""
        unequal = UNEQUAL.replace("TILES", str([200] + [20] * 131))
        everywhere = UNEQUAL.replace("TILES", "200")
        assert 0 < predict(loads(unequal)).total_s < 1.02 * predict(loads(everywhere)).total_s

    def test_some_ctas_without_tiles_are_fine(self):
        """A grid may be larger than the work."""
        assert predict(loads(PING_PONG.replace("tiles_per_cta: 12", "tiles_per_cta: [0, 3, 0, 2]"))).total_s > 0


def test_ffmas_beside_conversions_of_halves_count_for_the_pipes_of_half_rate():
    """As `gpusim count` has them where FP16 is made FP32 and multiplied: HADD2.F32 takes both pipes that FFMA takes."""
    halves = PING_PONG.replace("{ffma: 128, ilp: 1}", "{ffma: 64, ilp: 4, interleaved: 16, half_rate: COUNT}")
    assert loads(halves.replace("COUNT", "48")).program()
    with pytest.raises(ScenarioError, match=r"half_rate: 97 of 16 instructions .* up to 64 more, those of ffma"):
        loads(halves.replace("COUNT", "97"))


def test_distinct_bytes_hold_a_value(spelled):
    """Of the width, at least one; and lanes lie a stride apart or are scattered."""
    with pytest.raises(ScenarioError, match=r"distinct: 4 B hold no value of 8 .*0, or 8"):
        only_op(spelled, "{atomic: {bytes: 1 KiB, width: 8, distinct: 4}}")
    with pytest.raises(ScenarioError, match="a stride apart or scattered"):
        only_op(spelled, "{atomic: {bytes: 1 KiB, stride: 8, scatter: 4}}")
