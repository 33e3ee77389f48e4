"""What one warp role of a kernel does, in CUDA and PTX words.

Every op is frozen data: it says *what* is asked of the hardware (bytes, instruction
counts, which barrier), never how long it takes. Byte counts are those of the whole
role (all its warps of one CTA together); instruction counts are those of one warp.

``align`` on an op that reads global memory is the largest power of two that divides every
address it starts at, in bytes; of ``cp.async``, that divides the distance from source to
destination. 0 stands for that of ``bytes``, as when equal tiles lie one behind the other.

``warps`` on an op says that only the first so many of the role execute it; its bytes are then theirs together.

On a load or store through registers ``stride`` is the distance in bytes from one lane's address to the next
lane's; 0 stands for ``width``, neighbours side by side. With ``scatter`` neighbouring lanes share blocks of so many
bytes (of one lane alone, if that is less than two widths), and each block lies anywhere. With ``structure`` each lane
loads all of so many bytes, one ``width`` after the other, and the next lane the bytes behind them.

``tile`` on an op is the index of the tile it belongs to, counted per CTA from 0; the
ring stage is ``tile % stages`` and the mbarrier phase ``tile // stages``.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.program.barrier_ops import Arrive, ClusterSync, ExpectTx, NamedBarrier, SyncThreads, Wait
from gpusim.program.mix import Mix
from gpusim.program.tensor_ops import Wgmma, WgmmaWait

__all__ = [
    "BULK_UNIT",
    "GPC_SMS",
    "Acquire",
    "BulkWait",
    "CommitGroup",
    "Compute",
    "CpAsync",
    "Fill",
    "Load",
    "Op",
    "PartOfRole",
    "ProducerCommit",
    "Release",
    "SetMaxNReg",
    "Store",
    "StoreShared",
    "TmaLoad",
    "TmaStore",
    "WaitFull",
    "WaitGroup",
    "WaitLoads",
]


BULK_UNIT = 16
"""Sizes and addresses of bulk copies are multiples of so many bytes (PTX ISA, cp.async.bulk)."""
GPC_SMS = 16
"""SMs of a GPC (of some it is 18), which get CTAs of consecutive numbers: the most that ``shared_by`` counts."""


@dataclass(frozen=True, slots=True)
class Compute:
    """Execute ``mix`` on every warp of the role, or on the first ``warps`` of them.

    ``reads`` names the ring whose stage is read (for hazard checks).
    """

    mix: Mix
    tile: int = -1
    reads: str | None = None
    warps: int | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """``ld.global`` into registers: one batch issued back to back.

    With ``wait`` the role blocks until the data is there; without, `WaitLoads` does.
    ``width`` is bytes per lane and instruction; ``other`` the address instructions of
    one warp, ``masked`` its loads that no lane executes; ``l1_hit`` is
    the fraction of bytes found in L1, ``l1_wavefronts`` how often one instruction passes its data path where all are
    (0: as the addresses say), ``l2_hit`` the fraction of the others found in L2. ``completed``: fraction of the bytes
    around which other loads read the rest, so that DRAM opens what they lie in once for all. ``shared_by``: SMs of a
    GPC that ask for the same bytes at about the same time, which L2 gives to all of them at once. The bytes lie in so
    many ``pieces`` far from each other, of the role's warps together. The first ``warps`` of the role execute it; None:
    all. One of no bytes for which nothing blocks takes no time, but `WaitLoads` counts it.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    wait: bool = True
    l1_hit: float = 0.0
    l1_wavefronts: float = 0.0
    l2_hit: float = 0.0
    completed: float = 0.0
    shared_by: float = 1.0
    pieces: int = 1
    align: int = 0
    stride: int = 0
    scatter: int = 0
    structure: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitLoads:
    """Block until of the earlier `Load`s of this role at most the ``pending`` youngest are still under way."""

    pending: int = 0
    tile: int = -1


@dataclass(frozen=True, slots=True)
class StoreShared:
    """``st.shared`` of ``bytes`` from registers, ``width`` bytes per lane; ``masked`` and ``warps`` as of `Load`."""

    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    ring: str | None = None
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class CpAsync:
    """``cp.async`` (LDGSTS) of ``bytes`` into a ring stage, ``width`` bytes per lane.

    ``masked``: loads of each warp that no lane executes; the assembler puts three before each run of LDGSTS.
    ``shared_by``, ``pieces``, ``warps``: as of `Load`. ``row`` bytes at a time lie side by side and begin on a sector,
    each row far from the others, and in shared memory one begins ``pitch`` bytes behind the other; 0: all lie side by
    side, and rows in shared memory. With a ``row``, ``align`` says nothing.
    """

    ring: str
    bytes: int
    width: int = 16
    other: float = 0.0
    masked: float = 0.0
    l2_hit: float = 0.0
    shared_by: float = 1.0
    pieces: int = 1
    align: int = 0
    row: int = 0
    pitch: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """``cp.async.commit_group``: close the group of all cp.async since the last one."""

    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """``cp.async.wait_group``: block until at most ``pending`` newest groups are in flight."""

    pending: int = 0
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Acquire:
    """Producer waits until the stage of ``tile`` has been released (``producer_acquire``).

    Or only the first ``warps`` of its role do, as where one of them asks for the copies of all.
    """

    ring: str
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class TmaLoad:
    """Arm the stage's full barrier (``arrive.expect_tx``) and issue one bulk copy into it.

    Or ``copies`` of them, equal parts of the ``bytes``, as so many lanes of the warp issue them. ``shared_by``: as of
    `Load`. With ``multicast`` each CTA of the cluster asks for an equal part of the ``bytes``, which all of them get.
    """

    ring: str
    bytes: int
    l2_hit: float = 0.0
    shared_by: float = 1.0
    align: int = 0
    copies: int = 1
    multicast: bool = False
    tile: int = -1


@dataclass(frozen=True, slots=True)
class ProducerCommit:
    """Producer that wrote the stage itself arrives on its full barrier (``producer_commit``).

    ``asynchronous``: it arrives by itself when the warps' cp.async so far have landed
    (``cp.async.mbarrier.arrive.noinc``); they need no group.
    """

    ring: str
    asynchronous: bool = False
    tile: int = -1


@dataclass(frozen=True, slots=True)
class WaitFull:
    """Consumer waits until the stage of ``tile`` is full (``consumer_wait``)."""

    ring: str
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Release:
    """Consumer arrives on the stage's empty barrier (``consumer_release``), one lane per warp."""

    ring: str
    tile: int = -1


@dataclass(frozen=True, slots=True)
class TmaStore:
    """Issue one bulk copy from the ring stage to global memory, and commit its bulk group."""

    ring: str
    bytes: int
    tile: int = -1


@dataclass(frozen=True, slots=True)
class BulkWait:
    """``cp.async.bulk.wait_group``: at most ``pending`` newest bulk stores remain.

    ``read``: recorded only. The model always waits until the source has been read; with ``read: false`` the device
    waits longer.
    """

    pending: int = 0
    read: bool = True
    tile: int = -1


@dataclass(frozen=True, slots=True)
class Store:
    """``st.global`` of ``bytes`` from registers; does not block the role, unless the SM's queue of stores is full.

    ``l2_hit``: fraction that is overwritten or dropped in L2 and never reaches DRAM; ``completed``: fraction whose
    sectors, written in part, other stores complete before L2 gives them up, of the same thread if they are near enough
    to meet in L1. ``again``: distinct bytes of one CTA, if it writes the same ones again and again, as spilled
    registers; 0 if not. ``warps``: as of `Load`.
    """

    bytes: int
    width: int = 16
    other: float = 0.0
    l2_hit: float = 0.0
    completed: float = 0.0
    again: int = 0
    stride: int = 0
    scatter: int = 0
    warps: int | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class SetMaxNReg:
    """``setmaxnreg``: move registers between warpgroups."""

    registers: int
    tile: int = -1


Fill = CpAsync | TmaLoad | StoreShared
"""Ops that write a tile into a stage of a ring."""

PartOfRole = Acquire | Compute | Load | StoreShared | CpAsync | Store
"""Ops that the first ``warps`` of a role may execute alone, where a branch keeps the others from them."""

Op = (
    Compute | Load | WaitLoads | StoreShared | CpAsync | CommitGroup | WaitGroup | Acquire
    | TmaLoad | ProducerCommit | WaitFull | Release | TmaStore | BulkWait | Store
    | Wgmma | WgmmaWait | SyncThreads | ClusterSync | NamedBarrier | Arrive | ExpectTx | Wait | SetMaxNReg
)  # fmt: skip
