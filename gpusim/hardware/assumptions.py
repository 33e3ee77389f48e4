"""Which quantities of a device a kernel depends on, as far as its ops tell."""

from __future__ import annotations

from collections.abc import Iterable

from gpusim.program import (
    Acquire,
    Arrive,
    Atomic,
    BulkWait,
    ClusterSync,
    CommitGroup,
    Compute,
    CpAsync,
    ExpectTx,
    KernelProgram,
    Load,
    LoadCluster,
    NamedBarrier,
    Op,
    ProducerCommit,
    Release,
    SetMaxNReg,
    Store,
    StoreCluster,
    SyncThreads,
    TmaLoad,
    TmaStore,
    Wait,
    WaitFull,
    WaitGroup,
    Wgmma,
    WgmmaWait,
)

__all__ = ["used_of"]

_ONLY_FOR: dict[str, tuple[type[Op], ...]] = {
    "hbm.capacity": (),
    "sm.setmaxnreg": (SetMaxNReg,),
    "tma.": (TmaLoad, TmaStore, BulkWait),
    "tensor.wgmma": (Wgmma, WgmmaWait),
    "tensor.others": (Wgmma,),
    "tensor.mma": (Compute,),
    "sm.atoms": (Compute,),
    "lsu.cp_async": (CpAsync,),
    "lsu.commit": (CommitGroup, WaitGroup),
    "lsu.atomic": (Atomic,),
    "l2.atomic": (Atomic,),
    "lsu.ldg": (Load, Store, Atomic),
    "lsu.store": (Store, Atomic),
    "lsu.tag": (Load,),
    "mbarrier.": (Acquire, ProducerCommit, WaitFull, Release, Arrive, ExpectTx, Wait, TmaLoad),
    "barrier.": (SyncThreads, NamedBarrier, ClusterSync),
    "cluster.sync": (ClusterSync,),
    "cluster.arrive": (Arrive, Release),
    "cluster.load": (LoadCluster,),
    "cluster.store": (StoreCluster,),
}
"""Quantities, by the beginning of their name, that only matter to a kernel with one of these ops (none: to none)."""


def used_of(keys: Iterable[str], program: KernelProgram) -> list[str]:
    """The quantities among ``keys`` that ``program`` depends on, or may."""
    present = {type(op) for role in program.roles for op in program.sample(role)}
    return [
        key
        for key in keys
        if (program.cluster > 1 or not key.startswith("cluster."))
        and all(not key.startswith(start) or present.intersection(ops) for start, ops in _ONLY_FOR.items())
    ]
