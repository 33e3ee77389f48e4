"""``gpusim import FILE``: what a trace of another tool says without a scenario."""

import gzip
import json
from pathlib import Path

import pytest

from gpusim.scenario import load, predict
from gpusim.validation import measured_file
from gpusim.validation.recording import save_timeline

TRACES = Path(__file__).resolve().parent.parent / "timeline"
PYTORCH, PROTON = TRACES / "pytorch_trace.json", TRACES / "proton_trace.json"


@pytest.fixture
def refused(gpusim):
    """The message with which a file is refused; it names the file."""

    def call(file, *options):
        code, out, err = gpusim("import", file, *options)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    return call


def test_a_profilers_trace_is_told_by_lanes_and_waits(gpusim):
    """In words; nothing is compared."""
    code, out, err = gpusim("import", PYTORCH)
    assert (code, err) == (0, "")
    for part in ("total time", "hidden fraction", "stream[0]", "copy_engine[h2d]", "kernel", "host_sync"):
        assert part in out


def test_a_compressed_trace_is_read_as_it_is(answer, tmp_path):
    """As the PyTorch profiler writes it where the name ends in .gz."""
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(PYTORCH.read_bytes()))
    packed, plain = answer("import", file), answer("import", PYTORCH)
    assert packed["measured"] == plain["measured"]
    assert packed["lanes"] == plain["lanes"]


def test_scopes_of_proton_are_told_with_what_they_count_as(gpusim, answer):
    """Lanes that do the same are one row."""
    code, out, err = gpusim("import", PROTON, "--clock", "1.98GHz")
    assert (code, err) == (0, "")
    assert "sm[*].cta[*].warp[*]" in out
    assert "'math' as compute" in out
    assert answer("import", PROTON, "--clock", "1.98GHz")["scopes"] == {
        "load": "load", "math": "compute", "store": "store",
    }  # fmt: skip


def test_the_clock_scales_what_is_in_cycles(answer):
    """But not when CTAs begin."""
    fast, slow = (answer("import", PROTON, "--clock", clock)["measured"]["total_s"] for clock in ("2 GHz", "1 GHz"))
    assert 1.8 < slow / fast < 2.0


def test_what_was_read_can_be_written_in_another_format(gpusim, answer, tmp_path):
    """And read again."""
    file = tmp_path / "trace.json"
    told = answer("import", PROTON, "--clock", "2GHz", "-o", file)
    assert told["written"] == str(file)
    again = answer("import", file)
    assert again["measured"]["total_s"] == pytest.approx(told["measured"]["total_s"])
    assert again["intervals"] == told["intervals"]


def test_timelines_of_the_probe_are_read_too(answer, path, tmp_path):
    """By name, where there are several."""
    file = tmp_path / "mine.npz"
    save_timeline(file, "run", predict(load(path)).with_meta(source="measured", total_s=1e-3))
    assert answer("import", file)["measured"]["total_s"] == 1e-3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), r"--clock 1.98GHz"),
        (("--clock", "5ns"), "is a time, not a frequency"),
        (("--clock", "0 Hz"), "not a frequency greater than zero"),
        (("--clock", "1GHz", "--timeline", "q"), "no timeline 'q' in it (it has k)"),
        (("--clock", "1GHz", "-o", "x.xls"), "unknown format '.xls' (allowed: .json, .csv, .pftrace)"),
    ],
)
def test_what_is_missing_or_wrong_is_told(refused, options, told):
    """With what is allowed."""
    assert told in refused(PROTON, *options)


def test_a_damaged_compressed_file_is_an_error(refused, tmp_path):
    """That names it."""
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(PYTORCH.read_bytes())[:500])
    assert f"{file}: truncated or not compressed by gzip" in refused(file)


def test_a_file_that_unpacks_to_too_much_is_refused(refused, tmp_path, monkeypatch):
    """Before it fills the memory."""
    monkeypatch.setattr(measured_file, "_MOST_UNPACKED", 1 << 20)
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(json.dumps({"traceEvents": [], "much": " " * (2 << 20)}).encode()))
    assert "is more than 1 MiB when unpacked; trace a shorter run" in refused(file)


@pytest.mark.parametrize("content", ["", "{", "hello", '{"traceEvents": [{"ph": "X"}]}', "[]"])
def test_what_is_no_trace_is_an_error(refused, tmp_path, content):
    """That names the file."""
    file = tmp_path / "trace.json"
    file.write_text(content)
    assert str(file) in refused(file)


def test_a_file_that_is_not_there_is_an_error(refused, tmp_path):
    """As for every command."""
    assert "nothing.json" in refused(tmp_path / "nothing.json")
