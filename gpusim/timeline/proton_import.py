"""Timelines of scopes inside a kernel, out of the trace of Proton's instrumentation (Triton).

A warp's scopes are events of a process ``NAME Core5 CTA41`` and a thread ``warp 0 (line 0)``. A CTA begins at a time of
the device's clock, in ns; from there on its events are clock cycles of the SM, written as if there were 1000 of them in
a microsecond. One launch of each kernel is read: of several, those behind the first would be too early.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gpusim.errors import RecordingError
from gpusim.timeline.timeline import Timeline, TimelineBuilder
from gpusim.timeline.tracks import take_first_free
from gpusim.timeline.vocabulary import Kind

__all__ = ["from_proton", "is_proton", "kind_of_scope"]

_PROCESS = re.compile(r"(?P<kernel>.+) Core(?P<sm>\d+) CTA(?P<cta>\d+)")
_THREAD = re.compile(r"warp (?P<warp>\d+)\b.*")
_CYCLES_PER_US = 1000.0
"""As Proton writes them."""
_MICRO = 1e-6

_WORDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("wait", ("wait", "acquire")),
    ("barrier", ("barrier", "sync")),
    ("issue", ("issue", "tma", "async", "prefetch")),
    ("store", ("store", "write", "stg", "epilogue")),
    ("load", ("load", "read", "fetch", "ldg")),
    ("compute", ("compute", "math", "mma", "wgmma", "dot", "gemm", "exp", "softmax", "reduce")),
)
"""How a word of a scope's name may begin, by the kind that it tells: "issue async tma load" is no load."""


class _Scope(NamedTuple):
    """A scope of a warp, in cycles since its CTA began."""

    start: float
    end: float
    name: str


class _Cta(NamedTuple):
    sm: int
    number: int
    start_us: float
    warps: dict[int, list[_Scope]]

    @property
    def cycles(self) -> float:
        """From the start of the CTA to the end of its last scope."""
        return max(scope.end for scopes in self.warps.values() for scope in scopes)


def is_proton(event: Mapping[str, Any]) -> bool:
    """Whether Proton's instrumentation wrote an event of a trace."""
    return _place(event) is not None


def _place(event: Mapping[str, Any]) -> tuple[re.Match[str], re.Match[str]] | None:
    """Kernel, SM and CTA, and warp of an event; None of events of others."""
    process, thread = _PROCESS.fullmatch(str(event.get("pid"))), _THREAD.fullmatch(str(event.get("tid")))
    return (process, thread) if process and thread else None


def kind_of_scope(name: str) -> Kind | None:
    """What a warp does in a scope of that name; None where the name does not tell."""
    words = re.findall("[a-z]+", name.lower())
    return next((kind for kind, begins in _WORDS if any(word.startswith(begins) for word in words)), None)


def from_proton(events: Iterable[Mapping[str, Any]], clock_hz: float | None) -> dict[str, Timeline]:
    """Lanes ``sm[i].cta[k].warp[w]`` of each kernel, by its name; ``clock_hz`` is that of the SMs during the run.

    CTAs of an SM get the first slot ``k`` that is free. Where scopes lie in each other the innermost one counts. What
    its name tells is the kind of a scope (`kind_of_scope`); one that does not tell counts as compute, or, with other
    scopes inside, as nothing. ``meta["scopes"]`` says for each name which it was. The run time is that from the
    first scope to the end of the last one.
    Raises RecordingError without a clock.
    """
    if clock_hz is None:
        raise RecordingError("has times in clock cycles of the SMs (Proton); say their clock, as --clock 1.98GHz")
    kernels: dict[str, dict[str, _Cta]] = {}
    for event in events:
        if not (found := _place(event)):
            continue
        place, thread = found
        ctas = kernels.setdefault(place["kernel"], {})
        cta = ctas.setdefault(place[0], _Cta(int(place["sm"]), int(place["cta"]), 0.0, {}))
        cta.warps.setdefault(int(thread["warp"]), []).append(
            _Scope(event["ts"], event["ts"] + event["dur"], str(event.get("name", "")))
        )
    return {name: _kernel(map(_from_its_start, ctas.values()), clock_hz) for name, ctas in kernels.items()}


def _from_its_start(cta: _Cta) -> _Cta:
    """The CTA with scopes in cycles since its first one, whose time is that of the device."""
    start = min(scope.start for scopes in cta.warps.values() for scope in scopes)
    moved = {
        warp: [
            _Scope((one.start - start) * _CYCLES_PER_US, (one.end - start) * _CYCLES_PER_US, one.name) for one in scopes
        ]
        for warp, scopes in cta.warps.items()
    }
    return cta._replace(start_us=start, warps=moved)


def _kernel(ctas: Iterable[_Cta], clock_hz: float) -> Timeline:
    builder, scopes, slots = TimelineBuilder(), dict[str, Kind | None](), dict[int, list[float]]()
    found = sorted(ctas, key=lambda cta: (cta.start_us, cta.number))
    zero_us = found[0].start_us
    rows: list[tuple[tuple[int, int, int], Kind, float, float]] = []
    for cta in found:
        start_s = (cta.start_us - zero_us) * _MICRO
        slot = take_first_free(slots.setdefault(cta.sm, []), start_s, start_s + cta.cycles / clock_hz)
        for warp, of_warp in cta.warps.items():
            brackets = _brackets(of_warp)
            for name, start, end in _innermost(of_warp):
                kind = scopes.setdefault(name, kind_of_scope(name) or (None if name in brackets else "compute"))
                if kind:
                    rows.append(((cta.sm, slot, warp), kind, start_s + start / clock_hz, start_s + end / clock_hz))
    for (sm, slot, warp), kind, start_s, end_s in sorted(rows):
        builder.add(f"sm[{sm}].cta[{slot}].warp[{warp}]", kind, start_s, end_s)
    timeline = builder.build(source="measured", scopes={name: kind or "" for name, kind in scopes.items()})
    return timeline.with_meta(total_s=timeline.span_s[1])


def _brackets(scopes: Iterable[_Scope]) -> set[str]:
    """Names of scopes that have others in them."""
    names, open_ = set[str](), list[_Scope]()
    for scope in sorted(scopes, key=lambda one: (one.start, -one.end)):
        while open_ and open_[-1].end <= scope.start:
            open_.pop()
        names.update(one.name for one in open_)
        open_.append(scope)
    return names


def _innermost(scopes: Iterable[_Scope]) -> Iterator[tuple[str, float, float]]:
    """(name, start, end) of the pieces of time in which a scope is the last that was opened."""
    open_, at = list[_Scope](), 0.0

    def close() -> Iterator[tuple[str, float, float]]:
        nonlocal at
        last = open_.pop()
        if last.end > at:
            yield last.name, at, last.end
            at = last.end

    for scope in sorted(scopes, key=lambda one: (one.start, -one.end)):
        while open_ and open_[-1].end <= scope.start:
            yield from close()
        if open_ and scope.start > at:
            yield open_[-1].name, at, scope.start
        at = scope.start
        open_.append(scope)
    while open_:
        yield from close()
