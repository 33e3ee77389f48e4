"""Who does it on the device: profiles, occupancy, SMs, copy units, memory."""

from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.hardware.occupancy import Occupancy, occupancy, resident_ctas
from gpusim.hardware.profile import DeviceProfile, Quantity, load_profile, profile_names

__all__ = [
    "DeviceProfile",
    "Occupancy",
    "Quantity",
    "load_profile",
    "occupancy",
    "profile_names",
    "resident_ctas",
    "simulate_kernel",
]
