"""``poll`` of a ``sync_event``: built as written, and refused where Python would have to share its interpreter."""

from __future__ import annotations

import pytest

from gpusim.errors import ScenarioError
from gpusim.program import host as ops
from tests.scenario.host_programs import looped, scenario

POLL = "{h2d: 4}, {record: 'e#'}, {sync_event: {event: 'e#', poll: true}}"
FUNCTION = "  graphs: {g: {ops: [{host_func: {}}]}}\n"
OTHER = "    other: {per_chunk: [{h2d: 4}]}\n"


@pytest.mark.parametrize(
    "host",
    [looped(POLL), looped(POLL, more="  api: cuda\n") + OTHER, looped(POLL + ", host_func", more="  api: cuda\n")],
    ids=["alone", "threads in C++", "host function in C++"],
)
def test_it_may_poll(host):
    """The event of its chunk."""
    made = scenario(host).program().threads[0].ops
    assert [op for op in made if isinstance(op, ops.EventSync)] == [
        ops.EventSync(f"e{i}", i, poll=True) for i in range(3)
    ]


@pytest.mark.parametrize(
    "host",
    [looped(POLL) + OTHER, looped(POLL + ", host_func"), looped(POLL + ", {launch_graph: g}", more=FUNCTION)],
    ids=["threads", "host function", "host function in a graph"],
)
def test_it_may_not_poll_where_others_need_the_interpreter(host):
    """Who of them gets it when, nobody has measured; waiting is no loop and always possible."""
    with pytest.raises(ScenarioError, match=r"per_chunk\.2\.sync_event\.poll: a loop in Python .*or with api: cuda"):
        scenario(host)
    scenario(host.replace("poll: true", "poll: false"))
