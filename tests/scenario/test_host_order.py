"""Events, buffers and chunks of a spelled-out host program: loops, earlier chunks, and what cannot be in that order."""

from __future__ import annotations

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import DoesNotFit, ProgramError, ScenarioError
from gpusim.program import host as ops
from gpusim.scenario import advise, from_data, loads, predict, serial_baseline

MIB = 1 << 20


def scenario(host: str):
    """A scenario of the lines below ``host``."""
    return loads(f"question: Why?\ndevice: textbook\nhost:\n{host}")


def looped(steps: str, chunks: int = 3, more: str = "") -> str:
    """A host program of one thread that calls ``steps`` per chunk."""
    return f"{more}  threads:\n    main:\n      chunks: {chunks}\n      per_chunk: [{steps}]\n"


def calls(steps: str, chunks: int = 3, more: str = "") -> list:
    """What the thread calls."""
    return list(scenario(looped(steps, chunks, more)).program().threads[0].ops)


class TestRepeat:
    """`repeat` is the same as its ops written down."""

    def test_ops_run_in_order_as_often_as_said(self):
        """Nested too; names and streams are those of the chunk."""
        inner = "{repeat: {times: 2, ops: [{d2h: 4}]}}"
        found = calls(f"{{repeat: {{times: 2, ops: [{{record: 'e#'}}, {inner}]}}}}", 2, "  streams: 2\n")
        assert found == calls("{record: 'e#'}, {d2h: 4}, {d2h: 4}, {record: 'e#'}, {d2h: 4}, {d2h: 4}", 2,
                              "  streams: 2\n")  # fmt: skip
        assert [op.stream for op in found] == 6 * ["s0"] + 6 * ["s1"]

    def test_graphs_may_have_loops(self):
        """A chain of kernels."""
        graph = "  kernels: {k: {duration: 5 us}}\n  graphs: {g: {ops: [{repeat: {times: 10, ops: [{launch: k}]}}]}}\n"
        (graph,) = scenario(looped("{launch_graph: g}", 2, graph)).program().graphs
        assert [type(op) for op in graph.ops] == 10 * [ops.Launch]

    def test_resolved_scenarios_keep_it(self):
        """And read back to the same; its streams are moved for the baseline."""
        made = scenario(looped("{repeat: {times: 2, ops: [{h2d: {bytes: 4, stream: s1}}]}}", 2, "  streams: 2\n"))
        assert from_data(made.resolved()).hash == made.hash
        assert {op.stream for op in serial_baseline(made).program().threads[0].ops} == {"s0"}

    def test_levers_find_what_is_inside(self):
        """Chunks are halved with the copies in a loop, and ordinary memory is replaced there."""
        steps = "{repeat: {times: 2, ops: [{h2d: {bytes: 2 MiB, pageable: true}}, {d2h: 2 MiB}]}}"
        changes = {lever.change: lever for lever in advise(scenario(looped(steps, 4)), workers=1).levers}
        step = "host.threads.main.per_chunk.0.repeat.ops.0"
        assert changes["chunks of main 4 → 8"].overrides[step] == {"h2d": {"bytes": MIB, "pageable": True}}
        pinned = changes["host memory pageable → pinned"].overrides
        assert pinned == {step: {"h2d": {"bytes": 2 * MIB, "pageable": False}}}

    def test_repeats_count_as_calls(self):
        """In the limit of all of them."""
        with pytest.raises(ScenarioError, match=r"120,000 calls in all .allowed: at most 100,000"):
            scenario(looped("{repeat: {times: 10000, ops: [{h2d: 4}, {d2h: 4}, sync_stream]}}", 4))

    @pytest.mark.parametrize(
        ("steps", "message"),
        [
            ("{repeat: {times: 3, ops: [{h2d: {byte: 4}}]}}", r"repeat\.ops\.0\.h2d\.byte: unknown key .*'bytes'"),
            ("{repeat: {time: 3, ops: [{h2d: 4}]}}", r"repeat\.time: unknown key .*Did you mean 'times'"),
            ("{repeat: {times: 3, ops: [{launch: k}]}}", r"repeat\.ops\.0\.launch\.kernel: there is no kernel 'k'"),
            ("{repeat: {times: 3, ops: {h2d: 4}}}", r"repeat\.ops: .* is no list"),
        ],
    )
    def test_what_cannot_be_is_explained(self, steps, message):
        """With its place in the nest."""
        with pytest.raises(ScenarioError, match=message):
            scenario(looped(steps))


class TestEarlierChunks:
    """`#-2` is the chunk two before."""

    def test_names_have_its_number(self):
        """What the first chunks would wait for is left out, a call and all."""
        found = calls("{wait_event: 'free#-2'}, {record: 'free#'}", 4)
        assert [op.event for op in found if isinstance(op, ops.StreamWaitEvent)] == ["free0", "free1"]
        assert [type(op) for op in found[:2]] == 2 * [ops.EventRecord]

    def test_the_chunk_before_is_freed(self):
        """The first has none, and what the last has allocated is freed behind the loop."""
        text = looped("{malloc_async: {buffer: 'data#', bytes: 1 MiB}}, {h2d: 4}, {free_async: 'data#-1'}")
        made = scenario(text + "      epilogue: [{free_async: data2}]\n")
        assert [op.buffer for op in made.program().threads[0].ops if isinstance(op, ops.FreeAsync)] == [
            "data0", "data1", "data2",
        ]  # fmt: skip
        assert predict(made, trace=False).total_s > 0

    @pytest.mark.parametrize(
        ("host", "message"),
        [
            (looped("{record: 'x#-1'}"), r"record\.event: record cannot be of an earlier chunk .*wait_event"),
            (looped("{malloc: {buffer: 'x#-1', bytes: 4}}"), r"malloc\.buffer: malloc cannot be of an earlier chunk"),
            (looped("{acquire: 'r#-1'}", more="  slots: {'r#': 1}\n"), r"there are no slots 'r#-1' .allowed: r#."),
            (looped("{record: 'x#'}") + "      epilogue: [{sync_event: 'x#-1'}]\n", "has no chunks before it"),
            (looped("{wait_event: 'x#-0'}"), "wait_event.event: 'x#-0'"),
        ],
    )
    def test_only_waits_and_frees_in_chunks_speak_of_one(self, host, message):
        """Others could not leave anything out."""
        with pytest.raises(ScenarioError, match=message):
            scenario(host)


class TestEvents:
    """A wait that never finds a record is a mistake; CUDA lets it pass without a word."""

    def test_the_first_turn_of_a_loop_may_find_no_record(self):
        """As in CUDA, where an event that was never recorded counts as complete; also where the loop has one turn."""
        for chunks in (1, 3):
            assert calls("{wait_event: free}, {h2d: 4}, {record: free}", chunks)

    def test_another_thread_may_record_it(self):
        """Who comes first is not known."""
        text = "  threads:\n    one: {per_chunk: [{h2d: 4}, {wait_event: e}]}\n    two: {per_chunk: [{record: e}]}\n"
        assert predict(scenario(text), trace=False).total_s > 0

    @pytest.mark.parametrize(
        ("host", "message"),
        [
            (looped("{wait_event: y0}"), r"scenario:\d+:\d+: .*wait_event\.event: event 'y0' is .* never recorded"),
            (looped("{record: 'y#'}, {sync_event: y}"), r"never recorded .allowed: y#.\. Did you mean 'y#'"),
            (looped("{wait_event: 'y#'}, {record: 'y#'}"), r"'y0' is recorded only later.*or that of an earlier.*y#-1"),
            (looped("{wait_event: y}") + "      epilogue: [{record: y}]\n", "'y' is recorded only later"),
            (looped("{launch_graph: g}", more="  graphs: {g: {ops: [{wait_event: y}, {h2d: 4}, {record: y}]}}\n"),
             r"graphs\.g\.ops\.0\.wait_event\.event: event 'y' is recorded only.*\(allowed: a record before it\)"),
        ],
    )  # fmt: skip
    def test_waits_for_nothing_are_told(self, host, message):
        """With their place and what would help."""
        with pytest.raises(ScenarioError, match=message):
            scenario(host)


class TestBuffers:
    """What is freed is there, and was allocated by the word that goes with it."""

    def test_threads_may_hand_buffers_over(self):
        """Who comes first is not known."""
        one, two = "{malloc: {buffer: b, bytes: 4}}", "{work: 1 ms}, {free: b}"
        text = f"  threads:\n    one: {{per_chunk: [{one}]}}\n    two: {{per_chunk: [{two}]}}\n"
        assert predict(scenario(text), trace=False).total_s > 1e-3

    @pytest.mark.parametrize(
        ("steps", "message"),
        [
            ("{malloc: {buffer: b, bytes: 4}}",
             r"malloc\.buffer: buffer 'b' is allocated twice .*free before that, or a name for each chunk, as b#"),
            ("{malloc_async: {buffer: 'b#', bytes: 4}}, {free: 'b#'}",
             r"free\.buffer: buffer 'b0' is allocated by malloc_async, so free cannot free it .allowed: free_async"),
            ("{malloc: {buffer: 'b#', bytes: 4}}, {free: b}", r"'b' is freed but never allocated .*Did you mean 'b#'"),
            ("{free_host: b}", "never allocated .allowed: none; malloc_host comes first"),
            ("{free: b}, {malloc: {buffer: b, bytes: 4}}", "'b' is not there when .*behind its malloc, once"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_freed_or_allocated_is_told(self, steps, message):
        """With its place and what would help."""
        with pytest.raises(ScenarioError, match=message):
            scenario(looped(steps))


TAKE = "{malloc_async: {buffer: 'd#', bytes: 1 MiB, stream: a}}"
FREE = TAKE + ", {launch: {kernel: k, stream: a}}, MORE{free_async: {buffer: 'd#', stream: b}}"
STREAMS = "  streams: {a: {}, b: {}}\n  kernels: {k: {duration: 5 us}}\n  slots: {s: 4}\n"


class TestFreesInAnotherStream:
    """Something has to order them behind the allocation."""

    @pytest.mark.parametrize(
        "more",
        [
            "",
            "sync_stream: b",
            "sync_event: old",
            "record: {event: e, stream: a}",
            "wait_event: {event: old, stream: b}",
        ],
    )
    def test_nothing_does(self, more):
        """No wait, or one for something else; the place is that of the stream."""
        steps = "{record: {event: old, stream: a}}, " + FREE.replace("MORE", f"{{{more}}}, " if more else "")
        with pytest.raises(ScenarioError) as caught:
            scenario(looped(steps, 1, STREAMS))
        assert "per_chunk." in str(caught.value)
        assert "free_async.stream: in stream 'b' nothing orders it behind the malloc_async of 'd0' in 'a'" in str(
            caught.value
        )
        assert "a record in a behind the last use, and a wait_event for it in b" in str(caught.value)

    @pytest.mark.parametrize(
        "more",
        [
            "{record: {event: e, stream: a}}, {wait_event: {event: e, stream: b}}", "{sync_stream: a}", "sync_device",
            "{record: {event: e, stream: a}}, {sync_event: e}", "{malloc: {buffer: 'm#', bytes: 4}}", "{acquire: s}",
            ("{record: {event: e, stream: a}}, {wait_event: {event: e, stream: c}}, {record: {event: f, stream: c}}, "
            "{wait_event: {event: f, stream: b}}"),
        ],
    )  # fmt: skip
    def test_something_does(self, more):
        """An event, also by way of another stream; what the host waits for, or may have waited for."""
        streams = STREAMS.replace("b: {}}", "b: {}, c: {}}")
        assert scenario(looped(FREE.replace("MORE", f"{more}, "), 1, streams))

    def test_streams_that_wait_for_each_other_do(self):
        """The legacy stream and blocking ones."""
        kinds = STREAMS.replace("{a: {}, b: {}}", "{a: {kind: KIND}, b: {kind: legacy}}")
        steps = FREE.replace("MORE", "")
        assert scenario(looped(steps, 2, kinds.replace("KIND", "blocking")))
        with pytest.raises(ScenarioError, match="in stream 'b' nothing orders it"):
            scenario(looped(steps, 2, kinds.replace("KIND", "non_blocking")))

    def test_what_may_come_in_between_is_no_mistake(self):
        """A thread that orders it, or an allocator of the host's own."""
        steps = FREE.replace("MORE", "")
        pool = STREAMS + "  pools: {own: {kind: caching}}\n"
        assert scenario(looped(steps.replace("stream: a}}, {l", "stream: a, pool: own}}, {l"), 1, pool))
        other = "    two: {per_chunk: [{wait_event: {event: e, stream: b}}, {record: {event: e, stream: b}}]}\n"
        assert scenario(looped(steps, 1, STREAMS) + other)

    def test_chunks_that_go_round_the_streams(self):
        """The next chunk is in another one."""
        steps = "{malloc_async: {buffer: 'd#', bytes: 4}}, {launch: k}, {free_async: 'd#-1'}"
        with pytest.raises(
            ScenarioError, match="in stream 'b' nothing orders it behind the malloc_async of 'd0' in 'a'"
        ):
            scenario(looped(steps, 3, STREAMS) + "      epilogue: [{free_async: d2}]\n")


class TestMemory:
    """There is so much of it."""

    @pytest.mark.parametrize(
        ("steps", "told"),
        [
            (
                "{malloc: {buffer: 'd#', bytes: 200 GiB}}, {free: 'd#'}",
                "buffer 'd0' needs 200 GiB of device memory, h200",
            ),
            (
                "{malloc: {buffer: 'd#', bytes: 50 GiB}}",
                "'d2' needs 150 GiB of device memory with what is allocated already",
            ),
            (
                "{malloc_async: {buffer: 'd#', bytes: 50 GiB}}",
                "_sxm allows 139.8 GiB; allocate less, or free buffers earlier",
            ),
            ("{malloc_async: {buffer: 'd#', bytes: 50 GiB}}, {free_async: 'd#'}", ""),
            ("{malloc: {buffer: 'd#', bytes: 50 GiB}}, {free: 'd#-1'}", ""),
            ("{malloc_host: {buffer: 'd#', bytes: 200 GiB}}", ""),
        ],
    )
    def test_what_is_not_there_is_told(self, steps, told):
        """Of buffers that are there at the same time; page-locked memory is the host's."""
        program = loads(f"question: Why?\ndevice: h200_sxm\nhost:\n{looped(steps)}")
        if not told:
            assert predict(program, trace=False).total_s > 0
            return
        with pytest.raises(DoesNotFit) as caught:
            predict(program, trace=False)
        assert told in str(caught.value)
        assert str(caught.value).startswith("scenario:3:1: host: ")

    def test_more_memory_is_a_what_if(self):
        """Which the quantity says."""
        steps = "{malloc: {buffer: 'd#', bytes: 100 GiB}}"
        device = "{base: h200_sxm, set: {hbm.capacity: 400 GiB}}"
        assert predict(loads(f"question: Why?\ndevice: {device}\nhost:\n{looped(steps)}"), trace=False).total_s > 0


class TestWhatIsThere:
    """What CUDA has without being asked."""

    def test_the_default_pool(self):
        """Declared or not: the same."""
        steps = "{malloc_async: {buffer: 'b#', bytes: 1 MiB}}, {free_async: 'b#'}, sync_stream"
        totals = {predict(scenario(looped(steps, more=more))).total_s for more in ("", "  pools: {default: {}}\n")}
        assert len(totals) == 1
        with pytest.raises(ScenarioError, match=r"there is no pool 'defalt' .allowed: default.*'default'"):
            scenario(looped("{malloc_async: {buffer: 'b#', bytes: 4, pool: defalt}}"))

    @pytest.mark.parametrize(("size", "fits"), [("30 MiB", True), ("34 MiB", False)])
    def test_a_limit_is_rounded_up_to_what_the_pool_takes_at_a_time(self, size, fits):
        """On an H100 a pool of at most 8 MiB holds 32 MiB, and not one byte more."""
        step = f"{{malloc_async: {{buffer: 'b#', bytes: {size}, pool: small}}}}, {{free_async: 'b#'}}"
        text = looped(step, more="  pools: {small: {limit: 8 MiB}}\n")
        program = loads(f"question: Why?\ndevice: h200_sxm\nhost:\n{text}")
        if fits:
            assert predict(program).total_s > 0.0
        else:
            allowed = r"host\.pools\.small: pool 'small' has no room .* 33,554,432 are allowed"
            with pytest.raises(ProgramError, match=allowed):
                predict(program)

    def test_the_legacy_stream_of_cudamemcpy(self):
        """It waits for blocking streams, and takes as long as if it were declared."""
        streams = ("{a: {kind: blocking}}", "{a: {kind: blocking}, old: {kind: legacy}}")
        steps = "{h2d: {bytes: 1 MiB, stream: a}}, {memcpy: 1 MiB}"
        totals = [predict(scenario(looped(steps, more=f"  streams: {one}\n"))).total_s for one in streams]
        assert totals[0] == totals[1] == pytest.approx(6 * MIB / 32e9)

    @pytest.mark.parametrize(
        ("host", "message"),
        [
            ("  kernels: {k: {blocks: 8}}\n", "kernels.k: does not say what it costs; say duration, or bytes and flop"),
            ("  kernels: {k: {duration: 1 us, flop: 4}}\n", "kernels.k: says its duration and its work"),
            ("  streams: {a: {kind: nonblocking}}\n", "streams.a.kind: .*Did you mean 'non_blocking'"),
            ("  streams: {a: {prio: -1}}\n", "streams.a.prio: unknown key .*Did you mean 'priority'"),
            ("  streams: [a, b]\n", r"streams: expected their number \(1 to 512\), or a mapping by name"),
            ("  streams: 0\n", r"streams: expected their number"),
            ("  pools: {p: {kind: cache}}\n", "pools.p.kind: .*Did you mean 'caching'"),
        ],
    )
    def test_declarations_are_explained(self, host, message):
        """With the word that was perhaps meant."""
        with pytest.raises(ScenarioError, match=message):
            scenario(looped("{h2d: 4}", more=host))

    def test_one_stream_alone_is_a_list(self):
        """And how it is written."""
        with pytest.raises(ScenarioError, match=r"deal: 's0' is no list .allowed: a list, also of one: \[s0\]"):
            scenario("  threads: {main: {deal: s0, per_chunk: [{h2d: 4}]}}\n")

    def test_slots_are_many(self):
        """In the message."""
        with pytest.raises(ScenarioError, match="there are no slots 'nope'"):
            scenario(looped("{acquire: nope}"))


FORK = "{launch: k}, {record: f}, {wait_event: {event: f, stream: s1}}, {launch: {kernel: k, stream: s1}}"


def of_graph(*steps: str):
    """A program that launches one graph."""
    return scenario(
        f"  streams: 3\n  kernels: {{k: {{duration: 1 us}}}}\n  graphs: {{g: {{ops: [{', '.join(steps)}]}}}}\n"
        "  threads: {main: {per_chunk: [{launch_graph: g}]}}\n"
    )


def test_a_fork_of_a_graph_that_is_never_joined_is_refused():
    """As by CUDA; a record before the stream's last call does not join that."""
    for place, late in ((3, ()), (5, ("{record: {event: j, stream: s1}}", "{launch: {kernel: k, stream: s1}}",
                                      "{wait_event: {event: j, stream: s0}}"))):  # fmt: skip
        with pytest.raises(
            ScenarioError, match=rf"ops\.{place}\.launch: stream 's1' forks from graph 'g', and 's0' does"
        ):
            of_graph(FORK, *late)


def test_a_fork_of_a_graph_may_be_joined_by_way_of_another():
    """Which waits for it and is waited for."""
    by_way = "{record: {event: i, stream: s1}}, {wait_event: {event: i, stream: s2}}, {launch: {kernel: k, stream: s2}}"
    for last, between in (("s1", ()), ("s2", (by_way,))):
        join = f"{{record: {{event: j, stream: {last}}}}}", "{wait_event: {event: j, stream: s0}}"
        assert predict(of_graph(FORK, *between, *join)).total_s > 0


def test_a_pool_that_is_forgotten_at_the_allocation_is_told():
    """All would come from another pool, silently."""
    pool = "  pools: {mine: {kind: caching}}\n"
    steps = "{malloc_async: {buffer: 'a#', bytes: 1 MiB%s}}, {free_async: 'a#'}"
    with pytest.raises(ScenarioError, match=r"pools\.mine: is a pool that nothing takes memory from"):
        calls(steps % "", more=pool)
    assert calls(steps % ", pool: mine", more=pool)


def test_the_default_stream_has_to_be_declared():
    """By whatever name; the message says how."""
    with pytest.raises(ScenarioError, match=r"there is no stream 'default' .*declared as default: \{kind: legacy\}"):
        calls("{h2d: {bytes: 4, stream: default}}")
    assert calls("{h2d: {bytes: 4, stream: default}}", more="  streams: {default: {kind: legacy}}\n")


def test_threads_wake_each_other():
    """Each of 4 items: prepared for 10, then worked on for 10 by the other thread; two may be prepared ahead."""
    text = (
        "  slots: {full: 0, empty: 2}\n  threads:\n"
        "    loader: {chunks: 4, per_chunk: [{acquire: empty}, {work: 10 us}, {release: full}]}\n"
        "    main: {chunks: 4, per_chunk: [{acquire: full}, {work: 10 us}, {release: empty}]}\n"
    )
    assert predict(scenario(text)).total_s == pytest.approx(50e-6)
    assert predict(scenario(text.replace("empty: 2", "empty: 1"))).total_s == pytest.approx(80e-6)
    with pytest.raises(Deadlock) as stuck:
        predict(scenario(text.replace("{release: full}", "{work: 1 us}")))
    assert "nobody ever satisfies a free slot of 'full'" in str(stuck.value)
    with pytest.raises(Deadlock) as circle:
        predict(scenario(text.replace("empty: 2", "empty: 0")))
    assert (
        "thread 'main' waits at chunk 0 for a free slot of 'full' (none left, of 0 at the beginning and 0 given back)"
        in str(circle.value)
    )


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            "{malloc: {buffer: 'b#', bytes: 4}}",
            "buffer 'b0' is allocated twice: all turns of a repeat belong to the same",
        ),
        ("{malloc: {buffer: b, bytes: 4}}, {free: b}, {free: b}", "buffer 'b' is not there when it is freed (allowed"),
    ],
)
def test_turns_of_a_repeat_have_one_name(steps, told):
    """Which is why a buffer is there already; what is wrong in each turn is so without the repeat."""
    with pytest.raises(ScenarioError) as caught:
        scenario(looped(f"{{repeat: {{times: 2, ops: [{steps}]}}}}"))
    assert told in str(caught.value)


def test_a_buffer_is_freed_in_the_second_turn_again():
    """It was allocated in front of the repeat."""
    steps = "{malloc: {buffer: 'b#', bytes: 4}}, {repeat: {times: 2, ops: [{free: 'b#'}]}}"
    with pytest.raises(ScenarioError, match="'b0' is not there when it is freed: all turns of a repeat belong to"):
        scenario(looped(steps))


def test_a_fork_of_a_graph_may_begin_before_its_first_op():
    """An event that the first stream records before anything: what waits for it is ordered behind the launch."""
    graph = "{record: {event: e, stream: a}}, {wait_event: {event: e, stream: b}}, {memset: {bytes: 4, stream: b}}"
    join = ", {record: {event: f, stream: b}}, {wait_event: {event: f, stream: a}}"
    text = "  streams: {a: {}, b: {}}\n  graphs: {g: {ops: [" + graph + "JOIN]}}\n"
    host = looped("{launch_graph: {graph: g, stream: a}}", 1, text)
    assert predict(scenario(host.replace("JOIN", join)), trace=False).total_s > 0
    with pytest.raises(ScenarioError, match="stream 'b' forks from graph 'g', and 'a' does not wait for this"):
        scenario(host.replace("JOIN", ""))
