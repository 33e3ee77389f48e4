"""``gpusim count``: instructions of a disassembly by the words of a scenario."""

from __future__ import annotations

import json

import pytest

from gpusim.cli import main
from gpusim.program import sass

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


def test_instructions_are_counted_by_the_words_that_state_them(tmp_path, capsys):
    """One loop; R4, R8 and R12 are of one bank, R5 and R13 too, but R5 is in use when R9 and R14 are read."""
    file = tmp_path / "kernel.sass"
    file.write_text(DUMP)
    code, out, _ = run(["count", str(file), "--json"], capsys)
    found = json.loads(out)["functions"]
    assert code == 0
    (whole,) = found["nothing"]
    assert (whole["part"], whole["last"], whole["words"][0]["count"]) == ("whole", "0x0000", 1)
    (loop,) = found["dot"]
    assert (loop["first"], loop["last"]) == ("0x0010", "0x0080")
    counts = {
        (row["word"], row["field"].split()[0]): row["count"] for row in loop["words"] if row["opcodes"] != "1 SHFL.BFLY"
    }
    assert counts == {
        ("load", "bytes,"): 1, ("compute", "lds"): 1, ("compute", "ffma"): 3, ("compute", "other"): 2,
        ("compute", "register_conflicts"): 2,
    }  # fmt: skip


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
    """IADD3 is followed at once; the comparison and the branch are waited for, 13 and 5 cycles."""
    file = tmp_path / "kernel.sass"
    file.write_text(WITH_CODE)
    assert [i.stall for i in sass.parse(WITH_CODE)] == [1, 1, 13, 5, 5]
    _, out, _ = run(["count", str(file), "--json"], capsys)
    (loop,) = json.loads(out)["functions"]["sum"]
    fields = {row["field"].split()[0]: row["count"] for row in loop["words"]}
    assert (fields["other"], fields["interleaved"]) == (3, 1)


def test_loops_that_only_wait_are_left_out():
    """The spin on a try_wait is no work; a loop with anything else is."""
    assert sass.only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "YIELD": 1, "BRA": 1})
    assert not sass.only_waits({"SYNCS.PHASECHK.TRANS64.TRYWAIT": 1, "IADD3": 1, "BRA": 1})


def test_tables_name_function_and_loop(tmp_path, capsys):
    """Without --json a table a loop."""
    file = tmp_path / "kernel.sass"
    file.write_text(DUMP)
    code, out, _ = run(["count", str(file), "--function", "dot"], capsys)
    assert code == 0
    assert "dot, loop from 0x0010 to 0x0080" in out
    assert "nothing, whole" not in out


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"no dump", [], "holds no function"),
        (b"\xff\xfe\x00", [], "perhaps the cubin itself"),
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


def test_a_register_kept_from_the_instruction_before_is_not_fetched_again():
    """Only in the same place, and only if it was marked."""
    lines = "FFMA R12, R4.reuse, R9, R12 ;", "FFMA R14, R4, R9, R14 ;", "FFMA R16, R4, R9, R16 ;"
    text = "".join(f"/*{16 * i:04x}*/ {line}\n" for i, line in enumerate(lines))
    assert [sass.register_conflicts(sass.parse(text)[: i + 1]) for i in range(3)] == [1, 1, 2]
