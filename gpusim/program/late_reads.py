"""Reads of a stage behind its own release.

A producer that is quick enough then overwrites what is still read. Whether it is depends on timing, on the device as in
a simulation; the order of the ops tells in any case.
"""

from __future__ import annotations

from gpusim.errors import HazardError
from gpusim.program.kernel import KernelProgram, Role
from gpusim.program.ops import ring_read
from gpusim.program.ring_ops import Release

__all__ = ["check_late_reads"]


def check_late_reads(program: KernelProgram) -> None:
    """Raises HazardError for a role that reads a stage for a tile which it has released, and does not release again."""
    for role in program.roles:
        _check(program, role)


def _check(program: KernelProgram, role: Role) -> None:
    ops = program.sample(role)
    released = {(op.ring, op.tile): number for number, op in enumerate(ops) if isinstance(op, Release)}
    for number, op in enumerate(ops):
        ring = ring_read(op)
        last = released.get((ring, op.tile)) if ring else None
        if last is not None and last < number:
            stages = next(each.stages for each in program.rings if each.name == ring)
            what = "reads a tile that it has released, and which may be overwritten by then"
            remedy = (
                f"put release: {ring} behind the last read of a tile in role {role.name!r}, or say `reads: false` "
                "there if it reads other shared memory"
            )
            at = program.sampled_tiles, number
            raise HazardError(role.name, ring, op.tile % stages, op.tile, what, remedy, at=at)
