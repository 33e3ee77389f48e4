"""What one warp role of a kernel does, in CUDA and PTX words.

Every op is frozen data: it says *what* is asked of the hardware (bytes, instruction
counts, which barrier), never how long it takes. Byte counts are those of the whole
role (all its warps of one CTA together); instruction counts are those of one warp.

``align`` on an op that reads global memory is the largest power of two that divides every
address it starts at, in bytes; of ``cp.async``, that divides the distance from source to
destination. 0 stands for that of ``bytes``, as when equal tiles lie one behind the other.

``warps`` on an op says that only the first so many of the role execute it; its bytes are then theirs together.

On a load, store or atomic through registers ``stride`` is the distance in bytes from one lane's address to the next
lane's; 0 stands for ``width``, neighbours side by side. With ``scatter`` neighbouring lanes share blocks of so many
bytes (of one lane alone, if that is less than two widths), and each block lies anywhere. With ``structure`` each lane
loads all of so many bytes, one ``width`` after the other, and the next lane the bytes behind them.

``tile`` on an op is the index of the tile it belongs to, counted per CTA from 0; the
ring stage is ``tile % stages`` and the mbarrier phase ``tile // stages``.

Ops stand in a module for each sort: ``access_ops``, ``copy_ops``, ``ring_ops``, ``barrier_ops``, ``cluster_ops``,
``tensor_ops``, ``launch_ops``.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.program.access_ops import Atomic, Load, Store, StoreShared, WaitLoads
from gpusim.program.barrier_ops import Arrive, ClusterSync, ExpectTx, NamedBarrier, SyncThreads, Wait
from gpusim.program.cluster_ops import LoadCluster, StoreCluster
from gpusim.program.copy_ops import BulkWait, CommitGroup, CpAsync, TmaLoad, TmaStore, WaitGroup
from gpusim.program.launch_ops import GridDependencyWait, LaunchDependents
from gpusim.program.mix import Mix
from gpusim.program.ring_ops import Acquire, ProducerCommit, Release, WaitFull
from gpusim.program.tensor_ops import Wgmma, WgmmaWait

__all__ = [
    "Acquire", "Atomic", "BulkWait", "CommitGroup", "Compute", "CpAsync", "Fill", "Load", "LoadCluster", "Op",
    "PartOfRole", "ProducerCommit", "RegisterLoad", "Release", "SetMaxNReg", "Store", "StoreCluster", "StoreShared",
    "TmaLoad", "TmaStore", "WaitFull", "WaitGroup", "WaitLoads", "ring_read",
]  # fmt: skip


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
class SetMaxNReg:
    """``setmaxnreg``: move registers between warpgroups."""

    registers: int
    tile: int = -1


Fill = CpAsync | TmaLoad | StoreShared
"""Ops that write a tile into a stage of a ring."""

RegisterLoad = Load | LoadCluster
"""Ops that load into registers, and may leave it to `WaitLoads` to wait for that."""

PartOfRole = (
    Acquire | Compute | Load | LoadCluster | StoreCluster | StoreShared | CpAsync | Store | Atomic | SyncThreads
)
"""Ops that the first ``warps`` of a role may execute alone, where a branch keeps the others from them."""

Op = (
    Compute | Load | LoadCluster | WaitLoads | StoreShared | StoreCluster | CpAsync | CommitGroup | WaitGroup | Acquire
    | TmaLoad | ProducerCommit | WaitFull | Release | TmaStore | BulkWait | Store | Atomic
    | Wgmma | WgmmaWait | SyncThreads | ClusterSync | NamedBarrier | Arrive | ExpectTx | Wait | SetMaxNReg
    | GridDependencyWait | LaunchDependents
)  # fmt: skip


def ring_read(op: Op) -> str | None:
    """The ring of which ``op`` reads a stage, its own CTA's or another's; None of ops that read none by threads."""
    return op.reads if isinstance(op, Compute | LoadCluster | Wgmma) else None
