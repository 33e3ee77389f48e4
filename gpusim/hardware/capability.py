"""What a device cannot execute at all.

Source: PTX ISA 9.0 (clusters, cp.async.bulk, setmaxnreg and red of vectors: sm_90 and sm_90a; wgmma: sm_90a alone;
cp.async: sm_80).
"""

from __future__ import annotations

from math import inf

from gpusim.errors import ProgramError
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import (
    Atomic,
    ClusterSync,
    CpAsync,
    GridDependencyWait,
    KernelProgram,
    LaunchDependents,
    LoadCluster,
    SetMaxNReg,
    StoreCluster,
    TmaLoad,
    TmaStore,
    Wgmma,
)

__all__ = ["PROGRAMMATIC_FROM", "check_capability"]

CLUSTERS_FROM = 9.0
"""First compute capability with clusters."""
PROGRAMMATIC_FROM = 9.0
"""First compute capability with programmatic dependent launches."""
VECTORS_FROM, WIDEST_VALUE = 9.0, 8
"""First compute capability with atomics on vectors (red.v4.f32), and bytes of the widest value that is none."""
_NEEDS = {
    Wgmma: (9.0, 9.0, "wgmma", "use mma.sync (mma of compute)"),
    TmaLoad: (9.0, inf, "bulk copies", "use cp.async or plain loads"),
    TmaStore: (9.0, inf, "bulk stores", "use plain stores"),
    SetMaxNReg: (9.0, inf, "registers that move between roles (setmaxnreg)", "give all roles the same registers"),
    **dict.fromkeys(
        (GridDependencyWait, LaunchDependents),
        (PROGRAMMATIC_FROM, inf, "kernels that begin during the one ahead (griddepcontrol)", "leave these ops out"),
    ),
    ClusterSync: (CLUSTERS_FROM, inf, "barriers of clusters", "use other barriers"),
    LoadCluster: (CLUSTERS_FROM, inf, "loads from other CTAs", "use global memory"),
    StoreCluster: (CLUSTERS_FROM, inf, "stores to other CTAs", "use global memory"),
    CpAsync: (8.0, inf, "cp.async", "use plain loads"),
}
"""First and last compute capability with it, its name, and what else to do."""


def check_capability(program: KernelProgram, profile: DeviceProfile) -> None:
    """Raise ProgramError for an op that the compute capability of the device lacks."""
    has = profile.value("sm.compute_capability")
    if program.cluster > 1 and has < CLUSTERS_FROM:
        raise ProgramError(
            f"kernel {program.name!r}: clusters take compute capability {CLUSTERS_FROM}, {profile.name} has {has}; "
            "leave cluster out, or use another device"
        )
    if program.cluster > profile.value("sm.count"):
        raise ProgramError(
            f"kernel {program.name!r}: clusters of {program.cluster} CTAs take as many SMs, {profile.name} has "
            f"{profile.value('sm.count'):g}; use smaller clusters"
        )
    for role in program.roles:
        ops = list(program.sample(role))
        kinds = {type(op) for op in ops}
        if has < VECTORS_FROM and any(isinstance(op, Atomic) and op.width > WIDEST_VALUE for op in ops):
            raise ProgramError(
                f"kernel {program.name!r}, role {role.name!r}: atomics of 16 bytes take compute capability "
                f"{VECTORS_FROM}, {profile.name} has {has}; use a width of 4 or 8, or another device"
            )
        # In the order of the table: that of a set of types differs from run to run, and with it the message.
        for kind, (first, last, what, instead) in _NEEDS.items():
            if kind in kinds and not first <= has <= last:
                raise ProgramError(
                    f"kernel {program.name!r}, role {role.name!r}: {what} take compute capability {first}, "
                    f"{profile.name} has {has}; {instead}, or another device"
                )
