"""Steps of handing over a ring that one role leaves out while others take them, so that no count and no wait tells.

And writing what has been given back, or what has not been asked for yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.barrier_ops import Arrive, NamedBarrier, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram, Ring, Role
from gpusim.program.ops import Acquire, Compute, Fill, LoadCluster, Op, Release, TmaStore, WaitFull, ring_read
from gpusim.program.tensor_ops import Wgmma

__all__ = ["skipped_steps"]


def skipped_steps(program: KernelProgram, bodies: dict[Role, list[Op]]) -> Iterator[str]:
    """Sentences that name role and ring, and what to do; ``bodies``: ops of some tiles of each role."""
    for ring in program.rings:
        for role, ops in bodies.items():
            on = [op for op in ops if op.tile >= 0 and ring.name in (getattr(op, "ring", None), ring_read(op))]
            # Whoever meets the others in every tile may leave it to them to wait and to release.
            if not any(isinstance(op, SyncThreads | NamedBarrier | Wait) and op.tile >= 0 for op in ops):
                yield from _never_waits(ring, role, on)
                # As may who only tells others that a stage is full.
                if not any(isinstance(op, Arrive) and op.tile >= 0 for op in ops):
                    yield from _never_releases(program, ring, role, on)
            yield from _out_of_turn(ring, role, on)


def _never_waits(ring: Ring, role: Role, on: list[Op]) -> Iterator[str]:
    """Of what another role fills: that is there by luck."""
    if any(isinstance(op, WaitFull | Fill) for op in on):
        return
    for kind, does in ((Compute | LoadCluster | Wgmma, "reads"), (TmaStore, "stores"), (Release, "releases")):
        if any(isinstance(op, kind) for op in on):
            yield (
                f"role {role.name!r} {does} ring {ring.name!r}, which others fill, and never waits until it is full; "
                f"put wait: {ring.name} in front, or a barrier behind the wait of another role"
            )
            return


def _never_releases(program: KernelProgram, ring: Ring, role: Role, on: list[Op]) -> Iterator[str]:
    """Where others do, so that a stage may be filled again while this role still uses it."""
    if not any(isinstance(op, WaitFull) for op in on) or any(isinstance(op, Release) for op in on):
        return
    others = [name for name in program.roles_on(ring.name, Release) if name != role.name]
    if others and program.roles_on(ring.name, Acquire):
        yield (
            f"role {role.name!r} waits for ring {ring.name!r} and never releases it, as {others[0]!r} does: a stage "
            f"may be filled while it is still in use; put release: {ring.name} behind its last use, and count its "
            "warps in empty_arrivals"
        )


def _out_of_turn(ring: Ring, role: Role, on: list[Op]) -> Iterator[str]:
    """Stages that a role fills behind its own release of them, or before it acquires them though it does later."""
    released: set[int] = set()
    acquired: set[int] = set()
    acquires = any(isinstance(op, Acquire) for op in on)
    for op in on:
        if isinstance(op, Release):
            released.add(op.tile)
        elif isinstance(op, Acquire):
            acquired.add(op.tile)
        elif isinstance(op, Fill) and op.tile in released:
            yield (
                f"role {role.name!r} fills tile {op.tile} of ring {ring.name!r} behind its release, which gave the "
                "stage back; put the release behind it"
            )
            return
        elif isinstance(op, Fill) and acquires and op.tile >= ring.stages and op.tile not in acquired:
            yield (
                f"role {role.name!r} fills tile {op.tile} of ring {ring.name!r} before it acquires it; give acquire "
                "and copy the same ahead"
            )
            return
