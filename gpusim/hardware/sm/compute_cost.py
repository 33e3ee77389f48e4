"""What one warp's instructions cost, and how long several such warps on one scheduler take together.

Models: other warps fill the gaps in which one waits, except that warps which run the same instructions started together
  and stay in step: all of them stall for the load, and all of them run the code around the loop at the
  same time, and what they all want of the SM at once they get one after the other. What stands between a load and its
  use hides as much of the stall, of every warp in step. Warps with more chains of FFMAs than these have cycles of
  latency are served one after the other instead, and then stall at different times: closed queues at the scheduler
  and at shared memory (`gpusim.hardware.sm.closed_queue`). So do warps that wait for their own loads only. Where it is
  known how far the instructions of a warp are apart, warps take turns, each with its next one in the gaps of others.
Omits: warps that do different things, which are a matter of `gpusim.hardware.sm.schedule`.
Source: realkernels.microbench (steps, varied, lds_ffma, ahead, tile_turn, skeleton).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusim.hardware.folding.warp_groups import WarpGroup
from gpusim.hardware.sm.closed_queue import both_in_turn, for_scheduler
from gpusim.hardware.sm.fragments import Fragments, turn_cycles
from gpusim.program import Mix

__all__ = ["ComputeCost", "rounds_of"]

_OLDER = 0.2
"""By how much more than its share of two the older CTA gets where both multiply fragments. From the stamps of the bench
`last_wave`: it ends 15 to 23 % sooner where half of the time is spent so."""


@dataclass(frozen=True, slots=True, eq=False)
class ComputeCost:
    """One warp's instructions: a loop, and the code around it. Compared by identity, because each mix has one."""

    slots: float
    """Issue slots of the loop."""
    alone: float
    """Cycles of the loop when no other warp is there."""
    stall: float
    """Cycles of ``alone`` in which warps in step all wait."""
    setup_slots: float
    """Issue slots of the code around the loop."""
    setup_alone: float
    """Cycles of the code around the loop when no other warp is there."""
    data: float
    """Cycles of the SM's path of shared memory and L1."""
    requests: float
    """Cycles of the SM's load-store unit."""
    constants: float = 0.0
    """Cycles of the SM's unit that loads constants."""
    pipe: float = 0.0
    """Cycles of a scheduler's fullest pipe of half rate."""
    special: float = 0.0
    """Cycles of its pipe of special functions."""
    tensor: float = 0.0
    """Cycles of its tensor core."""
    batches: float = 0.0
    """Loads from shared memory that wait for the one before."""
    accesses: float = 0.0
    """How often a warp waits until the load-store unit has come to what it wants of shared memory."""
    ahead: float = 0.0
    """Issue slots of the warp between each such load and its use."""
    greedy: bool = False
    """Whether other warps get nothing until this one stalls."""
    burst: float = 0.0
    """Cycles of the unit that serves a batch which the warp asks for at once."""
    last: float = 0.0
    """Cycles of the last instruction of such a batch."""
    gaps: float = 0.0
    """Cycles between the instructions of such a batch that are free for other warps."""
    held: float = 0.0
    """Cycles of the issue slots in which a pipe holds up only those who need it as well."""
    away: float = 0.0
    """Cycles from when shared memory has served a batch of loads until the warp needs it, less what it does meanwhile:
    below zero if it has more to do than that."""
    schedulers: float = 1.0
    """Schedulers of an SM."""
    pause: float = 0.0
    """Cycles in which arithmetic waits for what it needs, beyond the slot of that."""
    rounds: tuple[tuple[float, float], ...] = ()
    """(issue slots, cycles) of one warp by how far its instructions are apart, where that is known: warps take turns,
    and as long as one waits for its next instruction each of the others issues one."""
    stall_together: float = 0.0
    """Cycles of ``stall`` in which all warps of the CTA wait, because they have just met."""
    fragments: Fragments | None = None
    """Its loads and products one after the other, where it has both."""
    loose: bool = False
    """Whether its warps do not meet: other CTAs' get the slots in which a pipe holds them up."""

    taken: float = field(init=False)
    """Part of its slots, 0..1, in which nobody else can issue."""
    all_slots: float = field(init=False)
    """Issue slots in all."""
    demand: float = field(init=False)
    """Issue slots a cycle that the warp takes when it is alone."""
    runs: float = field(init=False)
    """Issue slots a cycle, 0..1, that it takes in its loop when it is alone."""
    density: float = field(init=False)
    """Issue slots a cycle, 0..1, between its loop's waits for shared memory: 1 if one instruction goes right behind the
    other."""
    looping: float = field(init=False)
    """Part of its time alone, 0..1, that is the loop."""
    claimed: float = field(init=False)
    """Part of its slots, 0..1, that no other CTA's warps get."""
    pipe_parts: tuple[float, float, float] = field(init=False)
    """Cycles of these three pipes per issue slot."""
    idle: float = field(init=False)
    """Cycles in which it issues nothing when it is alone."""
    pauses: float = field(init=False)
    """How often it does so: for loads from shared memory, for arithmetic, and at the end to meet others."""
    piece: float = field(init=False)
    """Issue slots, 1 or more, between two pauses; the mean over the slots."""

    def __post_init__(self) -> None:
        all_slots = self.slots + self.setup_slots
        cycles, slots = (self.alone + self.setup_alone) or 1.0, all_slots or 1.0
        taken = 1.0 - self.held / slots
        waits = (self.batches if self.stall else 0.0) + self._waits(self.slots, self.alone - self.stall)
        around = self._waits(self.setup_slots, self.setup_alone)
        derived = {
            "all_slots": all_slots,
            "taken": taken,
            "demand": all_slots / cycles,
            "runs": min(self.slots / (self.alone or 1.0), 1.0),
            "density": min(self.slots / ((self.alone - self.stall) or 1.0), 1.0),
            "looping": self.alone / cycles,
            "claimed": taken if self.loose else 1.0,
            "pipe_parts": (self.pipe / slots, self.special / slots, self.tensor / slots),
            "idle": max(self.alone + self.setup_alone - all_slots, 0.0),
            "pauses": waits + around + (0.0 if self.loose else 1.0),
            "piece": max((self.slots * self.slots / (waits + 1.0) + self.setup_slots) / slots, 1.0),
        }
        # Once for all, as they are looked up at each solve of the schedulers' rates; the class is frozen.
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def _waits(self, slots: float, cycles: float) -> float:
        """How often ``slots`` that take ``cycles`` wait for arithmetic."""
        return min(slots, max(cycles - slots, 0.0) / self.pause) if self.pause else 0.0

    def together(self, warps: float, schedulers: float = 1.0, spread: int = 0) -> float:
        """Cycles until ``warps`` such warps of each of ``schedulers``, in step, are done.

        ``spread``: cycles from the first to the last where they stand behind copies before they load fragments.
        """
        least = max(self.data, self.requests, self.constants)
        if self.fragments:
            return max(turn_cycles(self.fragments, 1, warps, round(schedulers), spread), least)
        if warps <= 1 and not (self._queues and schedulers > 1.0):
            return max(self.alone + self.setup_alone, least)
        return max(self._issued(warps), least)

    def queued(self, group: WarpGroup, apart: float, spread: int = 0) -> float:
        """Cycles until the warps of ``group`` are done, which begin ``apart`` cycles after each other.

        ``spread``: cycles from the first to the last where they stand behind copies.

        Who needs an SM's unit at once gets it one after the other: the last warp begins its arithmetic with the last
        data, and the last scheduler with those of its first warp.
        """
        if self.fragments:
            # Warps that do not meet are as far apart when they are done.
            later = 0.0 if self.fragments.meets else spread
            return self.together(group.per_scheduler, group.schedulers, spread) + later
        if self._queues:
            return self.together(group.per_scheduler, group.schedulers)
        later = max(self.burst - apart, 0.0)
        alone = self.alone + self.setup_alone
        free = self.ahead * group.per_scheduler
        last_warp = alone + max((group.in_step - 1) * later - self.gaps - free, 0.0)
        last_scheduler = max((group.schedulers - 1) * later - self.gaps - free, 0.0)
        return max(self.together(group.per_scheduler) + last_scheduler, last_warp)

    def turn(self, warps: float) -> float:
        """Cycles from one of its instructions to the next among ``warps`` such warps."""
        return self._issued(warps) / self.all_slots

    @property
    def _queues(self) -> bool:
        """Whether its warps stall at different times, and so queue for the scheduler and for shared memory."""
        return self.greedy and self.batches > 0.0

    def packing(self, warps: float) -> float:
        """Part of the issue slots, 0..1, that ``warps`` such warps can have at most, because of their gaps."""
        if not self.rounds or warps <= 1.0:
            return 1.0
        # They are those of several CTAs, which have not met.
        return min(warps * self.all_slots / self._issued(warps, stall_together=0.0), 1.0)

    def beside(self, older: int, ctas: int, warps: float) -> float:
        """Part of what ``warps`` such warps of a scheduler get alone that they get as those of one of so many ``ctas``.

        All of them do the same, and so many are ``older``.
        """
        if not self.fragments:
            return 1.0
        alone, all_ = (turn_cycles(self.fragments, number, warps, round(self.schedulers)) for number in (1, ctas))
        return min((1.0 + _OLDER * (ctas - 1.0 - 2.0 * older) / (ctas - 1.0)) * alone / all_, 1.0)

    def _issued(self, warps: float, stall_together: float | None = None) -> float:
        if self.fragments:
            return turn_cycles(self.fragments, 1, warps, round(self.schedulers))
        if self.rounds:
            queued = self._loops(warps) if self._queues else 0.0
            together = self.stall_together if stall_together is None else stall_together
            return max(self.alone + self.setup_alone, self._in_rounds(warps, together), queued)
        return max(self.alone, self._loops(warps)) + max(self.setup_alone, warps * self.setup_slots)

    def _in_rounds(self, warps: float, together: float) -> float:
        """Cycles of ``warps`` warps that take turns: in a gap of one the others issue an instruction each.

        For loads from shared memory each waits at another time, but for those that come ``together``; for constants
        all at once.
        """
        taken = sum(max(warps * slots, cycles) for slots, cycles in self.rounds)
        if not self.batches:
            return taken + self.stall
        return together + for_scheduler(warps, taken / max(warps, 1.0), self.stall - together)

    def _loops(self, warps: float) -> float:
        """Cycles of the loops of ``warps`` warps."""
        if self._queues:
            each, batches = self.slots / self.batches, self.batches
            varying = for_scheduler(warps, each, self.stall / batches)
            return batches * max(varying, both_in_turn(warps, self.schedulers, each, self.burst, self.away))
        # What others in step issue between a load and its use hides the stall as well.
        return warps * self.slots + max(self.stall - (warps - 1.0) * self.ahead * self.batches, 0.0)


def rounds_of(mix: Mix, cost: ComputeCost) -> tuple[tuple[float, float], ...]:
    """Issue slots of a warp, and its cycles, by how long after an instruction its next one comes.

    What holds up the slots of one warp does so for each of them.
    """
    count = mix.issue_slots or 1.0
    # They may be those of instructions, too, that other ops state, as stores of another width.
    part = min(count / (sum(mix.gaps) or 1.0), 1.0)
    found = [(part * number, part * number * apart) for apart, number in enumerate(mix.gaps, 1) if number]
    more = max(count - sum(number for number, _ in found), 0.0)
    rest = cost.alone + cost.setup_alone - cost.stall - sum(cycles for _, cycles in found)
    if more:
        found.append((more, max(rest, more)))
    return tuple((number * cost.all_slots / count, cycles) for number, cycles in found)
