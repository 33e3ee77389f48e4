"""A kernel program on a device: the predicted timeline.

Models: launch overhead, CTA dispatch and waves, and everything in the parts (`Sm`, `Memory`, …).
Omits: other work on the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpusim.engine import Simulation
from gpusim.hardware.cta import Parts
from gpusim.hardware.fold import group_warps, place_ctas
from gpusim.hardware.memory import Memory
from gpusim.hardware.occupancy import occupancy
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm import Sm
from gpusim.hardware.traffic import Traffic
from gpusim.program import KernelProgram
from gpusim.timeline import Timeline, TimelineBuilder

__all__ = ["simulate_kernel"]


@dataclass(frozen=True)
class Run:
    """What one simulation gave: the end of the last CTA and, if asked for, its intervals."""

    end_s: float
    builder: TimelineBuilder | None


def run_program(program: KernelProgram, profile: DeviceProfile, trace: bool) -> Run:
    """Simulate every tile of ``program`` once."""
    fits = occupancy(program, profile)
    builder = TimelineBuilder() if trace else None
    record = builder.add if builder is not None else None
    sim = Simulation()
    parts = Parts.of(program)
    groups, scheduler_classes = group_warps(program, int(profile.value("sm.schedulers")))
    classes = place_ctas(program, int(profile.value("sm.count")), fits.ctas_per_sm)
    traffic = Traffic.of(program)
    resident = sum(c.multiplicity * min(len(c.tiles), fits.ctas_per_sm) for c in classes)
    memory = Memory(sim, profile, resident * traffic.tile_bytes)
    sms = [
        Sm(sim, profile, program, parts, memory, sm_class, groups, scheduler_classes, record)
        for sm_class in classes
    ]
    for sm in sms:
        sm.run(fits.ctas_per_sm)
    sim.run()
    return Run(max(sm.ended_s for sm in sms), builder)


def simulate_kernel(
    program: KernelProgram, profile: DeviceProfile, *, exact: bool = False, trace: bool = True
) -> Timeline:
    """Predict one launch of ``program``; times start when the launch begins.

    ``exact`` simulates every tile instead of extrapolating a periodic loop. Without ``trace``
    the timeline has no intervals, only its ``meta``.

    Raises DoesNotFit, HazardError, Deadlock.
    """
    run = run_program(program, profile, trace)
    fits = occupancy(program, profile)
    total = run.end_s + profile.value("launch.overhead")
    traffic = Traffic.of(program)
    meta: dict[str, Any] = {
        "source": "predicted",
        "device": profile.name,
        "kernel": program.name,
        "total_s": total,
        "bytes_read": traffic.read_bytes,
        "bytes_written": traffic.written_bytes,
        "flop": traffic.flop,
        "exact": exact,
        "occupancy": {"ctas_per_sm": fits.ctas_per_sm, "limiter": fits.limiter, "fraction": fits.fraction},
        "assumed": profile.assumed,
    }
    builder = run.builder or TimelineBuilder()
    return builder.build(**meta)
