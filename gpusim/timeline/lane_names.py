"""What the name of a lane says.

``gpu[1].stream[0].kernel[3].sm[0].cta[1].input[2]`` is a path of parts, each a name with an index or without. The
device is told where there are several; what happens inside of a kernel on a stream lies below that stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "COPY_ENGINES", "HOST_THREADS", "SMS", "STREAMS", "Part", "above", "any_host", "cta_of", "device_of", "is_host",
    "is_inside", "last_part", "parts_of", "sm_of",
]  # fmt: skip

HOST_THREADS = r"^host\["
"""Lanes of the host's threads, as `gpusim.timeline.Timeline.mask` takes it; likewise the others."""
COPY_ENGINES = r"^(gpu\[\d+\]\.)?copy_engine\["
STREAMS = r"^(gpu\[\d+\]\.)?stream\[[^]]*\]$"
"""Not those inside of their kernels."""
SMS = r"^sm\["

_PART = re.compile(r"([^\[]+)(?:\[(.+)\])?")
_PLACE = re.compile(r"sm\[(\d+)\](?:\.cta\[(\d+)\])?")


class Part(NamedTuple):
    """``input[2]``, the stage of a ring, or ``consumer``, a role."""

    text: str
    name: str
    index: str
    """"" without one; of copy engines the direction."""


@lru_cache(maxsize=4096)
def parts_of(lane: str) -> tuple[Part, ...]:
    """The parts of a lane's name, outermost first."""
    found = ((text, _PART.fullmatch(text)) for text in lane.split("."))
    return tuple(Part(text, *match.groups("")) if match else Part(text, text, "") for text, match in found)


def last_part(lane: str) -> Part:
    """``input[2]`` of ``sm[0].cta[1].input[2]``."""
    return parts_of(lane)[-1]


def above(lane: str) -> str:
    """The lane that this one lies below, ``sm[0].cta[1].consumer`` of its ``.warp[2]``; "" of an outermost one."""
    return lane.rpartition(".")[0]


def is_host(lane: str) -> bool:
    """Whether it is a thread of the host."""
    return parts_of(lane)[0].name == "host"


def any_host(lanes: Iterable[str]) -> bool:
    """Whether these are the lanes of a host program."""
    return any(map(is_host, lanes))


def is_inside(lane: str) -> bool:
    """Whether it tells what happens inside of a kernel on a stream."""
    return any(part.name == "kernel" and part.index for part in parts_of(lane)[1:])


def device_of(lane: str) -> str:
    """Number of the device, "" where none is told."""
    first = parts_of(lane)[0]
    return first.index if first.name == "gpu" else ""


def sm_of(lane: str) -> int | None:
    """Number of the SM that a lane of a single kernel belongs to; None of others."""
    found = _PLACE.match(lane)
    return int(found[1]) if found else None


def cta_of(lane: str) -> tuple[int, int] | None:
    """SM and slot of the CTA that a lane of a single kernel belongs to; None of others."""
    found = _PLACE.match(lane)
    return (int(found[1]), int(found[2])) if found and found[2] else None
