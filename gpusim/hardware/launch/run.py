"""One simulation of a launch, or of part of it.

Models: CTAs on SMs, and everything in the parts (`Sm`, `Memory`, …).
Omits: other work on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpusim.engine import Simulation
from gpusim.errors import GpusimError
from gpusim.hardware.folding.sm_classes import SmClass, place_ctas
from gpusim.hardware.folding.warp_groups import group_warps
from gpusim.hardware.folding.waves import Waves
from gpusim.hardware.memory.address_order import reads_in_order, writes_in_order
from gpusim.hardware.memory.demand import Demand
from gpusim.hardware.memory.l2_and_hbm import Memory
from gpusim.hardware.memory.traffic import Traffic
from gpusim.hardware.occupancy import Occupancy
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.compute import ComputeModel
from gpusim.hardware.sm.cta import Parts
from gpusim.hardware.sm.following import Following, FollowingWork, follow
from gpusim.hardware.sm.open_end import OpenEnd
from gpusim.hardware.sm.schedule import Sharing
from gpusim.hardware.sm.sm import Sm, SmWork
from gpusim.hardware.sm.warp_dependents import GridDependency
from gpusim.program import KernelProgram
from gpusim.timeline import TimelineBuilder

__all__ = ["MOST_TILES", "Launch", "Run", "run_once"]

MOST_TILES = 1_000_000
"""Tiles of all CTAs that are simulated one by one: three to five minutes, and 5 GiB with intervals."""


@dataclass(frozen=True)
class Launch:
    """What is simulated."""

    program: KernelProgram
    profile: DeviceProfile
    fits: Occupancy
    sms: int
    """SMs on which its CTAs find room."""
    traffic: Traffic
    """What all CTAs read and write."""
    kept: float
    """Part of the writes, 0..1, that stays in L2."""
    mixed: float
    """Part of the writes, 0..1, that costs HBM turns from reads to writes."""
    trace: bool
    """Whether intervals are recorded."""
    arithmetic: ComputeModel
    """What instructions cost."""
    sharing: Sharing
    """Who gets the issue slots. Both remember what they have found, and serve all simulations of the launch."""
    beside: float = 0.0
    """What a CTA takes besides its tiles, in tiles, where CTAs have different numbers of them."""
    most_classes: int | None = None
    """Classes of SMs that are simulated then, at most; None for all that differ."""
    apart_s: float = 0.0
    """Seconds in which SMs that read the same move apart, as far as an earlier simulation has shown it."""
    released_s: float = 0.0
    """When the kernel ahead in the stream is over, where this one began before that."""
    following: Following | None = None
    """The next kernel in the stream, where it begins before this one is over."""
    dealt: tuple[int, ...] | None = None
    """How many SMs take 0, 1, 2 … of the CTAs left after the last full wave, if one has shown it; else evenly."""


@dataclass(frozen=True)
class Run:
    """One simulation that has ended."""

    launch: Launch
    sms: list[Sm]
    hbm_busy: float
    """Part of the time, 0..1, that HBM was busy."""
    l2_busy: float
    """Part of the time, 0..1, that L2 was, with what it gives or with what it takes in."""
    copy_unit_busy: float
    """Part of the time that the busiest SM's copy unit was, with bulk loads and stores."""
    network_busy: float
    """Part of the time in which an SM's way to others of its cluster is busy."""
    atomics_busy: float
    """Part of the time that atomics kept slices of L2 busy, those that most of them meet in."""
    off_line_loss: float
    """Part of HBM's bandwidth that bulk loads off a line have lost on their way."""
    moving_apart: float
    """Part of the time in which SMs that read the same moved apart."""
    builder: TimelineBuilder | None
    """Its intervals, None if they were not recorded."""


def run_once(
    launch: Launch,
    program: KernelProgram,
    waves: Waves | None = None,
    open_end: OpenEnd | None = None,
    left_out: int = 0,
) -> Run:
    """Simulate ``program``, which is the launch's own or one with fewer tiles; of its CTAs what ``waves`` leaves.

    ``open_end``: what may tell it to end after fewer tiles. ``left_out``: tiles that each CTA of the launch has more.
    """
    profile, resident_ctas = launch.profile, launch.fits.ctas_per_sm
    builder = TimelineBuilder() if launch.trace else None
    sim = Simulation()
    parts = Parts.of(program, left_out)
    sms = launch.sms
    groups, scheduler_classes = group_warps(program, resident_ctas, int(profile.value("sm.schedulers")), sms)
    classes = place_ctas(program, sms, resident_ctas, launch.dealt, beside=launch.beside, most=launch.most_classes)
    # All classes would have to leave out the same ones.
    waves = waves if len(classes) == 1 else None
    if waves is None and open_end is None:
        _check_size(classes)
    resident = sum(c.multiplicity * min(len(c.tiles), resident_ctas) for c in classes)
    used = sum(c.multiplicity for c in classes)
    memory = Memory(sim, profile, used, _demand(launch, resident))
    record = builder.add if builder is not None else None
    dependency = GridDependency(launch.released_s)
    work = SmWork(
        program, parts, groups, scheduler_classes, launch.arithmetic, launch.sharing, dependency, waves, open_end
    )
    simulated = [Sm(sim, profile, work, sm_class, memory, record) for sm_class in classes]
    for sm in simulated:
        sm.run(resident_ctas)
    if launch.following is not None:
        schedulers = int(profile.value("sm.schedulers"))
        behind = FollowingWork.of(launch.following, resident_ctas, schedulers, scheduler_classes, sms)
        for sm in simulated:
            sim.process(follow(sm, behind))
    if open_end is not None:
        open_end.watch(simulated, parts)
    sim.run()
    end_s = max(sm.ended_s[-1] for sm in simulated)
    copy_units = (sm.memory.copy_unit for sm in simulated)
    network_s = max(sm.units.network_s for sm in simulated)
    units_s = *memory.busy_s(), max(unit.used_total / unit.limit for unit in copy_units), network_s, memory.atomics_s
    busy = [min(busy_s / end_s, 1.0) if end_s else 0.0 for busy_s in units_s]
    return Run(
        launch,
        simulated,
        *busy,
        memory.off_line_loss,
        memory.gpc_sharing.moving_apart,
        builder,
    )


def _check_size(classes: Sequence[SmClass]) -> None:
    """Raise GpusimError if all tiles of ``classes`` are too many."""
    tiles = sum(sum(sm_class.tiles) for sm_class in classes)
    if tiles > MOST_TILES:
        ctas = sum(len(sm_class.tiles) for sm_class in classes)
        raise GpusimError(
            f"{tiles:,} tiles would have to be simulated one by one (of {ctas:,} CTAs: those of one SM of each kind), "
            f"at most {MOST_TILES:,} are; let what repeats be extrapolated (without --exact; every CTA with the same "
            "number of tiles), or take fewer tiles or CTAs"
        )


def _demand(launch: Launch, resident: int) -> Demand:
    """What the launch wants of memory while ``resident`` of its CTAs are on the device."""
    program, traffic = launch.program, launch.traffic
    round_bytes = resident * traffic.tile_bytes
    return Demand(
        round_bytes=round_bytes,
        rounds=max(traffic.read_bytes / round_bytes, 1.0) if round_bytes else 1.0,
        footprint_bytes=program.footprint_bytes or 0.0,
        writes_in_order=writes_in_order(traffic.cta_written_bytes, resident, traffic.ctas),
        reads_in_order=reads_in_order(program, traffic, resident),
        kept=launch.kept,
        mixed=launch.mixed,
        round_written_bytes=resident * traffic.tile_written_bytes,
        burst_bytes=resident * traffic.burst_bytes,
        reads_per_write=traffic.missed_bytes / traffic.written_bytes if traffic.written_bytes else 0.0,
        apart_s=launch.apart_s,
    )
