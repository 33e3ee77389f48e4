"""How many CTAs fit on one SM, by the exact CUDA rules.

Models: limits on threads, warps, CTAs, registers and shared memory per SM and per CTA.
  Registers are allocated per warp in units of 256, out of the quarter of the file that
  belongs to the warp's scheduler; only the check whether a CTA fits at all counts its warps as a multiple
  of 4. Shared memory is allocated in units of 128 B, plus 1 KiB that the driver reserves per CTA.
  Limits are those of the largest carve-out; how much L1 is left is the matter of `gpusim.hardware.memory.l1`.
Omits: carve-out preferences.
Source: CUDA Programming Guide 13 table "Technical Specifications per Compute Capability";
  the rules of ``cuda_occupancy.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from gpusim.errors import DoesNotFit
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, KernelProgram

__all__ = [
    "Occupancy",
    "allocated_shared",
    "occupancy",
    "reached_sms",
    "registers_of_warp",
    "resident_ctas",
    "shared_memory",
]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """CTAs resident on one SM at the same time, and which resource allows no more."""

    ctas_per_sm: int
    warps_per_sm: int
    """Warps of all of them."""
    limiter: str
    """Resource that allows no more."""
    limits: dict[str, int]
    """CTAs that each resource alone would admit."""
    fraction: float
    """Part of the warps that an SM can hold, 0..1."""


def occupancy(program: KernelProgram, profile: DeviceProfile) -> Occupancy:
    """The occupancy of a kernel program.

    Raises DoesNotFit if not even one CTA fits, with demand, bound and what to change.
    """
    return resident_ctas(
        profile,
        threads=program.threads,
        registers=program.registers,
        shared_bytes=shared_memory(program, profile),
        name=program.name,
    )


def reached_sms(program: KernelProgram, profile: DeviceProfile) -> int:
    """SMs on which CTAs of the program find room: of a GPC some are left where clusters do not come out even."""
    sms, size = int(profile.value("sm.count")), program.cluster
    if size == 1:
        return sms
    return max(min(round(sms * profile.value(f"cluster.reach_{size}")), sms) // size * size, size)


def shared_memory(program: KernelProgram, profile: DeviceProfile) -> int:
    """Bytes that a CTA of the program asks for on this device, which may be more than it needs."""
    if program.share_of_sm is None:
        return program.shared_bytes
    value, unit = profile.value, int(profile.value("sm.shared_allocation_unit"))
    share = int(value("sm.shared_memory")) // program.share_of_sm // unit * unit
    share = min(share - int(value("cta.reserved_shared_memory")), int(value("cta.max_shared_memory")))
    return max(share, ceil(program.shared_bytes / unit) * unit)


def _checked_registers(profile: DeviceProfile, threads: int, registers: int) -> float:
    """Registers of a CTA of ``threads`` threads with ``registers`` each, as the check counts whether it fits at all.

    There its warps are a multiple of the schedulers.
    """
    schedulers = int(profile.value("sm.schedulers"))
    warps = ceil(ceil(threads / WARP_SIZE) / schedulers) * schedulers
    return registers_of_warp(profile, registers) * warps


def registers_of_warp(profile: DeviceProfile, registers: int) -> float:
    """Registers that are allocated to a warp whose threads use ``registers`` each."""
    unit = profile.value("sm.register_allocation_unit")
    return ceil(registers * WARP_SIZE / unit) * unit


def allocated_shared(profile: DeviceProfile, shared_bytes: float) -> float:
    """Bytes of shared memory that are allocated to a CTA which asks for ``shared_bytes``."""
    unit = profile.value("sm.shared_allocation_unit")
    return ceil((shared_bytes + profile.value("cta.reserved_shared_memory")) / unit) * unit


def resident_ctas(
    profile: DeviceProfile, *, threads: int, registers: int, shared_bytes: int, name: str = "kernel"
) -> Occupancy:
    """The occupancy of CTAs of ``threads`` threads, ``registers`` per thread, ``shared_bytes`` per CTA."""
    value = profile.value
    device = profile.name

    def demand_fits(what: str, demand: float, bound: float, unit: str, lever: str) -> None:
        if demand > bound:
            raise DoesNotFit(demand=demand, bound=bound, unit=unit, what=what, lever=lever, subject=name, device=device)

    warps = ceil(threads / WARP_SIZE)
    demand_fits("per CTA", threads, value("cta.max_threads"), "threads", "use fewer threads per CTA")
    demand_fits(
        "per thread", registers, value("cta.max_registers_per_thread"), "registers",
        "keep fewer values per thread (smaller tile or batch)",
    )  # fmt: skip
    demand_fits(
        "of shared memory per CTA", shared_bytes, value("cta.max_shared_memory"), "bytes",
        "use less of it: fewer stages or a smaller tile",
    )  # fmt: skip
    demand_fits(
        "per CTA", _checked_registers(profile, threads, registers), value("sm.registers"), "registers",
        "use fewer threads or fewer registers per thread",
    )  # fmt: skip

    limits: dict[str, int] = {
        "ctas": int(value("sm.max_ctas")),
        "warps": int(value("sm.max_warps") // warps),
    }
    if registers:
        schedulers = int(value("sm.schedulers"))
        per_scheduler = (value("sm.registers") // schedulers) // registers_of_warp(profile, registers)
        limits["registers"] = int(per_scheduler * schedulers // warps)
    shared = allocated_shared(profile, shared_bytes)
    if shared:
        limits["shared_memory"] = int(value("sm.shared_memory") // shared)
    limiter = min(limits, key=lambda key: limits[key])
    ctas = limits[limiter]
    if ctas < 1:
        demand_fits(f"per SM (limited by {limiter})", 1, 0, "CTAs", "use fewer resources per CTA")
    return Occupancy(ctas, ctas * warps, limiter, limits, ctas * warps / value("sm.max_warps"))
