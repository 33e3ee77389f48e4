"""``gpusim count --draft`` of kernels whose warps part ways: a role for each loop of their own."""

from __future__ import annotations

import yaml

from gpusim import loads, predict
from tests.cli.test_count_drafts import words

SPECIALIZED = """
		Function : specialized
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/               @P0 BRA 0x40 ;
        /*0030*/                   STS [R1], RZ ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/                   ISETP.GE.AND P1, PT, R0, 0x60, PT ;
        /*0060*/               @P1 BRA 0x100 ;
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+URZ], R6 ;
        /*0080*/                   LDS.128 R8, [R1] ;
        /*0090*/                   FFMA R4, R8, R9, R4 ;
        /*00a0*/                   SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R7+URZ], RZ ;
        /*00b0*/               @P3 BRA 0x70 ;
        /*00c0*/                   STG.E desc[UR4][R2.64], R4 ;
        /*00d0*/                   EXIT ;
        /*0100*/                   ISETP.NE.AND P0, PT, R0, 0x60, PT ;
        /*0110*/               @P0 EXIT ;
        /*0120*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+URZ], R6 ;
        /*0130*/                   SYNCS.ARRIVE.TRANS64 RZ, [R7+URZ], R5 ;
        /*0140*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;
        /*0150*/               @P3 BRA 0x120 ;
        /*0160*/                   EXIT ;
"""


def roles_in(draft: str) -> dict:
    """What a scenario reads in it."""
    return yaml.safe_load(draft)


def test_warps_with_loops_of_their_own_are_roles(drafted):
    """Three consumers and, of the last warp, one thread; what stands before the branch is in both lists."""
    roles = roles_in(drafted(SPECIALIZED, 4))
    assert list(roles) == ["consumer", "producer"]
    assert {name: role["warps"] for name, role in roles.items()} == {"consumer": 3, "producer": 1}
    consumer, producer = roles["consumer"], roles["producer"]
    assert words(consumer["per_tile"]) == ["wait", "compute", "release", "compute"]
    assert words(producer["per_tile"]) == ["acquire", "tma_load", "compute"]
    assert words(consumer["epilogue"]) == ["store", "compute"]
    assert "sync_threads" in consumer["prologue"]
    assert "sync_threads" in producer["prologue"]
    [stored] = [op["compute"] for op in consumer["prologue"] if "compute" in op and "sts" in op["compute"]]
    assert stored["warps"] == 1  # thread 0, which the producer has not


def test_such_a_draft_runs_once_its_ring_is_declared(drafted):
    """Nothing else has to be written for the plainest pipeline."""
    kernel = {
        "grid": 132, "tiles_per_cta": 20, "registers": 32, "rings": {"input": {"stages": 2, "bytes": 4096}},
        "roles": roles_in(drafted(SPECIALIZED, 4)),
    }  # fmt: skip
    scenario = loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel}))
    assert predict(scenario, trace=False).total_s > 0


def test_warps_in_none_of_the_loops_are_named(drafted):
    """The CTA has two warps more, which leave."""
    draft = drafted(SPECIALIZED.replace("0x60, PT ;\n        /*0110", "0x80, PT ;\n        /*0110"), 6)
    assert "warps: 1  # 4" in draft
    assert draft.splitlines()[-1] == "# in none of the loops: warps 3, 5; idle_warps of a role?"


def test_rings_are_left_to_write_where_it_could_be_another_way(drafted):
    """A second wait of the consumer, or a producer that stores as well and may wait for the consumers' results."""
    again = SPECIALIZED.replace("FFMA R4, R8, R9, R4", "SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+0x8], R6")
    both = SPECIALIZED.replace(
        "/*0150*/", "/*0148*/                   UBLKCP.G.S [UR4], [UR6], UR8 ;\n        /*0150*/"
    )
    for listing in (again, both):
        draft = drafted(listing, 4)
        assert "# - wait, acquire or mbarrier_wait" in draft
        assert "input" not in draft


def test_a_loop_that_all_run_before_they_part_ways_is_part_of_each_role(drafted):
    """One that reads weights; one with copies of its own is a pipeline of all warps, and so are the loops behind it."""

    def split(*body):
        lines = "".join(f"        /*00{0x41 + at:02x}*/ {line} ;\n" for at, line in enumerate((*body, "@P4 BRA 0x41")))
        return roles_in(drafted(SPECIALIZED.replace("        /*0050*/", f"{lines}        /*0050*/"), 4))

    roles = split("LDG.E R4, desc[UR4][R2.64]", "STS [R1], R4")
    assert {name: role["warps"] for name, role in roles.items()} == {"consumer": 3, "producer": 1}
    for role in roles.values():
        [prepared] = [op["repeat"]["ops"] for op in role["prologue"] if "repeat" in op]
        assert [word for word in words(prepared) if word != "compute"] == ["load", "wait_loads"]
    assert len(split("LDGSTS.E [R5], desc[UR4][R2.64]", "LDGDEPBAR")) == 1


def test_consumers_that_store_by_bulk_copies_wait_for_what_the_producer_brings(drafted):
    """Where the producer stores nothing, the mbarriers are those of its ring; the room of the stores is another."""
    stored = "/*00b0*/                   UBLKCP.G.S [UR4], [UR6], UR8 ;\n        /*00b8*/"
    draft = drafted(SPECIALIZED.replace("/*00b0*/", stored), 4)
    turn = roles_in(draft)["consumer"]["per_tile"]
    assert {"wait": "input"} in turn
    assert {"release": "input"} in turn
    assert "# - tma_store" in draft


def test_registers_that_warpgroups_give_and_take(drafted):
    """The loop that waits for them is none; the number stands in the instruction."""
    listing = """
		Function : split
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   WARPSYNC.ALL ;
        /*0020*/                   USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8 ;
        /*0030*/                   PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0 ;
        /*0040*/              @!P0 BRA 0x10 ;
        /*0050*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0060*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0070*/                   EXIT ;
"""
    role = roles_in(drafted(listing, 4))["all"]
    assert {"set_max_nreg": 232} in role["per_tile"]
    assert "repeat" not in words(role["per_tile"])


def test_loops_that_some_warps_have_beside_all_the_others(drafted):
    """A sum by the first warp behind the loop of all: one role."""
    listing = """
		Function : sum
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0020*/                   FADD R8, R4, R8 ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   ISETP.GE.AND P1, PT, R0, 0x20, PT ;
        /*0050*/               @P1 EXIT ;
        /*0060*/                   LDS R9, [R1] ;
        /*0070*/                   FADD R8, R9, R8 ;
        /*0080*/               @P2 BRA 0x60 ;
        /*0090*/                   STG.E desc[UR4][R2.64], R8 ;
        /*00a0*/                   EXIT ;
"""
    draft = drafted(listing, 4)
    assert list(roles_in(draft)) == ["all"]
    assert "By one warp; perhaps a role of its own" in draft


ALONE = """
		Function : alone
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   MOV R5, 0x1000 ;
        /*0020*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0030*/               @P0 BRA 0x70 ;
        /*0040*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+URZ], R6 ;
        /*0050*/                   SYNCS.ARRIVE.TRANS64 RZ, [R7+URZ], R5 ;
        /*0060*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+0x40], R6 ;
        /*0080*/                   LDS.128 R8, [R1] ;
        /*0090*/                   FFMA R4, R8, R9, R4 ;
        /*00a0*/                   SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R7+0x20], RZ ;
        /*00b0*/               @P3 BRA 0x30 ;
        /*00c0*/                   EXIT ;
"""


def test_one_thread_of_the_role_asks_for_the_copies(drafted):
    """It waits for a free stage, the others go on; all wait for the tile and give the stage back."""
    role = roles_in(drafted(ALONE, 4))["all"]
    told = [op for op in role["per_tile"] if "compute" not in op]
    assert told == [
        {"acquire": {"ring": "input", "warps": 1, "ahead": "full"}}, {"tma_load": {"ring": "input", "ahead": "full"}},
        {"wait": "input"}, {"release": "input"},
    ]  # fmt: skip
    kernel = {
        "grid": 132, "tiles_per_cta": 20, "registers": 32, "rings": {"input": {"stages": 2, "bytes": 4096}},
        "roles": {"all": role},
    }  # fmt: skip
    scenario = loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel}))
    assert predict(scenario, trace=False).total_s > 0


def test_two_copies_of_one_stage_are_parts_of_it(drafted):
    """Equal ones, of as many bytes as are announced."""
    twice = ALONE.replace("/*0070*/", "/*0068*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;\n        /*0070*/", 1)
    part = {"tma_load": {"ring": "input", "bytes": "2 KiB", "ahead": "full"}}
    assert [op for op in roles_in(drafted(twice, 4))["all"]["per_tile"] if "tma_load" in op] == [part, part]


BEHIND_A_BARRIER = """
		Function : alone
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   ISETP.NE.AND P0, PT, R0, RZ, PT ;
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R7+0x40], R6 ;
        /*0030*/                   LDS.128 R8, [R1] ;
        /*0040*/                   FFMA R4, R8, R9, R4 ;
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0060*/               @P0 BRA 0x90 ;
        /*0070*/                   SYNCS.ARRIVE.TRANS64 RZ, [R7+URZ], R5 ;
        /*0080*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;
        /*0090*/               @P3 BRA 0x20 ;
        /*00a0*/                   EXIT ;
"""


def test_a_stage_that_all_have_read_is_free_for_the_tile_after_all_stages(drafted):
    """Asked for behind a barrier, without a wait of its own."""
    draft = drafted(BEHIND_A_BARRIER, 4)
    assert "- tma_load: {ring: input, ahead: 2}  # as many as stages?" in draft
    assert "acquire" not in draft


def test_a_stage_of_products_under_way_is_not_free_yet(drafted):
    """That of the tile before is; barriers whose life ends are no further stages."""
    products = "HGMMA.64x64x16.F32 R24, gdesc[UR4], R24, gsb0 ;\n        /*0034*/ WARPGROUP.DEPBAR.LE gsb0, 0x1 ;"
    up = "".join(f"        /*000{at}*/ SYNCS.EXCH.64 URZ, [UR8+{hex(8 * at)}], UR4 ;\n" for at in range(1, 5))
    down = "".join(f"        /*00{0xA0 + at:x}*/ SYNCS.CCTL.IV [UR8+{hex(8 * at)}] ;\n" for at in range(1, 5))
    text = BEHIND_A_BARRIER.replace("LDS.128 R8, [R1] ;", products).replace("        /*0010*/", f"{up}        /*0010*/")
    draft = drafted(text.replace("        /*00a0*/", f"{down}        /*00a8*/"), 4)
    assert "stages: 4" in draft
    assert "- tma_load: {ring: input, ahead: 3}" in draft


def test_what_is_read_behind_the_release_lies_in_no_ring(drafted):
    """Partial sums."""
    sums = SPECIALIZED.replace("/*00b0*/", "/*00a8*/                   LDS R8, [R1] ;\n        /*00b0*/")
    turn = roles_in(drafted(sums, 4))["consumer"]["per_tile"]
    at = next(number for number, op in enumerate(turn) if "release" in op)
    assert [op["compute"].get("reads") for op in turn if "lds" in op.get("compute", {})] == [None, False]
    assert turn[at + 1]["compute"]["lds"] == 1


def test_what_is_read_behind_the_copy_into_its_stage_lies_in_no_ring(drafted):
    """The stage has been read, and one thread fills it again; what is read before is the ring's."""
    sums = BEHIND_A_BARRIER.replace("/*0090*/", "/*0090*/                   LDS R9, [R1] ;\n        /*0094*/", 1)
    turn = [op for op in roles_in(drafted(sums, 4))["all"]["per_tile"] if "compute" in op]
    assert [op["compute"].get("reads") for op in turn if "lds" in op["compute"]] == [None, False]


def test_copies_of_a_producer_that_make_up_a_tile(drafted):
    """Three of one stage, of which only the launch knows how many bytes they are."""
    copy = "UBLKCP.S.G [UR4], [UR6], UR8 ;"
    thrice = SPECIALIZED.replace(copy, f"{copy}\n        /*0144*/ {copy}\n        /*0148*/ {copy}")
    draft = drafted(thrice, 4)
    part = {"tma_load": {"ring": "input", "bytes": "1 KiB"}}
    assert [op for op in roles_in(draft)["producer"]["per_tile"] if "tma_load" in op] == [part] * 3
    assert "which ring?" not in draft


def test_a_loop_of_one_warp_says_so(drafted):
    """One thread sets up as many barriers as there are stages."""
    setting_up = SPECIALIZED.replace(
        "/*0030*/                   STS [R1], RZ ;",
        "/*0030*/                   IADD3 R9, R9, 0x1, RZ ;\n        /*0038*/               @P4 BRA 0x30 ;",
    )
    [loop] = [op["repeat"] for op in roles_in(drafted(setting_up, 4))["consumer"]["prologue"] if "repeat" in op]
    assert [op["compute"]["warps"] for op in loop["ops"]] == [1]
