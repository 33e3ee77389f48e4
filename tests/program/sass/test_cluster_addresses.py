"""Which generic accesses go to other CTAs of the cluster, and what is said of them."""

from __future__ import annotations

import pytest

from gpusim.program import sass

MAPPED = ("S2R R5, SR_SWINHI", "PRMT R2, R7, 0x654, R6", "MOV R3, R5")
"""What `mapa` becomes: rank R7 in front of address R6."""


def marked(*lines: str) -> list[sass.Instruction]:
    """The instructions of a listing, those in other CTAs marked."""
    listing = "".join(f"/*{0x10 * at:04x}*/ {line} ;\n" for at, line in enumerate(lines))
    return sass.with_cluster_addresses(sass.parse(listing))


@pytest.mark.parametrize(
    ("access", "word"), [("LD.E.128 R8, [R2]", "load_cluster"), ("ST.E [R2+0x10], R9", "store_cluster")]
)
def test_an_address_with_a_rank_is_that_of_another_cta(access, word):
    """By its width, as accesses to global memory."""
    last = marked(*MAPPED, access)[-1]
    (row,) = sass.stated([last])
    assert last.in_cluster
    assert (row.word, row.field) == (word, f"bytes (width: {last.width})")


@pytest.mark.parametrize("lines", [
    ("S2R R3, SR_SWINHI", "MOV R2, R6"),
    (*MAPPED, "IADD3 R2, R2, 0x1, RZ"),
    (*MAPPED, "MOV R3, R9"),
    ("PRMT R2, R7, 0x654, R6",),
])  # fmt: skip
def test_others_stay_generic(lines):
    """Those of the own CTA, and what is not known any more."""
    last = marked(*lines, "LD.E R8, [R2]")[-1]
    assert not last.in_cluster
    assert sass.stated([last])[0].word == sass.NO_MODEL


def test_copies_of_it_are_followed():
    """As the compiler moves the halves into a pair."""
    lines = ("S2R R37, SR_SWINHI", "PRMT R34, R35, 0x654, R34", "MOV R2, R34", "MOV R3, R37")
    assert marked(*lines, "LD.E R8, [R2]")[-1].in_cluster
    assert not marked(*lines, "LD.E R8, [R4]")[-1].in_cluster


def test_fences_of_a_barrier_of_the_cluster_are_its_own():
    """Others are told."""
    fence = ("MEMBAR.ALL.GPU", "ERRBAR", "CGAERRBAR")
    assert [row.word for row in sass.stated(marked(*fence, "UCGABAR_ARV", "UCGABAR_WAIT"))].count(sass.NO_MODEL) == 0
    assert sass.NO_MODEL in [row.word for row in sass.stated(marked(*fence, "BAR.SYNC 0x0"))]
