"""Names that go with a chunk, and those of an earlier one."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import host as ops
from gpusim.scenario import predict
from tests.scenario.host_programs import calls, looped, scenario


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
            (looped("{wait_event: 'x#-0'}"), "wait_event.event: expected a name, got 'x#-0'"),
        ],
    )
    def test_only_waits_and_frees_in_chunks_speak_of_one(self, host, message):
        """Others could not leave anything out."""
        with pytest.raises(ScenarioError, match=message):
            scenario(host)
