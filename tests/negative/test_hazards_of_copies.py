"""Copies, stores and loads that nothing waits for in time: cp.async groups, bulk stores, loads into registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpusim.errors import HazardError
from gpusim.program import (
    Acquire,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    Load,
    Mix,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    StoreShared,
    TmaStore,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from tests.negative.pipelines import (
    SIZE,
    TILES,
    consumer,
    hazard,
    ring_kernel,
    run,
    worker,
)
from tests.tile_programs import RING, kernel, one_role


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [
        (
            {"commit": False},
            "belong to no group there, so that no wait covers them: put commit_group behind them in",
        ),
        ({"wait": False}, "put wait_group in front of the read in"),
        ({"pending": 1}, "wait_group: 1 spares the group of tile 0; at most 0 in"),
    ],
    ids=["commit", "wait", "too many pending"],
)
def test_cp_async_group_not_waited_for(missing, remedy):
    """Never committed, never waited for, or allowed to be in flight: the read finds it so, and says which."""
    error = hazard(worker(**missing))
    assert (error.role, error.tile) == ("sm[0].cta[0].worker", 0)
    assert error.what == "stage read while its copy is still in flight"
    assert error.remedy.endswith(f"{remedy} role 'worker'")


def test_group_that_is_committed_before_its_copies():
    """It holds those of the tile before."""

    def early(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield from (CommitGroup(tile=tile), CpAsync(RING, SIZE, tile=tile), WaitGroup(0, tile=tile))
            yield Compute(Mix(ffma=8), tile=tile, reads=RING)

    error = hazard(kernel(Role("worker", 1, early), tiles=TILES, rings=(Ring(RING, 2, SIZE),)))
    assert error.remedy.endswith("so that no wait covers them: put commit_group behind them in role 'worker'")

    def ahead(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield from (CommitGroup(tile=tile + 1), CpAsync(RING, SIZE, tile=tile + 1), WaitGroup(1, tile=tile))
            if tile:
                yield Compute(Mix(ffma=8), tile=tile, reads=RING)

    error = hazard(kernel(Role("worker", 1, ahead), tiles=TILES, rings=(Ring(RING, 3, SIZE),)))
    assert error.remedy.startswith("commit_group comes in front of the copies of its tile: put it behind them")


def test_warps_that_read_what_others_have_copied():
    """Six warps that never meet copy and read; one is ahead of the others. In a private ring each reads its own."""
    alone = worker(sync=False)
    apart = replace(alone, roles=tuple(replace(role, warps=6) for role in alone.roles))
    error = hazard(apart)
    assert error.what == "stage read while its copy is still in flight"
    assert "the copy is that of sm[0].cta[0].worker" in error.remedy
    assert "sync_threads" in error.remedy
    assert "private: true" in error.remedy
    run(replace(apart, rings=tuple(replace(ring, private=True) for ring in apart.rings)))


def test_a_private_ring_without_a_wait():
    """Its own copy is still in flight."""
    program = worker(wait=False)
    error = hazard(replace(program, rings=tuple(replace(ring, private=True) for ring in program.rings)))
    assert error.remedy == "put wait_group in front of the read in role 'worker'"


def test_bulk_store_whose_source_is_overwritten():
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
    error = hazard(body(wait=False))
    assert "bulk store" in error.what
    assert error.remedy.startswith("put a bulk_wait that leaves no store of the stage pending")


@pytest.mark.parametrize(
    ("acquire", "wait", "remedy"),
    [
        (False, True, "put acquire: input in front of what fills it in role 'writer'"),
        (True, False, "pending between tma_store and release of input in role 'storer'"),
    ],
)
def test_bulk_store_of_another_role_whose_source_is_overwritten(acquire, wait, remedy):
    """The writer does not ask for the stage, or is given it too early."""

    def writer(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            if acquire:
                yield Acquire(RING, tile=tile)
            yield StoreShared(SIZE, ring=RING, tile=tile)
            yield ProducerCommit(RING, tile=tile)

    def storer(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield WaitFull(RING, tile=tile)
            yield TmaStore(RING, SIZE, tile=tile)
            if wait:
                yield BulkWait(0, tile=tile)
            yield Release(RING, tile=tile)

    program = kernel(Role("writer", 1, writer), Role("storer", 1, storer), tiles=9, rings=(Ring(RING, 2, SIZE),))
    error = hazard(program)
    assert error.what.startswith("stage overwritten while sm[0].cta[0].storer (bulk store) still reads")
    assert error.remedy.endswith(remedy)


def test_bulk_store_of_an_empty_stage():
    """Nothing was ever written there."""
    assert "holds nothing" in hazard(one_role(TmaStore(RING, SIZE, tile=0), rings=(Ring(RING, 2, SIZE),))).what


def test_commit_in_front_of_the_end_of_its_copies():
    """Whoever reads has waited; it is the writer who says too early that the stage is full."""

    def hasty(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield from (Acquire(RING, tile=tile), CpAsync(RING, SIZE, tile=tile), CommitGroup(tile=tile))
            yield ProducerCommit(RING, tile=tile)

    error = hazard(ring_kernel(hasty, consumer()))
    assert error.remedy.startswith("put wait_group in front of producer_commit: input in role 'producer'")


def test_writer_that_commits_too_early():
    """The readers come while it still writes."""

    def hasty(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield Acquire(RING, tile=tile)
            yield ProducerCommit(RING, tile=tile)
            yield StoreShared(16 * SIZE, ring=RING, tile=tile)

    error = hazard(ring_kernel(hasty, consumer()))
    assert error.role == "sm[0].cta[0].consumer"
    assert error.remedy == "put producer_commit: input behind what fills the stage in role 'producer'"


def test_copy_that_nobody_commits():
    """No group holds it, so no wait can cover it."""
    error = hazard(one_role(CpAsync(RING, SIZE, tile=0), rings=(Ring(RING, 2, SIZE),)))
    assert "belong to no group" in error.what


def test_load_that_nothing_waits_for():
    """Its bytes would cost no time: role, tile and remedy, and no word of a ring."""
    with pytest.raises(HazardError) as caught:
        run(one_role(Load(SIZE, wait=False, tile=0), Compute(Mix(ffma=8), tile=0)))
    message = str(caught.value)
    assert message.startswith("worker at tile 0: nothing waits for a load of 4096 bytes with wait: false")
    assert "wait_loads" in message
    assert "ring" not in message


@pytest.mark.parametrize("wait", [WaitLoads(), Load(SIZE)], ids=["wait_loads", "a load that waits"])
def test_load_that_something_waits_for_later(wait):
    """As registers that are fetched ahead are; a load that blocks waits for all before it."""
    assert run(one_role(Load(SIZE, wait=False), Compute(Mix(ffma=8)), wait)).total_s > 0


@pytest.mark.parametrize(("pending", "tiles"), [(1, 1), (8, 8)])
def test_wait_that_spares_every_load_there_is(pending, tiles):
    """No CTA has more tiles than that; one more, and the first is waited for."""

    def body(count):
        for tile in range(count):
            yield from (Load(SIZE, wait=False, tile=tile), WaitLoads(pending, tile=tile))

    program = kernel(Role("worker", 4, body), tiles=tiles)
    with pytest.raises(HazardError, match=rf"worker at tile 0: nothing waits for a load .*pending.*here {pending}"):
        run(program)
    assert run(program.resized(tiles_per_cta=tiles + 1)).total_s > 0


def test_load_ahead_of_a_tile_that_never_comes():
    """The last turn of a loop that fetches ahead loads what nobody wants."""
    ahead = [WaitLoads(tile=0), Compute(Mix(ffma=8), tile=0), Load(SIZE, wait=False, tile=1)]
    assert run(one_role(Load(SIZE, wait=False, tile=0), *ahead)).total_s > 0
