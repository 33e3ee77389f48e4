"""What to add to a kernel that waits for ever: which arrival lacks at a barrier, and in which role.

Found in the ops of each role, where they show it; a run says who waits for what, this says why.
"""

from __future__ import annotations

from collections import Counter
from types import UnionType

from gpusim.program.barrier_ops import Arrive, ClusterSync, ExpectTx, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram
from gpusim.program.op_sample import OpSample
from gpusim.program.ops import (
    Acquire,
    CpAsync,
    LoadCluster,
    Op,
    ProducerCommit,
    Release,
    StoreShared,
    TmaLoad,
    WaitFull,
)
from gpusim.program.role_names import in_words

__all__ = ["MissingArrivals"]


class MissingArrivals:
    """Arrivals that lack in one program; "" where its ops do not show any."""

    def __init__(self, program: KernelProgram, sample: OpSample) -> None:
        self._program, self._sample = program, sample

    def unfilled(self, ring: str) -> str:
        """For a stage of ``ring`` that never gets full: what fills it and is nowhere."""
        if self._program.roles_on(ring, TmaLoad | ProducerCommit):
            return self._too_few(ring, TmaLoad | ProducerCommit, "full_arrivals")
        if writers := self._program.roles_on(ring, CpAsync | StoreShared):
            return f"put producer_commit: {ring} behind what fills it in {in_words(writers)}"
        if acquires := self._program.roles_on(ring, Acquire):
            return f"put tma_load: {ring}, or what else fills it, in {in_words(acquires)}"
        return f"no role fills ring {ring!r}"

    def unreleased(self, ring: str) -> str:
        """For a stage of ``ring`` that never gets free: the release that is nowhere in a role that waits for it."""
        releases = self._program.roles_on(ring, Release)
        reads = [role.name for role in self._program.roles if self._loads_from_peers(role.name, ring)]
        forgets = [role for role in reads or self._program.roles_on(ring, WaitFull) if role not in releases]
        if forgets:
            put = f"put release: {ring} in {in_words(forgets)}, behind the last read of a tile"
            if not releases:
                return put
            warps = sum(role.warps for role in self._program.roles if role.name in releases)
            return f"{put}, or say empty_arrivals: {warps} of the ring if {in_words(releases)} releases for all"
        return self._too_few(ring, Release, "empty_arrivals") if releases else f"no role releases ring {ring!r}"

    def _loads_from_peers(self, role: str, ring: str) -> bool:
        """Whether ``role`` reads stages of other CTAs, of which another one tells it that they are full."""
        return any(isinstance(op, LoadCluster) and op.reads == ring for op in self._sample.of(role))

    def _too_few(self, ring: str, kind: type[Op] | UnionType, field: str) -> str:
        """A barrier of a stage that asks for more arrivals than any tile brings: a copy's is one, else a warp's."""
        arrivals: Counter[int] = Counter()
        for role in self._program.roles:
            for op in self._sample.of(role.name):
                if isinstance(op, kind) and op.ring == ring:
                    arrivals[op.tile] += 1 if isinstance(op, TmaLoad) else role.warps
        most = max(arrivals.values(), default=0)
        asked = next((getattr(one, field) for one in self._program.rings if one.name == ring), most)
        return f"{field} of ring {ring!r} is {asked}, and no tile has more than {most}" if most < asked else ""

    def of_meeting(self, kind: type[SyncThreads | ClusterSync]) -> str:
        """For a barrier of all warps to which some never come, or less often than others."""
        word = "sync_threads" if kind is SyncThreads else "cluster_sync"
        times = {
            role.name: sum(isinstance(op, kind) for op in self._sample.of(role.name)) for role in self._program.roles
        }
        if missing := [name for name, count in times.items() if not count]:
            some = ", or let the others meet at a named_barrier" if kind is SyncThreads else ""
            return f"{word} is for all warps: put it in {in_words(missing)} as well{some}"
        if len(set(times.values())) == 1:
            return ""
        told = ", ".join(f"{name!r} {count}" for name, count in times.items())
        return f"{word} is for all warps, and how often they come to it in {self._sample.tiles} tiles differs: {told}"

    def remedy_for_skipped(self, barrier: str, role: str) -> str:
        """For an mbarrier outside rings that is past a phase for which ``role`` waits."""
        arrivals: Counter[int] = Counter()
        for each in self._program.roles:
            for op in self._sample.of(each.name):
                if isinstance(op, Arrive | ExpectTx) and op.barrier == barrier:
                    arrivals[op.tile] += each.warps
        most = max(arrivals.values(), default=0)
        takes = next((one.arrivals for one in self._program.barriers if one.name == barrier), most)
        if most != takes:
            return f"barrier {barrier!r} takes {takes} arrivals, and a tile has {most}: compare the counts"
        waits = [op for op in self._sample.of(role) if isinstance(op, Wait) and op.barrier == barrier]
        if len(waits) > 1 and len({op.phase for op in waits}) == 1:
            return (
                f"role {role!r} waits for phase {waits[0].phase} again and again: without `phase` for each tile's own"
            )
        return ""

    def of_barrier(self, barrier: str) -> str:
        """For an mbarrier outside rings whose phase is never complete."""
        ops = [op for role in self._program.roles for op in self._sample.of(role.name)]
        if any(isinstance(op, ExpectTx) and op.barrier == barrier and op.bytes for op in ops):
            return (
                "no copy brings bytes to a barrier outside rings (tma_load announces its own): put arrive for expect_tx"
            )
        early = (op for op in ops if isinstance(op, Wait) and op.barrier == barrier and op.phase > max(op.tile, 0))
        if (wait := next(early, None)) is not None:
            return (
                f"phase {wait.phase} is awaited at tile {wait.tile}, and arrivals of later tiles complete it: without "
                "`phase` it is that of the tile"
            )
        arrives = any(isinstance(op, Arrive | ExpectTx) and op.barrier == barrier for op in ops)
        return "" if arrives else f"put arrive: {barrier} in the role for which this one waits"
