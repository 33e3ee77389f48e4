"""What a device cannot execute at all.

Source: PTX ISA 9.0 (cp.async.bulk and setmaxnreg: target sm_90 and sm_90a; wgmma: sm_90a alone; cp.async: sm_80).
"""

from __future__ import annotations

from gpusim.errors import ProgramError
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import CpAsync, KernelProgram, SetMaxNReg, TmaLoad, TmaStore, Wgmma

__all__ = ["check_capability"]

_NEEDS = {
    Wgmma: (9.0, "wgmma", "use mma.sync (mma of compute)"),
    TmaLoad: (9.0, "bulk copies", "use cp.async or plain loads"),
    TmaStore: (9.0, "bulk stores", "use plain stores"),
    SetMaxNReg: (9.0, "registers that move between roles (setmaxnreg)", "give all roles the same registers"),
    CpAsync: (8.0, "cp.async", "use plain loads"),
}


def check_capability(program: KernelProgram, profile: DeviceProfile) -> None:
    """Raise ProgramError for an op that the compute capability of the device lacks."""
    has = profile.value("sm.compute_capability")
    for role in program.roles:
        for kind in {type(op) for op in program.sample(role)}:
            needed, what, instead = _NEEDS.get(kind, (0.0, "", ""))
            if has < needed or (kind is Wgmma and has > needed):
                raise ProgramError(
                    f"kernel {program.name!r}, role {role.name!r}: {what} take compute capability {needed}, "
                    f"{profile.name} has {has}; {instead}, or another device"
                )
