"""What is possible in a host program and seldom meant is told, and is no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusim.scenario import load, loads

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
ONE = """\
  threads:
    main:
      chunks: 4
      prologue: [PROLOGUE]
      per_chunk: [STEPS]
      epilogue: [EPILOGUE]
"""


def doubts(host: str) -> tuple[str, ...]:
    """What is told of the lines below ``host``."""
    return loads(f"question: Why?\ndevice: textbook\nhost:\n{host}").doubts()


def one(steps: str, more: str = "", *, prologue: str = "", epilogue: str = "") -> tuple[str, ...]:
    """What is told of one thread of four chunks."""
    return doubts(more + ONE.replace("STEPS", steps).replace("PROLOGUE", prologue).replace("EPILOGUE", epilogue))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_have_none(path):
    """Each of them means what it says."""
    assert load(path).doubts() == ()


TAKE = "{malloc_async: {buffer: 'b#', bytes: 1 MiB}}"


@pytest.mark.parametrize(
    ("steps", "epilogue", "told"),
    [
        (TAKE, "", "allocates b0, b1, b2, b3 and nobody ever frees them; free_async b# in the chunk"),
        (TAKE, "{free_async: 'b#'}", "thread 'main' allocates b1, b2, b3 and nobody"),
        (TAKE + ", {free_async: 'b#-2'}", "{free_async: b3}", ""),
        (TAKE + ", {free_async: 'b#-1'}", "", ""),
        (TAKE + ", {free_async: 'b#-2'}", "", "allocates b2, b3 and nobody"),
        (TAKE + ", {free_async: 'b#'}", "", ""),
        ("{malloc_host: {buffer: 'b#', bytes: 4}}", "", "free_host b# in the chunk or b#-n in a later one"),
    ],
)
def test_buffers_of_several_chunks_that_nobody_frees(steps, epilogue, told):
    """One that is left may be on purpose, and so is what a prologue allocates."""
    found = one(steps, prologue="{malloc: {buffer: first, bytes: 4}}", epilogue=epilogue)
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_streams_are_told_in_the_order_of_the_file():
    """The same in every run, although names hash differently in each."""
    streams = "  streams: {b: {kind: per_thread}, s: {kind: non_blocking}, a: {kind: legacy}}\n"
    found = doubts(f"{streams}  threads: {{main: {{chunks: 3, per_chunk: [{{memset: 4}}]}}}}\n")
    assert ["to 'b'" in found[0], "to 'a'" in found[1], len(found)] == [True, True, 2]


def test_another_thread_may_free_them():
    """Names belong to the whole program."""
    host = (
        "  slots: {full: 0}\n  threads:\n    a: {chunks: 3, per_chunk: [" + TAKE + ", {release: full}]}\n"
        "    b: {chunks: 3, per_chunk: [{acquire: full}, {free_async: 'b#'}]}\n"
    )
    assert doubts(host) == ()


@pytest.mark.parametrize(
    ("count", "steps", "told"),
    [
        (
            1,
            "{release: r}, {release: r}",
            "slots 'r' are taken 0 times and given back 8 times: 9 are free at the end, of 1",
        ),
        (0, "{release: r}", "taken 0 times and given back 4 times: 4 are left over"),
        (2, "{acquire: r}, {host_func: r}", ""),
        (2, "{acquire: r}, {host_func: r}, {host_func: {releases: r}}", "8 times: 6 are free at the end, of 2"),
        (9, "{acquire: r}", ""),
    ],
)
def test_slots_that_are_given_back_more_often_than_taken(count, steps, told):
    """Counted over the whole program, so that it does not matter who comes first."""
    found = one(steps, f"  slots: {{r: {count}}}\n")
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_slots_of_each_chunk_and_of_graphs_count():
    """By their full names; a digit at the end of a name is a part of it."""
    assert one("{acquire: 'r1#'}, {release: 'r1#'}", "  slots: {'r1#': 1}\n") == ()
    (told,) = one("{release: 'r1#'}", "  slots: {'r1#': 1}\n")
    assert "slots 'r10' are taken 0 times and given back once" in told
    graph = "  slots: {r: 1}\n  graphs: {g: {ops: [{host_func: r}]}}\n"
    assert one("{acquire: r}, {launch_graph: g}", graph) == ()
    assert "given back 4 times" in one("{launch_graph: g}", graph)[0]


@pytest.mark.parametrize(
    ("streams", "steps", "told"),
    [
        ("{a: {}, b: {}, legacy: {kind: legacy}}", "{h2d: 4}", "to 'legacy', the NULL stream, for which blocking ones"),
        ("{a: {}, own: {kind: per_thread}}", "{h2d: 4}", "to 'own', its own default stream; deal: [a] leaves it out"),
        (
            "{c: {kind: legacy}, own: {kind: per_thread}}",
            "{h2d: 4}",
            "to 'c', the NULL stream, for which blocking ones",
        ),
        ("{legacy: {kind: legacy}}", "{h2d: 4}", ""),
        ("{own: {kind: per_thread}}", "{h2d: 4}", ""),
        ("{a: {}, legacy: {kind: legacy}}", "{h2d: {bytes: 4, stream: a}}, {memcpy: 4}", ""),
        ("{a: {kind: blocking}, b: {}}", "{h2d: 4}", ""),
    ],
)
def test_chunks_seldom_go_round_the_default_stream(streams, steps, told):
    """It was declared for what is put into it by name."""
    found = one(steps, f"  streams: {streams}\n")
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_deal_says_that_it_is_meant():
    """Or that it is not."""
    main = "main: {chunks: 4, deal: [a, legacy], per_chunk: [{h2d: 4}]}"
    assert doubts("  streams: {a: {}, legacy: {kind: legacy}}\n  threads: {" + main + "}\n") == ()


def test_two_threads_that_record_one_event():
    """Where somebody waits for it, which of both that is depends on who comes first."""
    host = (
        "  streams: {a: {}, b: {}}\n  threads:\n"
        "    one: {chunks: 2, per_chunk: [{h2d: {bytes: 4, stream: a}}, {record: {event: 'e#', stream: a}}, WAIT]}\n"
        "    two: {chunks: 3, per_chunk: [{d2h: {bytes: 4, stream: b}}, {record: {event: 'e#', stream: b}}]}\n"
    )
    (told,) = doubts(host.replace("WAIT", "{sync_event: 'e#'}"))
    assert told.startswith("threads 'one' and 'two' record the same events e0, e1, and a wait is for whichever")
    assert doubts(host.replace("WAIT", "sync_device")) == ()


def test_what_is_declared_and_not_used():
    """Each kind in one sentence; the stream of cudaMemcpy is used without being named."""
    more = (
        "  streams: {a: {}, b: {}, c: {}, null_: {kind: legacy}}\n  kernels: {k: {duration: 1 us}}\n"
        "  slots: {r: 1, 's#': 1}\n  pools: {own: {}}\n  graphs: {g: {ops: [{memset: {bytes: 4, stream: a}}]}}\n"
    )
    assert one("{h2d: {bytes: 4, stream: b}}, {memcpy: 4}, {acquire: 's#'}, {release: 's#'}", more) == (
        "stream c: declared, and no call uses it",
        "kernel k: declared, and no call uses it",
        "pool own: declared, and no call uses it",
        "slots r: declared, and no call uses it",
        "graph g: declared, and no call uses it",
    )
    assert one("{h2d: {bytes: 4, stream: s1}}", "  streams: 3\n") == (
        "streams s0, s2: declared, and no call uses them",
    )
    assert one("{h2d: 4}") == one("{h2d: 4}", "  streams: 4\n") == ()


def test_spelled_out_kernels_have_theirs():
    """With the kernel's name in front."""
    kernel = (
        "  kernels: {k: {grid: 4, tiles_per_cta: 4, rings: {t: {stages: 2, bytes: 4 KiB}}, roles: {all: {warps: 4, "
        "per_tile: [{cp_async: t}, commit_group, wait_group, {compute: {ffma: 64, reads: t}}]}}}}\n"
    )
    assert any(told.startswith("kernel 'k': role 'all' reads tile") for told in one("{launch: k}", kernel))


TWO = "  streams: {a: {}, b: {}}\n  kernels: {k: {duration: 5 us}}\n"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ("{wait_event: {event: 'x#-2', stream: a}}, {h2d: {bytes: 4, stream: a}}, {record: {event: 'x#', stream: b}}",
         "event 'x#' is recorded in stream 'b' before there is any work in it"),
        ("{wait_event: {event: 'x#-2', stream: b}}, {h2d: {bytes: 4, stream: a}}, {record: {event: 'x#', stream: a}}",
         ""),
        (("{record: {event: x, stream: a}}, {launch: {kernel: k, stream: a}}, {wait_event: {event: x, stream: b}}, "
         "{h2d: {bytes: 4, stream: b}}"), ""),
        (("{wait_event: {event: 'x#-1', stream: b}}, {record: {event: 'y#', stream: b}}, {h2d: {bytes: 4, stream: a}}, "
         "{record: {event: 'x#', stream: a}}, {sync_event: 'y#'}"), ""),
        ("{record: {event: 'x#', stream: b}}, {launch: {kernel: k, stream: a}}", ""),
    ],
    ids=["idle stream", "the stream of the work", "first turn", "passed on", "that nobody waits for"],
)  # fmt: skip
def test_events_that_are_recorded_behind_nothing(steps, told):
    """In a stream without any work: they order nothing. A loop's first turn and what waits itself are no such thing."""
    found = [doubt for doubt in one(steps, TWO) if "recorded in" in doubt]
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_the_stream_of_an_event_may_have_work_of_another_kind():
    """Of another thread, or what a legacy stream is waited for."""
    pair = "{record: {event: x, stream: b}}, {wait_event: {event: x, stream: a}}, {launch: {kernel: k, stream: a}}"
    alone = TWO + f"  threads: {{one: {{per_chunk: [{pair}]}}}}\n"
    assert "recorded in stream 'b'" in "".join(doubts(alone))
    assert doubts(alone[:-2] + ", two: {per_chunk: [{h2d: {bytes: 4, stream: b}}]}}\n") == ()
    legacy = alone.replace("{}, b: {}", "{}, b: {kind: blocking}, old: {kind: legacy}")
    assert doubts(legacy.replace("[{record", "[{h2d: {bytes: 4, stream: old}}, {record")) == ()


def test_threads_of_which_one_finds_no_record():
    """Whoever comes first: each waits before it records what the other one waits for."""
    text = TWO + "  threads:\n    one: {deal: [a], prologue: [ONE]}\n    two: {deal: [b], prologue: [TWO]}\n"
    text = text.replace("ONE", "{wait_event: y}, {launch: k}, {record: x}")
    (told,) = doubts(text.replace("TWO", "{wait_event: x}, {launch: k}, {record: y}"))
    assert told.startswith("thread 'one' waits for event 'y' before it records 'x', and thread 'two' for 'x' before it")
    assert told.endswith("records 'y': one of them finds no record and goes on")
    assert doubts(text.replace("TWO", "{launch: k}, {record: y}, {wait_event: x}")) == ()


def test_host_functions_that_wait_for_a_stream():
    """CUDA forbids it; for their own stream they wait for ever."""
    (told,) = one("{launch: {kernel: k, stream: a}}, {host_func: {stream: b, syncs: a}}", TWO)
    assert told.startswith(
        "host_func in stream 'b' waits for stream 'a', and CUDA forbids its calls in a host function;"
    )


RECORD, WAIT = "{record: {event: 'e#', stream: a}}", "{wait_event: {event: 'e#', stream: b}}"
LAUNCH = "{launch: {kernel: k, stream: a}}"


@pytest.mark.parametrize(
    ("between", "told"),
    [
        ((RECORD, LAUNCH, WAIT), True),
        ((LAUNCH, RECORD, WAIT), False),
        ((RECORD, LAUNCH, WAIT, "{h2d: {bytes: 4, stream: b}}"), False),
    ],
    ids=["before the use", "behind it", "used elsewhere"],
)
def test_buffers_that_are_freed_while_they_may_be_in_use(between, told):
    """The event orders the free behind the allocation, but not behind the kernel."""
    take, give = "{malloc_async: {buffer: 'd#', bytes: 4, stream: a}}", "{free_async: {buffer: 'd#', stream: b}}"
    found = one(", ".join((take, *between, give)), TWO)
    assert len(found) == told
    if told:
        assert (
            "free_async of 'd0' in stream 'b' comes behind its allocation in 'a', but not behind the launch" in found[0]
        )
