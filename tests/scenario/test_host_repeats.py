"""`repeat` in the op lists of host programs: what it stands for, and names that are the same in all its turns."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import host as ops
from gpusim.scenario import advise, from_data, serial_baseline
from tests.scenario.host_programs import MIB, calls, looped, scenario


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
            ("{repeat: {times: 3, ops: {h2d: 4}}}", r"repeat\.ops: expected a list, got"),
        ],
    )
    def test_what_cannot_be_is_explained(self, steps, message):
        """With its place in the nest."""
        with pytest.raises(ScenarioError, match=message):
            scenario(looped(steps))


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
