"""One request to load from global memory, as an SM hands it to its memory path."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gpusim.hardware.memory.access import DENSE, Access
from gpusim.hardware.memory.alignment import Start

__all__ = ["LoadPath", "LoadRequest", "Origin", "there"]

LoadPath = Literal["tma", "ldg", "cp_async"]
"""The instruction that loads: a bulk copy, a load into registers, or an asynchronous copy by threads."""


def there(l2_hit: float, on_the_way: float) -> float:
    """Part of what is wanted, 0..1, that nobody waits for as for DRAM."""
    return l2_hit * (1.0 - on_the_way)


class Origin(NamedTuple):
    """Who asks an SM's memory for something."""

    cta: str
    """Lane of the CTA."""
    tile: int
    """Its tile, -1 for none."""
    stage: int
    """Stage of the ring that is filled or read, -1 for none."""
    part: float
    """Part of the SMs, 0..1, that run this CTA."""
    cause: int
    """Index of the interval that issued the request, -1 for none."""
    drawn: bool = True
    """Whether the timeline shows what passes."""


class LoadRequest(NamedTuple):
    """Bytes to load by one path, and everything that decides how long they take."""

    path: LoadPath
    amount: float
    """Bytes the threads want; more are fetched where ``access`` is not dense."""
    l2_hit: float
    """Part of them, 0..1, that DRAM need not bring for it."""
    start: Start
    origin: Origin
    access: Access = DENSE
    """What is fetched for each byte that is wanted."""
    slowest_of: float | None = None
    """Bytes whose slowest line the requester waits for; None: all of ``amount``."""
    pieces: float = 1.0
    """What it waits for lies in so many places far from each other."""
    completed: float = 0.0
    """Part of the bytes around which other requests read the rest of the DRAM block."""
    shared_by: float = 1.0
    """SMs of a GPC that want the same bytes, or one CTA of each cluster does."""
    multicast: int = 1
    """CTAs of a cluster that all get them from one request."""
    on_the_way: float = 0.0
    """Part of ``l2_hit``, 0..1, that L2 does not hold yet, as others have just asked DRAM for it."""
    late: float = 0.0
    """How late DRAM answers by chance, from -1 (earliest) to 1 (latest)."""

    @property
    def unit(self) -> Literal["tma", "lsu"]:
        """The unit of the SM that serves it: its copy unit or its load-store unit."""
        return "tma" if self.path == "tma" else "lsu"

    @property
    def there(self) -> float:
        """Part of the bytes, 0..1, that L2 holds already."""
        return there(self.l2_hit, self.on_the_way)

    @property
    def missed(self) -> float:
        """Bytes that come from DRAM."""
        return self.amount * (1.0 - self.l2_hit)

    @property
    def lines(self) -> float:
        """Lines of 128 bytes whose slowest the requester waits for."""
        return (self.amount if self.slowest_of is None else self.slowest_of) * self.access.lines
