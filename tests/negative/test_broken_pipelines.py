"""Pipelines with one thing wrong: the model explains what, naming role, ring, stage and tile.

The last class holds what it does not see yet; each of its tests fails once it does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpusim.engine import Deadlock
from gpusim.errors import DoesNotFit, HazardError, ProgramError
from gpusim.hardware import simulate_kernel
from gpusim.program import (
    Acquire,
    Arrive,
    Barrier,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    ExpectTx,
    KernelProgram,
    Load,
    Mix,
    NamedBarrier,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    SetMaxNReg,
    StoreShared,
    SyncThreads,
    TmaLoad,
    TmaStore,
    Wait,
    WaitFull,
    WaitGroup,
)
from gpusim.timeline.metrics import hidden_fraction
from tests.tile_programs import RING, cp_async_ring, kernel, one_role, textbook, tma_ring

SIZE = 4096
TILES = 8
WARPS = 4


def ring_kernel(producer, consumer, stages=2, **fields):
    """One producer warp, four consumers, a ring of two stages."""
    ring = Ring(RING, stages, SIZE, **{"empty_arrivals": WARPS, **fields})
    roles = Role("producer", 1, producer), Role("consumer", WARPS, consumer)
    return kernel(*roles, tiles=TILES, rings=(ring,), shared_bytes=stages * SIZE)


def producer(acquire=True):
    """Bulk copies; without ``acquire`` nobody asks whether the stage is free."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            if acquire:
                yield Acquire(RING, tile=tile)
            yield TmaLoad(RING, SIZE, tile=tile)

    return body


def writer(commit=True):
    """A producer that writes the stage itself."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield Acquire(RING, tile=tile)
            yield Load(SIZE, tile=tile)
            yield StoreShared(SIZE, ring=RING, tile=tile)
            if commit:
                yield ProducerCommit(RING, tile=tile)

    return body


def consumer(wait=True, release=True, ffma=128, shift=0):
    """Waits for tile + ``shift``, computes on tile, gives it back."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            if wait:
                yield WaitFull(RING, tile=tile + shift)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)
            if release:
                yield Release(RING, tile=tile)

    return body


def worker(commit=True, wait=True, sync=True, pending=0, ahead=1, ffma=100):
    """A double buffer of cp.async with one of its parts left out."""

    def body(tiles: int) -> Iterator[Op]:
        def issue(tile: int) -> Iterator[Op]:
            if tile < tiles:
                yield CpAsync(RING, SIZE, tile=tile)
            if commit:
                yield CommitGroup(tile=tile)

        for tile in range(ahead):
            yield from issue(tile)
        for tile in range(tiles):
            if wait:
                yield WaitGroup(pending, tile=tile)
            if sync:
                yield SyncThreads(tile=tile)
            yield from issue(tile + ahead)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)

    return kernel(Role("worker", WARPS, body), tiles=TILES, rings=(Ring(RING, 2, SIZE),), shared_bytes=2 * SIZE)


def run(program: KernelProgram):
    """Simulate every tile on the textbook device."""
    return simulate_kernel(program, textbook(), exact=True)


def deadlock(program: KernelProgram) -> Deadlock:
    """The deadlock that running the program ends with."""
    with pytest.raises(Deadlock) as caught:
        run(program)
    return caught.value


def hazard(program: KernelProgram) -> HazardError:
    """The hazard that running the program ends with; its message names everything it knows."""
    with pytest.raises(HazardError) as caught:
        run(program)
    error = caught.value
    for part in (error.role, repr(error.ring), f"stage {error.stage}", f"tile {error.tile}", error.remedy):
        assert part in str(error)
    return error


def blocked(error: Deadlock, role: str):
    """The blocked lane of a role."""
    return next(entry for entry in error.blocked if entry.lane.split(".")[2] == role)


@pytest.mark.parametrize("program", [
    ring_kernel(producer(), consumer()), ring_kernel(writer(), consumer()), worker(),
], ids=["tma", "writer", "cp_async"])  # fmt: skip
def test_whole_pipelines_run(program):
    """The controls: with nothing left out there is no error."""
    assert run(program).total_s > 0


class TestDeadlock:
    """Everybody waits for ever: each blocked lane says for what and who could have helped."""

    def test_missing_release(self):
        """The producer fills both stages and then waits for stage 0 to be given back."""
        error = deadlock(ring_kernel(producer(), consumer(release=False)))
        stuck = blocked(error, "producer")
        assert stuck.reason == "stage_full"
        assert stuck.progress == "phase 0 has 0 of 4 arrivals"
        assert error.cycle == ()
        assert "nobody ever satisfies sm[0].cta[0].input[0] empty barrier: add what is missing" in str(error)
        assert stuck.waits_for == "sm[0].cta[0].input[0] empty barrier"
        assert blocked(error, "consumer").waits_for == "sm[0].cta[0].input[0] full barrier"
        assert blocked(error, "consumer").satisfied_by == ("sm[0].cta[0].producer",)
        assert "nothing can go on" in str(error)
        assert (stuck.tile, blocked(error, "consumer").tile) == (2, 2)
        assert "producer waits at tile 2 for" in str(error)

    def test_missing_commit(self):
        """The stage is written, but its full barrier is never told."""
        stuck = blocked(deadlock(ring_kernel(writer(commit=False), consumer())), "consumer")
        assert stuck.reason == "stage_empty"
        assert stuck.waits_for == "sm[0].cta[0].input[0] full barrier"
        assert stuck.satisfied_by == ()

    def test_more_arrivals_expected_than_there_are_warps(self):
        """Five of four consumer warps: the second turn of stage 0 never comes free."""
        error = deadlock(ring_kernel(producer(), consumer(), empty_arrivals=WARPS + 1))
        stuck = blocked(error, "producer")
        assert stuck.waits_for == "sm[0].cta[0].input[0] empty barrier"
        assert stuck.satisfied_by == ("sm[0].cta[0].consumer",)
        assert stuck.progress == "phase 0 has 4 of 5 arrivals"
        assert "fewer arrivals have to be enough" in error.remedy

    def test_roles_that_wait_for_each_other(self):
        """Each wants the other's ring before it fills its own: the circle is named, from the first lane round to it."""

        def body(wants, fills):
            def ops(tiles: int) -> Iterator[Op]:
                for tile in range(tiles):
                    yield WaitFull(wants, tile=tile)
                    yield Acquire(fills, tile=tile)
                    yield TmaLoad(fills, SIZE, tile=tile)
                    yield Release(wants, tile=tile)

            return ops

        rings = Ring("left", 2, SIZE), Ring("right", 2, SIZE)
        program = kernel(Role("a", 1, body("left", "right")), Role("b", 1, body("right", "left")), rings=rings)
        error = deadlock(program)
        a, b = "sm[0].cta[0].a", "sm[0].cta[0].b"
        assert error.cycle == (a, b, a)
        assert f"cycle: {a} -> {b} -> {a}" in str(error)
        assert "before it waits" in error.remedy
        assert {(entry.waits_for, entry.tile) for entry in error.blocked} == {
            ("sm[0].cta[0].left[0] full barrier", 0), ("sm[0].cta[0].right[0] full barrier", 0),
        }  # fmt: skip

    def test_one_tile_fewer_on_one_side(self):
        """The producer has ended: who should have helped is named, and that it ended."""

        def short(tiles: int) -> Iterator[Op]:
            yield from producer()(tiles - 1)

        error = deadlock(ring_kernel(short, consumer()))
        assert blocked(error, "consumer").tile == TILES - 1
        assert error.remedy.startswith(
            "sm[0].cta[0].producer ended before sm[0].cta[0].input[1] full barrier had enough"
        )

    def test_bytes_that_never_come(self):
        """More bytes announced than copied: the phase has its arrival and still waits."""
        program = kernel(
            Role("waiter", 1, lambda _tiles: iter([Wait("ready", 0)])),
            Role("arriver", 1, lambda _tiles: iter([ExpectTx("ready", 4096)])),
            barriers=(Barrier("ready", 1),),
        )
        stuck = blocked(deadlock(program), "waiter")
        assert stuck.progress == "phase 0 has 1 of 1 arrivals and waits for 4096 more units"

    def test_phase_of_the_next_turn(self):
        """Consumers that wait for the phase one turn ahead never see the first one."""
        error = deadlock(ring_kernel(producer(), consumer(shift=2)))
        assert blocked(error, "consumer").reason == "stage_empty"

    def test_wrong_phase_of_a_named_barrier(self):
        """Phase 1 of a barrier on which only one arrival ever happens."""
        program = kernel(
            Role("waiter", 1, lambda _tiles: iter([Wait("ready", 1)])),
            Role("arriver", 1, lambda _tiles: iter([Arrive("ready")])),
            barriers=(Barrier("ready", 1),),
        )
        stuck = blocked(deadlock(program), "waiter")
        assert stuck.waits_for == "sm[0].cta[0].ready"
        assert stuck.satisfied_by == ("sm[0].cta[0].arriver",)

    def test_missing_arrive(self):
        """A barrier that expects two arrivals and gets one."""
        program = kernel(
            Role("waiter", 1, lambda _tiles: iter([Arrive("ready"), Wait("ready", 0)])),
            Role("other", 1, lambda _tiles: iter([Compute(Mix(ffma=1))])),
            barriers=(Barrier("ready", 2),),
        )
        assert blocked(deadlock(program), "waiter").reason == "barrier"

    def test_syncthreads_in_one_branch(self):
        """Half of the warps leave without it."""
        program = kernel(
            Role("meets", 2, lambda _tiles: iter([SyncThreads()])),
            Role("leaves", 2, lambda _tiles: iter([Compute(Mix(ffma=1))])),
        )
        stuck = blocked(deadlock(program), "meets")
        assert stuck.waits_for == "sm[0].cta[0] __syncthreads"
        assert "sm[0].cta[0].leaves" in stuck.satisfied_by

    def test_named_barrier_with_too_few_warps(self):
        """It names the number of the barrier."""
        stuck = blocked(deadlock(one_role(NamedBarrier(3, 4), warps=2)), "worker")
        assert stuck.waits_for == "sm[0].cta[0] named barrier 3"


class TestHazard:
    """Live data overwritten or read before it is there."""

    def test_stage_overwritten_before_it_was_read(self):
        """Nobody acquires: by the time consumers come, another tile lies in the stage."""
        error = hazard(ring_kernel(producer(acquire=False), consumer()))
        assert (error.ring, error.stage) == (RING, 0)
        assert "stage" in error.what

    def test_stage_overwritten_while_it_is_read(self):
        """Two of four arrivals free the stage: the producer writes under the other two readers."""
        error = hazard(ring_kernel(producer(), consumer(), empty_arrivals=2))
        assert error.what.startswith("stage overwritten while sm[0].cta[0].consumer")
        assert error.role == "sm[0].cta[0].producer"
        assert "acquire" in error.remedy

    def test_read_without_waiting(self):
        """The first copy is still in flight."""
        error = hazard(ring_kernel(producer(), consumer(wait=False)))
        assert (error.role, error.stage, error.tile) == ("sm[0].cta[0].consumer", 0, 0)
        assert error.what == "stage read while its copy is still in flight"

    def test_phase_of_the_turn_before(self):
        """It has completed, so the wait is none."""
        error = hazard(ring_kernel(producer(), consumer(shift=-2)))
        assert error.what == "stage read while its copy is still in flight"

    @pytest.mark.parametrize(
        "missing", [{"commit": False}, {"wait": False}, {"pending": 1}], ids=["commit", "wait", "too many pending"]
    )
    def test_cp_async_group_not_waited_for(self, missing):
        """Never committed, never waited for, or allowed to be in flight: the read finds it so."""
        error = hazard(worker(**missing))
        assert (error.role, error.tile) == ("sm[0].cta[0].worker", 0)
        assert error.what == "stage read while its copy is still in flight"
        assert "cp.async group" in error.remedy

    def test_copy_further_ahead_than_the_ring_is_long(self):
        """Two tiles ahead in two stages: the next copy goes where this tile lies."""
        error = hazard(worker(ahead=2, pending=1))
        assert (error.stage, error.tile) == (0, 0)
        assert "tile 2" in error.what

    def test_bulk_store_whose_source_is_overwritten(self):
        """Without waiting for the store the next tile is written into its source."""

        def body(wait):
            def ops(tiles: int) -> Iterator[Op]:
                for tile in range(tiles):
                    yield StoreShared(SIZE, ring=RING, tile=tile)
                    yield TmaStore(RING, SIZE, tile=tile)
                    if wait:
                        yield BulkWait(0, tile=tile)

            return kernel(Role("worker", 1, ops), tiles=3, rings=(Ring(RING, 2, SIZE),))

        assert run(body(wait=True)).total_s > 0
        assert "bulk store" in hazard(body(wait=False)).what

    def test_bulk_store_of_an_empty_stage(self):
        """Nothing was ever written there."""
        assert "holds nothing" in hazard(one_role(TmaStore(RING, SIZE, tile=0), rings=(Ring(RING, 2, SIZE),))).what

    def test_phase_that_was_skipped(self):
        """Parity cannot tell phase 0 from phase 2: real hardware would block, or pass at the wrong time."""
        program = kernel(
            Role("late", 1, lambda _tiles: iter([Compute(Mix(ffma=100)), Wait("ready", 0)])),
            Role("fast", 1, lambda _tiles: iter([Arrive("ready")] * 3)),
            barriers=(Barrier("ready", 1),),
        )
        with pytest.raises(HazardError, match=r"sm\[0\].cta\[0\].late .*phase skipped: .*ready"):
            run(program)

    def test_phase_of_a_ring_that_was_skipped(self):
        """A second reader whose release nobody counts: its stage has gone round before it looks."""

        def slow(tiles: int) -> Iterator[Op]:
            yield Compute(Mix(ffma=4000))
            yield from consumer()(tiles)

        program = ring_kernel(producer(), consumer())
        program = kernel(*program.roles, Role("slow", 1, slow), tiles=TILES, rings=program.rings)
        error = hazard(program)
        assert (error.role, error.ring, error.stage, error.tile) == ("sm[0].cta[0].slow", RING, 0, 0)
        assert error.what.startswith("phase skipped: sm[0].cta[0].input[0] full barrier is past phase 3, phase 0")

    def test_writer_that_commits_too_early(self):
        """The readers come while it still writes."""

        def hasty(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield Acquire(RING, tile=tile)
                yield ProducerCommit(RING, tile=tile)
                yield StoreShared(16 * SIZE, ring=RING, tile=tile)

        error = hazard(ring_kernel(hasty, consumer()))
        assert error.role == "sm[0].cta[0].consumer"
        assert "wait for the full barrier" in error.remedy

    def test_copy_that_nobody_commits(self):
        """No group holds it, so no wait can cover it."""
        error = hazard(one_role(CpAsync(RING, SIZE, tile=0), rings=(Ring(RING, 2, SIZE),)))
        assert "belong to no group" in error.what


class TestProgram:
    """What makes no sense whatever the time: named with kernel, role and op."""

    @pytest.mark.parametrize(("ops", "fields", "message"), [
        ([TmaLoad("inputs", SIZE, tile=0)], {}, "no ring 'inputs' .*Did you mean 'input'"),
        ([Compute(Mix(ffma=1), reads="nothing")], {}, "no ring 'nothing'"),
        ([TmaLoad(RING, 10 * SIZE, tile=0)], {}, "40960 bytes do not fit a stage of ring 'input' .4096 bytes"),
        ([Wait("ready", 0)], {}, "no barrier 'ready' .there is: none"),
        ([SetMaxNReg(40)], {}, r"setmaxnreg .worker 40. asks for 1280 registers per CTA, launched were 1024 .32 per"),
        ([], {"grid": 0}, "grid 0"),
        ([], {"warps": 0}, "no warps"),
    ])  # fmt: skip
    def test_message(self, ops, fields, message):
        """One line that says where, what, and what there is."""
        warps, grid = fields.get("warps", 1), fields.get("grid", 1)
        roles = (Role("worker", warps, lambda _tiles: iter(ops)),)
        program = KernelProgram("k", grid, 1, roles, rings=(Ring(RING, 2, SIZE),))
        with pytest.raises(ProgramError, match=message):
            run(program)

    def test_registers_are_only_moved(self):
        """What one warpgroup gives away another may take, and no more."""

        def moved(registers: int):
            return lambda _tiles: iter([SetMaxNReg(registers), Compute(Mix(ffma=8))])

        def split(give: int, take: int) -> KernelProgram:
            return kernel(Role("a", 4, moved(give)), Role("b", 4, moved(take)), registers=128)

        assert run(split(24, 232)).total_s > 0
        with pytest.raises(ProgramError, match=r"a 24, b 240. asks for 33792 .* launched were 32768 .*give more away"):
            run(split(24, 240))

    def test_role_that_never_does_anything(self):
        """Warps that only exist have a name of their own."""
        program = kernel(
            Role("worker", 1, lambda _tiles: iter([Compute(Mix(ffma=1))])), Role("lazy", 2, lambda _tiles: iter([]))
        )
        with pytest.raises(ProgramError, match=r"role 'lazy' never does anything; .*idle_warps"):
            run(program)

    def test_tiles_for_another_grid(self):
        """One number for all CTAs, or one for each."""
        program = KernelProgram("k", 3, (1, 2), (Role("worker", 1, lambda _tiles: iter([Compute(Mix(ffma=1))])),))
        with pytest.raises(ProgramError, match="lists 2 CTAs, the grid has 3"):
            run(program)


class TestDoesNotFit:
    """Not even one CTA: demand, bound, unit, and what to change."""

    @pytest.mark.parametrize(("fields", "message"), [
        ({"shared_bytes": 240 * 1024}, "test needs 240 KiB of shared memory per CTA, textbook allows 227 KiB; use"),
        ({"registers": 300}, "test needs 300 registers per thread, textbook allows 255 registers; keep fewer values"),
        ({"registers": 128, "warps": 20}, "test needs 81,920 registers per CTA, textbook allows 65,536 registers;"),
        ({"warps": 33}, "test needs 1,056 threads per CTA, textbook allows 1,024 threads; use fewer warps"),
    ])  # fmt: skip
    def test_message(self, fields, message):
        """Whose demand it is stands first."""
        warps = fields.pop("warps", 1)
        with pytest.raises(DoesNotFit) as caught:
            run(kernel(Role("worker", warps, lambda _tiles: iter([Compute(Mix(ffma=1))])), **fields))
        assert message in str(caught.value)
        assert caught.value.demand > caught.value.bound
        assert caught.value.lever


@pytest.mark.parametrize("build", [tma_ring, cp_async_ring])
def test_one_stage_hides_nothing(build):
    """It is no error, but nothing overlaps, whatever the balance."""
    for ffma in (16, 128, 700):
        assert hidden_fraction(run(build(1, ffma=ffma))) == pytest.approx(0, abs=1e-9)


class TestNotSeenYet:
    """Known gaps: broken programs that run without a complaint. A test that fails here is progress: move it up."""

    def test_warps_of_one_role_without_syncthreads(self):
        """Every warp waits for its own copies only, but warps that do the same are one lane here."""
        assert run(worker(sync=False)).total_s > 0

    def test_wait_left_out_where_the_copy_is_long_there(self):
        """A race that this timing wins: tile 3 is read without a wait, after 1000 cycles of other work."""

        def lucky(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                if tile != 3:
                    yield WaitFull(RING, tile=tile)
                yield Compute(Mix(ffma=1000), tile=tile, reads=RING)
                yield Release(RING, tile=tile)

        assert run(ring_kernel(producer(), lucky)).total_s > 0
