"""``gpusim count --draft`` of what kernels of libraries do: choices, products under way, names, launches early."""

from __future__ import annotations

import pytest

from gpusim.cli.count.scenario import short_name
from tests.cli.listings import lines_in

CHOICE = """
        Function : choice
        /*0000*/                   S2R R0, SR_CTAID.X ;
        /*0010*/                   LDC R3, c[0x0][0x210] ;
        /*0020*/                   ISETP.GE.AND P0, PT, R0, R3, PT ;
        /*0030*/               @P0 BRA 0x80 ;
        /*0040*/                   LDG.E.128 R4, desc[UR4][R6.64] ;
        /*0050*/                   FADD R4, R4, R5 ;
        /*0060*/                   STG.E.128 desc[UR4][R2.64], R4 ;
        /*0070*/                   EXIT ;
        /*0080*/                   LDG.E R8, desc[UR4][R6.64] ;
        /*0090*/                   FADD R8, R8, R5 ;
        /*00a0*/                   STG.E desc[UR4][R2.64], R8 ;
        /*00b0*/                   EXIT ;
        /*00c0*/                   BRA 0xc0 ;
"""
"""Whole tiles before the exit, the rest of the last one behind it."""


def test_both_halves_of_a_choice_are_asked_for(drafted):
    lines = lines_in(drafted(CHOICE))
    asked = [at for at, line in enumerate(lines) if "jumped over by a branch" in line]
    loads = [at for at, line in enumerate(lines) if line.startswith("- load")]
    assert len(asked) == len(loads) == 2
    assert all(before <= load for before, load in zip(asked, loads, strict=True))
    assert asked[1] > loads[0]


PRODUCTS = """
        Function : products
        /*0000*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR7], R6 ;
        /*0010*/                   HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24{first} ;
        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*0030*/                   SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9], RZ ;
        /*0040*/                   HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24, gsb0 ;
        /*0050*/               @P0 BRA 0x0 ;
        /*0060*/                   EXIT ;
"""


@pytest.mark.parametrize(("first", "pending"), [("", 1), (", gsb0", 0)])
def test_a_wait_for_complete_groups_leaves_the_products_of_an_open_one(drafted, first, pending):
    """A group is complete with the product that marks its counter: without it the wait is for the turn before."""
    assert f"- wgmma_wait: {pending}" in lines_in(drafted(PRODUCTS.replace("{first}", first)))


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        (
            "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIfEEEEviT0_",
            "vectorized_elementwise_kernel",
        ),
        ("_Z5scalePfi", "scale"),
        ("layer", "layer"),
        ("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coo"),
        ("_ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi8EEEvPT0_", "softmax_warp_forward"),
    ],
)
def test_names_are_short_enough_for_a_scenario(mangled, name):
    assert short_name(mangled) == name


EARLY = """
        Function : early
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R4, desc[UR4][R6.64] ;
        /*0020*/                   ACQBULK ;
        /*0030*/                   LDG.E R8, desc[UR4][R10.64] ;
        /*0040*/                   FADD R8, R8, R4 ;
        /*0050*/                   PREEXIT ;
        /*0060*/                   STG.E desc[UR4][R2.64], R8 ;
        /*0070*/                   EXIT ;
"""


def test_a_kernel_between_others_says_where_it_waits_and_lets_go(drafted):
    words = [line[2:].partition(":")[0].partition(" ")[0] for line in lines_in(drafted(EARLY)) if line.startswith("- ")]
    order = [word for word in words if word in ("load", "grid_dependency_wait", "launch_dependents", "store")]
    assert order == ["load", "grid_dependency_wait", "load", "launch_dependents", "store"]


def test_a_listing_without_registers_leaves_them_to_be_asked_for(gpusim, listed, tmp_path):
    """And `check` says that nobody has answered."""
    path = tmp_path / "mine.yaml"
    code, _, err = gpusim("count", listed(EARLY), "--draft", 4, "-o", path)
    assert (code, err) == (0, "")
    assert "registers: 32  # how many a thread?" in path.read_text(encoding="utf-8")
    _, out, _ = gpusim("check", path)
    assert "lines 5 and 7 are unchanged from the draft: say how many" in " ".join(out.split())


def test_a_part_of_a_name_will_do(gpusim, listed):
    """If it is that of one function alone."""
    both = listed(EARLY + CHOICE)
    assert "- grid_dependency_wait" in gpusim("count", both, "--draft", 4, "--function", "arly")[1]
    code, _, err = gpusim("count", both, "--draft", 4, "--function", "e")
    assert (code, "has 2 functions whose names have 'e' in them; there are early, choice" in " ".join(err.split())) == (
        2, True,
    )  # fmt: skip
    code, _, err = gpusim("count", both, "--draft", 4, "--function", "none")
    assert (code, "has no function none; there are early, choice" in " ".join(err.split())) == (2, True)
