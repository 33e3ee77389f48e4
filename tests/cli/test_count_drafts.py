"""``gpusim count --draft``: the roles that a disassembly is a draft of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from gpusim import loads, predict
from tests.cli.listings import ANYWHERE, NESTED, lines_in


def role_in(draft: str) -> dict[str, Any]:
    """What a scenario reads in it."""
    return yaml.safe_load(draft)["all"]


def words(ops: Iterable[Any]) -> list[str]:
    """Those that ops begin with."""
    return [op if isinstance(op, str) else next(iter(op)) for op in ops]


SUM = """
		Function : sum
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0020*/                   FADD R8, R4, R8 ;
        /*0030*/                   LDS.128 R12, [R1] ;
        /*0040*/                   LDS R9, [R1] ;
        /*0050*/                   FFMA R8, R9, R12, R8 ;
        /*0060*/                   STS.128 [R1], R12 ;
        /*0070*/                   STS [R1], R8 ;
        /*0080*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0090*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00a0*/               @P0 BRA 0x20 ;
        /*00b0*/                   SHFL.BFLY PT, R4, R8, 0x1, 0x1f ;
        /*00c0*/                   STG.E desc[UR4][R2.64], R4 ;
        /*00d0*/                   EXIT ;
"""


def test_a_draft_is_a_role_that_runs(drafted):
    """The loop is over tiles; its loads are waited for in the next turn, the first one in the first, none behind it."""
    role = role_in(drafted(SUM))
    assert {key: words(role[key]) for key in role if key != "warps"} == {
        "prologue": ["compute", "load"],
        "per_tile": ["wait_loads", "compute", "compute", "load", "sync_threads", "compute"],
        "epilogue": ["compute", "store", "compute"],
    }
    assert role["prologue"][1] == {"load": {"bytes": 512, "width": 4, "wait": False}}
    assert role["per_tile"][2]["compute"] == {"sts": 1, "sts_bytes": 4}  # of another width than the one before
    assert role["per_tile"][3] == {"load": {"bytes": "2 KiB", "width": 16, "wait": False}}
    computed, shuffled = role["per_tile"][1]["compute"], role["epilogue"][0]["compute"]
    assert (computed["lds"], computed["lds_bytes"], computed["lds_wavefronts"]) == (2, 4, 2.5)
    assert (shuffled["lds"], shuffled["reads"]) == (1, False)
    role["per_tile"].append("wait_loads")  # the last turn's
    kernel = {"grid": 132, "tiles_per_cta": 4, "registers": 32, "shared_bytes": 2048, "roles": {"all": role}}
    scenario = loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel}))
    assert predict(scenario, trace=False).total_s > 0


NARROW = """
        Function : narrow
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   S2R R1, SR_CTAID.X ;
        /*0020*/                   IMAD.WIDE R4, R0, 0x4, R8 ;
        /*0030*/                   IMAD.WIDE R6, R1, 0x4, R8 ;
        /*0040*/                   LDG.E R10, desc[UR4][R6.64] ;
        /*0050*/                   ISETP.GE.AND P0, PT, R0, 0x20, PT ;
        /*0060*/                   @P0 IADD3 R6, R6, 0x4, RZ ;
        /*0070*/                   LDG.E R11, desc[UR4][R6.64] ;
        /*0080*/                   LDG.E.U8 R12, desc[UR4][R4.64] ;
        /*0090*/                   MOV R8, c[0x0][0x210] ;
        /*00a0*/                   FADD R10, R10, R11 ;
        /*00b0*/                   FADD R10, R10, R12 ;
        /*00c0*/                   STG.E desc[UR4][R4.64], R10 ;
        /*00d0*/                   @!P0 STG.E desc[UR4][R4.64+0x4], R10 ;
        /*00e0*/                   BAR.ARV R2, 0x100 ;
        /*00f0*/                   EXIT ;
"""


def test_a_draft_says_which_lanes_an_access_is_of(drafted):
    """One address for all lanes, bytes side by side, those that only some execute; a barrier that a register names."""
    draft = drafted(NARROW.replace("/*0090*/                   MOV R8", "/*0008*/                   MOV R8"))
    lines = lines_in(draft)
    assert "- load: {bytes: 512, width: 4, stride: 1, wait: false}  # one address for all lanes" in lines
    # Where some lanes have gone on by a word.
    assert f"- load: {{bytes: 512, width: 4, wait: false}}  # {ANYWHERE}" in lines
    assert "- load: {bytes: 512, width: 4, stride: 1, wait: false}" in lines  # of one byte each
    assert "- store: {bytes: 512, width: 4}" in lines
    assert "- store: {bytes: 128, width: 4, warps: 1}" in lines  # as the predicate of the thread's number says
    assert "- store: {bytes: 512, width: 4}  # 1 of 1 predicated: count what takes part" in lines_in(
        drafted(NARROW.replace("@!P0 STG", "@!P3 STG").replace("STG.E desc[UR4][R4.64], R10", "NOP"))
    )
    assert "# - named_barrier" in lines
    yaml.safe_load(draft)


def test_what_only_a_loop_uses_is_waited_for_before_it(drafted):
    """A load that the loop does not repeat is there in its first turn."""
    once = [line for line in SUM.splitlines() if "0080" not in line]
    role = role_in(drafted("\n".join(once)))
    assert words(role["per_tile"]) == ["compute", "load", "wait_loads", "repeat", "compute", "store", "compute"]


def test_of_several_loops_the_one_that_waits_is_over_tiles(drafted):
    """One within it, and one behind it, as a repeat; what has no word that machine code knows is a comment."""
    draft = drafted(NESTED, 1)
    role = role_in(draft)
    assert words(role["per_tile"]) == ["compute", "repeat", "compute"]
    (after,) = (op["repeat"] for op in role["epilogue"] if "repeat" in op)
    assert words(after["ops"]) == ["store", "compute"]
    assert "# - wait, acquire or mbarrier_wait" in draft
    assert "no model: 1 atomics" in draft


FILLED = """
        Function : filled
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0020*/                   LDGDEPBAR ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   DEPBAR.LE SB0, 0x1 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0070*/                   LDGDEPBAR ;
        /*0080*/                   LDS.128 R8, [R3] ;
        /*0090*/                   FFMA R4, R8, R9, R4 ;
        /*00a0*/               @P1 BRA 0x40 ;
        /*00b0*/                   EXIT ;
"""


def test_a_loop_that_fills_a_ring_stands_before_the_tiles(drafted):
    """Its copies are ahead in the loop over tiles: one more than it leaves under way, as it waits before it copies."""
    role = role_in(drafted(FILLED))
    (fill,) = (op["repeat"] for op in role["prologue"] if "repeat" in op)
    assert words(fill["ops"]) == ["compute"]
    assert words(role["per_tile"]) == ["wait_group", "sync_threads", "cp_async", "commit_group", "compute"]
    assert role["per_tile"][2]["cp_async"]["ahead"] == role["per_tile"][3]["commit_group"]["ahead"] == 2


COPIES_FIRST = """
        Function : filled
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0020*/                   LDGDEPBAR ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0050*/                   LDGDEPBAR ;
        /*0060*/                   DEPBAR.LE SB0, 0x1 ;
        /*0070*/                   LDS.128 R8, [R3] ;
        /*0080*/                   FFMA R4, R8, R9, R4 ;
        /*0090*/               @P1 BRA 0x40 ;
        /*00a0*/                   EXIT ;
"""


def test_a_turn_that_copies_before_it_waits_is_as_far_ahead_as_it_leaves_under_way(drafted):
    """Where nothing is left under way the loop before it is none that fills a ring, and stays."""
    role = role_in(drafted(COPIES_FIRST))
    assert words(role["per_tile"])[:3] == ["cp_async", "commit_group", "wait_group"]
    assert role["per_tile"][0]["cp_async"]["ahead"] == 1
    none = drafted(COPIES_FIRST.replace("DEPBAR.LE SB0, 0x1", "DEPBAR.LE SB0, 0x0"))
    assert "{ahead" not in none
    assert "Or, if it fills the ring" in none


def test_several_loops_that_wait_are_one_list(drafted):
    """Producer and consumer, or two passes: which of them is over tiles nobody knows."""
    first, *others = FILLED.split("LDGDEPBAR")
    role = role_in(drafted("LDGDEPBAR".join([f"{first}DEPBAR.LE SB0, 0x0{others[0]}", *others[1:]])))
    assert set(role) == {"warps", "per_tile"}
    assert words(role["per_tile"]).count("repeat") == 2


ELECTED = """
        Function : elected
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R7+URZ], R6 ;
        /*0030*/                   LDS.128 R8, [R3] ;
        /*0040*/                   FFMA R4, R8, R9, R4 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/               @P0 BRA 0x00d0 ;
        /*0070*/                   LDG.E R10, desc[UR4][R12.64] ;
        /*0080*/                   IADD3 R10, R10, 0x1, RZ ;
        /*0090*/                   SYNCS.ARRIVE.TRANS64 RZ, [R7+URZ], R5 ;
        /*00a0*/                   UIADD3 UR4, UR4, 0x10, URZ ;
        /*00b0*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;
        /*00c0*/                   STG.E desc[UR4][R12.64], R10 ;
        /*00d0*/                   IADD3 R3, R3, 0x10, RZ ;
        /*00e0*/               @P2 BRA 0x20 ;
        /*00f0*/                   EXIT ;
"""


def test_a_draft_says_what_one_warp_executes(drafted):
    """Thread 0 asks for the next copy: of its loads sectors count, and what the copy's cost contains is a comment."""
    draft = drafted(ELECTED, 8)
    lines = lines_in(draft)
    assert "- load: {bytes: 32, width: 4, warps: 1, other: 1, wait: false}  # one lane: a sector each" in lines
    assert "- store: {bytes: 32, width: 4, warps: 1, other: 1}  # one lane: a sector each" in lines
    assert "# - expect_tx: a part of tma_load" in lines
    assert sum(line.startswith("# compute: {setup: 1}: addresses") for line in lines) == 1
    role = role_in(draft)
    computed = [op["compute"] for op in role["per_tile"] if "compute" in op]
    assert [op.get("warps") for op in computed] == [None, None, 1, None]


def test_a_draft_leaves_out_the_addresses_of_a_bulk_store(drafted):
    """What one thread computes for it is within its cost; what all warps do before it is not."""
    draft = drafted(ELECTED.replace("UBLKCP.S.G [UR4], [UR6], UR8", "UBLKCP.G.S [UR6], [UR4], UR8"), 8)
    assert "# compute: {setup: 1}: addresses, within the cost of the copy" in draft
    by_all = ELECTED.replace("@P0 BRA 0x00d0", "NOP").replace("UBLKCP.S.G", "UBLKCP.G.S")
    assert "addresses, within" not in drafted(by_all, 8)


ROWS = """
        Function : rows
        /*0000*/                   MOV R9, UR8 ;
        /*0010*/                   LDG.E R5, desc[UR4][R6.64] ;
        /*0020*/                   STS [R8], R5 ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0050*/                   LDGDEPBAR ;
        /*0060*/                   LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64] ;
        /*0070*/                   LDGDEPBAR ;
        /*0080*/                   DEPBAR.LE SB0, 0x1 ;
        /*0090*/                   LDS.128 R12, [R9] ;
        /*00a0*/                   LDL R20, [R1] ;
        /*00b0*/                   FFMA R4, R12, R20, R4 ;
        /*00c0*/                   IADD3 R9, R9, 0x10, RZ ;
        /*00d0*/               @P1 BRA 0x60 ;
        /*00e0*/                   EXIT ;
"""


def test_a_draft_of_a_loop_that_waits_for_copies_behind_one_that_loads(drafted):
    """Which fills a table: the tiles are those of the copies."""
    draft = drafted(ROWS)
    role = role_in(draft)
    assert words(role["per_tile"]) == ["cp_async", "commit_group", "wait_group", "compute"]
    assert words(role["prologue"]).count("repeat") == 1
    assert "# 1 loads and stores of spilled registers are in it" in draft
    # The address of the LDS is alike in all lanes, so that it passes twice and not four times; LDL goes along.
    assert role["per_tile"][3]["compute"]["lds_wavefronts"] == 1.5


TABLE = """
        Function : table
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R5, desc[UR4][R6.64] ;
        /*0020*/                   STS [R8], R5 ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   LDG.E R5, desc[UR4][R6.64] ;
        /*0050*/                   LDS R9, [R8] ;
        /*0060*/                   FADD R5, R5, R9 ;
        /*0070*/               @P1 BRA 0x50 ;
        /*0080*/                   STG.E desc[UR4][R6.64], R5 ;
        /*0090*/               @P2 BRA 0x40 ;
        /*00a0*/                   EXIT ;
"""


def test_of_two_loops_that_load_the_one_that_stores_is_over_tiles(drafted):
    """The other one fills a table before it."""
    role = role_in(drafted(TABLE))
    assert words(role["prologue"]).count("repeat") == 1
    assert [word for word in words(role["per_tile"]) if word != "compute"] == ["load", "wait_loads", "repeat", "store"]
