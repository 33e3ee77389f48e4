"""What a kernel asks of L2 and HBM as a whole, as far as it is known before anything is simulated."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.hardware.profile import DeviceProfile

__all__ = ["Demand", "kept_part", "mixed_part"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What all SMs together want of memory; a round is one tile of every resident CTA."""

    round_bytes: float
    """Bytes that a round reads."""
    rounds: float
    """How many rounds there will be."""
    footprint_bytes: float = 0.0
    """Bytes that are read again and again, 0 if unknown."""
    writes_in_order: float = 0.0
    """Part of the gain of writes in order that the kernel has (`gpusim.hardware.memory.address_order`), 0..1."""
    reads_in_order: float = 0.0
    """Part of the gain of reads in order of address, 0..1."""
    kept: float = 0.0
    """Part of what is written that never gets to HBM (`kept_part`), 0..1."""
    mixed: float = 1.0
    """Part of what is written that costs HBM its turns from reads to writes (`mixed_part`), 0..1."""
    round_written_bytes: float = 0.0
    """Bytes that a round writes."""
    burst_bytes: float = 0.0
    """Bytes that all resident CTAs write if they write at once, as results at their ends."""
    reads_per_write: float = 0.0
    """Bytes read from HBM for each one written."""
    apart_s: float = 0.0
    """Seconds in which SMs that read the same move apart (`gpusim.hardware.memory.gpc_sharing`)."""


def mixed_part(written_bytes: float, profile: DeviceProfile) -> float:
    """Part of what a kernel writes that costs HBM turns from reads to writes, if L2 held nothing of the kind before.

    Until as much has been written as L2 has room for, what does go to DRAM costs none.
    """
    if not written_bytes:
        return 1.0
    return max(1.0 - profile.value("l2.written_capacity") / written_bytes, 0.0)


def kept_part(read_bytes: float, written_bytes: float, profile: DeviceProfile) -> float:
    """Part of what a kernel writes that L2 still holds at the end, if it held nothing of the kind at the start.

    The lines last touched stay, up to a capacity for written ones.
    """
    if not written_bytes:
        return 0.0
    share = written_bytes / (read_bytes + written_bytes)
    room = min(profile.value("l2.written_capacity"), share * profile.value("l2.touched_capacity"))
    return min(room / written_bytes, 1.0)
