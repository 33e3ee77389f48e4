"""A launched graph: all its nodes at once, ordered by its edges alone."""

from __future__ import annotations

from gpusim.errors import ProgramError
from gpusim.host.device.streams import Streams
from gpusim.host.device.work import Item, StreamState
from gpusim.program.host import EventRecord, Graph, HostFunc, Launch, MemcpyAsync, MemsetAsync, StreamWaitEvent

__all__ = ["launch_graph"]


def launch_graph(streams: Streams, origin: StreamState, graph: Graph) -> None:
    """Put a graph at the end of a stream.

    Raises ProgramError for a wait in front of its record, and for a stream that did not fork from the first one. That
    every stream joins it again is seen to where a file is read (`gpusim.scenario.host.order`), not here.
    """
    first = graph.ops[0].stream
    launch = streams.next_graph()
    root = [(origin.last, "stream_order")] if origin.last else []
    root += [(item, "event") for item in origin.waits]
    origin.waits = []
    lasts: dict[str, list[tuple[Item, str]]] = {first: root}
    events: dict[str, list[tuple[Item, str]]] = {}
    for op in graph.ops:
        here = lasts.get(op.stream)
        if isinstance(op, EventRecord):
            events[op.event] = list(here or [])
            continue
        if isinstance(op, StreamWaitEvent):
            if op.event not in events:
                raise ProgramError(
                    f"graph {graph.name!r} waits for event {op.event!r} before it is recorded in it",
                    ("graphs", graph.name),
                )
            lasts[op.stream] = [*(here or []), *events[op.event]]
            continue
        if here is None:
            raise ProgramError(
                f"graph {graph.name!r}: stream {op.stream!r} did not fork from {first!r}; let it wait for an event "
                f"that is recorded in {first!r} before",
                ("graphs", graph.name),
            )
        if streams.state(op.stream, "").spec.device != origin.spec.device:
            raise ProgramError(
                f"graph {graph.name!r}: stream {op.stream!r} is on another device than {origin.spec.name!r}, which is "
                "not modelled; launch a graph on each device",
                ("graphs", graph.name),
            )
        kind, label = _kind(op)
        state = origin if op.stream == first else streams.state(op.stream, "")
        item = streams.new_item(kind, state, label, here, op.chunk, op)
        item.in_graph = launch
        lasts[op.stream] = [(item, "stream_order")]
        streams.start(item)
    ends = list(dict.fromkeys(dep for deps in lasts.values() for dep, _ in deps))
    if not ends:
        return
    # Later work of the stream waits for every branch.
    join = streams.new_item(
        "marker", origin, f"end of graph {graph.name}", [(end, "stream_order") for end in ends], -1, None
    )
    join.in_graph = launch
    origin.last = join
    streams.start(join)


def _kind(op: Launch | MemcpyAsync | MemsetAsync | HostFunc) -> tuple[str, str]:
    if isinstance(op, Launch):
        return "kernel", op.kernel.name
    if isinstance(op, HostFunc):
        return "func", "host function"
    return "copy", op.direction
