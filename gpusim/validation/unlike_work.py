"""Whether a measured timeline is of other work than the predicted one, as far as the two can tell.

Only amounts count, never times: kernels, copies with their bytes, tiles of a CTA. What a trace does not hold says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram
from gpusim.scenario.sweeps.yardstick import alike, not_the_same
from gpusim.timeline import KINDS, Timeline
from gpusim.timeline.lane_names import SMS, STREAMS, cta_of, last_part
from gpusim.units import format_quantity

__all__ = ["unlike_work"]

MANY_TILES, FEW_TILES = 2, 2
"""A CTA with more than so many times its tiles, and so many on top, works on something else."""
_WAYS = {"h2d": "bytes to the device", "d2h": "bytes from the device"}
_BETWEEN, _UNKNOWN = "bytes within and between devices", "other"


@dataclass(frozen=True)
class _Done:
    """What a timeline shows to have been done; ``bytes`` by direction, ``tiles`` the most of one CTA."""

    kernels: int
    copies: int
    bytes: dict[str, float]
    tiles: int


def unlike_work(program: KernelProgram | HostProgram, predicted: Timeline, measured: Timeline) -> str:
    """A sentence that names the amounts by which ``measured`` is of other work, with both sides; "" if none is known.

    ``predicted`` is the timeline of ``program``. Such a sentence is
    "not the same work: kernels (16 predicted, 3 measured) differ".
    """
    ours, theirs = _done(predicted), _done(measured)
    # Lanes of a prediction may leave out steady tiles, and have some around the loop that the program does not count.
    tiles = max(program.most_tiles, ours.tiles) if isinstance(program, KernelProgram) else 0
    parts = list(_differences(ours, theirs, tiles))
    return not_the_same(", ".join(parts)) if parts else ""


def _differences(ours: _Done, theirs: _Done, tiles: int) -> Iterator[str]:
    # A trace of some other level, such as one of the host alone, holds neither kernels nor copies.
    copies = list(_copies(ours, theirs)) if theirs.kernels or theirs.copies else []
    # The same bytes cut into more or fewer pieces are the same work.
    cut = not copies and sum(ours.bytes.values()) and sum(theirs.bytes.values())
    if ours.kernels and theirs.kernels and not cut and not alike((ours.kernels, theirs.kernels)):
        yield f"kernels ({ours.kernels:,} predicted, {theirs.kernels:,} measured)"
    yield from copies
    # Fewer are no sign: a probe keeps the first tiles only. Nor are some more: CTAs may take turns in any order.
    if tiles and theirs.tiles > MANY_TILES * tiles + FEW_TILES:
        yield f"tiles of a CTA ({tiles:,} predicted, {theirs.tiles:,} measured)"


def _copies(ours: _Done, theirs: _Done) -> Iterator[str]:
    told = (not ours.copies or sum(ours.bytes.values())) and (not theirs.copies or sum(theirs.bytes.values()))
    if not told:
        # Of a copy of unknown size only that it was there is known.
        if not alike((ours.copies, theirs.copies)):
            yield f"copies ({ours.copies:,} predicted, {theirs.copies:,} measured)"
        return
    if theirs.bytes.get(_UNKNOWN):
        pairs = {"bytes copied": tuple(sum(side.bytes.values()) for side in (ours, theirs))}
    else:
        pairs = {_WAYS.get(way, way): (ours.bytes.get(way, 0.0), theirs.bytes.get(way, 0.0))
                 for way in (*_WAYS, _BETWEEN)}  # fmt: skip
    for name, (one, other) in pairs.items():
        if not alike((one, other)):
            yield f"{name} ({_size(one)} predicted, {_size(other)} measured)"


def _done(timeline: Timeline) -> _Done:
    # A trace that names no streams has its kernels elsewhere.
    kernels = int(timeline.mask(lanes=STREAMS, kinds=("kernel",)).sum() or timeline.mask(kinds=("kernel",)).sum())
    copies = timeline.mask(lanes=STREAMS, kinds=("copy",))
    if not kernels and not copies.any() and timeline.mask(lanes=SMS).any():
        return _Done(1, 0, {}, _most_tiles(timeline))  # the inside of one kernel
    amounts: dict[str, float] = {}
    for number, lane in enumerate(timeline.lanes):
        if (engine := last_part(lane)).name == "copy_engine":
            way = engine.index if engine.index in (*_WAYS, _UNKNOWN) else _BETWEEN
            there = (timeline.lane == number) & (timeline.kind == KINDS.index("transfer"))
            amounts[way] = amounts.get(way, 0.0) + float(timeline.bytes[there].sum())
    return _Done(kernels, int(copies.sum()), amounts, 0)


def _most_tiles(timeline: Timeline) -> int:
    """The number of different tiles on the lanes of one CTA, of that with most; tiles may be numbered in any way."""
    numbers: dict[tuple[int, int] | None, int] = {None: -1}
    cta = np.array([numbers.setdefault(cta_of(lane), len(numbers)) for lane in timeline.lanes])[timeline.lane]
    pairs = np.unique(np.stack([cta, timeline.tile])[:, (timeline.tile >= 0) & (cta >= 0)], axis=1)
    return int(np.unique(pairs[0], return_counts=True)[1].max(initial=0))


def _size(count: float) -> str:
    return format_quantity(count, "bytes", 4)
