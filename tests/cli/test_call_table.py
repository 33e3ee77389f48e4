"""``check --calls``: which calls a host program makes, in the order of each thread."""

from __future__ import annotations

import json

import pytest

HOST = """\
question: Which calls?
device: textbook
host:
  streams: 2
  slots: {full: 0}
  kernels: {scale: {duration: 1 us}}
  threads:
    main:
      chunks: 3
      prologue: [{work: 2 us}]
      per_chunk:
        - wait_event: "done#-1"
        - h2d: {bytes: 1 MiB, pageable: true}
        - launch: scale
        - record: "done#"
        - host_func: full
      epilogue: [sync_device]
    other: {per_chunk: [{repeat: {times: 3, ops: [{acquire: full}]}}]}
"""


@pytest.fixture
def host(tmp_path):
    """A host program of two threads, 16 and 3 calls."""
    path = tmp_path / "host.yaml"
    path.write_text(HOST)
    return path


def test_calls_are_told_in_the_order_of_each_thread(gpusim, host):
    """The first chunk has no event before it; who names no stream goes to the chunk's; a repeat is unrolled."""
    code, out, err = gpusim("check", "--calls", host)
    assert (code, err) == (0, "")
    title, head, *rows, fine = out.splitlines()
    assert title == f"{host}: 19 calls, and a synchronisation of the device behind them"
    assert head.split("  ")[0] == "thread"
    assert [row.split() for row in rows[:7]] == [
        ["main", "work", "2", "us"],
        ["main", "0", "h2d", "s0", "1", "MiB,", "pageable"],
        ["main", "0", "launch", "s0", "scale"],
        ["main", "0", "record", "s0", "done0"],
        ["main", "0", "host_func", "s0", "full"],
        ["main", "1", "wait_event", "s1", "done0"],
        ["main", "1", "h2d", "s1", "1", "MiB,", "pageable"],
    ]
    assert [row.split() for row in rows[-4:]] == [["main", "sync_device"], *[["other", "0", "acquire", "full"]] * 3]
    assert fine == f"{host}: fine"


def test_calls_are_objects_with_the_fields_of_their_words(answer, host):
    """As in the file, with every default and without `#`; nothing is left out however many there are."""
    (file,) = answer("check", host, "--calls")["files"]
    assert len(file["calls"]) == 19
    assert file["calls"][0] == {"thread": "main", "chunk": None, "call": "work", "seconds": 2e-6}
    assert file["calls"][1] == {
        "thread": "main", "chunk": 0, "call": "h2d", "stream": "s0", "bytes": 1 << 20, "pageable": True,
    }  # fmt: skip
    assert file["calls"][5] == {"thread": "main", "chunk": 1, "call": "wait_event", "stream": "s1", "event": "done0"}
    assert "calls" not in answer("check", host)["files"][0]


def test_calls_of_a_program_that_gets_stuck_are_told_too(gpusim, host):
    """They show what it waits for."""
    host.write_text(HOST.replace("times: 3", "times: 4"))
    code, out, err = gpusim("check", "--calls", host)
    assert code == 2
    assert "20 calls" in out
    assert "deadlock" in err
    assert len(json.loads(gpusim("check", "--calls", host, "--json")[1])["files"][0]["calls"]) == 20


def test_only_host_programs_that_are_spelled_out_have_calls(gpusim, path):
    """A kernel has ops."""
    code, out, err = gpusim("check", "--calls", path)
    assert (code, out) == (2, "")
    assert f"{path}: has no calls to list (allowed: a scenario with a host program that is spelled out, below" in err


def test_what_graphs_hold_stands_behind_the_calls(gpusim, answer, tmp_path):
    """Each once, with its forks and joins, however often it is launched."""
    path = tmp_path / "graph.yaml"
    ops = "[{launch: k}, {record: fork}, {wait_event: {event: fork, stream: s1}}, {launch: {kernel: k, stream: s1}}, "
    ops += "{record: {event: join, stream: s1}}, {wait_event: join}]"
    path.write_text(
        "question: Which?\ndevice: textbook\nhost:\n  streams: 2\n  kernels: {k: {duration: 1 us}}\n"
        f"  graphs: {{g: {{ops: {ops}}}}}\n  threads: {{main: {{chunks: 2, per_chunk: [{{launch_graph: g}}]}}}}\n"
    )
    code, out, _ = gpusim("check", "--calls", path)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    at = lines.index(["graph", "g:", "6", "calls,", "captured", "before"])
    assert lines[at + 2 : at + 6] == [
        ["launch", "s0", "k"], ["record", "s0", "fork"], ["wait_event", "s1", "fork"], ["launch", "s1", "k"],
    ]  # fmt: skip
    (file,) = answer("check", path, "--calls")["files"]
    assert file["graphs"]["g"][1] == {"call": "record", "stream": "s0", "event": "fork"}
