"""What is to be done: ops, roles, rings and kernel programs; frozen data without a clock."""

from gpusim.program.barrier_ops import Arrive, ClusterSync, ExpectTx, NamedBarrier, SyncThreads, Wait
from gpusim.program.check import check_program
from gpusim.program.copy_ops import BULK_UNIT
from gpusim.program.doubts import doubts
from gpusim.program.kernel import WARP_SIZE, Barrier, KernelProgram, Ring, Role
from gpusim.program.launch_ops import GridDependencyWait, LaunchDependents
from gpusim.program.mix import Mix
from gpusim.program.ops import (
    Acquire,
    Atomic,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    Load,
    LoadCluster,
    Op,
    PartOfRole,
    ProducerCommit,
    Release,
    SetMaxNReg,
    Store,
    StoreCluster,
    StoreShared,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from gpusim.program.tensor_ops import Wgmma, WgmmaWait
from gpusim.program.time_stamps import TimeStamp, Turns, with_time_stamps

__all__ = [
    "BULK_UNIT",
    "WARP_SIZE",
    "Acquire",
    "Arrive",
    "Atomic",
    "Barrier",
    "BulkWait",
    "ClusterSync",
    "CommitGroup",
    "Compute",
    "CpAsync",
    "ExpectTx",
    "GridDependencyWait",
    "KernelProgram",
    "LaunchDependents",
    "Load",
    "LoadCluster",
    "Mix",
    "NamedBarrier",
    "Op",
    "PartOfRole",
    "ProducerCommit",
    "Release",
    "Ring",
    "Role",
    "SetMaxNReg",
    "Store",
    "StoreCluster",
    "StoreShared",
    "SyncThreads",
    "TimeStamp",
    "TmaLoad",
    "TmaStore",
    "Turns",
    "Wait",
    "WaitFull",
    "WaitGroup",
    "WaitLoads",
    "Wgmma",
    "WgmmaWait",
    "check_program",
    "doubts",
    "with_time_stamps",
]
