"""What CUDA refuses in a program on several devices: each at its place in the file.

Looks at the order of each thread's own calls, of which `set_device` decides what the next ones are about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpusim.scenario.host.calls import PARTS, Call, calls_of_graph, calls_of_thread
from gpusim.scenario.host.schema import DEFAULT_POOL, SpelledHost
from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.problem import Problem

__all__ = ["device_problems"]


def device_problems(host: SpelledHost) -> Iterator[Problem]:
    """Calls of ``host`` that are about another device than they may be; of a place only the first one."""
    count, words = _count(host), {word for word, _ in _words(host)}
    if count == 1 and words.isdisjoint(("set_device", "p2p")):
        return
    found: dict[tuple[str | int, ...], Problem] = {}
    recorded: dict[str, int] = {}
    for name in host.threads:
        current = 0
        for call in calls_of_thread(host, name):
            if call.word == "set_device":
                current = call.args.device
            for problem in _of_call(host, call, current, count, recorded):
                found.setdefault(problem.path, problem)
    for name in host.graphs:
        calls = list(calls_of_graph(host, name))
        for call in calls:
            for problem in _of_copy(call, _device(host, call)):
                found.setdefault(problem.path, problem)
            if _device(host, call) != _device(host, calls[0]):
                text = f"graph {name!r} has streams of several devices, which is not modelled"
                found.setdefault(call.path, Problem(call.path, text, "a graph for each device, launched one by one"))
    yield from found.values()


def _count(host: SpelledHost) -> int:
    """How many devices streams, pools and the other ends of copies are on."""
    peers = (
        peer
        for word, args in _words(host)
        if word == "p2p"
        for peer in (args.to_device, args.from_device)
        if peer is not None
    )
    parts = (*host.streams.values(), *host.pools.values())
    return 1 + max(*(part.device for part in parts), *peers, 0)


def _words(host: SpelledHost) -> Iterator[tuple[str, Any]]:
    """Each op of threads and graphs as it is written, whatever turns it has."""
    lists = [getattr(thread, part) for thread in host.threads.values() for part in PARTS]
    for steps in (*lists, *(graph.ops for graph in host.graphs.values())):
        for _, word, args in as_written(steps):
            yield word, args


def _device(host: SpelledHost, call: Call) -> int:
    return host.streams[call.stream].device if call.stream in host.streams else 0


def _of_call(host: SpelledHost, call: Call, current: int, count: int, recorded: dict[str, int]) -> Iterator[Problem]:
    word, args, own = call.word, call.args, _device(host, call)
    if word == "set_device" and args.device >= count:
        text = f"there is no device {args.device}: no stream and no pool is on it, and no copy goes to it"
        yield Problem((*call.path, "device"), text, ", ".join(map(str, range(count))))
    elif word == "launch" and own != current:
        text = f"stream {call.stream!r} is on device {own}, and the thread's current one is {current}"
        yield Problem(call.path, text, f"set_device: {own} before it")
    elif word == "p2p":
        yield from _of_copy(call, own)
    elif word == "record" and recorded.setdefault(call.names["event"], own) != own:
        text = (
            f"event {call.names['event']!r} is recorded on device {own} and on device {recorded[call.names['event']]}"
        )
        yield Problem(call.path, text, "an event of its own for each device")
    elif word == "malloc_async":
        pool = (DEFAULT_POOL | host.pools).get(args.pool)
        if pool is not None and pool.device != own:
            text = f"pool {args.pool!r} is on device {pool.device}, and stream {call.stream!r} on device {own}"
            yield Problem((*call.path, "pool"), text, f"a pool with device: {own}, declared under pools")


def _of_copy(call: Call, own: int) -> Iterator[Problem]:
    for field, way in (("to_device", "to"), ("from_device", "from")):
        if call.word == "p2p" and getattr(call.args, field) == own:
            text = f"a copy {way} device {own} in stream {call.stream!r}, which is on device {own}"
            yield Problem((*call.path, field), text, "the number of another device")
