"""How many CTAs fit on one SM, by the exact CUDA rules.

Models: limits on threads, warps, CTAs, registers and shared memory per SM and per CTA.
  Registers are allocated per warp in units of 256, out of the quarter of the file that
  belongs to the warp's scheduler; only the check whether a CTA fits at all counts its warps as a multiple
  of 4. Shared memory is allocated in units of 128 B, plus 1 KiB that the driver reserves per CTA.
Omits: carve-out preferences (the largest one is taken).
Source: CUDA Programming Guide 13 table "Technical Specifications per Compute Capability";
  the rules of ``cuda_occupancy.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

from gpusim.errors import DoesNotFit
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, KernelProgram

__all__ = ["Occupancy", "occupancy", "resident_ctas", "shared_memory"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """CTAs resident on one SM at the same time, and which resource allows no more.

    ``limits`` holds the number of CTAs each resource alone would admit.
    """

    ctas_per_sm: int
    warps_per_sm: int
    limiter: str
    limits: dict[str, int]
    fraction: float


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


def shared_memory(program: KernelProgram, profile: DeviceProfile) -> int:
    """Bytes that a CTA of the program asks for on this device, which may be more than it needs."""
    if program.share_of_sm is None:
        return program.shared_bytes
    value, unit = profile.value, int(profile.value("sm.shared_allocation_unit"))
    share = int(value("sm.shared_memory")) // program.share_of_sm // unit * unit
    share = min(share - int(value("cta.reserved_shared_memory")), int(value("cta.max_shared_memory")))
    return max(share, ceil(program.shared_bytes / unit) * unit)


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
    demand_fits("per CTA", threads, value("cta.max_threads"), "threads", "use fewer warps per CTA")
    demand_fits(
        "per thread", registers, value("cta.max_registers_per_thread"), "registers",
        "keep fewer values per thread (smaller tile or batch)",
    )  # fmt: skip
    demand_fits(
        "of shared memory per CTA", shared_bytes, value("cta.max_shared_memory"), "bytes",
        "use fewer stages or a smaller tile",
    )  # fmt: skip
    unit = value("sm.register_allocation_unit")
    registers_per_warp = ceil(registers * WARP_SIZE / unit) * unit
    schedulers = int(value("sm.schedulers"))
    warps_allocated = ceil(warps / schedulers) * schedulers
    demand_fits(
        "per CTA", registers_per_warp * warps_allocated, value("sm.registers"), "registers",
        "use fewer warps or fewer registers per thread",
    )  # fmt: skip

    limits: dict[str, int] = {
        "ctas": int(value("sm.max_ctas")),
        "warps": int(value("sm.max_warps") // warps),
    }
    if registers:
        per_scheduler = (value("sm.registers") // schedulers) // registers_per_warp
        limits["registers"] = int(per_scheduler * schedulers // warps)
    shared_unit = value("sm.shared_allocation_unit")
    shared = ceil((shared_bytes + value("cta.reserved_shared_memory")) / shared_unit) * shared_unit
    limits["shared_memory"] = int(value("sm.shared_memory") // shared) if shared else int(inf)
    limiter = min(limits, key=lambda key: limits[key])
    ctas = limits[limiter]
    if ctas < 1:
        demand_fits(f"per SM (limited by {limiter})", 1, 0, "CTAs", "use fewer resources per CTA")
    return Occupancy(ctas, ctas * warps, limiter, limits, ctas * warps / value("sm.max_warps"))
