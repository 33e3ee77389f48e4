"""What a host program leaves to luck with programmatic launches: vain ones, and kernels that never wait.

A kernel that begins while the one ahead runs sees what that one writes only behind its wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpusim.scenario.host.before import WORK
from gpusim.scenario.host.calls import Call
from gpusim.scenario.host.schema import SpelledHost, WorkSpec
from gpusim.scenario.host.words import HOST_OPS
from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.kernel.schema import PARTS, SpelledKernel

__all__ = ["early_doubts", "in_stream", "waits_for_kernel_ahead"]

_PASSED = frozenset(HOST_OPS) - WORK - {"wait_event", "malloc_async", "free_async"}
"""Words between two kernels in a stream that make no difference."""


def early_doubts(host: SpelledHost, lists: Iterable[list[Call]]) -> Iterator[str]:
    """Sentences that name what it is about, and what to do; ``lists``: the calls of each thread and graph."""
    lists = list(lists)
    early = [call for calls in lists for call in calls if call.word == "launch" and call.args.programmatic]
    for calls in lists:
        yield from _vain(calls)
    launched = dict.fromkeys(call.args.kernel for call in early)
    for name in launched:
        kernel = host.kernels.get(name)
        if kernel is not None and not waits_for_kernel_ahead(kernel):
            yield (
                f"kernel {name!r} may begin while the one ahead of it runs (programmatic) and never waits for that: it "
                "may read what is not written yet; put grid_dependency_wait where it needs that kernel's results"
            )


def _says(kernel: SpelledKernel, word: str) -> bool:
    lists = (getattr(role, part) for role in kernel.roles.values() for part in PARTS)
    return any(said == word for steps in lists for _, said, _ in as_written(steps))


def _vain(calls: list[Call]) -> Iterator[str]:
    """Programmatic launches that never come directly behind another kernel in their stream."""
    behind = {call.path for call, before in in_stream(calls) if before == "launch"}
    told: set[tuple[str | int, ...]] = set()
    for call, before in in_stream(calls):
        if not call.args.programmatic or call.path in behind | told:
            continue
        told.add(call.path)
        where = f"it comes behind {before}" if before else "nothing is ahead of it"
        yield (
            f"launch of {call.args.kernel!r} in stream {call.stream!r} is programmatic, and {where}, so that it begins "
            "as any other: only a kernel directly ahead in the stream lets it begin early"
        )


def in_stream(calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
    """Each launch with the word of what is directly ahead of it in its stream, "" for nothing."""
    ahead: dict[str, str] = {}
    for call in calls:
        if call.word in _PASSED:
            continue
        if call.word == "launch":
            yield call, ahead.get(call.stream, "")
        ahead[call.stream] = call.word


def waits_for_kernel_ahead(kernel: object) -> bool:
    """Whether one that begins early waits; a kernel given by its cost does."""
    return isinstance(kernel, WorkSpec) or (isinstance(kernel, SpelledKernel) and _says(kernel, "grid_dependency_wait"))
