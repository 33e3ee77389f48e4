"""A run of fewer waves and tiles than a launch has, in which what is left out can be told from what is there.

If a short one is not steady a longer one is tried; some kernels have to be simulated whole.
"""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.folding.periodic import (
    AGREEMENT,
    LATER_AGREEMENT,
    LOOKS,
    find_cuts,
    in_turn,
    mean_cuts,
    slope_cuts,
)
from gpusim.hardware.folding.shape import Cut, Shape, drain_of, stride_of
from gpusim.hardware.folding.sm_classes import deal_evenly
from gpusim.hardware.folding.waves import Waves
from gpusim.hardware.launch.last_wave import Independent, deal_left_over, older_get_ahead
from gpusim.hardware.launch.run import Launch, Run, run_once
from gpusim.hardware.sm.cta import LISTED_TILES
from gpusim.hardware.sm.open_end import OpenEnd
from gpusim.program import Compute, KernelProgram

__all__ = ["run_short"]

OPEN_END = 10
"""Times as many tiles as show a steady state at the earliest up to which one run shows it or does everything: about as
many as longer and longer runs have together."""
EXACT_TILES = 600
"""Tiles per SM that are simulated one by one if their loop has no steady state."""
MANY_TILES = 1000
"""Tiles per SM of a run beyond which none is made longer, and a rougher agreement has to do."""
MOST_CLASSES = 12
"""Classes of SMs that are simulated where nearly every SM has other CTAs; all 132 take more than ten times as long."""
MOST_SIDE_BY_SIDE, MANY_SIDE_BY_SIDE = 24, 5000
"""Likewise where all CTAs are on the device at once, of so many tiles altogether: of 200 CTAs with 60 tile counts all
120 classes take eight times as long; kernels with random counts end within 1 % of that, most within 0.5 %."""
LONG_SIDE_BY_SIDE = 100_000
"""Tiles altogether from which on `MOST_CLASSES` have to do: totals of five kernels with random counts of hundreds to
thousands are within 0.02 % of those with twice as many classes, one is 0.7 % off, and they take half as long."""
BESIDE_TILES = 100
"""Tiles of a CTA that show at the latest what it takes besides them."""
APART_AGREEMENT = 5e-3
"""As `LATER_AGREEMENT`, of kernels whose SMs move apart, of which no more is known."""
WAVES_IN_STEP = 6
"""Full waves up to which it is looked at who takes the CTAs left over; later ones are out of step anyway."""


def run_short(launch: Launch, exact: bool, roughly: bool) -> tuple[Run, list[Cut]]:
    """A run of fewer waves and tiles with what is missing in it, or of everything.

    The cuts are in the order in which they have to be put in. ``roughly``: within some percent is good enough if SMs
    move apart.
    """
    program, resident, sms = launch.program, launch.fits.ctas_per_sm, launch.sms
    if program.equal_tiles is None and program.grid > sms * resident:
        most = None if exact else MOST_CLASSES
        return _run_all(replace(launch, beside=_beside_tiles(launch), most_classes=most), None)
    if exact:
        return _run_all(launch, None)
    if program.equal_tiles is None and program.total_tiles > MANY_SIDE_BY_SIDE:
        most = MOST_SIDE_BY_SIDE if program.total_tiles < LONG_SIDE_BY_SIDE else MOST_CLASSES
        launch = replace(launch, most_classes=most)
    shape = Shape(resident, stride_of(program), drain_of(program), program.head)
    ctas = max(program.grid // sms, 1)
    few = shape.fewest(ctas)
    if roughly and launch.apart_s and few < program.fewest_tiles and (rough := _run_roughly(launch, shape, few)):
        return rough
    if program.fewest_tiles <= OPEN_END * few and program.most_tiles <= LISTED_TILES:
        return _run_open(launch, shape, few, roughly)
    return _run_longer(launch, shape, few, ctas, roughly)


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


def _run_open(launch: Launch, shape: Shape, few: int, roughly: bool) -> tuple[Run, list[Cut]]:
    """A run of ``few`` tiles and more, which ends as soon as they are steady, or of everything."""
    program = launch.program
    open_end = OpenEnd(program, shape, few)
    run = run_once(launch, program, Waves(shape.resident, program.most_tiles), open_end)
    dealt = _deal_left_over(launch, run, open_end.stretched)
    if dealt is not None:
        launch, open_end = replace(launch, dealt=dealt), OpenEnd(program, shape, few)
        run = run_once(launch, program, None, open_end)
    cuts = find_cuts(run.sms, shape, open_end.missing, open_end.agreement)
    if cuts is None and roughly and run.moving_apart and not in_turn(run.sms, shape):
        return run, mean_cuts(run.sms, shape, open_end.missing)
    return _run_all(launch, Waves(shape.resident, program.most_tiles)) if cuts is None else (run, cuts)


def _run_roughly(launch: Launch, shape: Shape, few: int) -> tuple[Run, list[Cut]] | None:
    """A run of ``few`` tiles, as if they were steady; None if no turn stands for the others."""
    program = launch.program
    count = shape.whole_turns(few, program.fewest_tiles)
    missing = program.fewest_tiles - count
    run = run_once(launch, program.shortened(missing), Waves(shape.resident, count), left_out=missing)
    return None if in_turn(run.sms, shape) else (run, mean_cuts(run.sms, shape, missing))


def _run_longer(launch: Launch, shape: Shape, few: int, ctas: int, roughly: bool) -> tuple[Run, list[Cut]]:
    """A run of ``few`` of many tiles in which they are steady, or a longer one, or one of everything.

    ``ctas``: how many an SM has in all.
    """
    program = launch.program
    tiles = program.fewest_tiles
    # The CTA that has the fewest would have more than it does.
    if few >= tiles:
        return _run_all(launch, Waves(shape.resident, tiles))
    count = shape.whole_turns(few, tiles)
    missing = tiles - count
    run = run_once(launch, program.shortened(missing), Waves(shape.resident, count), left_out=missing)
    if dealt := _deal_left_over(launch, run, tiles / count):
        launch = replace(launch, dealt=dealt)
        run = run_once(launch, program.shortened(missing), Waves(shape.resident, count), left_out=missing)
    cuts = find_cuts(run.sms, shape, missing, _agreement_of_run(AGREEMENT, run, ctas * count))
    if cuts is not None:
        return run, cuts
    if roughly and run.moving_apart and not in_turn(run.sms, shape):
        return run, mean_cuts(run.sms, shape, missing)
    longest = shape.longer(few)
    if longest >= tiles:
        return _run_all(launch, Waves(shape.resident, tiles))
    # The short run was the first look, one of `longest` tiles would be the second.
    for _ in range(LOOKS - 2):
        if shape.longer(longest) < tiles and ctas * longest <= MANY_TILES:
            longest = shape.longer(longest)
    return _run_once_longer(launch, shape, longest, ctas, run)


def _run_once_longer(launch: Launch, shape: Shape, longest: int, ctas: int, short: Run) -> tuple[Run, list[Cut]]:
    """A run longer than ``short`` that ends when its tiles are steady, or after ``longest``, by the slope of both."""
    program = launch.program
    tiles = program.fewest_tiles
    missing = tiles - shape.whole_turns(longest, tiles)
    program = program.shortened(missing)
    seen = len(short.sms[0].ctas[0].done_s)
    open_end = None
    if program.most_tiles <= LISTED_TILES:
        open_end = OpenEnd(program, shape, shape.longer(seen), LATER_AGREEMENT)
    waves = Waves(shape.resident, program.fewest_tiles, short.sms[0].waves)
    run = run_once(launch, program, waves, open_end, left_out=missing)
    missing += open_end.missing if open_end else 0
    cuts = find_cuts(run.sms, shape, missing, _agreement_of_run(LATER_AGREEMENT, run, ctas * longest))
    if cuts is None and ctas * tiles > EXACT_TILES:
        # Not even slopes need be steady.
        cuts = slope_cuts(short.sms, run.sms, shape, missing)
    return _run_all(launch, Waves(shape.resident, tiles)) if cuts is None else (run, cuts)


def _agreement_of_run(agreement: float, run: Run, tiles: int) -> float:
    """How far periods may differ in ``run``, of so many ``tiles`` of an SM."""
    return max(agreement, LATER_AGREEMENT if tiles > MANY_TILES else 0.0, APART_AGREEMENT if run.moving_apart else 0.0)


def _run_all(launch: Launch, waves: Waves | None) -> tuple[Run, list[Cut]]:
    """A run of all tiles, of whose CTAs ``waves`` may leave some out."""
    run = run_once(launch, launch.program, waves)
    # Which is so after a few waves only, of which none was left out.
    if dealt := _deal_left_over(launch, run):
        run = run_once(replace(launch, dealt=dealt), launch.program)
    return run, find_cuts(run.sms, Shape(launch.fits.ctas_per_sm, 1, 0), 0, AGREEMENT) or []


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
