"""A launched graph: all its nodes at once, ordered by its edges alone."""

from __future__ import annotations

from gpusim.errors import ProgramError
from gpusim.host.device.streams import Streams, kernel_ahead
from gpusim.host.device.work import Item, StreamState
from gpusim.program.host import EventRecord, Graph, HostFunc, Launch, MemcpyAsync, MemsetAsync, StreamWaitEvent

__all__ = ["launch_graph"]

_Waits = list[tuple[Item, str]]
"""Items that have to end first, each with the reason to wait for it."""


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
    # What the next node of each stream waits for
    lasts: dict[str, _Waits] = {first: root}
    # What a wait for each event waits for
    events: dict[str, _Waits] = {}
    for op in graph.ops:
        here = lasts.get(op.stream)
        if isinstance(op, EventRecord):
            events[op.event] = list(here or [])
        elif isinstance(op, StreamWaitEvent):
            lasts[op.stream] = [*(here or []), *_recorded(events, op.event, graph)]
        else:
            waits = _forked(here, op.stream, graph)
            state = origin if op.stream == first else streams.state(op.stream, "")
            _check_device(streams, origin, op.stream, graph)
            kind, label = _kind(op)
            item = streams.new_item(kind, state, label, waits, op.chunk, op)
            item.in_graph = launch
            ahead = kernel_ahead(op, waits)
            item.behind = ahead if ahead is not None and ahead.in_graph == launch else None
            lasts[op.stream] = [(item, "stream_order")]
            streams.start(item)
    if ends := list(dict.fromkeys(dep for deps in lasts.values() for dep, _ in deps)):
        # Later work of the stream waits for every branch.
        waits = [(end, "stream_order") for end in ends]
        join = streams.new_item("marker", origin, f"end of graph {graph.name}", waits, -1, None)
        join.in_graph = launch
        origin.last = join
        streams.start(join)


def _recorded(events: dict[str, _Waits], event: str, graph: Graph) -> _Waits:
    """What a wait for ``event`` waits for. Raises ProgramError if no op before it records the event."""
    if event not in events:
        raise ProgramError(
            f"graph {graph.name!r} waits for event {event!r} before it is recorded in it", ("graphs", graph.name)
        )
    return events[event]


def _forked(waits: _Waits | None, stream: str, graph: Graph) -> _Waits:
    """What a node of ``stream`` waits for. Raises ProgramError if nothing leads to it from the graph's first stream."""
    if waits is None:
        first = graph.ops[0].stream
        raise ProgramError(
            f"graph {graph.name!r}: stream {stream!r} did not fork from {first!r}; let it wait for an event "
            f"that is recorded in {first!r} before",
            ("graphs", graph.name),
        )
    return waits


def _check_device(streams: Streams, origin: StreamState, stream: str, graph: Graph) -> None:
    """Raise ProgramError if ``stream`` is on another device than the stream the graph is launched in."""
    if streams.state(stream, "").spec.device != origin.spec.device:
        raise ProgramError(
            f"graph {graph.name!r}: stream {stream!r} is on another device than {origin.spec.name!r}, which is "
            "not modelled; launch a graph on each device",
            ("graphs", graph.name),
        )


def _kind(op: Launch | MemcpyAsync | MemsetAsync | HostFunc) -> tuple[str, str]:
    if isinstance(op, Launch):
        return "kernel", op.kernel.name
    if isinstance(op, HostFunc):
        return "func", "host function"
    return "copy", op.direction
