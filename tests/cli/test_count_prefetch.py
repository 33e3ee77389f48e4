"""``gpusim count --draft`` of loads that are fetched into registers one turn early."""

from __future__ import annotations

import yaml

from gpusim import loads
from tests.cli.listings import ANYWHERE, lines_in

PREFETCH = """
        Function : prefetch
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R12, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E R4, desc[UR4][R2.64+0x4] ;
        /*0030*/                   FADD R8, R4, R12 ;
        /*0040*/                   LDG.E R5, desc[UR4][R2.64+0x400] ;
        /*0050*/                   FADD R8, R5, R8 ;
        /*0060*/               @P1 LDG.E R4, desc[UR4][R2.64+0x8] ;
        /*0070*/                   STG.E desc[UR4][R6.64], R8 ;
        /*0080*/               @P0 BRA 0x30 ;
        /*0090*/                   EXIT ;
"""
"""R12 is loaded once, R5 in each turn for itself, and R4 for the next one."""
ONLY_EARLY = PREFETCH.replace("LDG.E R12, desc[UR4][R2.64]", "MOV R12, 0x0")
LEFT_OUT = "# left out: what is asked for there for the first tiles, as `ahead` in per_tile says"


def test_a_load_for_the_next_turn_is_ahead(drafted):
    """That of the first turn is left out, and nothing is doubtful in what is pasted."""
    draft = drafted(ONLY_EARLY)
    lines = lines_in(draft)
    early = "- load: {bytes: 512, width: 4, wait: false, ahead: 1}"
    early += f"  # {ANYWHERE}; 1 of 1 predicated: count what takes part"
    assert [line for line in lines if "load" in line and "wait_loads" not in line] == [
        f"- load: {{bytes: 512, width: 4, wait: false}}  # {ANYWHERE}", early,
    ]  # fmt: skip
    assert LEFT_OUT in lines
    kernel = {"grid": 132, "tiles_per_cta": 4, "registers": 32, "roles": yaml.safe_load(draft)}
    assert not loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel})).doubts()


def test_what_is_waited_for_before_the_loop_is_not_the_first_turn_s(drafted):
    """What the loop finds in the registers then comes from elsewhere, so that the draft leaves all as it is."""
    waited = ONLY_EARLY.replace("/*0030*/", "/*0028*/                   FADD R4, R4, R4 ;\n        /*0030*/")
    draft = drafted(waited)
    assert "ahead" not in draft
    assert LEFT_OUT not in draft


def test_a_step_that_loads_more_than_the_first_turn_s_stays(drafted):
    """R12, which no turn loads again, is fetched along with R4."""
    draft = drafted(PREFETCH)
    assert f"- load: {{bytes: 1 KiB, width: 4, wait: false}}  # {ANYWHERE}" in lines_in(draft)
    assert "ahead" not in draft


def test_a_load_that_this_turn_needs_is_not_ahead(drafted):
    """Nothing is left under way at the end of the loop."""
    assert "ahead" not in drafted(ONLY_EARLY.replace("STG.E desc[UR4][R6.64], R8", "STG.E desc[UR4][R6.64], R4"))


RING = """
        Function : ring
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0020*/                   LDGDEPBAR ;
        /*0030*/                   LDGSTS.E.BYPASS.128 [R1+0x1000], desc[UR4][R2.64] ;
        /*0040*/                   LDGDEPBAR ;
        /*0050*/               @P2 BRA 0xa0 ;
        /*0060*/                   IADD3 R2, R2, 0x10, RZ ;
        /*0070*/                   LDGSTS.E.BYPASS.128 [R1+0x2000], desc[UR4][R2.64] ;
        /*00a0*/                   LDGDEPBAR ;
        /*00b0*/                   DEPBAR.LE SB0, 0x2 ;
        /*00c0*/                   LDS.128 R12, [R9] ;
        /*00d0*/                   FFMA R4, R12, R13, R4 ;
        /*00e0*/               @P1 BRA 0x50 ;
        /*00f0*/                   EXIT ;
"""


def test_copies_that_fill_a_ring_before_the_loop_are_ahead(drafted):
    """Two groups of as much as a turn copies: two tiles. That the last turns copy nothing goes along with it."""
    draft = drafted(RING)
    lines = lines_in(draft)
    assert LEFT_OUT in lines
    assert "- commit_group: {ahead: 2}" in lines
    assert [line.partition("  #")[0] for line in lines if "cp_async" in line] == [
        "- cp_async: {ring: input, bytes: 2 KiB, width: 16, ahead: 2}"
    ]
    assert "jumped over" not in draft
    role = yaml.safe_load(draft)["all"]
    rings = {"input": {"stages": 3, "bytes": 2048, "private": True}}
    kernel = {"grid": 132, "tiles_per_cta": 8, "registers": 32, "rings": rings, "roles": {"all": role}}
    assert not loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel})).doubts()


TWO_GROUPS = """
        Function : two_groups
        /*0010*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0020*/                   LDGDEPBAR ;
        /*0030*/                   LDGSTS.E.BYPASS.128 [R6], desc[UR4][R2.64+0x1000] ;
        /*0038*/                   LDGSTS.E.BYPASS.128 [R6+0x800], desc[UR4][R2.64+0x2000] ;
        /*0040*/                   LDGDEPBAR ;
        /*0050*/                   IADD3 R2, R2, 0x10, RZ ;
        /*0060*/                   DEPBAR.LE SB0, 0x0 ;
        /*0070*/                   LDS.128 R12, [R9] ;
        /*0080*/                   FFMA R4, R12, R13, R4 ;
        /*0090*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00a0*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*00b0*/                   LDGDEPBAR ;
        /*00c0*/                   LDGSTS.E.BYPASS.128 [R6], desc[UR4][R2.64+0x1000] ;
        /*00c8*/                   LDGSTS.E.BYPASS.128 [R6+0x800], desc[UR4][R2.64+0x2000] ;
        /*00d0*/                   LDGDEPBAR ;
        /*00e0*/               @P1 BRA 0x50 ;
        /*00f0*/                   EXIT ;
"""


def test_a_tile_may_be_several_groups(drafted):
    """Two matrices, of each of which a turn copies a part; a stage holds both."""
    draft = drafted(TWO_GROUPS)
    assert "# rings: {input: {stages: 2, bytes: 6 KiB}}" in draft
    assert [line.partition("  #")[0] for line in lines_in(draft) if "cp_async" in line] == [
        "- cp_async: {ring: input, bytes: 2 KiB, width: 16, ahead: 1}",
        "- cp_async: {ring: input, bytes: 4 KiB, width: 16, ahead: 1}",
    ]
    assert lines_in(draft).count("- commit_group: {ahead: 1}") == 2


def test_groups_of_other_sizes_fill_something_else(drafted):
    """They stay, with a comment, and so does the question what the branch jumps over."""
    draft = drafted(RING.replace("/*0020*/                   LDGDEPBAR", "/*0020*/                   NOP"))
    assert "# copies before the loop that fill the ring: `ahead` on those in per_tile instead" in draft
    assert "{ahead" not in draft
    assert "jumped over" in draft


BUFFERS = """
        Function : buffers
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0020*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R6.64] ;
        /*0030*/                   LDGDEPBAR ;
        /*0040*/                   STS [R8], R4 ;
        /*0050*/                   DEPBAR.LE SB0, 0x0 ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0070*/               @P0 BRA 0xc0 ;
        /*0080*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R6.64] ;
        /*0090*/                   LDGDEPBAR ;
        /*00a0*/                   LDG.E R4, desc[UR4][R2.64+0x400] ;
        /*00c0*/                   LDS R12, [R9] ;
        /*00d0*/                   FFMA R20, R12, R13, R20 ;
        /*00e0*/                   STS [R8], R4 ;
        /*00f0*/                   DEPBAR.LE SB0, 0x0 ;
        /*0100*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0110*/               @P1 BRA 0x70 ;
        /*0120*/                   STG.E desc[UR4][R2.64], R20 ;
        /*0130*/                   EXIT ;
"""


def test_turns_that_end_with_the_wait_for_the_next_tile_begin_with_it(drafted):
    """As the code before the loop ends with that for the first one; copies and loads are one tile ahead then."""
    draft = drafted(BUFFERS)
    role = yaml.safe_load(draft)["all"]
    told = [op if isinstance(op, str) else next(iter(op)) for op in role["per_tile"]]
    assert [word for word in told if word != "compute"] == [
        "wait_loads", "wait_group", "sync_threads", "cp_async", "commit_group", "load",
    ]  # fmt: skip
    assert role["per_tile"][1]["compute"]["sts"] == 1
    ahead = [op for op in role["per_tile"] if isinstance(op, dict) and "ahead" in str(op)]
    assert [next(iter(op.values()))["ahead"] for op in ahead] == [1, 1, 1]
    assert all("compute" in op for op in role["prologue"])
    assert "jumped over" not in draft
    rings = {"input": {"stages": 2, "bytes": 2048}}
    kernel = {"grid": 132, "tiles_per_cta": 8, "registers": 32, "rings": rings, "roles": {"all": role}}
    assert not loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel})).doubts()


def test_a_loop_that_waits_for_what_it_has_asked_for_stays_as_it_is(drafted):
    """If nothing has been asked for before it."""
    lines = [line for line in BUFFERS.splitlines() if not any(f"/*00{at}0*/" in line for at in (1, 2, 3, 4, 5))]
    role = yaml.safe_load(drafted("\n".join(lines)))["all"]
    told = [op if isinstance(op, str) else next(iter(op)) for op in role["per_tile"]]
    assert [word for word in told if word != "compute"] == [
        "cp_async", "commit_group", "load", "wait_loads", "wait_group", "sync_threads",
    ]  # fmt: skip


def test_turns_of_which_nothing_is_ahead_stay_as_they_are(drafted):
    """The first tile's load brings other registers than the turns': it is not left out, nor does a wait move."""
    other = "\n".join(line for line in BUFFERS.splitlines() if "LDGSTS" not in line and "DEPBAR" not in line)
    draft = drafted(other.replace("LDG.E R4", "LDG.E R5", 1).replace("STS [R8], R4", "STS [R8], R5", 1))
    role = yaml.safe_load(draft)["all"]
    for part in ("prologue", "per_tile"):
        told = [op if isinstance(op, str) else next(iter(op)) for op in role[part]]
        assert [word for word in told if word != "compute"] == ["load", "wait_loads", "sync_threads"]
    assert "left out" not in draft
