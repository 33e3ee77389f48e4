"""Work on the device: its pieces, the streams that they are in, what each waits for and when it ran."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from gpusim.engine import Event
from gpusim.hardware.sm.following import Following
from gpusim.program import KernelProgram
from gpusim.program.host import ON_DEVICE, EventRecord, HostFunc, Launch, MemcpyAsync, MemsetAsync, Stream

__all__ = [
    "COPY_ENGINES", "DEVICE_ENGINES", "DeviceOp", "Item", "Staged", "StagedCopy", "StreamState", "device_of",
    "engine_of",
]  # fmt: skip

COPY_ENGINES = ("h2d", "d2h", "p2p")
"""Queues of copies that leave or reach the device; those that stay on it are in the queue ``compute``."""
DEVICE_ENGINES = ("compute", *COPY_ENGINES)


@dataclass(eq=False, slots=True)
class StagedCopy:
    """A copy of ordinary memory, as far as its parts have come: the first of them, and the bytes of all."""

    first: Item | None = None
    bytes: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Staged:
    """One staging buffer's part of a copy of ordinary memory; ``whole`` is shared by all its parts."""

    direction: str
    bytes: int
    whole: StagedCopy
    last: bool


DeviceOp = Launch | MemcpyAsync | MemsetAsync | Staged | HostFunc | EventRecord


def engine_of(kind: str, op: DeviceOp | None) -> str:
    """Whose queue a piece of work is in: what stays on the device runs beside kernels, not on a copy engine."""
    if isinstance(op, MemcpyAsync | MemsetAsync | Staged):
        return "compute" if op.direction in ON_DEVICE else op.direction
    return "compute" if kind == "kernel" else kind


@dataclass(eq=False, slots=True)
class StreamState:
    """A stream at work: its last item, the events its next item waits for, what is queued."""

    spec: Stream
    lane: str
    last: Item | None = None
    waits: list[Item] = field(default_factory=list)
    queued: deque[Item] = field(default_factory=deque)
    ahead: dict[str, Item] = field(default_factory=dict)
    """Last item by engine."""
    free_s: float = 0.0
    """Time in seconds until which its lane is taken."""

    def drop_finished(self) -> None:
        """Forget what is done at the head of the queue."""
        while self.queued and self.queued[0].finished:
            self.queued.popleft()


def device_of(op: DeviceOp | None, stream: StreamState) -> int:
    """Whose engine or SMs do a piece of work: those of the stream's device, of a copy those of the one that is read."""
    return op.peer if isinstance(op, MemcpyAsync) and op.pull else stream.spec.device


@dataclass(eq=False, slots=True)
class Item:
    """An op in a stream. ``kind``: copy (or memset), kernel, marker (a record or a wait), func.

    ``done`` happens when its successors may count it as finished. ``op`` is None for the end of a graph.
    ``deps`` are pairs (item, reason of the wait). ``satisfiers`` is what a deadlock names.
    """

    kind: str
    stream: StreamState
    label: str
    done: Event
    op: DeviceOp | None
    engine: str
    """Engine in whose queue it is (`engine_of`)."""
    after: str
    """As what it counts for its successors' hand-over: its engine, or for a marker that of what it stands for."""
    device: int
    """Number of the device whose engine or SMs it needs."""
    deps: list[tuple[Item, str]] = field(default_factory=list)
    chunk: int = -1
    enqueued_s: float = 0.0
    reason: str = "launch"
    """Why it was not ready earlier: what it waited for last."""
    ready_s: float = -1.0
    """Since when nothing keeps it but that its copy engine or the SMs are taken."""
    start_s: float = -1.0
    end_s: float = -1.0
    crowd: int = 0
    """Most blocks of a kernel that have found room at the same time."""
    crowded_s: float = -1.0
    """When they have."""
    row: int = -1
    """Index of its interval in the timeline, -1 before it has one."""
    before: Item | None = None
    """What is ahead of it in the same stream and queue."""
    polled: bool = False
    """Whether its queue found that it had to wait for another engine, so that it looks only now and then."""
    in_graph: int = 0
    """Number of the graph launch it belongs to; 0: none."""
    behind: Item | None = None
    """The kernel during which it may begin, as a programmatic launch; it ends no earlier."""
    triggered: Event | None = None
    """Of a kernel, when all its blocks have let the next one begin or have ended."""
    triggered_s: float = -1.0
    released: Event | None = None
    """When its blocks no longer wait for the kernel `behind`; None: they never do."""
    released_s: float = -1.0
    followed_by: Item | None = None
    """The programmatic launch that has begun while it ran."""
    seen_following: Following | None = None
    """What `following` told last, from its own begin on."""

    def following(self) -> Following | None:
        """The last kernel program that has begun while it runs, with the time at which it did."""
        behind = self.followed_by
        while behind is not None and behind.followed_by is not None:
            behind = behind.followed_by
        if behind is None or not isinstance(behind.op, Launch) or not isinstance(behind.op.kernel, KernelProgram):
            return None
        self.seen_following = Following(behind.op.kernel, max(behind.crowded_s - self.start_s, 0.0))
        return Following(behind.op.kernel, behind.crowded_s)

    @property
    def lane(self) -> str:
        """The lane of its stream."""
        return self.stream.lane

    @property
    def pulled(self) -> bool:
        """Whether it is a copy that the device asks for which gets it: another one makes it."""
        return self.device != self.stream.spec.device

    @property
    def name(self) -> str:
        """What it is called in a deadlock."""
        return f"{self.label} on stream {self.stream.spec.name!r}"

    @property
    def finished(self) -> bool:
        """Whether it has ended."""
        return self.end_s >= 0.0

    @property
    def satisfiers(self) -> Sequence[str]:
        """Who could let whoever waits for it go on: itself."""
        return (self.name,)
