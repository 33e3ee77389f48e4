"""The words of a role's op list in a scenario file, one model per op of `gpusim.program`.

Each op is a mapping with one key, ``{acquire: input}`` or ``{tma_load: {ring: input}}``; ops without arguments may
stand alone, ``sync_threads``. When an op runs is said in `schedule_schema`. A loop inside a tile is
``{repeat: {times: 8, ops: [...]}}``: the same as if its ops were written down eight times.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpusim.scenario.fields import Model, Turns
from gpusim.scenario.kernel.access_schema import (
    AtomicUpdate,
    BulkFetch,
    ClusterLoad,
    ClusterStore,
    Commit,
    GlobalStore,
    OnRing,
    OnRingBytes,
    RegisterLoad,
    SharedStore,
    StageRelease,
    StageWait,
    ThreadFetch,
)
from gpusim.scenario.kernel.compute_schema import ComputeMix
from gpusim.scenario.kernel.op_words import OpWord, step_model
from gpusim.scenario.kernel.product_schema import PendingProducts, Products
from gpusim.scenario.kernel.schedule_schema import Schedule
from gpusim.scenario.kernel.wait_schema import (
    Arrival,
    Barrier,
    Expect,
    Group,
    Meeting,
    PendingBulk,
    PendingGroups,
    PendingLoads,
    PhaseWait,
    Registers,
)

__all__ = ["MAX_TIMES", "OPS", "REPEAT", "STEPS", "OpStep"]

MAX_TIMES = 10_000

OPS: dict[str, OpWord] = {
    "acquire": OpWord(StageWait, "ring", about="Wait until the stage has been released by all who read it."),
    "tma_load": OpWord(
        BulkFetch, "ring", about="cp.async.bulk into the stage, with the arrive.expect_tx that announces it."
    ),
    "wait": OpWord(OnRing, "ring", about="Wait until the stage is full: mbarrier.try_wait on its full barrier."),
    "compute": OpWord(ComputeMix, about="Instructions of each warp of the role, by kind."),
    "release": OpWord(
        StageRelease, "ring", about="Give the stage back: one arrival of each warp on its empty barrier."
    ),
    "load": OpWord(RegisterLoad, "bytes", int | str, about="ld.global into registers (LDG)."),
    "wait_loads": OpWord(
        PendingLoads, "pending", int, about="Wait for the data of loads before it, as the first use of them does."
    ),
    "store_shared": OpWord(SharedStore, "ring", about="st.shared from registers (STS), where that is all."),
    "cp_async": OpWord(ThreadFetch, "ring", about="cp.async into the stage (LDGSTS), issued by the threads."),
    "commit_group": OpWord(Group, "ring", about="cp.async.commit_group (LDGDEPBAR): the copies since the last one."),
    "wait_group": OpWord(PendingGroups, "pending", int, about="cp.async.wait_group (DEPBAR)."),
    "producer_commit": OpWord(
        Commit, "ring", about="The warps that wrote the stage themselves arrive on its full barrier."
    ),
    "tma_store": OpWord(
        OnRingBytes, "ring", about="cp.async.bulk from the stage to global memory, and its bulk group."
    ),
    "bulk_wait": OpWord(PendingBulk, "pending", int, about="cp.async.bulk.wait_group."),
    "wgmma": OpWord(
        Products, "n", int, about="A group of products on the tensor cores, for which the warps do not wait (HGMMA)."
    ),
    "wgmma_wait": OpWord(PendingProducts, "pending", int, about="wgmma.wait_group: wait for groups of products."),
    "load_cluster": OpWord(
        ClusterLoad,
        "bytes",
        int | str,
        about="ld.shared::cluster (LD): from shared memory of other CTAs of the cluster.",
    ),
    "store_cluster": OpWord(
        ClusterStore,
        "bytes",
        int | str,
        about="st.shared::cluster (ST): to shared memory of other CTAs of the cluster.",
    ),
    "store": OpWord(GlobalStore, "bytes", int | str, about="st.global from registers (STG)."),
    "atomic": OpWord(
        AtomicUpdate, "bytes", int | str, about="red.global or atom.global (REDG, ATOMG): atomicAdd and the like."
    ),
    "sync_threads": OpWord(Meeting, about="__syncthreads: all warps of the CTA, of all roles."),
    "cluster_sync": OpWord(Schedule, about="barrier.cluster.arrive and wait: all warps of all CTAs of the cluster."),
    "named_barrier": OpWord(Barrier, about="bar.sync with a number and some of the warps."),
    "arrive": OpWord(Arrival, "barrier", about="mbarrier.arrive, one lane of each warp."),
    "expect_tx": OpWord(Expect, about="mbarrier.arrive.expect_tx."),
    "mbarrier_wait": OpWord(PhaseWait, "barrier", about="mbarrier.try_wait until a phase of a barrier is complete."),
    "grid_dependency_wait": OpWord(
        Schedule,
        about="griddepcontrol.wait: of a kernel that was launched as `programmatic`, until the kernel ahead is over.",
    ),
    "launch_dependents": OpWord(
        Schedule,
        about="griddepcontrol.launch_dependents: the CTA lets a `programmatic` launch behind this kernel begin.",
    ),
    "set_max_nreg": OpWord(Registers, "registers", int, about="setmaxnreg: move registers between warpgroups."),
}
"""Every word of an op list."""


class Repeat(Model):
    """Ops that run several times, one turn after the other: a loop inside a tile. It may hold others."""

    times: Annotated[Turns, Field(ge=0, le=MAX_TIMES)]
    """Turns of the loop. Inside another one a mean will do: 5.5 are six and five in turn, as of a triangle's rows."""
    ops: Annotated[list[OpStep], Field(min_length=1)]
    """Its ops; all turns belong to the tile of the iteration."""


REPEAT = "repeat"
STEPS = {**OPS, REPEAT: OpWord(Repeat, about="Ops that run several times within the tile, as a loop does.")}
"""Every word that a step of an op list may have."""

OpStep = step_model("OpStep", STEPS, "{acquire: input}")
Repeat.model_rebuild()
