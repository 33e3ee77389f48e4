"""Pipelines that read or overwrite a stage at the wrong time: named with role, ring, stage and tile.

The last class holds what the model does not see yet; each of its tests fails once it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from gpusim.errors import HazardError
from gpusim.program import (
    Acquire,
    Arrive,
    Barrier,
    CommitGroup,
    Compute,
    CpAsync,
    Mix,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    TmaLoad,
    Wait,
    WaitFull,
    doubts,
)
from gpusim.scenario import loads, predict
from gpusim.timeline.metrics import hidden_fraction
from tests.negative.pipelines import (
    SIZE,
    TILES,
    consumer,
    hazard,
    producer,
    ring_kernel,
    run,
    worker,
)
from tests.tile_programs import RING, cp_async_ring, kernel, one_role, tma_ring

TWO_RINGS = """
question: Who does not wait?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 12
  rings: {{a: {{stages: 2, bytes: 4 KiB}}, b: {{stages: 2, bytes: 4 KiB}}}}
  roles:
    producer: {{warps: 1, per_tile: [{{acquire: a}}, {{tma_load: a}}, {{acquire: b}}, {{tma_load: b}}]}}
    first: {{warps: 2, per_tile: [{first}]}}
    second: {{warps: 2, per_tile: [{second}]}}
"""


class TestHazard:
    """Live data overwritten or read before it is there."""

    def test_stage_overwritten_before_it_was_read(self):
        """Nobody acquires: by the time consumers come, another tile lies in the stage."""
        error = hazard(ring_kernel(producer(acquire=False), consumer()))
        assert (error.ring, error.stage) == (RING, 0)
        assert "stage" in error.what
        assert error.remedy == "put acquire: input in front of what fills it in role 'producer'"

    def test_stage_that_is_released_twice(self):
        """The producer comes a turn too early."""

        def twice(tiles: int) -> Iterator[Op]:
            for op in consumer()(tiles):
                yield op
                if isinstance(op, Release):
                    yield op

        error = hazard(ring_kernel(producer(), twice))
        assert error.remedy == "release each tile once: role 'consumer' releases ring 'input' 2 times a tile"

    def test_stage_that_is_released_before_it_is_read(self):
        """The producer has it while the consumer computes, or may have it if that is short."""

        def hasty(tiles: int, ffma: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield from (WaitFull(RING, tile=tile), Release(RING, tile=tile))
                yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)

        for ffma in (1, 4000):
            error = hazard(ring_kernel(producer(), partial(hasty, ffma=ffma)))
            assert error.remedy.startswith("put release: input behind the last read of a tile in role 'consumer'")

    def test_arithmetic_that_reads_what_has_been_released(self):
        """As partial sums in other shared memory would be taken to do, unless they say `reads: false`."""

        def body(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield WaitFull(RING, tile=tile)
                yield Compute(Mix(ffma=8), tile=tile, reads=RING)
                yield Release(RING, tile=tile)
                yield Compute(Mix(ffma=100_000), tile=tile)
                yield Compute(Mix(lds=1), tile=tile, reads=RING)

        error = hazard(ring_kernel(producer(), body))
        assert error.what.startswith("reads a tile that it has released")
        assert error.remedy.endswith("or say `reads: false` there if it reads other shared memory")

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
        assert error.remedy == "put wait: input in front of the read in role 'consumer'"

    def test_a_tile_that_is_copied_twice(self):
        """Once in the prologue, once more by an op that runs ahead: the stage cannot hold both."""
        ops = CpAsync(RING, SIZE, tile=0), CpAsync(RING, SIZE, tile=0)
        error = hazard(one_role(*ops, rings=(Ring(RING, 2, SIZE),)))
        assert error.what == f"copies bring {2 * SIZE} bytes of one tile to a stage of {SIZE}"
        assert "`ahead`" in error.remedy

    def test_a_copy_that_runs_too_far_ahead(self):
        """As far as there are stages, in front of the read: the tile that is read next has been copied over."""
        error = hazard(worker(ahead=2))
        assert error.what == "stage read although it holds tile 2"
        assert "`ahead: full`" in error.remedy

    def test_a_tile_that_is_copied_in_parts(self):
        """Two halves fill a stage; the next tile that uses it begins anew."""
        halves = [CpAsync(RING, SIZE // 2, tile=tile) for tile in (0, 0, 2, 2)]
        run(one_role(*halves, CommitGroup(), rings=(Ring(RING, 2, SIZE),)))

    def test_phase_of_the_turn_before(self):
        """It has completed, so the wait is none."""
        error = hazard(ring_kernel(producer(), consumer(shift=-2)))
        assert error.what == "stage read while its copy is still in flight"

    def test_copy_further_ahead_than_the_ring_is_long(self):
        """Two tiles ahead in two stages: the next copy goes where this tile lies."""
        error = hazard(worker(ahead=2, pending=1))
        assert (error.stage, error.tile) == (0, 0)
        assert "tile 2" in error.what

    def test_phase_that_was_skipped(self):
        """Parity cannot tell phase 0 from phase 2: real hardware would block, or pass at the wrong time."""
        program = kernel(
            Role("late", 1, lambda _tiles: iter([Compute(Mix(ffma=100)), Wait("ready", 0)])),
            Role("fast", 1, lambda _tiles: iter([Arrive("ready")] * 3)),
            barriers=(Barrier("ready", 1),),
        )
        with pytest.raises(HazardError, match=r"sm\[0\].cta\[0\].late .*phase skipped: .*ready"):
            run(program)

    @pytest.mark.parametrize("reads", ["", ", reads: a"])
    @pytest.mark.parametrize("missing", ["wait: a", "wait: b"])
    def test_wait_left_out_by_one_of_two_readers_of_two_rings(self, missing, reads):
        """Whoever finds out, it is the role without a wait that is named; also where the other ring is waited for."""
        whole = f"{{wait: a}}, {{wait: b}}, {{compute: {{ffma: 8, lds: 8{reads}}}}}, {{release: a}}, {{release: b}}"
        text = TWO_RINGS.format(first=whole, second=whole.replace(f"{{{missing}}}, ", ""))
        with pytest.raises(HazardError) as caught:
            predict(loads(text))
        ring = missing[-1]
        assert caught.value.remedy.startswith(f"put wait: {ring} in front of ")
        assert caught.value.remedy.endswith("in role 'second'")

    def test_stage_that_is_said_to_be_full_and_never_filled(self):
        """What lacks is not the reader's wait."""

        def body(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield from (Acquire(RING, tile=tile), ProducerCommit(RING, tile=tile))

        error = hazard(ring_kernel(body, consumer()))
        assert error.remedy == (
            "put store_shared: input, or what else fills it, in front of producer_commit in role 'producer'"
        )

    def test_stage_that_is_filled_once_and_read_in_every_tile(self):
        """As what stays in shared memory is: it is no wait that lacks."""

        def body(tiles: int) -> Iterator[Op]:
            yield from (TmaLoad(RING, SIZE, tile=0), WaitFull(RING, tile=0))
            yield from (Compute(Mix(lds=1), tile=tile, reads=RING) for tile in range(tiles))

        error = hazard(one_role(*body(3), rings=(Ring(RING, 1, SIZE),)))
        assert error.remedy.startswith("ring 'input' is filled for tile 0 at most")
        assert "`reads: false`" in error.remedy

    def test_acquire_behind_the_copy(self):
        """It is there, and of no use."""

        def late(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield from (TmaLoad(RING, SIZE, tile=tile), Acquire(RING, tile=tile))

        assert hazard(ring_kernel(late, consumer())).remedy == (
            "put acquire: input in front of what fills it in role 'producer'"
        )

    @pytest.mark.parametrize(
        ("ops", "remedy"),
        [
            ("{arrive: x}, {arrive: x}, {mbarrier_wait: x}", "barrier 'x' takes 2 arrivals, and a tile has 4"),
            (
                "{arrive: x}, {compute: {ffma: 999}}, {mbarrier_wait: {barrier: x, phase: 0}}",
                "role 'all' waits for phase 0 again and again",
            ),
        ],
    )
    def test_phase_that_was_skipped_for_a_reason_that_the_ops_show(self, ops, remedy):
        """Arrivals that are too many, and a phase that is always the same."""
        text = (
            "question: q\ndevice: textbook\nkernel:\n  grid: 1\n  tiles_per_cta: 9\n  barriers: {x: {arrivals: 2}}\n"
            f"  roles: {{all: {{warps: 2, per_tile: [{ops}]}}}}\n"
        )
        with pytest.raises(HazardError) as caught:
            predict(loads(text))
        assert caught.value.remedy.startswith(remedy)

    def test_wait_behind_the_read(self):
        """Its role has one, only too late."""

        def late(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield Compute(Mix(ffma=128), tile=tile, reads=RING)
                yield from (WaitFull(RING, tile=tile), Release(RING, tile=tile))

        error = hazard(ring_kernel(producer(), late))
        assert error.remedy == "put wait: input in front of the read in role 'consumer', for the tile that is read"

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

    def test_barrier_outside_rings_is_not_called_one(self):
        """A phase skipped on a barrier of its own."""
        program = kernel(
            Role("late", 1, lambda _tiles: iter([Compute(Mix(ffma=100)), Wait("ready", 0)])),
            Role("fast", 1, lambda _tiles: iter([Arrive("ready")] * 3)),
            barriers=(Barrier("ready", 1),),
        )
        with pytest.raises(HazardError) as caught:
            run(program)
        assert "ring" not in str(caught.value)
        assert "stage" not in str(caught.value)


@pytest.mark.parametrize("build", [tma_ring, cp_async_ring])
def test_one_stage_hides_nothing(build):
    """It is no error, but nothing overlaps, whatever the balance."""
    for ffma in (16, 128, 700):
        assert hidden_fraction(run(build(1, ffma=ffma))) == pytest.approx(0, abs=1e-9)


class TestNotSeenYet:
    """Known gaps: broken programs that run without a complaint. A test that fails here is progress: move it up."""

    def test_warps_of_one_role_without_syncthreads(self):
        """Every warp waits for its own copies only, but warps that do the same are one lane here: a doubt, no error."""
        assert run(worker(sync=False)).total_s > 0
        assert any("sync_threads" in doubt for doubt in doubts(worker(sync=False)))

    def test_wait_left_out_where_the_copy_is_long_there(self):
        """A race that this timing wins: tile 3 is read without a wait, after 1000 cycles of other work."""

        def lucky(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                if tile != 3:
                    yield WaitFull(RING, tile=tile)
                yield Compute(Mix(ffma=1000), tile=tile, reads=RING)
                yield Release(RING, tile=tile)

        assert run(ring_kernel(producer(), lucky)).total_s > 0
