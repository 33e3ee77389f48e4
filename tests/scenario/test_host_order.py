"""Events, buffers and forks of a spelled-out host program that cannot be in their order."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.scenario import predict
from tests.scenario.host_programs import calls, looped, scenario

FEWER_RECORDS = """  threads:
    one: {chunks: 3, per_chunk: [{wait_event: 'y#'}]}
    two: {chunks: 2, per_chunk: [{record: 'y#'}]}
"""


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
            (looped("{launch_graph: g}, {sync_event: y}", more="  graphs: {g: {ops: [{h2d: 4}, {record: y}]}}\n"),
             r"sync_event\.event: event 'y' is recorded inside of graph 'g' only.*allowed: a record behind"),
            (FEWER_RECORDS, r"one\.per_chunk\.0\..*: event 'y2' .* never recorded .allowed: as many chunks as .* y#"),
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
        assert predict(scenario(text), trace=False).total_s >= 1e-3

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


def test_a_fork_of_a_graph_may_begin_before_its_first_op():
    """An event that the first stream records before anything: what waits for it is ordered behind the launch."""
    graph = "{record: {event: e, stream: a}}, {wait_event: {event: e, stream: b}}, {memset: {bytes: 4, stream: b}}"
    join = ", {record: {event: f, stream: b}}, {wait_event: {event: f, stream: a}}"
    text = "  streams: {a: {}, b: {}}\n  graphs: {g: {ops: [" + graph + "JOIN]}}\n"
    host = looped("{launch_graph: {graph: g, stream: a}}", 1, text)
    assert predict(scenario(host.replace("JOIN", join)), trace=False).total_s > 0
    with pytest.raises(ScenarioError, match="stream 'b' forks from graph 'g', and 'a' does not wait for this"):
        scenario(host.replace("JOIN", ""))
