"""Pipelines that wait for ever: the model says who waits for what, and who could have helped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpusim.program import (
    Acquire,
    Arrive,
    Barrier,
    Compute,
    ExpectTx,
    Mix,
    NamedBarrier,
    Op,
    Release,
    Ring,
    Role,
    SyncThreads,
    TmaLoad,
    Wait,
    WaitFull,
)
from tests.negative.pipelines import (
    SIZE,
    TILES,
    WARPS,
    blocked,
    consumer,
    deadlock,
    producer,
    ring_kernel,
    run,
    worker,
    writer,
)
from tests.tile_programs import RING, kernel, one_role


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
        assert str(error).endswith(
            "nobody ever satisfies sm[0].cta[0].input[0] empty barrier: put release: input in role 'consumer', behind "
            "the last read of a tile"
        )
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
        assert stuck.missing == "put producer_commit: input behind what fills it in role 'producer'"

    def test_one_of_two_readers_forgets_to_release(self):
        """The other one's arrivals are not enough."""
        program = ring_kernel(producer(), consumer(), empty_arrivals=2 * WARPS)
        program = kernel(*program.roles, Role("late", WARPS, consumer(release=False)), tiles=TILES, rings=program.rings)
        error = deadlock(program)
        assert error.remedy == (
            "put release: input in role 'late', behind the last read of a tile, or say empty_arrivals: 4 of the ring "
            "if role 'consumer' releases for all"
        )

    def test_missing_copy(self):
        """Who acquires a stage is who should fill it."""
        program = ring_kernel(lambda tiles: (Acquire(RING, tile=tile) for tile in range(tiles)), consumer())
        stuck = blocked(deadlock(program), "consumer")
        assert stuck.missing == "put tma_load: input, or what else fills it, in role 'producer'"

    def test_more_arrivals_expected_than_there_are_warps(self):
        """Five of four consumer warps: the second turn of stage 0 never comes free."""
        error = deadlock(ring_kernel(producer(), consumer(), empty_arrivals=WARPS + 1))
        stuck = blocked(error, "producer")
        assert stuck.waits_for == "sm[0].cta[0].input[0] empty barrier"
        assert stuck.satisfied_by == ("sm[0].cta[0].consumer",)
        assert stuck.progress == "phase 0 has 4 of 5 arrivals"
        assert error.remedy == "empty_arrivals of ring 'input' is 5, and no tile has more than 4"

    def test_more_arrivals_expected_than_copies_bring(self):
        """Each tile has one copy, so one arrival."""
        error = deadlock(ring_kernel(producer(), consumer(), full_arrivals=2))
        assert error.remedy == "full_arrivals of ring 'input' is 2, and no tile has more than 1"

    def test_role_that_waits_for_what_it_does_later(self):
        """It acquires as many tiles ahead as there are stages, so that it would have to give one back first."""

        def body(tiles: int) -> Iterator[Op]:
            yield from (TmaLoad(RING, SIZE, tile=tile) for tile in range(2))
            for tile in range(tiles):
                yield from (Acquire(RING, tile=tile + 2), TmaLoad(RING, SIZE, tile=tile + 2))
                yield from (WaitFull(RING, tile=tile), Release(RING, tile=tile))

        error = deadlock(kernel(Role("all", WARPS, body), tiles=TILES, rings=(Ring(RING, 2, SIZE, 1, WARPS),)))
        assert error.remedy.startswith("sm[0].cta[0].all waits for what it does itself further down")
        assert "at most `ahead: full`" in error.remedy

    def test_wait_of_the_one_who_arrives_later(self):
        """At an mbarrier whoever waits has not arrived by that, as he would have at a barrier of warps."""
        ops = [Wait("x", 0, tile=0), Arrive("x", tile=0)]
        error = deadlock(kernel(Role("all", 2, lambda _tiles: iter(ops)), barriers=(Barrier("x", 2),)))
        assert (
            error.remedy == "sm[0].cta[0].all waits for what it does itself further down: put that in front of the wait"
        )

    def test_phase_of_a_later_tile(self):
        """Arrivals would have to come of tiles that cannot begin."""
        ops = [Arrive("x", tile=0), Wait("x", 5, tile=0)]
        program = kernel(Role("all", 1, lambda _tiles: iter(ops)), barriers=(Barrier("x", 1),))
        assert deadlock(program).remedy.startswith("phase 5 is awaited at tile 0, and arrivals of later tiles")

    def test_bytes_that_no_copy_brings(self):
        """Copies complete the barriers of rings only."""
        program = kernel(
            Role("waits", 1, lambda _tiles: iter([ExpectTx("x", 64), Wait("x", 0)])), barriers=(Barrier("x", 1),)
        )
        assert "no copy brings bytes to a barrier outside rings" in deadlock(program).remedy

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

    def test_syncthreads_in_front_of_the_wait_for_who_comes_later(self):
        """Who waits at it keeps the other from the arrival that would let it come."""
        program = kernel(
            Role("meets", 2, lambda _tiles: iter([SyncThreads(), Arrive("ready")])),
            Role("waits", 2, lambda _tiles: iter([Wait("ready", 0), SyncThreads()])),
            barriers=(Barrier("ready", 2),),
        )
        stuck = blocked(deadlock(program), "meets")
        assert stuck.waits_for == "sm[0].cta[0] __syncthreads"
        assert "sm[0].cta[0].waits" in stuck.satisfied_by

    def test_named_barrier_with_too_few_warps(self):
        """It names the number of the barrier."""
        stuck = blocked(deadlock(one_role(NamedBarrier(3, 4), warps=2)), "worker")
        assert stuck.waits_for == "sm[0].cta[0] named barrier 3"
