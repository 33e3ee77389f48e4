"""What a predicted timeline says of its launch beside the intervals."""

from __future__ import annotations

from math import ceil
from typing import Any

from gpusim.hardware.assumptions import used_of
from gpusim.hardware.launch.run import Launch, Run
from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.hardware.memory.traffic import tensor_flop_per_cycle
from gpusim.program import WARP_SIZE
from gpusim.timeline.roofline import TENSOR_CORES

__all__ = ["meta_of"]


def meta_of(launch: Launch, run: Run, end_s: float) -> dict[str, Any]:
    """The ``meta`` of a timeline of ``run`` whose last CTA ends at ``end_s``."""
    program, profile, fits, traffic = launch.program, launch.profile, launch.fits, launch.traffic
    return {
        "source": "predicted",
        "device": profile.recordings,
        "kernel": program.name,
        "total_s": end_s + profile.value("launch.overhead"),
        "launch_s": profile.value("launch.overhead"),
        "bytes_read": traffic.read_bytes,
        "bytes_written": traffic.written_bytes,
        **_arithmetic(launch),
        "peak_bytes_per_s": profile.value("hbm.read_bandwidth"),
        "hbm_busy": run.hbm_busy,
        "l2_busy": run.l2_busy,
        "copy_unit_busy": run.copy_unit_busy,
        "network_busy": run.network_busy,
        "shared_busy": _shared_busy(launch, end_s),
        **({"atomics_busy": run.atomics_busy} if run.atomics_busy else {}),
        "off_line_loss": run.off_line_loss,
        "moving_apart": run.moving_apart,
        "occupancy": {
            "ctas_per_sm": fits.ctas_per_sm,
            "resident": min(fits.ctas_per_sm, ceil(program.grid / launch.sms)),
            "warps_per_sm": fits.warps_per_sm,
            "limiter": fits.limiter,
            "fraction": fits.fraction,
            "grid": program.grid,
            "at_once": fits.ctas_per_sm * launch.sms,
        },
        "sm_classes": [
            {"lane": sm.name, "sms": sm.multiplicity, "without_last_cta": sm.without_last_cta} for sm in run.sms
        ],
        "assumed": used_of(profile.assumed, program),
    }


def _shared_busy(launch: Launch, end_s: float) -> float:
    """Part of the time, 0..1, in which threads keep the path of shared memory of an SM busy, the mean of all SMs."""
    profile = launch.profile
    turns_per_s = profile.value("sm.shared_bandwidth") / LINE_BYTES * profile.clock_hz * launch.sms
    return launch.traffic.shared_turns / (turns_per_s * end_s) if end_s else 0.0


def _arithmetic(launch: Launch) -> dict[str, Any]:
    """The work and the peak of FP32, or of the tensor cores where more of theirs is reached."""
    program, profile, traffic = launch.program, launch.profile, launch.traffic
    per_cycle = 2.0 * WARP_SIZE * profile.value("sm.schedulers")
    found = {"flop": traffic.flop, "peak_flop_per_s": per_cycle * profile.value("sm.count") * profile.clock_hz}
    if traffic.tensor_flop:
        peak = tensor_flop_per_cycle(program, profile) * profile.value("sm.count") * profile.clock_hz
        if traffic.tensor_flop / peak > traffic.flop / found["peak_flop_per_s"]:
            return {"flop": traffic.tensor_flop, "peak_flop_per_s": peak, "arithmetic": TENSOR_CORES}
    return found
