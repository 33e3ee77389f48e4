"""``gpusim count``: instructions of a disassembly by the words of a scenario; drafts are in `test_count_drafts`."""

from __future__ import annotations

import pytest

from gpusim.program import sass
from gpusim.program.sass import NO_MODEL, UNMODELLED, stated
from gpusim.program.sass.listing import only_waits
from tests.cli.listings import NESTED

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


OTHER = ("compute", "other (setup where nothing hides it)")


def counted(part: dict) -> dict[tuple[str, str], int]:
    """Numbers by word and field."""
    return {(row["word"], row["field"]): row["count"] for row in part["words"]}


def test_instructions_are_counted_by_the_words_that_state_them(answer, listed):
    """One loop; R4, R8 and R12 are of one bank, which gives one of them a cycle, the last one a cycle late.

    No thread has an address of its own in R2.
    """
    found = answer("count", listed(DUMP))["functions"]
    (whole,) = found["nothing"]
    assert (whole["part"], whole["last"], whole["words"][0]["count"]) == ("whole", "0x0000", 1)
    loop, outside = found["dot"]
    assert (loop["part"], loop["first"], loop["last"], loop["over_tiles"]) == ("loop 1", "0x0010", "0x0080", True)
    assert counted(loop) == {
        ("compute", "ffma"): 3, ("compute", "register_conflicts"): 1, ("compute", "lds (lds_bytes: 16)"): 1,
        ("compute", "ilp"): 4.0, ("compute", "loads_in_flight"): 1.0, ("compute", "half_rate"): 1,
        ("compute", "lds (lds_bytes: 4, reads: false)"): 1, OTHER: 2,
        ("load", "bytes (width: 16, stride: 1, one address)"): 1,
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


def test_stall_counts_say_what_is_interleaved(answer, listed):
    """IADD3 is followed at once; comparison and branch are waited for, 13 and 5 cycles. Nothing is in two rows.

    A warp alone needs 20 cycles, and 4 for the branch; two instructions come right behind the one before.
    """
    assert [i.stall for i in sass.parse(WITH_CODE)] == [1, 1, 13, 5, 5]
    loop = answer("count", listed(WITH_CODE))["functions"]["sum"][0]
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


def test_slow_paths_of_roots_are_left_out(answer, listed):
    """Which normal numbers never take: what sets the call up, the call, and the way back behind the other path."""
    (whole,) = answer("count", listed(ROOT))["functions"]["root"]
    assert counted(whole) == {
        ("compute", "ffma"): 2, ("compute", "mufu"): 1, ("compute", "ilp"): pytest.approx(8 / 5, abs=0.05), OTHER: 4,
        ("compute", "pipe_stalls"): 0.5, ("compute", "half_rate"): 2, ("store", "bytes (width: 4)"): 1,
    }  # fmt: skip


def test_a_function_that_is_always_called_is_named(answer, listed):
    """Nothing goes around it, so that it counts, and what it does is for the user to add."""
    (whole,) = answer("count", listed(ROOT.replace("@!P0 BRA 0x70", "     NOP    ")))["functions"]["root"]
    assert counted(whole)[NO_MODEL, "calls"] == 1


def test_a_jump_by_a_table_is_named(answer, listed):
    """Nobody knows where it leads."""
    (whole,) = answer("count", listed(ROOT.replace("@!P0 BRA 0x70", "BRX R2 -0x2a0")))["functions"]["root"]
    assert counted(whole)[NO_MODEL, "jumps by a table"] == 1


def test_a_cubin_is_disassembled(answer, gpusim, tmp_path, monkeypatch):
    """By cuobjdump, if there is one; without it the message says what to do."""
    cubin, tool = tmp_path / "kernel.cubin", tmp_path / "cuobjdump"
    cubin.write_bytes(b"\x7fELF\xff")
    usage = " Function root:\n  REG:22 STACK:0 SHARED:5120 LOCAL:0\n"

    def disassembles(header: str) -> None:
        tool.write_text(f"#!/bin/sh\n[ $1 = -sass ] && cat <<'END' || printf '{usage}'\n{header}{ROOT}\nEND\n")

    disassembles("\tcode for sm_80\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUOBJDUMP", raising=False)
    assert list(answer("count", cubin)["functions"]) == ["root"]
    of_all = gpusim("count", cubin, "--draft", 8)[1]
    assert of_all.startswith("# root\n# registers: 22\n# shared_bytes: 5120, static; ")
    assert "\nall:\n" in of_all
    # From Hopper on the system's KiB is counted in.
    disassembles("\tcode for sm_90a\n")
    assert "# shared_bytes: 4096, static; " in gpusim("count", cubin, "--draft", 8)[1]
    # Also where it is not on the path.
    elsewhere = tool.rename(tmp_path / "disassembler")
    monkeypatch.setenv("CUOBJDUMP", str(elsewhere))
    assert list(answer("count", cubin)["functions"]) == ["root"]
    monkeypatch.setenv("CUOBJDUMP", str(tool))
    assert "$CUOBJDUMP names no program" in gpusim("count", cubin)[2].replace("\n", " ")
    monkeypatch.delenv("CUOBJDUMP")
    code, _, error = gpusim("count", cubin)
    assert code == 2
    assert "cuobjdump -sass" in error


def test_loops_are_those_of_the_source(answer, listed):
    """Not the spin of the wait behind the kernel, nor lanes that part ways: both jump back into the middle of it."""
    found = answer("count", listed(NESTED))["functions"]["ring"]
    assert [(part["part"], part["inside"], part["first"], part["last"]) for part in found] == [
        ("loop 1", None, "0x0010", "0x0090"), ("loop 1.1", "loop 1", "0x0030", "0x0070"),
        ("loop 2", None, "0x00a0", "0x00b0"), ("outside loops", None, "0x0000", "0x00c0"),
    ]  # fmt: skip
    tile, vector, _, outside = map(counted, found)
    assert tile[("wait, acquire or mbarrier_wait", "")] == 1
    assert vector[("compute", "lds (lds_bytes: 16)")] == vector[("compute", "lds (lds_bytes: 4)")] == 1
    assert outside == {OTHER: 2}


def test_what_has_no_model_is_said_so(answer, gpusim, listed):
    """In a row of its own, not in `other`, with what to do; in text once for each kind."""
    tile, vector, _, _ = answer("count", listed(NESTED))["functions"]["ring"]
    (atomics,) = [row for row in tile["words"] if row["word"] == "no model"]
    assert (atomics["field"], atomics["opcodes"]) == ("atomics", "1 ATOM.E.ADD.STRONG.GPU")
    assert "as the address says" in atomics["note"]
    assert counted(vector)[("no model", "conversions")] == 1
    out = gpusim("count", listed(NESTED))[1]
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
    assert only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "CCTL.IVALL": 1, "YIELD": 1, "BRA": 1})  # acquire.cluster
    assert not only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "IADD3": 1, "BRA": 1})


def test_tables_name_function_and_loop(gpusim, listed):
    """Without --json a table a loop."""
    code, out, _ = gpusim("count", listed(DUMP), "--function", "dot")
    assert code == 0
    assert "dot, loop 1 from 0x0010 to 0x0080: moves data, so over tiles" in out
    assert "nothing, whole" not in out


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"no dump", [], "holds no function"),
        (b"\xff\xfe\x00", [], "is not a text file"),
        (DUMP.encode(), ["--function", "other"], "there are dot, nothing"),
        (b"\t\tFunction : foo\n", [], "function foo has no instructions"),
        (
            b"\t\tFunction : foo\n /*0000*/ BRA 0x9000 ;\n",
            [],
            "ends at 0x0000 and branches to 0x9000: the listing is cut",
        ),
    ],
)
def test_what_is_no_disassembly_is_said_so(gpusim, tmp_path, content, arguments, message):
    """Exit 2, one message, no traceback."""
    file = tmp_path / "kernel.sass"
    file.write_bytes(content)
    code, _, err = gpusim("count", file, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
