"""What stands in a kernel and has no effect is remarked on."""

from __future__ import annotations

import pytest

from gpusim.scenario import loads

TEXT = """\
question: q
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 6
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    all:
      warps: 4
      prologue: [{cp_async: {ring: input, tile: 0}}, {commit_group: {tile: 0}}]
      per_tile:
        - {cp_async: {ring: input, ahead: 1}}
        - {commit_group: {ahead: 1}}
        - {wait_group: 1}
        - sync_threads
        - {compute: {ffma: 64, lds: 4, reads: input}}
        - sync_threads
"""


def told(old: str = "", new: str = "") -> tuple[str, ...]:
    """The doubts about the kernel with one change."""
    assert old in TEXT
    return loads(TEXT.replace(old, new) if old else TEXT).doubts()


@pytest.mark.parametrize(
    ("old", "new", "remark"),
    [
        ("{input:", "{spare: {stages: 4, bytes: 16 KiB}, input:", "ring 'spare' takes 64 KiB of shared memory"),
        ("{wait_group: 1}", "{wait_group: 1}\n        - wait_loads", "wait_loads of role 'all' waits for nothing"),
        ("  roles:", "  barriers: {mine: {arrivals: 4}}\n  roles:", "barrier 'mine' is declared and no op names it"),
        ("    all:", "    tma:", "role 'tma' has the name of a lane of each CTA"),
        ("ring: input, tile: 0", "ring: input, tile: 9", "all.prologue.0.cp_async is for tile 9 and never runs"),
        ("ring: input, tile: 0", "ring: input, tile: -7", "is for tile -7 and never runs: no CTA has more than 6"),
        ("reads: input}", "reads: input, every: 20, offset: 6}", "per_tile.4.compute never runs: its first tile is 6"),
    ],
)  # fmt: skip
def test_what_has_no_effect(old, new, remark):
    """One remark each, and no error: a sweep may make a kernel short."""
    (found,) = told(old, new)
    assert remark in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ring: input, tile: 0", "ring: input, tile: 5"),
        ("ring: input, tile: 0", "ring: input, tile: -6"),
        ("reads: input}", "reads: input, every: 20, offset: 5}"),
        ("tiles_per_cta: 6", "tiles_per_cta: [0, 1, 2, 3, 4, 5, 6, 7]"),
    ],
)
def test_what_has_one(old, new):
    """The last tile is one, and so is that of the longest CTA."""
    assert told(old, new) == ()


def test_kernels_of_a_host_program_are_named():
    """There may be several."""
    kernel = TEXT.partition("kernel:\n")[2].replace("{input:", "{spare: {stages: 1, bytes: 1 KiB}, input:")
    kernel = "\n".join(f"    {line}" for line in kernel.splitlines())
    text = f"""\
question: q
device: textbook
host:
  kernels:
    k:
{kernel}
  threads: {{main: {{per_chunk: [{{launch: k}}]}}}}
"""
    assert any(doubt.startswith("kernel 'k': ring 'spare' takes 1 KiB") for doubt in loads(text).doubts())


def test_loops_of_a_draft_of_which_nobody_has_said_how_often_they_run():
    """As long as the question stands there and the answer is the draft's."""
    head, ops = "        - repeat:  # loop 1.1: how often?{}\n", "            ops:\n              - sync_threads"
    loop = f"{head}            times: {{}}\n{ops}"
    for asked, times, doubts in (("", 1, 1), (" Or, if it fills the ring: `ahead`", 1, 1), ("", 4, 0)):
        found = told("        - sync_threads", loop.format(asked, times))
        assert len(found) == doubts
        assert all("unchanged from the draft: say how many, or how often that loop runs" in doubt for doubt in found)
    assert told("        - sync_threads", loop.format("", 1).replace("  # loop 1.1: how often?", "")) == ()


def test_instructions_of_a_draft_that_no_op_stands_for():
    """As long as the comment says so."""
    comment = "        - sync_threads  # not in it, no model: 1 atomics"
    found = told("        - sync_threads", comment)
    assert [doubt.partition(": ")[0] for doubt in found] == [
        f"line {line} counts 1 atomics, for which there is no model" for line in (15, 17)
    ]
    assert told("        - sync_threads", comment.partition("  #")[0]) == ()


def test_lines_of_a_draft_that_are_still_comments():
    """Waits, releases and bulk copies, for which a draft cannot tell the ring; other comments are one's own."""
    (found,) = told(
        "        - {wait_group: 1}",
        "        # - wait, acquire or mbarrier_wait\n        - {wait_group: 1}\n        # - tma_load",
    )
    assert found.startswith("lines 14 and 16 are still the comment of a draft")
    (found,) = told("        - sync_threads", "        # - release, producer_commit or arrive\n        - sync_threads")
    assert found.startswith("lines 15 and 18 are")
    assert (
        told(
            "        - {wait_group: 1}",
            "        # - load: {bytes: 4 KiB}\n        # compute: addresses\n        - {wait_group: 1}",
        )
        == ()
    )


PRODUCT = """\
question: q
device: h200_sxm
kernel:
  grid: 64
  tiles_per_cta: 6
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: {ring: input, l2_hit: 0.9}}]}
    all:
      warps: 4
      per_tile: [{wait: input}, {compute: {ffma: 8, lds: 4}}, {release: input}, {compute: {atoms: 8}}]
      epilogue: [{store: {bytes: 64 KiB, width: 8, scatter: 32}}]
"""


def test_what_decides_and_is_left_open_is_asked_for():
    """Each once, until it is said, whatever the answer."""
    found = loads(PRODUCT).doubts()
    assert any("tma_load finds 90% in L2 because others ask for it: say shared_by" in one for one in found)
    assert any("store writes 32 bytes of lines of 128: say completed: 1" in one for one in found)
    assert any("compute updates shared memory: say atoms_wavefronts" in one for one in found)
    said = PRODUCT.replace("l2_hit: 0.9", "l2_hit: 0.9, shared_by: 1").replace(
        "scatter: 32", "scatter: 32, completed: 0"
    )
    said = said.replace("atoms: 8", "atoms: 8, atoms_wavefronts: 1")
    assert not loads(said).doubts()
