"""A kernel program on a device: the predicted timeline.

Models: launch overhead, CTA dispatch and waves, and everything in the parts (`Sm`, `Memory`, …).
Omits: other work on the device.
"""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.capability import check_capability
from gpusim.hardware.folding.shape import Cut
from gpusim.hardware.folding.stretch import stretch
from gpusim.hardware.launch.dependents import dependents_of, uses_dependents
from gpusim.hardware.launch.meta import meta_of
from gpusim.hardware.launch.run import Launch, Run
from gpusim.hardware.launch.short_run import run_short
from gpusim.hardware.memory.demand import kept_part, mixed_part
from gpusim.hardware.memory.gpc_sharing import still_common
from gpusim.hardware.memory.traffic import Traffic, tensor_clock_hz
from gpusim.hardware.occupancy import occupancy, reached_sms
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.compute import ComputeModel
from gpusim.hardware.sm.following import Following
from gpusim.hardware.sm.imbalance import lateness_s
from gpusim.hardware.sm.schedule import Sharing
from gpusim.program import KernelProgram, check_program
from gpusim.timeline import Timeline, TimelineBuilder

__all__ = ["simulate_kernel"]


EQUAL_TILES = 500
"""Tiles per CTA from which on one more is nothing: 0.1 % at most of what CTAs take that are counted as equal."""
APART_RUNS = 3
"""Further runs at most of kernels whose SMs move apart while they read the same: the longer they take, the further."""
APART_STEP, MOST_SLOPE = 2.0, 0.7
"""So many times as long at most as the last run has shown, and the largest part of what one assumes that comes back."""
APART_AGREES = 0.02
"""Of what they have in common so little less than assumed is as assumed."""


def simulate_kernel(
    program: KernelProgram, profile: DeviceProfile, *, exact: bool = False, trace: bool = True, clean: bool = True,
    released_s: float = 0.0, following: Following | None = None,
) -> Timeline:  # fmt: skip
    """Predict one launch of ``program``; times start when its first CTA is dispatched.

    ``exact`` simulates every tile; otherwise a loop that has become periodic is
    extrapolated. Without ``trace`` the timeline has no intervals, only its ``meta``. Unless L2 is ``clean`` at the
    start, it has as much to write back from before as it keeps at the end. The kernel ahead in its stream, for which
    `GridDependencyWait` waits, is over after ``released_s``, and ``following`` begins while this one runs.

    Raises ProgramError, DoesNotFit, HazardError, Deadlock; GpusimError if too many tiles would have to be simulated.
    """
    check_program(program)
    check_capability(program, profile)
    fits, sms = occupancy(program, profile), reached_sms(program, profile)
    traffic = Traffic.of(program)
    if traffic.tensor_flop:
        profile = profile.at_clock(tensor_clock_hz(program, profile))
    if not exact:
        program = _evened(program, sms * fits.ctas_per_sm)
    kept = kept_part(traffic.read_bytes, traffic.written_bytes, profile) if clean else 0.0
    mixed = mixed_part(traffic.written_bytes, profile) if clean else 1.0
    sharing = Sharing(profile.value("sm.warps_served"), profile.value("sm.slot_wait"))
    launch = Launch(program, profile, fits, sms, traffic, kept, mixed, trace, ComputeModel(profile), sharing,
                    released_s=released_s, following=following)  # fmt: skip
    run, cuts, end_s = _moving_apart(launch, exact)
    launch = run.launch
    last = max((sm.ctas[-1] for sm in run.sms), key=lambda cta: cta.waits)
    late_s = lateness_s(program, profile, launch.traffic, fits.ctas_per_sm, last, end_s)
    meta = meta_of(launch, run, end_s + late_s)
    meta["lateness_s"] = late_s
    if uses_dependents(program):
        meta |= dependents_of(run, cuts, end_s + late_s)
    meta["exact"] = exact
    meta["extrapolated_s"] = max((cut.added_s for cut in cuts), default=0.0)
    timeline = (run.builder or TimelineBuilder()).build(**meta)
    if trace:
        for cut in cuts:
            timeline = stretch(timeline, cut)
    return timeline


def _moving_apart(launch: Launch, exact: bool) -> tuple[Run, list[Cut], float]:
    """A run whose SMs, if they read the same, have moved apart for as long as it takes; its cuts, and its end."""
    program, profile, resident = launch.program, launch.profile, launch.fits.ctas_per_sm
    waves = max(program.grid / (launch.sms * resident), 1.0)
    # The first CTAs begin together, later ones as those before them end. By `waves_apart`, 0.7 to 1.1 of the time of
    # later waves counts with one CTA on an SM, 0.3 to 0.5 with two.
    counted = (1.0 + (waves - 1.0) / resident) / waves

    def simulated(launch: Launch, roughly: bool) -> tuple[Run, list[Cut], float, float]:
        run, cuts = run_short(launch, exact, roughly)
        end_s = _end_s(run, cuts)
        return run, cuts, end_s, run.moving_apart * counted * end_s

    def common(apart_s: float) -> float:
        return still_common(apart_s, profile)

    run, cuts, end_s, shown_s = simulated(launch, True)
    if not run.moving_apart:
        return run, cuts, end_s
    assumed_s = slope = 0.0
    for _ in range(APART_RUNS):
        if abs(common(assumed_s) - common(shown_s)) <= APART_AGREES:
            break
        # The longer they take, the further they move apart, and the longer they take.
        next_s = min((shown_s - slope * assumed_s) / (1.0 - slope), APART_STEP * shown_s)
        before_s = shown_s
        run, cuts, end_s, shown_s = simulated(replace(run.launch, apart_s=next_s, trace=False), True)
        slope = min(max((shown_s - before_s) / (next_s - assumed_s), 0.0), MOST_SLOPE)
        assumed_s = next_s
    if cuts or run.launch.trace != launch.trace:
        settled = replace(run.launch, apart_s=shown_s if assumed_s else 0.0, trace=launch.trace)
        run, cuts, end_s, _ = simulated(settled, False)
    return run, cuts, end_s


def _end_s(run: Run, cuts: list[Cut]) -> float:
    """When the last CTA has ended and its stores are done, with what was left out."""
    return max(
        max(sm.ended_s[-1], sm.memory.stored_s) + sum(cut.added_s for cut in cuts if cut.sm == sm.name)
        for sm in run.sms
    )


def _evened(program: KernelProgram, room: int) -> KernelProgram:
    """The same kernel with as many tiles in every CTA, where they hardly differ and are many waves.

    ``room``: CTAs that the device holds.
    """
    fewest = program.fewest_tiles
    if program.equal_tiles is not None or program.grid <= room or fewest < EQUAL_TILES:
        return program
    if program.most_tiles > fewest + 1:
        return program
    return program.resized(tiles_per_cta=round(program.total_tiles / program.grid))
