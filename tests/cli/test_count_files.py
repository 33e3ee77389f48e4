"""``gpusim count --draft N -o FILE``: a draft as a scenario file, with the questions that are left."""

from __future__ import annotations

import re

import pytest
import yaml

from gpusim import load, predict
from tests.cli.test_count_prefetch import RING
from tests.cli.test_count_roles import SPECIALIZED


@pytest.fixture
def written(gpusim, listed, tmp_path):
    """``written(listing, warps)``: the file, and what stands in it."""

    def call(text, warps=4):
        path = tmp_path / "mine.yaml"
        code, out, err = gpusim("count", listed(text), "--draft", warps, "-o", path)
        assert (code, err) == (0, "")
        assert f"gpusim check {path}" in " ".join(out.split())
        return path, yaml.safe_load(path.read_text())["kernel"]

    return call


def test_copies_ahead_say_the_stages_of_their_ring_and_who_reads_it(written):
    """Two tiles ahead are three stages; where no warps meet each reads what it has copied itself."""
    path, kernel = written(RING)
    assert kernel["name"] == "ring"
    assert kernel["rings"] == {"input": {"stages": 3, "bytes": "2 KiB", "private": True}}
    [copied] = [op["cp_async"] for op in kernel["roles"]["all"]["per_tile"] if "cp_async" in op]
    assert copied["ring"] == "input"
    assert predict(load(path), trace=False).total_s > 0
    _, kernel = written_again(
        written, path, RING.replace("FFMA R4", "BAR.SYNC.DEFER_BLOCKING 0x0 ;\n  /*00d8*/ FFMA R4")
    )
    assert kernel["rings"] == {"input": {"stages": 3, "bytes": "2 KiB"}}


def written_again(written, path, text):
    """After the file has been taken away."""
    path.unlink()
    return written(text)


def test_bytes_that_an_arrival_announces_are_those_of_a_stage(written):
    """If they are a constant; how many stages there are is not said where no mbarrier is set up."""
    path, kernel = written(SPECIALIZED)
    assert kernel["rings"] == {"input": {"stages": 2, "bytes": "1 KiB"}}
    assert "# how many stages, and bytes of one?" in path.read_text()
    constant = SPECIALIZED.replace("/*0100*/", "/*00f0*/                   MOV R5, 0x3000 ;\n        /*0100*/")
    path, kernel = written_again(written, path, constant.replace("BRA 0x100", "BRA 0xf0"))
    assert kernel["rings"] == {"input": {"stages": 2, "bytes": "12 KiB"}}
    assert "bytes: 12 KiB}  # how many stages?" in path.read_text()


def test_mbarriers_that_are_set_up_tell_the_stages(written):
    """Two for each: full and empty. Of an odd number, or of some that a loop sets up, nobody knows."""
    up = [f"/*00{0x31 + at:02x}*/ SYNCS.EXCH.64 URZ, [UR8+{hex(8 * at)}], UR4 ;" for at in range(6)]

    def stages(*more, where="/*0040*/"):
        lines = "".join(f"        {line}\n" for line in (*more, where))
        text = SPECIALIZED.replace(f"        {where}", lines.removesuffix("\n"))
        path, kernel = written(text)
        asked = "stages" in path.read_text().partition("rings:")[2].partition("#")[2].partition("\n")[0]
        path.unlink()
        return kernel["rings"]["input"]["stages"], asked

    assert stages(*up) == (3, False)
    assert stages(*up[:5]) == (2, True)
    in_loop = [line.replace("/*003", "/*007") for line in up[:2]]
    assert stages(*in_loop, where="/*0080*/") == (2, True)


def test_what_is_asked_is_doubtful_until_it_is_answered(written, gpusim):
    """CTAs, tiles, registers, stages."""
    path, _ = written(SPECIALIZED)
    text = path.read_text()
    asked = [number for number, line in enumerate(text.splitlines(), 1) if "# how many" in line]
    assert len(asked) == 4
    lines = f"lines {asked[0]}, {asked[1]}, {asked[2]} and {asked[3]} are unchanged from the draft"
    assert lines in " ".join(gpusim("check", path)[1].split())
    given = (
        ("grid: 132 ", "grid: 264 "), ("cta: 1 ", "cta: 40 "), ("registers: 32 ", "registers: 40 "),
        ("stages: 2,", "stages: 4,"),
    )  # fmt: skip
    for default, answer in given:
        text = text.replace(default, answer)
    path.write_text(text)
    told = " ".join(gpusim("check", path)[1].split())
    assert "asks which loads find what in L2 or L1, and no op says l2_hit or l1_hit" in told
    assert "ask 'wavefronts?', 'stride? scatter?' still: say it there, or delete the question" in told
    text = re.sub("store: {(.*)}.*", r"store: {\1, stride: 8}  # stride? scatter?", text)
    assert "ask 'wavefronts?'" in " ".join(gpusim("check", path)[1].split())
    path.write_text(re.sub(r" *# Which.*\n|  # of .*", "", text))
    assert gpusim("check", path)[1] == f"{path}: fine\n"


def test_no_file_is_replaced_and_only_drafts_are_written(gpusim, listed, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("mine")
    code, _, err = gpusim("count", listed(RING), "--draft", 4, "-o", path)
    assert (code, path.read_text()) == (2, "mine")
    assert "already exists" in err
    code, _, err = gpusim("count", listed(RING), "-o", tmp_path / "other.yaml")
    assert code == 2
    assert "say --draft" in err
    code, _, err = gpusim("count", listed(RING + SPECIALIZED), "--draft", 4, "-o", tmp_path / "other.yaml")
    assert code == 2
    assert "--function says which: ring, specialized" in err


@pytest.mark.parametrize("block", ["16", "x", "64x32", "0x4", "16x16x8"])
def test_blocks_that_cannot_be(gpusim, listed, block):
    """Or are not as many warps as the draft is of."""
    code, _, err = gpusim("count", listed(RING), "--draft", 4, "--block", block)
    assert code == 2
    assert f"--block {block}" in err


def test_a_block_in_x_and_y(gpusim, listed):
    """Column threadIdx.x of row threadIdx.y: half the rows meet in the banks of the other half."""
    tile = """
		Function : tile
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   S2R R2, SR_TID.Y ;
        /*0020*/                   IMAD R1, R2, 0x80, RZ ;
        /*0030*/                   LEA R1, R0, R1, 0x2 ;
        /*0040*/                   LDS R4, [R1+UR4] ;
        /*0050*/                   STG.E desc[UR4][R6.64], R4 ;
        /*0060*/                   EXIT ;
"""
    assert "wavefronts?" in gpusim("count", listed(tile), "--draft", 8)[1]
    known = gpusim("count", listed(tile), "--draft", 8, "--block", "16x16")[1]
    assert "lds_wavefronts: 2" in known
    assert "wavefronts?" not in known


def test_a_value_of_the_warp_s_row(gpusim, listed):
    """Element threadIdx.y, which all lanes want of a row of 32 threads, and half of them of one of 16."""
    row = """
		Function : row
        /*0000*/                   S2R R2, SR_TID.Y ;
        /*0008*/                   LDC.64 R6, c[0x0][0x210] ;
        /*0010*/                   IMAD.WIDE R4, R2, 0x4, R6 ;
        /*0020*/                   LDG.E R8, desc[UR4][R4.64] ;
        /*0030*/                   STG.E desc[UR4][R10.64], R8 ;
        /*0040*/                   EXIT ;
"""
    draft = gpusim("count", listed(row), "--draft", 8, "--block", "32x8")[1]
    assert "- load: {bytes: 1 KiB, width: 4, stride: 1, wait: false}  # one address for all lanes" in draft
    draft = gpusim("count", listed(row), "--draft", 8, "--block", "16x16")[1]
    assert "- load: {bytes: 1 KiB, width: 4, stride: 1, wait: false}\n" in draft
