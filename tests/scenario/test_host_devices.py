"""Programs on several devices as a file says them: what CUDA refuses is found at its place."""

from __future__ import annotations

import pytest

from gpusim import predict
from gpusim.errors import ScenarioError
from gpusim.program import host as ops
from gpusim.scenario import loads

HEAD = """\
question: q
device: h200_sxm
host:
  streams: {a: {device: 0}, b: {device: 1}}
  kernels: {k: {duration: 10 us, blocks: 132}}
"""


def program(*steps: str, head: str = HEAD) -> str:
    return head + "  threads:\n    t:\n      per_chunk:\n" + "".join(f"        - {step}\n" for step in steps)


def test_words_become_calls():
    steps = ("set_device: 1", "launch: {kernel: k, stream: b}", "p2p: {bytes: 4 KiB, stream: b, to_device: 0}",
             "p2p: {bytes: 8 KiB, stream: a, from_device: 1}", "p2p: {bytes: 4 KiB, stream: b}")  # fmt: skip
    found = loads(program(*steps)).program()
    first, _, *copies = found.threads[0].ops
    assert first == ops.SetDevice(1, 0)
    assert [(copy.stream, copy.peer, copy.pull) for copy in copies] == [
        ("b", 0, False), ("a", 1, True), ("b", ops.OUTSIDE, False),
    ]  # fmt: skip
    assert found.devices == 2
    assert predict(loads(program(*steps))).total_s > 10e-6


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (["launch: {kernel: k, stream: b}"],
         "per_chunk.0.launch: stream 'b' is on device 1, and the thread's current one is 0 (allowed: set_device: 1"),
        (["p2p: {bytes: 4 KiB, stream: b, to_device: 1}"],
         "per_chunk.0.p2p.to_device: a copy to device 1 in stream 'b', which is on device 1 (allowed: the number of"),
        (["p2p: {bytes: 4 KiB, stream: a, from_device: 1, to_device: 1}"], "says to_device and from_device"),
        (["set_device: 2"],
         "no stream and no pool is on it, and no copy goes to it (allowed: 0, 1)"),
        (["record: {event: e, stream: a}", "record: {event: e, stream: b}"],
         "per_chunk.1.record: event 'e' is recorded on device 1 and on device 0"),
        (["malloc_async: {buffer: x, bytes: 4 KiB, stream: b}", "free_async: {buffer: x, stream: b}"],
         "per_chunk.0.malloc_async.pool: pool 'default' is on device 0, and stream 'b' on device 1"),
    ],
)  # fmt: skip
def test_what_cuda_refuses_has_a_place(steps, said):
    with pytest.raises(ScenarioError) as error:
        loads(program(*steps))
    assert said in str(error.value)


def test_a_device_that_only_keeps_what_is_sent_needs_no_stream():
    head = HEAD.replace("{a: {device: 0}, b: {device: 1}}", "{a: {}, b: {}}")
    steps = ("p2p: {bytes: 4 MiB, stream: b, to_device: 1}", "p2p: {bytes: 4 MiB, stream: b, from_device: 1}")
    found = loads(program(*steps, head=head))
    assert found.program().devices == 2
    assert predict(found).total_s > 20e-6


def test_a_graph_over_two_devices_is_refused():
    steps = ("{launch: {kernel: k, stream: a}}", "{record: {event: e, stream: a}}",
             "{wait_event: {event: e, stream: b}}",
             "{record: {event: f, stream: b}}", "{wait_event: {event: f, stream: a}}")  # fmt: skip
    graph = f"  graphs: {{g: {{ops: [{', '.join(steps)}]}}}}\n"
    with pytest.raises(ScenarioError, match="graph 'g' has streams of several devices, which is not modelled"):
        loads(program("launch_graph: {graph: g, stream: a}", head=HEAD + graph))


def test_a_copy_to_its_own_device_is_refused_wherever_it_stands():
    """In a graph, and where there is no other device at all."""
    graph = "  graphs: {g: {ops: [{p2p: {bytes: 4 KiB, stream: b, to_device: 1}}]}}\n"
    with pytest.raises(ScenarioError, match=r"graphs\.g\.ops\.0\.p2p\.to_device: a copy to device 1 in stream 'b'"):
        loads(program("launch_graph: {graph: g, stream: b}", head=HEAD + graph))
    alone = HEAD.replace("b: {device: 1}", "b: {}")
    with pytest.raises(ScenarioError, match="a copy from device 0 in stream 'a', which is on device 0"):
        loads(program("p2p: {bytes: 4 KiB, stream: a, from_device: 0}", head=alone))


def test_a_graph_may_copy_to_a_device_without_streams():
    head = HEAD.replace("{a: {device: 0}, b: {device: 1}}", "{a: {}, b: {}}")
    graph = "  graphs: {g: {ops: [{p2p: {bytes: 4 KiB, stream: a, to_device: 1}}]}}\n"
    found = loads(program("set_device: 1", "set_device: 0", "launch_graph: {graph: g, stream: a}", head=head + graph))
    assert found.program().devices == 2


def test_a_pool_of_the_second_device_serves_its_streams():
    head = HEAD + "  pools: {there: {device: 1}}\n"
    steps = ("malloc_async: {buffer: x, bytes: 4 KiB, stream: b, pool: there}", "free_async: {buffer: x, stream: b}")
    assert predict(loads(program(*steps, head=head))).total_s > 0
