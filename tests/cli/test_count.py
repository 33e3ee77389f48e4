"""``gpusim count``: instructions of a disassembly by the words of a scenario."""

from __future__ import annotations

import json

import pytest
import yaml

import gpusim
from gpusim.cli import main
from gpusim.program import sass
from gpusim.program.sass import NO_MODEL, UNMODELLED, stated
from gpusim.program.sass.listing import only_waits

DUMP = """
		Function : dot
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDS.128 R8, [R1] ;
        /*0030*/                   FFMA R12, R4, R8, R12 ;
        /*0040*/                   FFMA R13, R5.reuse, R8, R13 ;
        /*0050*/              @!P0 FFMA R14, R5, R9, R14 ;
        /*0060*/                   SHFL.BFLY PT, R3, R12, 0x1, 0x1f ;
        /*0070*/                   IADD3 R2, R2, 0x10, RZ ;
        /*0080*/               @P1 BRA 0x10 ;
        /*0090*/                   EXIT ;
        /*00a0*/                   BRA 0xa0;
		Function : nothing
        /*0000*/                   EXIT ;
"""


def run(arguments: list[str], capsys) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    return exit_.value.code or 0, *capsys.readouterr()


OTHER = ("compute", "other (setup where nothing hides it)")


def counted(part: dict) -> dict[tuple[str, str], int]:
    """Numbers by word and field."""
    return {(row["word"], row["field"]): row["count"] for row in part["words"]}


def test_instructions_are_counted_by_the_words_that_state_them(tmp_path, capsys):
    """One loop; R4, R8 and R12 are of one bank, which gives one of them a cycle, the last one a cycle late."""
    file = tmp_path / "kernel.sass"
    file.write_text(DUMP)
    code, out, _ = run(["count", str(file), "--json"], capsys)
    found = json.loads(out)["functions"]
    assert code == 0
    (whole,) = found["nothing"]
    assert (whole["part"], whole["last"], whole["words"][0]["count"]) == ("whole", "0x0000", 1)
    loop, outside = found["dot"]
    assert (loop["part"], loop["first"], loop["last"], loop["over_tiles"]) == ("loop 1", "0x0010", "0x0080", True)
    assert counted(loop) == {
        ("compute", "ffma"): 3, ("compute", "register_conflicts"): 1, ("compute", "lds (lds_bytes: 16)"): 1,
        ("compute", "ilp"): 4.0, ("compute", "loads_in_flight"): 1.0, ("compute", "half_rate"): 1,
        ("compute", "lds (lds_bytes: 4, reads: false)"): 1, ("load", "bytes (width: 16)"): 1, OTHER: 2,
    }  # fmt: skip
    assert outside["part"] == "outside loops"
    assert counted(outside) == {OTHER: 2}


WITH_CODE = """
		Function : sum
        /*0000*/                   FFMA R12, R4, R8, R12 ;   /* 0x000000080c0c7223 */
                                                             /* 0x000fe2000000000c */
        /*0010*/                   IADD3 R2, R2, 0x10, RZ ;  /* 0x0000001002027810 */
                                                             /* 0x000fe20007ffe0ff */
        /*0020*/                   ISETP.NE.AND P0, PT, R2, R3, PT ;  /* 0x000000030200720c */
                                                             /* 0x000fda0003f05270 */
        /*0030*/               @P0 BRA 0x0 ;                 /* 0xfffffffc00f08947 */
                                                             /* 0x000fea000383ffff */
        /*0040*/                   EXIT ;                    /* 0x000000000000794d */
                                                             /* 0x000fea0003800000 */
"""


def test_stall_counts_say_what_is_interleaved(tmp_path, capsys):
    """IADD3 is followed at once; comparison and branch are waited for, 13 and 5 cycles. Nothing is in two rows.

    A warp alone needs 20 cycles, and 4 for the branch; two instructions come right behind the one before.
    """
    file = tmp_path / "kernel.sass"
    file.write_text(WITH_CODE)
    assert [i.stall for i in sass.parse(WITH_CODE)] == [1, 1, 13, 5, 5]
    _, out, _ = run(["count", str(file), "--json"], capsys)
    loop = json.loads(out)["functions"]["sum"][0]
    stalls = {("compute", "ilp"): 4.0, ("compute", "register_conflicts"): 1, ("compute", "pipe_stalls"): 0.5,
              ("compute", "half_rate"): 2, ("compute", "alone"): 24, ("compute", "gaps"): [2, 0, 0, 0]}  # fmt: skip
    assert counted(loop) == {("compute", "ffma"): 1, **stalls, OTHER: 2, ("compute", "interleaved"): 1}


ROOT = """
		Function : root
        /*0000*/                   MUFU.RSQ R29, R0 ;
        /*0010*/                   IADD3 R8, R0, -0xd000000, RZ ;
        /*0020*/                   ISETP.GT.U32.AND P0, PT, R8, 0x727fffff, PT ;
        /*0030*/              @!P0 BRA 0x70 ;
        /*0040*/                   MOV R8, 0x60 ;
        /*0050*/                   CALL.REL.NOINC 0xb0 ;
        /*0060*/                   BRA 0x90 ;
        /*0070*/                   FMUL.FTZ R27, R0, R29 ;
        /*0080*/                   FFMA R26, R0, R27, R29 ;
        /*0090*/                   STG.E desc[UR4][R2.64], R26 ;
        /*00a0*/                   EXIT ;
        /*00b0*/                   FMUL R0, R0, 16 ;
        /*00c0*/                   RET.REL.NODEC R8 0x0 ;
"""


def test_slow_paths_of_roots_are_left_out(tmp_path, capsys):
    """Which normal numbers never take: what sets the call up, the call, and the way back behind the other path."""
    file = tmp_path / "kernel.sass"
    file.write_text(ROOT)
    (whole,) = json.loads(run(["count", str(file), "--json"], capsys)[1])["functions"]["root"]
    assert counted(whole) == {
        ("compute", "ffma"): 2, ("compute", "mufu"): 1, ("compute", "ilp"): pytest.approx(8 / 5, abs=0.05), OTHER: 4,
        ("compute", "pipe_stalls"): 0.5, ("compute", "half_rate"): 2, ("store", "bytes (width: 4)"): 1,
    }  # fmt: skip


def test_a_function_that_is_always_called_is_named(tmp_path, capsys):
    """Nothing goes around it, so that it counts, and what it does is for the user to add."""
    file = tmp_path / "kernel.sass"
    file.write_text(ROOT.replace("@!P0 BRA 0x70", "     NOP    "))
    (whole,) = json.loads(run(["count", str(file), "--json"], capsys)[1])["functions"]["root"]
    assert counted(whole)[NO_MODEL, "calls"] == 1


def test_a_cubin_is_disassembled(tmp_path, capsys, monkeypatch):
    """By cuobjdump, if there is one; without it the message says what to do."""
    cubin, tool = tmp_path / "kernel.cubin", tmp_path / "cuobjdump"
    cubin.write_bytes(b"\x7fELF\xff")
    usage = " Function root:\n  REG:22 STACK:0 SHARED:1024 LOCAL:0\n"
    tool.write_text(f"#!/bin/sh\n[ $1 = -sass ] && cat <<'END' || printf '{usage}'\n{ROOT}\nEND\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert list(json.loads(run(["count", str(cubin), "--json"], capsys)[1])["functions"]) == ["root"]
    assert run(["count", str(cubin), "--draft", "8"], capsys)[1].startswith("# root\n# registers: 22\nall:\n")
    tool.unlink()
    code, _, error = run(["count", str(cubin)], capsys)
    assert code == 2
    assert "cuobjdump -sass" in error


NESTED = """
		Function : ring
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R7+URZ], R6 ;
        /*0020*/              @!P1 BRA 0x100 ;
        /*0030*/                   LDS.128 R8, [R1] ;
        /*0040*/                   LDS R9, [R1] ;
        /*0050*/                   F2F.F64.F32 R10, R9 ;
        /*0060*/                   BRA.DIV UR4, 0x140 ;
        /*0070*/               @P2 BRA 0x30 ;
        /*0080*/                   ATOMS.ADD R1, [R2], R3 ;
        /*0090*/               @P0 BRA 0x10 ;
        /*00a0*/                   STG.E.64 desc[UR4][R2.64], R4 ;
        /*00b0*/              @!P3 BRA 0xa0 ;
        /*00c0*/                   EXIT ;
        /*0100*/                   YIELD ;
        /*0110*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R7+URZ], R6 ;
        /*0120*/              @!P1 BRA 0x100 ;
        /*0130*/                   BRA 0x30 ;
        /*0140*/                   WARPSYNC.COLLECTIVE R1, 0x150 ;
        /*0150*/                   BRA 0x70 ;
        /*0160*/                   BRA 0x160 ;
"""


def test_loops_are_those_of_the_source(tmp_path, capsys):
    """Not the spin of the wait behind the kernel, nor lanes that part ways: both jump back into the middle of it."""
    file = tmp_path / "kernel.sass"
    file.write_text(NESTED)
    found = json.loads(run(["count", str(file), "--json"], capsys)[1])["functions"]["ring"]
    assert [(part["part"], part["inside"], part["first"], part["last"]) for part in found] == [
        ("loop 1", None, "0x0010", "0x0090"), ("loop 1.1", "loop 1", "0x0030", "0x0070"),
        ("loop 2", None, "0x00a0", "0x00b0"), ("outside loops", None, "0x0000", "0x00c0"),
    ]  # fmt: skip
    tile, vector, _, outside = map(counted, found)
    assert tile[("wait, acquire or mbarrier_wait", "")] == 1
    assert vector[("compute", "lds (lds_bytes: 16)")] == vector[("compute", "lds (lds_bytes: 4)")] == 1
    assert outside == {OTHER: 2}


def test_what_has_no_model_is_said_so(tmp_path, capsys):
    """In a row of its own, not in `other`, with what to do; in text once for each kind."""
    file = tmp_path / "kernel.sass"
    file.write_text(NESTED)
    tile, vector, _, _ = json.loads(run(["count", str(file), "--json"], capsys)[1])["functions"]["ring"]
    (atomics,) = [row for row in tile["words"] if row["word"] == "no model"]
    assert (atomics["field"], atomics["opcodes"]) == ("atomics", "1 ATOMS.ADD")
    assert "one after the other" in atomics["note"]
    assert counted(vector)[("no model", "conversions")] == 1
    _, out, _ = run(["count", str(file)], capsys)
    assert out.count("no model: atomics: ") == out.count("no model: conversions: ") == 1
    assert "loop 1.1 from 0x0030 to 0x0070, in loop 1: it runs several times a tile" in out


def test_every_kind_without_a_model_has_a_sentence():
    """And no opcode has both a word and none."""
    for opcodes, note in UNMODELLED.values():
        assert note
        for opcode in opcodes:
            (row,) = stated([sass.Instruction(0, opcode, opcode)])
            assert (row.word, row.note) == (NO_MODEL, note)


def test_loops_that_only_wait_are_left_out():
    """The spin on a try_wait is no work; a loop with anything else is."""
    assert only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "YIELD": 1, "BRA": 1})
    assert not only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "IADD3": 1, "BRA": 1})


def test_tables_name_function_and_loop(tmp_path, capsys):
    """Without --json a table a loop."""
    file = tmp_path / "kernel.sass"
    file.write_text(DUMP)
    code, out, _ = run(["count", str(file), "--function", "dot"], capsys)
    assert code == 0
    assert "dot, loop 1 from 0x0010 to 0x0080: moves data, so over tiles" in out
    assert "nothing, whole" not in out


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"no dump", [], "holds no function"),
        (b"\xff\xfe\x00", [], "is no text"),
        (DUMP.encode(), ["--function", "other"], "there are dot, nothing"),
    ],
)
def test_what_is_no_disassembly_is_said_so(tmp_path, capsys, content, arguments, message):
    """Exit 2, one message, no traceback."""
    file = tmp_path / "kernel.sass"
    file.write_bytes(content)
    code, _, err = run(["count", str(file), *arguments], capsys)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


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


def test_a_draft_is_a_role_that_runs(tmp_path, capsys):
    """The loop is over tiles; its loads are waited for in the next turn, the first one in the first, none behind it."""
    file = tmp_path / "kernel.sass"
    file.write_text(SUM)
    role = yaml.safe_load(run(["count", str(file), "--draft", "4"], capsys)[1])["all"]
    words = {key: [op if isinstance(op, str) else next(iter(op)) for op in role[key]] for key in role if key != "warps"}
    assert words == {
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
    scenario = gpusim.loads(yaml.safe_dump({"question": "?", "device": "h200_sxm", "kernel": kernel}))
    assert gpusim.predict(scenario, trace=False).total_s > 0


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


def test_a_draft_says_which_lanes_an_access_is_of(tmp_path, capsys):
    """One address for all lanes, bytes side by side, those that only some execute; a barrier that a register names."""
    file = tmp_path / "narrow.sass"
    file.write_text(NARROW.replace("/*0090*/                   MOV R8", "/*0008*/                   MOV R8"))
    out = run(["count", str(file), "--draft", "4"], capsys)[1]
    lines = [line.strip() for line in out.splitlines()]
    assert "- load: {bytes: 512, width: 4, stride: 1, wait: false}  # one address for all lanes" in lines
    assert "- load: {bytes: 512, width: 4, wait: false}" in lines  # where some lanes have gone on by a word
    assert "- load: {bytes: 512, width: 4, stride: 1, wait: false}" in lines  # of one byte each
    assert "- store: {bytes: 1 KiB, width: 4}  # 1 of 2 predicated: count what takes part" in lines
    assert "# - named_barrier" in lines
    yaml.safe_load(out)


def test_what_only_a_loop_uses_is_waited_for_before_it(tmp_path, capsys):
    """A load that the loop does not repeat is there in its first turn."""
    once = [line for line in SUM.splitlines() if "0080" not in line]
    file = tmp_path / "kernel.sass"
    file.write_text("\n".join(once))
    role = yaml.safe_load(run(["count", str(file), "--draft", "4"], capsys)[1])["all"]
    words = [op if isinstance(op, str) else next(iter(op)) for op in role["per_tile"]]
    assert words == ["compute", "load", "wait_loads", "repeat", "compute", "store", "compute"]


def test_of_several_loops_the_one_that_waits_is_over_tiles(tmp_path, capsys):
    """One within it, and one behind it, as a repeat; what has no word that machine code knows is a comment."""
    file = tmp_path / "kernel.sass"
    file.write_text(NESTED)
    out = run(["count", str(file), "--draft", "1"], capsys)[1]
    role = yaml.safe_load(out)["all"]
    assert [next(iter(op)) for op in role["per_tile"]] == ["compute", "repeat", "compute"]
    (after,) = (op["repeat"] for op in role["epilogue"] if "repeat" in op)
    assert [next(iter(op)) for op in after["ops"]] == ["store", "compute"]
    assert "# - wait, acquire or mbarrier_wait" in out
    assert "no model: 1 atomics" in out


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


def test_a_loop_that_fills_a_ring_stands_before_the_tiles(tmp_path, capsys):
    """It asks for copies and waits for none; what it may be instead is said."""
    file = tmp_path / "kernel.sass"
    file.write_text(FILLED)
    out = run(["count", str(file), "--draft", "4"], capsys)[1]
    role = yaml.safe_load(out)["all"]
    assert [op for op in role["prologue"] if "repeat" in op]
    words = [op if isinstance(op, str) else next(iter(op)) for op in role["per_tile"]]
    assert words == ["wait_group", "sync_threads", "cp_async", "commit_group", "compute"]
    assert "`ahead`" in out


def test_several_loops_that_wait_are_one_list(tmp_path, capsys):
    """Producer and consumer, or two passes: which of them is over tiles nobody knows."""
    file = tmp_path / "kernel.sass"
    first, *others = FILLED.split("LDGDEPBAR")
    file.write_text("LDGDEPBAR".join([f"{first}DEPBAR.LE SB0, 0x0{others[0]}", *others[1:]]))
    role = yaml.safe_load(run(["count", str(file), "--draft", "4"], capsys)[1])["all"]
    assert set(role) == {"warps", "per_tile"}
    assert len([op for op in role["per_tile"] if "repeat" in op]) == 2


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


def test_a_draft_says_what_one_warp_executes(tmp_path, capsys):
    """Thread 0 asks for the next copy: of its loads sectors count, and what the copy's cost contains is a comment."""
    file = tmp_path / "kernel.sass"
    file.write_text(ELECTED)
    out = run(["count", str(file), "--draft", "8"], capsys)[1]
    lines = [line.strip() for line in out.splitlines()]
    assert "- load: {bytes: 32, width: 4, warps: 1, other: 1, wait: false}  # one lane: a sector each" in lines
    assert "- store: {bytes: 32, width: 4, warps: 1, other: 1}  # one lane: a sector each" in lines
    assert "# - expect_tx: a part of tma_load" in lines
    assert sum(line.startswith("# compute: {setup: 1}: addresses") for line in lines) == 1
    role = yaml.safe_load(out)["all"]
    computed = [op["compute"] for op in role["per_tile"] if "compute" in op]
    assert [op.get("warps") for op in computed] == [None, None, 1, None]


def test_a_draft_leaves_out_the_addresses_of_a_bulk_store(tmp_path, capsys):
    """What one thread computes for it is within its cost; what all warps do before it is not."""
    file = tmp_path / "kernel.sass"
    file.write_text(ELECTED.replace("UBLKCP.S.G [UR4], [UR6], UR8", "UBLKCP.G.S [UR6], [UR4], UR8"))
    out = run(["count", str(file), "--draft", "8"], capsys)[1]
    assert "# compute: {setup: 1}: addresses, within the cost of the copy" in out
    file.write_text(ELECTED.replace("@P0 BRA 0x00d0", "NOP").replace("UBLKCP.S.G", "UBLKCP.G.S"))
    assert "addresses, within" not in run(["count", str(file), "--draft", "8"], capsys)[1]


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


def test_a_draft_of_a_loop_that_waits_for_copies_behind_one_that_loads(tmp_path, capsys):
    """Which fills a table: the tiles are those of the copies, and what the copies before it are is said."""
    file = tmp_path / "kernel.sass"
    file.write_text(ROWS)
    out = run(["count", str(file), "--draft", "4"], capsys)[1]
    role = yaml.safe_load(out)["all"]
    words = [op if isinstance(op, str) else next(iter(op)) for op in role["per_tile"]]
    assert words == ["cp_async", "commit_group", "wait_group", "compute"]
    assert [next(iter(op)) for op in role["prologue"] if "repeat" in op] == ["repeat"]
    assert "# copies in front of the loop that fill the ring: `ahead` on those in per_tile instead" in out
    assert "# 1 loads and stores of spilled registers are in it" in out
    # The address of the LDS is alike in all lanes, so that it passes twice and not four times; LDL goes along.
    assert role["per_tile"][3]["compute"]["lds_wavefronts"] == 1.5
