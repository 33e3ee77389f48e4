"""What pools hold after each step, against the device's own count."""

from __future__ import annotations

import json
import random
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from gpusim.errors import ProgramError
from gpusim.hardware import load_profile
from gpusim.host import simulate_host
from gpusim.host.calibration.calibrate import measure_host_quantities
from gpusim.host.costs import HostCosts
from gpusim.host.device.pools import MemoryPool
from gpusim.program import host as ops
from gpusim.program.host import Pool
from realkernels import microbench
from tests.host.profiles import textbook

MIB, US = 1 << 20, 1e-6
RUN = Path(microbench.__file__).parent / "recorded" / "h200_sxm" / "host" / "2026-11-26_1" / "host_alloc.json"
ARENAS = [row for row in json.loads(RUN.read_text(encoding="utf-8"))["rows"] if row["kind"] == "arena"]
INTO_A_HOLE = ("giving back", "0")
"""Its last step: the device had filled the hole of the chunk that went back; here pools grow at their end only."""


def pool(**options) -> MemoryPool:
    return MemoryPool(Pool("pool", **options), HostCosts(load_profile("h200_sxm"), "cupy"))


@pytest.mark.parametrize("row", ARENAS, ids=lambda row: f"{row['name']}, threshold {row['threshold']}")
def test_a_driver_pool_holds_what_the_device_says(row):
    """Neighbours are put together, growth is what is missing behind the free end, chunks of 32 MiB go back."""
    mine = pool(release_threshold=0 if row["threshold"] == "0" else 1 << 60)
    held, reserved = [], []
    for step, size in enumerate(row["steps_mib"]):
        if size > 0:
            mine.take(str(step), size * MIB, "s0", set())
            held.append(str(step))
        elif size < 0:
            mine.give(held.pop(0), "s0", None)
        else:
            held.append(held.pop(0))
        mine.release()
        reserved.append(mine.reserved // MIB)
    last = -1 if (row["name"], row["threshold"]) == INTO_A_HOLE else None
    assert reserved[:last] == row["reserved_mib"][:last]


def test_blocks_that_others_may_still_use_are_no_neighbours():
    """A free that another stream has yet to come to is in the way; the stream itself goes on with its own."""
    mine = pool(release_threshold=1 << 60)
    for name in "ab":
        mine.take(name, 16 * MIB, "one", set())
    mine.give("a", "one", None)
    mine.give("b", "one", Work())
    assert mine.take("other", 32 * MIB, "two", set()).grown == 32 * MIB
    assert mine.take("own", 16 * MIB, "one", set()).grown == 0


def test_big_allocations_are_kept_in_one_piece():
    """A pool of a TiB is one span of addresses, and of it goes back what is above the threshold."""
    mine = pool(release_threshold=64 * MIB)
    for name in "ab":
        mine.take(name, (1 << 20) * MIB, "one", set())
    assert len(mine._given) == 1
    mine.give("a", "one", None)
    mine.release()
    assert mine.reserved == (1 << 20) * MIB
    mine.give("b", "one", None)
    mine.release()
    assert mine.reserved == 64 * MIB


class Work:
    """What the device has yet to do before a free."""

    finished = False


def three_neighbours() -> MemoryPool:
    mine = pool(release_threshold=1 << 60)
    for name in ("p", "q", "end"):
        mine.take(name, 32 * MIB, "asks", set())
    return mine


@pytest.mark.parametrize("looks", ["not at all", "to synchronise", "to allocate"])
def test_neighbours_freed_on_one_stream_are_one_block_until_the_pool_looks(looks):
    """Tried on an H200: whose first half is complete does not matter unless that was seen before the second free."""
    mine, first, second = three_neighbours(), Work(), Work()
    mine.give("p", "frees", first)
    first.finished = True
    if looks == "to synchronise":
        mine.release()
    elif looks == "to allocate":
        mine.take("more", 96 * MIB, "asks", set())
    mine.give("q", "frees", second)
    assert mine.take("other", 32 * MIB, "asks", set()).grown == (32 * MIB if looks == "not at all" else 0)
    assert mine.take("own", 32 * MIB, "frees", set()).grown == 0


def test_what_an_event_says_of_a_block_holds_until_its_neighbour_is_freed():
    """Tried on an H200: who waits for the first free gets it, but not when more was freed behind the event."""
    for later in (False, True):
        mine, first, second = three_neighbours(), Work(), Work()
        mine.give("p", "frees", first)
        if later:
            mine.give("q", "frees", second)
        assert mine.take("again", 32 * MIB, "asks", {first}).grown == (32 * MIB if later else 0)


KIB = 1 << 10
PLACES = """
  0  96 196 292 392 488 588
 96   0 292 196 488 392 588
 96 292   0 488 196 588 392
 96 292 488   0 588 196 388
 96 488 292 588   0 388 196
 96 488 588 292 388   0 688
 96 588 196 388 488 688 292
 96 588 388 196 688   0 488
 96 388 292 688 588 488 196
"""
"""Where an H200 put blocks of 96 and 100 KiB in turn, in KiB: one on each of seven streams, a kernel behind each, all
given back, and again."""
LOOKS = """
0 0 0 0 0 0 0
1 1 3 3 5 5 12
0 2 2 4 4 6 6
0 0 3 3 5 5 12
0 2 2 4 4 6 6
0 0 3 3 5 5 12
0 2 0 4 2 6 4
0 0 3 3 5 0 12
0 2 0 4 2 6 4
"""
"""How many streams each had to look at, as far as their times say: 1.5 us each."""


def test_blocks_of_streams_in_turn_lie_where_the_device_puts_them():
    """Its own, then nobody's, then what others have freed, one stream after the other; then what is put together."""
    mine, chunk = pool(release_threshold=1 << 60), 0
    places, looks = [], []
    for _ in PLACES.split("\n")[1:-1]:
        names = [(f"s{i}", str(chunk + i), (96, 100)[(chunk + i) % 2]) for i in range(7)]
        for stream, name, kib in names:
            looked: list[str] = []
            mine.take(name, kib * KIB, stream, set(), lambda other, looked=looked: looked.append(other) or 0.0)
            places.append(mine._used[name][0] // KIB)
            looks.append(len(looked))
        for stream, name, _ in names:
            mine.give(name, stream, None)
        chunk += 7
    assert places == [int(text) for text in PLACES.split()]
    # Who finds nothing looks at all of them twice.
    assert looks == [6 if text == "12" else int(text) for text in LOOKS.split()]


def test_a_look_takes_its_time_and_without_success_twice():
    """Two other streams: none is asked for what is the stream's own; the first has nothing that is complete."""
    mine, later = pool(release_threshold=1 << 60), Work()
    for name in "abc":
        mine.take(name, MIB, name, set())
    hit = HostCosts(load_profile("h200_sxm"), "cupy").call("malloc_async")
    general = load_profile("h200_sxm").value("pool.general")
    mine.give("a", "a", later)
    mine.give("b", "b", None)
    assert mine.take("own", MIB, "a", set(), lambda _: 1.0).seconds == pytest.approx(hit)
    mine.give("own", "a", later)
    assert mine.take("theirs", MIB, "c", set(), lambda _: 1.0).seconds == pytest.approx(hit + 2.0)
    assert mine.take("free end", MIB, "c", set(), lambda _: 1.0).seconds == pytest.approx(hit + 4.0 + general)


@pytest.mark.parametrize(("between", "look_us"), [
    ((), 1.0), ((ops.HostWork(100 * US),), 8.0), ((ops.HostWork(100 * US), ops.DeviceSync()), 0.5),
    ((ops.HostWork(100 * US), ops.StreamSync("b")), 0.5),
])  # fmt: skip
def test_a_look_at_a_stream_that_has_nothing_to_do_any_more_takes_longest(between, look_us):
    """8 us; one while it works, and half of one once a synchronisation has found the device idle."""
    profile = textbook(pool__look_busy=1 * US, pool__look_done=8 * US, pool__look_idle=0.5 * US)
    kernel = ops.Launch(ops.Work(ops.FixedCost(50 * US)), "b")
    calls = [ops.MallocAsync("x", MIB, "b", "p"), kernel, ops.FreeAsync("x", "b"), *between,
             ops.MallocAsync("y", MIB, "a", "p"), ops.FreeAsync("y", "a")]  # fmt: skip
    streams = tuple(ops.Stream(name, "non_blocking") for name in "ab")
    program = ops.HostProgram(
        "test", (ops.HostThread("main", tuple(calls)),), streams, pools=(Pool("p", "driver", 1 << 60),)
    )
    timeline = simulate_host(program, profile)
    takes = [i.duration_s for i in timeline if i.lane == "host[0]" and i.kind == "alloc" and i.bytes]
    # Who finds there what it wants looks once, who takes it from the free end twice.
    times = 1 if look_us == 8.0 else 2
    assert takes[-1] == pytest.approx(times * look_us * US)


def test_what_a_look_takes_comes_from_the_bench_and_is_assumed_where_it_is_missing(tmp_path):
    """Eight streams, each looked at twice: 16 us more are one each."""
    folder = shutil.copytree(RUN.parent, tmp_path / "run")
    before = measure_host_quantities(folder, 0.0)
    document = json.loads((folder / "host_alloc.json").read_text(encoding="utf-8"))
    times = {"alone": 2.0, "idle": 4.0, "done": 18.0, "busy": 1.0}
    document["rows"] += [
        {"kind": "looks", "state": state, "others": 8, "median_s": us * US} for state, us in times.items()
    ]
    (folder / "host_alloc.json").write_text(json.dumps(document), encoding="utf-8")
    found = measure_host_quantities(folder, 0.0)
    assert {key: found[key].value for key in found.keys() - before.keys()} == pytest.approx(
        {"pool.look_idle": 0.125, "pool.look_done": 1.0, "pool.look_busy": 0.0}
    )


def test_an_empty_pool_grows_for_more():
    mine = pool(release_threshold=1 << 60)
    first, second = (mine.take(name, 32 * MIB, "one", set()).seconds for name in "ab")
    assert first - second == pytest.approx(load_profile("h200_sxm").value("pool.first"))


def test_a_caching_allocator_puts_the_halves_of_a_block_together_again():
    """But not two blocks that cudaMalloc gave apart, nor those of another stream."""
    mine = pool(kind="caching")
    mine.take("whole", 8 * MIB, "one", set())
    mine.give("whole", "one", None)
    assert [mine.take(name, 4 * MIB, "one", set()).grown for name in "ab"] == [0, 0]
    for name in "ab":
        mine.give(name, "one", None)
    assert mine.take("again", 8 * MIB, "one", set()).grown == 0
    assert mine.take("more", 4 * MIB, "one", set()).grown == 4 * MIB
    for name in ("again", "more"):
        mine.give(name, "one", None)
    assert mine.take("both", 12 * MIB, "one", set()).grown == 12 * MIB
    assert mine.take("other", 4 * MIB, "two", set()).grown == 4 * MIB


def test_a_pool_at_its_limit_hands_out_what_the_os_gave():
    """Free chunks go back for the sake of the limit; the free end, part of a chunk in use, stays and is counted in."""
    mine = pool(limit=96 * MIB)
    mine.take("a", 32 * MIB, "one", set())
    mine.take("b", 20 * MIB, "one", set())
    mine.give("a", "one", None)
    mine.take("c", 70 * MIB, "one", set())
    assert within_chunks(mine)
    assert mine.reserved == 96 * MIB


@pytest.mark.parametrize("kind", ["driver", "caching"])
@pytest.mark.parametrize("limit", [None, 96 * MIB, 160 * MIB])
def test_buffers_never_overlap_and_lie_in_what_the_os_gave(kind, limit):
    """Whatever is taken and freed, in whichever order."""
    draw = random.Random(1)
    for _ in range(60):
        mine, held = pool(kind=kind, limit=limit, release_threshold=draw.choice((0, 1 << 60))), []
        for number in range(30):
            if held and draw.random() < 0.5:
                mine.give(held.pop(draw.randrange(len(held))), draw.choice(("one", "two")), None)
            else:
                try:
                    mine.take(str(number), draw.randrange(1, 90) * MIB, draw.choice(("one", "two")), set())
                    held.append(str(number))
                except ProgramError:
                    assert limit is not None
            if draw.random() < 0.2:
                mine.release()
            assert within_chunks(mine)


def within_chunks(mine: MemoryPool) -> bool:
    """Whether used and free blocks together are what the OS gave, each byte once."""
    blocks = sorted([(at, at + size) for at, size in mine._used.values()] + [(b.at, b.end) for b in mine._free])
    apart = all(end <= at for (_, end), (at, _) in pairwise(blocks))
    return apart and joined(blocks) == joined(sorted((span.at, span.end) for span in mine._given))


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, in their order, with those in one that follow each other without a gap."""
    found: list[tuple[int, int]] = []
    for at, end in spans:
        if found and at == found[-1][1]:
            found[-1] = found[-1][0], end
        else:
            found.append((at, end))
    return found
