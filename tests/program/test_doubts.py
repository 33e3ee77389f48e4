"""What a kernel leaves to luck is told, and nothing of kernels that do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusim.scenario import load, loads

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml")) + sorted((ROOT / "realkernels" / "everyday").rglob("*.yaml"))
KERNEL = """
question: Do all meet?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 8
  rings: {tile: {stages: 2, bytes: 4 KiB}}
  roles:
    all:
      warps: 4
      per_tile:
        - {cp_async: {ring: tile, bytes: 4 KiB, ahead: full}}
        - commit_group: {ahead: full}
        - {wait_group: 1}
        - sync_threads
        - {compute: {reads: tile, ffma: 64}}
        - sync_threads
"""


def doubts(old: str = "", new: str = "") -> tuple[str, ...]:
    assert old in KERNEL
    return loads(KERNEL.replace(old, new, 1) if old else KERNEL).doubts()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_kernels_leave_nothing_to_luck(path):
    """Techniques, kernels that are spelled out and those of SASS."""
    assert load(path).doubts() == ()


def test_warps_that_meet_are_without_doubt():
    assert doubts() == ()


def test_who_reads_what_others_copied_has_to_meet_them():
    """Without the barrier in front of the read."""
    (told,) = doubts("        - sync_threads\n        - {compute", "        - {compute")
    assert re.search("role 'all' reads tile 0 of ring 'tile', which its 4 warps filled.*sync_threads.*private", told)


def test_who_copies_over_what_others_read_has_to_meet_them():
    """Without the one behind it."""
    (told,) = doubts("ffma: 64}}\n        - sync_threads", "ffma: 64}}")
    assert re.search("fills ring 'tile' with tile 2 where its 4 warps read tile 0", told)


@pytest.mark.parametrize(
    "change", [("bytes: 4 KiB}}\n  roles", "bytes: 4 KiB, private: true}}\n  roles"), ("warps: 4", "warps: 1")]
)
def test_warps_that_keep_to_themselves_need_not_meet(change):
    """A ring of which each warp has its own part, and a warp alone."""
    text = KERNEL.replace("        - sync_threads\n", "").replace(*change)
    assert loads(text).doubts() == ()


@pytest.mark.parametrize(("size", "part"), [("2 KiB", True), ("3 KiB", True), ("3328", False)])
def test_stages_that_no_tile_fills(size, part):
    """Up to three quarters; beyond, what is missing may be a halo."""
    told = doubts("{cp_async: {ring: tile, bytes: 4 KiB", f"{{cp_async: {{ring: tile, bytes: {size}")
    assert bool(told) is part
    if part:
        assert "ring 'tile' has stages of 4096 bytes, and no tile brings more than" in told[0]


@pytest.mark.parametrize(("pending", "lax"), [(0, False), (1, False), (2, True)])
def test_a_stage_that_a_bulk_store_may_still_read(pending, lax):
    """Three stages in place: tile t + 2 goes where t - 1 came from, whose store is the last but one."""
    ops = ["wait: tile", "compute: {ffma: 64}", "sync_threads", "tma_store: tile", f"bulk_wait: {pending}"]
    ops.append("tma_load: {ring: tile, ahead: 2}")
    head, _ = KERNEL.replace("stages: 2", "stages: 3").split("        - {cp_async")
    tiles = "".join(f"        - {{{op}}}\n" for op in ops).replace("{sync_threads}", "sync_threads")
    told = loads(f"{head}{tiles}      epilogue: [bulk_wait]\n").doubts()
    assert bool(told) is lax
    if lax:
        assert re.search(
            "copies tile 3 into ring 'tile' where its tma_store of tile 0 may still read.*bulk_wait", told[0]
        )


STORED = """
question: Does the store read what it should?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: TILES
  registers: 64
  rings: {in: {stages: 2, bytes: 4 KiB}, out: {stages: 2, bytes: 4 KiB}}
  roles:
    loader: {warps: 1, per_tile: [{acquire: in}, {tma_load: in}]}
    compute:
      warps: 4
      per_tile:
        - {wait: in}
        - {acquire: out}
        - {compute: {ffma: 64, lds: 4}}
        - {store_shared: out}
        - {release: in}
        - {producer_commit: out}
    storer: {warps: 1, per_tile: [STORE]}
"""


def stored(
    store: str = "{wait: out}, {tma_store: out}, {bulk_wait: 0}, {release: out}", tiles: int = 8, old="", new=""
):
    """What is told of three roles."""
    assert old in STORED
    return loads(STORED.replace("STORE]", f"{store}]").replace("TILES", str(tiles)).replace(old, new)).doubts()


@pytest.mark.parametrize(
    ("store", "lax"),
    [
        ("{wait: out}, {tma_store: out}, {bulk_wait: 0}, {release: out}", False),
        ("{wait: out}, {tma_store: out}, {release: out}", True),
        ("{bulk_wait: 0}, {wait: out}, {tma_store: out}, {release: out}", True),
        ("{wait: out}, {tma_store: out}, {bulk_wait: 1}, {release: out}", True),
    ],
)
def test_a_stage_that_is_released_while_a_bulk_store_may_read_it(store, lax):
    """Whoever fills it next may come before the copy has read it."""
    told = stored(store)
    assert bool(told) is lax
    if lax:
        assert told[0].startswith(
            "role 'storer' releases tile 0 of ring 'out' while its tma_store of tile 0 may still read; put a bulk_wait"
        )


def test_a_stage_that_is_filled_while_a_bulk_store_may_read_it():
    """By the warps of the same role."""
    head, _ = KERNEL.split("        - {cp_async")
    words = "{store_shared: tile}", "sync_threads", "{tma_store: tile}", "{bulk_wait: PENDING}", "sync_threads"
    ops = "".join(f"        - {word}\n" for word in words) + "      epilogue: [bulk_wait]\n"
    assert loads(head + ops.replace("PENDING", "1")).doubts() == ()
    (told,) = loads(head + ops.replace("PENDING", "2")).doubts()
    assert "copies tile 2 into ring 'tile' where its tma_store of tile 0 may still read" in told


def test_a_ring_that_is_released_and_never_acquired():
    """Nothing keeps its writer back; where no stage is filled twice nothing has to."""
    (told,) = stored(old="        - {acquire: out}\n")
    assert told.startswith("ring 'out' is released by role 'storer' and acquired by nobody")
    assert "put acquire: out in front of what fills it in role 'compute'" in told
    assert stored(old="        - {acquire: out}\n", tiles=2) == ()


A_TURN_LATE = """
question: Is the data there?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 8
  roles:
    all:
      warps: 4
      prologue: [BEFORE]
      per_tile: [WAIT, {compute: {ffma: 64}}, {load: {bytes: 4 KiB, wait: falseMORE}}, BEHIND, {compute: {ffma: 64}}]
      epilogue: [AFTER]
"""
FIRST, LAST = (
    "before it has asked for any, so that its first turn computes without data",
    "loads 4096 bytes in its last turn",
)


def late(more: str = "", *, wait="wait_loads", behind="{compute: {ffma: 1}}", before="", after="") -> tuple[str, ...]:
    """What is told of a loop that waits for its loads at the top of the next turn; ``more`` is said of the load."""
    parts = {"MORE": more, "WAIT": wait, "BEHIND": behind, "BEFORE": before, "AFTER": after}
    text = A_TURN_LATE
    for part, said in parts.items():
        text = text.replace(part, said)
    return loads(text).doubts()


def test_loads_that_the_next_turn_waits_for():
    """The first turn finds none, and nobody waits for that of the last one; ``ahead`` mends both."""
    first, last = late()
    assert first.startswith(f"role 'all' waits for loads {FIRST}; put ahead: 1 on the load")
    assert last.startswith(f"role 'all' {LAST}, and nothing waits for them; put ahead: 1 on the load")
    assert late(", ahead: 1") == ()


def test_a_load_that_the_wait_behind_it_spares():
    """That is a wait for the turn before, too."""
    (last,) = late(wait="{compute: {ffma: 1}}", behind="{wait_loads: 1}")
    assert LAST in last
    assert late(", ahead: 1", wait="{compute: {ffma: 1}}", behind="{wait_loads: 1}") == ()


def test_what_the_prologue_loads_the_first_turn_finds():
    """Then only the last one loads too much, unless it is left out or the epilogue waits."""
    once = "{load: {bytes: 4 KiB, wait: false}}"
    (last,) = late(before=once)
    assert LAST in last
    assert "skip_last: 1 if the prologue loads the first tile" in last
    assert late(", skip_last: 1", before=once) == ()
    assert late(before=once, after="wait_loads") == ()


def test_what_the_epilogue_waits_for_the_first_turn_lacks():
    """A loop that computes what the turn before has loaded."""
    (first,) = late(after="wait_loads")
    assert FIRST in first


def test_a_load_of_later_tiles_is_not_missed_in_the_first():
    """Who waits in each turn for what only some of them load."""
    assert late(", every: 4, offset: 1") == ()


def test_a_ring_that_nobody_waits_for_is_doubtful():
    """Its copies are asked for, and the kernel ends without them."""
    text = """
question: q?
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 4
  rings: {input: {stages: 4, bytes: 4 KiB}}
  roles: {loader: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}}
"""
    (told,) = loads(text).doubts()
    assert told == "ring 'input' is filled by bulk copies, but no role waits for it (wait: input): nothing uses them"
