"""Which GPU is attached, and whether it can be used at all."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

__all__ = ["describe_device", "device_name", "gpu_status", "let_see_each_other", "sm_count"]


def gpu_status() -> tuple[bool, str]:
    """(True, device name), or (False, the reason a test may print when it skips)."""
    try:
        import cupy
    except ImportError as error:
        return False, f"CuPy is not installed ({error})"
    try:
        if cupy.cuda.runtime.getDeviceCount() == 0:
            return False, "no CUDA device"
        return True, device_name()
    except Exception as error:  # CuPy raises its own, the driver's and OSError here
        return False, f"CUDA is not usable: {error}"


def device_name() -> str:
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()


def sm_count() -> int:
    import cupy

    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def let_see_each_other(devices: int) -> None:
    """Each of the first ``devices`` devices may reach the memory of the others. Raises RuntimeError if it cannot."""
    import cupy

    runtime = cupy.cuda.runtime
    if devices > runtime.getDeviceCount():
        raise RuntimeError(f"{devices} devices are wanted, and there are {runtime.getDeviceCount()}")
    for own, other in permutations(range(devices), 2):
        if not runtime.deviceCanAccessPeer(own, other):
            raise RuntimeError(f"device {own} cannot reach the memory of device {other}")
        with cupy.cuda.Device(own):
            try:
                runtime.deviceEnablePeerAccess(other)
            except runtime.CUDARuntimeError as error:
                if "AlreadyEnabled" not in str(error):
                    raise


def describe_device() -> dict[str, Any]:
    """What a recording must say about where it was made; no host name."""
    import cupy

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(cupy.cuda.Device().id)
    return {
        "name": properties["name"].decode(),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "driver_cuda": _version(runtime.driverGetVersion()),
        "driver": _driver_release(),
        "runtime_cuda": _version(runtime.runtimeGetVersion()),
        "sm_count": properties["multiProcessorCount"],
        "l2_bytes": properties["l2CacheSize"],
        "memory_bytes": properties["totalGlobalMem"],
        "shared_per_sm_bytes": properties.get("sharedMemPerMultiprocessor"),
        "shared_per_cta_bytes": properties.get("sharedMemPerBlockOptin"),
        # CUDA 13 took the clock rates out of the property structure; the attributes still have them.
        "max_sm_clock_hz": _attribute("ClockRate", 1e3),
        "max_memory_clock_hz": _attribute("MemoryClockRate", 1e3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _attribute(name: str, scale: float) -> float | None:
    import cupy

    value = cupy.cuda.Device().attributes.get(name)
    return None if value is None else value * scale


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _driver_release() -> str | None:
    """Release of the kernel module ("580.65.06"), where the system shows it."""
    try:
        with Path("/proc/driver/nvidia/version").open() as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
