"""The command line of the microbenchmarks, as far as it needs no GPU."""

import pytest

from realkernels.microbench.__main__ import main
from realkernels.microbench.runner import BENCHES


def test_list_says_what_each_bench_tells(capsys):
    """One line each, which is not empty."""
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(BENCHES)
    assert all(len(line.split()) > 3 for line in lines)


def test_folder_is_needed(capsys):
    """Unless benches are only listed."""
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "--out or --list is needed" in capsys.readouterr().err
