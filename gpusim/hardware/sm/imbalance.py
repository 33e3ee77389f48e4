"""How much later than the average CTA the last one ends.

Models: all SMs of a class are simulated as one, with mean latencies. Real ones differ: every load
  from DRAM takes a little more or less, and some SMs lie further from memory than others. Where a
  CTA waits for its loads these differences add up (a random walk, and a drift), and the kernel
  ends with the slowest of all CTAs. Where HBM is saturated they do not: bandwidth that one SM
  leaves is used by the others.
  Where all write the same lines of L2 again and again, some of its slices have more of them than others, and so have
  some SMs to wait longer: the more lines each has, the less.
Omits: correlation between CTAs of one SM; which lines lie in which slice.
Source: realkernels.microbench (walk: ends of warps and CTAs; tma: spread of the latency; local: slowest SM).
"""

from __future__ import annotations

from math import ceil, hypot, sqrt

from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.hardware.memory.load_request import there
from gpusim.hardware.memory.loaded_latency import expected_maximum, slowest
from gpusim.hardware.memory.traffic import Traffic
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.cta import Cta
from gpusim.program import CpAsync, KernelProgram, Load, NamedBarrier, Store, SyncThreads, TmaLoad

__all__ = ["lateness_cycles", "lateness_s", "rewriting_part", "waited_lines"]


FREE, FULL = 0.5, 0.9
"""Load up to which no SM waits for another's stores, and from which on each waits as in the bench, which does nothing
else; assumed."""


def lateness_cycles(waits: float, ctas: float, jitter: float, drift: float, load: float) -> float:
    """Cycles by which the last of ``ctas`` CTAs ends after the mean one.

    ``waits``: loads each CTA waited for; ``jitter``: standard deviation of one load's latency;
    ``drift``: that of the mean latencies of SMs; ``load``: utilisation of HBM. Ends differ as much whatever the load
    (`walk`, up to 0.84), but what some leave of a busy HBM the others have, so that they end before the common end that
    is simulated: by the square of the load, which leaves half of it there.
    """
    return expected_maximum(ctas) * hypot(jitter * sqrt(waits), drift * waits) * max(1.0 - load * load, 0.0)


def rewriting_part(lines: float, waves: float, spread: float, load: float) -> float:
    """Part of the time by which the slowest SM ends after the mean one, if each writes ``lines`` again and again.

    ``spread``: that part for one line; ``waves`` of CTAs, of which the last one alone cannot go elsewhere; ``load``:
    by these stores, of the way into L2 or of what an SM can store.
    """
    full = min(max((load - FREE) / (FULL - FREE), 0.0), 1.0)
    return spread / sqrt(lines) * full / max(waves, 1.0)


def lateness_s(
    program: KernelProgram, profile: DeviceProfile, traffic: Traffic, resident: int, last: Cta, end_s: float
) -> float:
    """Seconds by which the slowest CTA of a launch ends after those that were simulated until ``end_s``.

    ``last``: the one of them that waited most; ``resident``: CTAs that fit an SM.
    """
    # Those of tiles that were left out are like those behind the tile half-way.
    waits = last.waits + last.waits_per_tile * last.left_out
    load = traffic.read_bytes / (end_s * profile.value("hbm.read_bandwidth")) if end_s else 0.0
    many = profile.value("dram.latency_jitter_many_lines")
    lines = waited_lines(program)
    jitter = (
        slowest((profile.value("dram.latency_jitter"), many), lines, profile.value("dram.many_lines")) if lines else 0
    )
    cycles = lateness_cycles(waits, program.grid, jitter, profile.value("dram.drift"), min(load, 1.0))
    return profile.seconds(cycles) + end_s * _rewriting(program, profile, resident, end_s)


def waited_lines(program: KernelProgram) -> float:
    """Lines of 128 bytes from DRAM that one wait is for: most of those of an op, 0 if L2 has all."""
    most = 0.0
    for role in program.roles:
        ops = program.one_turn(role)
        # Who does not meet the others waits for his own.
        meets = any(isinstance(op, SyncThreads | NamedBarrier) for op in ops)
        for op in ops:
            if isinstance(op, Load | CpAsync | TmaLoad):
                parts = op.copies if isinstance(op, TmaLoad) else 1 if meets else op.warps or role.warps
                most = max(most, op.bytes * (1.0 - there(op.l2_hit, op.on_the_way)) / parts / LINE_BYTES)
    return max(most, 1.0) if most else 0.0


def _rewriting(program: KernelProgram, profile: DeviceProfile, resident: int, end_s: float) -> float:
    roles = [[op for op in program.one_turn(role) if isinstance(op, Store) and op.again] for role in program.roles]
    stored = sum(op.bytes for stores in roles for op in stores)
    if not stored or not end_s:
        return 0.0
    sms = profile.value("sm.count")
    per_s = stored / program.turn * program.most_tiles * program.grid / end_s
    most = profile.value("lsu.store_bandwidth") * profile.clock_hz * min(program.grid, sms)
    load = per_s / min(profile.value("l2.write_bandwidth"), most)
    distinct = sum(max((op.again for op in stores), default=0) for stores in roles)
    lines = min(resident, ceil(program.grid / sms)) * distinct / LINE_BYTES
    return rewriting_part(lines, program.grid / sms / resident, profile.value("l2.rewritten_spread"), load)
