"""L1: what shared memory leaves of the memory that both have in common.

Models: the carve-out is the smallest of the steps that the driver knows which holds the CTAs that fit.
Omits: what L1 still holds of earlier loads.
Source: Hopper and Ampere tuning guides ("Unified Shared Memory/L1/Texture Cache"); realkernels.microbench (access).
"""

from __future__ import annotations

from gpusim.hardware.profile import DeviceProfile

__all__ = ["l1_bytes"]

CARVE_OUTS = tuple(size << 10 for size in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228))


def l1_bytes(profile: DeviceProfile, shared_bytes: float, ctas: int) -> float:
    """Bytes of L1 beside ``ctas`` CTAs of ``shared_bytes`` each."""
    needed = ctas * (shared_bytes + profile.value("cta.reserved_shared_memory"))
    most = profile.value("sm.shared_memory")
    carve_out = next((size for size in CARVE_OUTS if needed <= size <= most), most)
    return profile.value("sm.l1_and_shared_memory") - carve_out
