"""A kernel program on a device: the predicted timeline.

Models: launch overhead, CTA dispatch and waves, and everything in the parts (`Sm`, `Memory`, …).
Omits: other work on the device.
"""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.capability import check_capability
from gpusim.hardware.folding.periodic import (
    AGREEMENT,
    Cut,
    Shape,
    agree,
    drain_of,
    find_cuts,
    in_turn,
    slope_cuts,
    stride_of,
)
from gpusim.hardware.folding.sm_classes import deal_evenly
from gpusim.hardware.folding.stretch import stretch
from gpusim.hardware.folding.waves import Waves
from gpusim.hardware.launch.last_wave import Independent, deal_left_over, older_get_ahead
from gpusim.hardware.launch.meta import meta_of
from gpusim.hardware.launch.run import Launch, Run, run_once
from gpusim.hardware.memory.demand import kept_part, mixed_part
from gpusim.hardware.memory.gpc_sharing import still_common
from gpusim.hardware.memory.traffic import Traffic, tensor_clock_hz
from gpusim.hardware.occupancy import occupancy, reached_sms
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.cta import LISTED_TILES
from gpusim.hardware.sm.imbalance import lateness_s
from gpusim.hardware.sm.open_end import OpenEnd
from gpusim.program import Compute, KernelProgram, check_program
from gpusim.timeline import Timeline, TimelineBuilder

__all__ = ["simulate_kernel"]


OPEN_END = 10
"""Times as many tiles as show a steady state at the earliest up to which one run shows it or does everything: about as
many as longer and longer runs have together."""
EXACT_TILES = 600
"""Tiles per SM that are simulated one by one if their loop has no steady state."""
MANY_TILES = 1000
"""Tiles per SM of a run that is not repeated with more of them if it can be helped: a rougher agreement, or the slope
against the run before, has to do."""
IN_TURN_TILES = 1500
"""Tiles per SM that are simulated one by one, whatever the slope, if its CTAs run one after the other, so that no turn
stands for the others."""
MOST_CLASSES = 12
"""Classes of SMs that are simulated where nearly every SM has other CTAs; all 132 take more than ten times as long."""
MOST_SIDE_BY_SIDE, MANY_SIDE_BY_SIDE = 24, 5000
"""Likewise where all CTAs are on the device at once, of so many tiles altogether: of 200 CTAs with 60 tile counts all
120 classes take eight times as long; kernels with random counts end within 1 % of that, most within 0.5 %."""
BESIDE_TILES = 100
"""Tiles of a CTA that show at the latest what it takes besides them."""
EQUAL_TILES = 500
"""Tiles per CTA from which on one more is nothing: 0.1 % at most of what CTAs take that are counted as equal."""
APART_RUNS = 3
"""Further runs at most of kernels whose SMs move apart while they read the same: the longer they take, the further."""
APART_AGREES = 0.02
"""Of what they have in common so little less than assumed is as assumed."""
APART_AGREEMENT = 5e-3
"""As `AGREEMENT`, of kernels whose SMs move apart, of which no more is known."""
WAVES_IN_STEP = 6
"""Full waves up to which it is looked at who takes the CTAs left over; later ones are out of step anyway."""


def simulate_kernel(
    program: KernelProgram, profile: DeviceProfile, *, exact: bool = False, trace: bool = True, clean: bool = True
) -> Timeline:
    """Predict one launch of ``program``; times start when its first CTA is dispatched.

    ``exact`` simulates every tile; otherwise a loop that has become periodic is
    extrapolated. Without ``trace`` the timeline has no intervals, only its ``meta``. Unless L2 is ``clean`` at the
    start, it has as much to write back from before as it keeps at the end.

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
    launch = Launch(program, profile, fits, sms, traffic, kept, mixed, trace)
    run, cuts = _run_short(launch, exact)
    end_s = _end_s(run, cuts)
    waves = max(program.grid / (sms * fits.ctas_per_sm), 1.0)
    # The first CTAs begin together, later ones as those before them end. By `waves_apart`, 0.7 to 1.1 of the time of
    # later waves counts with one CTA on an SM, 0.3 to 0.5 with two.
    counted = (1.0 + (waves - 1.0) / fits.ctas_per_sm) / waves
    for _ in range(APART_RUNS):
        apart_s = run.moving_apart * counted * end_s
        if still_common(launch.apart_s, profile) - still_common(apart_s, profile) <= APART_AGREES:
            break
        launch = replace(run.launch, apart_s=apart_s)
        run, cuts = _run_short(launch, exact)
        end_s = _end_s(run, cuts)
    last = max((sm.ctas[-1] for sm in run.sms), key=lambda cta: cta.waits)
    late_s = lateness_s(program, profile, launch.traffic, fits.ctas_per_sm, last, end_s)
    meta = meta_of(launch, run, end_s + late_s)
    meta["lateness_s"] = late_s
    meta["exact"] = exact
    meta["extrapolated_s"] = max((cut.added_s for cut in cuts), default=0.0)
    timeline = (run.builder or TimelineBuilder()).build(**meta)
    if trace:
        for cut in cuts:
            timeline = stretch(timeline, cut)
    return timeline


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


def _run_short(launch: Launch, exact: bool) -> tuple[Run, list[Cut]]:
    """A run of fewer waves and tiles with what is missing in it, or of everything.

    The cuts are in the order in which they have to be put in.
    """
    program, resident, sms = launch.program, launch.fits.ctas_per_sm, launch.sms
    if program.equal_tiles is None and program.grid > sms * resident:
        most = None if exact else MOST_CLASSES
        return _run_all(replace(launch, beside=_beside_tiles(launch), most_classes=most), None)
    if exact:
        return _run_all(launch, None)
    if program.equal_tiles is None and program.total_tiles > MANY_SIDE_BY_SIDE:
        launch = replace(launch, most_classes=MOST_SIDE_BY_SIDE)
    shape = Shape(resident, stride_of(program), drain_of(program), program.head)
    ctas = max(program.grid // sms, 1)
    few = shape.fewest(ctas)
    if program.fewest_tiles <= OPEN_END * few and program.most_tiles <= LISTED_TILES:
        return _run_open(launch, shape, few)
    return _run_longer(launch, shape, few, ctas)


def _beside_tiles(launch: Launch) -> float:
    """What a CTA takes besides its tiles, in tiles: by the second wave where all CTAs have the same number of them."""
    program, resident = launch.program, launch.fits.ctas_per_sm
    waves = launch.sms * resident * 2
    few = min(max(program.total_tiles // program.grid, 1), program.head + BESIDE_TILES + program.tail)
    took_s = []
    for tiles in (few, 2 * few):
        alike = program.resized(grid=waves, tiles_per_cta=tiles)
        (sm,) = run_once(replace(launch, trace=False), alike).sms
        took_s.append(sm.ended_s[-1] - sm.ended_s[resident - 1])
    tile_s = (took_s[1] - took_s[0]) / few
    # No CTA ends before the next one could have begun, not even one without a tile.
    least = launch.profile.seconds_of("cta.restart") / tile_s if tile_s > 0.0 else 0.0
    return max(took_s[0] / tile_s - few, least) if tile_s > 0.0 else 0.0


def _run_open(launch: Launch, shape: Shape, few: int) -> tuple[Run, list[Cut]]:
    """A run of ``few`` tiles and more, which ends as soon as they are steady, or of everything."""
    program = launch.program
    open_end = OpenEnd(program, shape, few)
    run = run_once(launch, program, Waves(shape.resident, program.most_tiles), open_end)
    dealt = _deal_left_over(launch, run, open_end.stretched)
    if dealt is not None:
        launch, open_end = replace(launch, dealt=dealt), OpenEnd(program, shape, few)
        run = run_once(launch, program, None, open_end)
    cuts = find_cuts(run.sms, shape, open_end.missing, open_end.agreement)
    return _run_all(launch, Waves(shape.resident, program.most_tiles)) if cuts is None else (run, cuts)


def _run_longer(launch: Launch, shape: Shape, few: int, ctas: int) -> tuple[Run, list[Cut]]:
    """The first of longer and longer runs, from ``few`` of many tiles on, in which they are steady, or of everything.

    ``ctas``: how many an SM has in all.
    """
    program = launch.program
    tiles = program.fewest_tiles
    runs: list[Run] = []
    slopes: list[list[Cut] | None] = []
    for agreement in AGREEMENT:
        # The CTA that has the fewest would have more than it does.
        if few >= tiles:
            break
        count = shape.whole_turns(few, tiles)
        missing, much = tiles - count, ctas * count > MANY_TILES
        shorter = program.shortened(missing)
        before = runs[0].sms[0].waves if runs else None
        run = run_once(launch, shorter, Waves(shape.resident, count, before), left_out=missing)
        if not runs and (dealt := _deal_left_over(launch, run, tiles / count)):
            launch = replace(launch, dealt=dealt)
            run = run_once(launch, shorter, Waves(shape.resident, count), left_out=missing)
        enough = max(agreement, AGREEMENT[-1] if much else 0.0, APART_AGREEMENT if run.moving_apart else 0.0)
        cuts = find_cuts(run.sms, shape, missing, enough)
        if cuts is not None:
            return run, cuts
        if runs:
            slopes.append(slope_cuts(runs[-1].sms, run.sms, shape, missing))
        steady_slope = agree(slopes) or (slopes and slopes[-1] and much)
        if steady_slope:
            if in_turn(run.sms, shape) and ctas * tiles <= IN_TURN_TILES:
                break
            return run, slopes[-1]
        runs.append(run)
        few = shape.longer(few)
    else:
        mean = _mean_slope(runs, shape, missing, ctas * tiles)
        if mean is not None:
            return runs[-1], mean
    return _run_all(launch, Waves(shape.resident, tiles))


def _mean_slope(runs: list[Run], shape: Shape, missing: int, tiles: int) -> list[Cut] | None:
    """Cuts into the last run by the mean slope over all but the first, where not even slopes are steady.

    None if there is none, or if all the ``tiles`` of an SM are not much.
    """
    return slope_cuts(runs[1].sms, runs[-1].sms, shape, missing) if tiles > EXACT_TILES else None


def _run_all(launch: Launch, waves: Waves | None) -> tuple[Run, list[Cut]]:
    """A run of all tiles, of whose CTAs ``waves`` may leave some out."""
    run = run_once(launch, launch.program, waves)
    # Which is so after a few waves only, of which none was left out.
    if dealt := _deal_left_over(launch, run):
        run = run_once(replace(launch, dealt=dealt), launch.program)
    return run, find_cuts(run.sms, Shape(launch.fits.ctas_per_sm, 1, 0), 0, AGREEMENT[0]) or []


def _deal_left_over(launch: Launch, run: Run, stretched: float = 1.0) -> tuple[int, ...] | None:
    """How many SMs take 0, 1, 2 … of the CTAs left after the last full wave; None if as in ``run``.

    That is evenly, or as an earlier run has shown it. Of the program's tiles ``run`` has one in ``stretched``.
    """
    program, resident = launch.program, launch.fits.ctas_per_sm
    value, sms = launch.profile.value, launch.sms
    waves, left_over = divmod(program.grid, sms * resident)
    # Of a cluster that is left over each CTA gets an SM for itself.
    if launch.dealt is not None or program.equal_tiles is None or program.cluster > 1:
        return None
    if resident == 1 or left_over < 2 or not 1 <= waves <= WAVES_IN_STEP:
        return None
    fullest = max(run.sms, key=lambda sm: len(sm.ended_s))
    if older_get_ahead(program.warps * resident / value("sm.schedulers"), *fullest.busy(), _independent(program)):
        return None
    ends_s = fullest.ended_s[(waves - 1) * resident : waves * resident]
    dealt = deal_left_over(ends_s, value("sm.spread") * stretched * ends_s[-1] / waves**0.5, left_over, sms)
    return None if dealt == deal_evenly(left_over, sms, resident) else dealt


def _independent(program: KernelProgram) -> Independent:
    """FFMAs of a warp that are independent, where it has most of them, and products."""
    mixes = [op.mix for role in program.roles for op in program.one_turn(role) if isinstance(op, Compute)]
    chains = max(((mix.ffma, mix.ilp) for mix in mixes), default=(0.0, 1.0))[1]
    return Independent(chains, max((mix.mma_ilp for mix in mixes if mix.mma), default=0.0))
