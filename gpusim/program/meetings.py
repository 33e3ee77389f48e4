"""Barriers of a whole CTA to which some of its warps do not come.

``__syncthreads`` waits for every warp of the CTA that has not ended, and ``barrier.cluster`` for those of its other
CTAs as well. Where a branch keeps some from it, CUDA leaves open what happens; most often nothing ends.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count

from gpusim.errors import HazardError
from gpusim.program.barrier_ops import ClusterSync, NamedBarrier, SyncThreads
from gpusim.program.kernel import KernelProgram, Role
from gpusim.program.ops import Op
from gpusim.program.role_names import with_warps

__all__ = ["check_meetings"]

_WORDS: dict[type[Op], str] = {SyncThreads: "sync_threads", ClusterSync: "cluster_sync"}
_FOR_ALL = "{} is for all warps of the CTA"
_TURNS = 2
"""Turns of tiles that are looked at; those between the first and the last ones are alike."""


def check_meetings(program: KernelProgram) -> None:
    """Raises HazardError for a barrier of the whole CTA that some warps of a role, or all of another role, miss.

    Warps that have ended are not waited for: roles may differ in how often they meet after the last tile of one.
    """
    if not any(type(op) in _WORDS for role in program.roles for op in program.sample(role)):
        return
    looked_at = [_Meetings(program, tiles) for tiles in sorted({program.fewest_tiles, program.most_tiles})]
    for meetings in looked_at:
        meetings.check_parts()
    if len(program.roles) > 1:
        for meetings in looked_at:
            for kind in _WORDS:
                meetings.check_roles(kind)


@dataclass(slots=True, init=False)
class _Meetings:
    """The ops of a CTA of ``tiles`` tiles, without turns in its middle."""

    program: KernelProgram
    tiles: int
    left_out: int
    bodies: list[list[Op]]

    def __init__(self, program: KernelProgram, tiles: int) -> None:
        self.program = program
        most = program.head + program.tail + _TURNS * max(program.turn, 2)
        self.left_out = max(tiles - most, 0) // program.turn
        self.tiles = tiles - self.left_out * program.turn
        self.bodies = [list(role.body(self.tiles)) for role in program.roles]

    def check_parts(self) -> None:
        """Branches inside a role."""
        for role, body in zip(self.program.roles, self.bodies, strict=True):
            for place, op in enumerate(body):
                if isinstance(op, SyncThreads) and op.warps is not None and op.warps < role.warps:
                    first, last, rest = op.warps, role.warps - 1, role.warps - op.warps
                    out = f"warp {last} of role {role.name!r} never comes" if rest == 1 else (
                        f"warps {first} to {last} of role {role.name!r} never come"
                    )  # fmt: skip
                    remedy = f"give the first {first} a role of their own, which meets at {self._named(first)}"
                    if first == 1:
                        remedy = "leave it out: one warp alone has nobody to meet"
                    raise self._error(role, place, op, f"{_FOR_ALL.format('sync_threads')}, and {out} to it", remedy)

    def check_roles(self, kind: type[Op]) -> None:
        """Roles that come less often than others while they still have tiles to do."""
        met = [[op for op in body if isinstance(op, kind)] for body in self.bodies]
        often = max(range(len(met)), key=lambda number: len(met[number]))
        missed = {number: op for number in range(len(met)) if (op := self._missed(number, often, met)) is not None}
        if not missed:
            return
        op = min(missed.values(), key=lambda op: op.tile)
        roles = self.program.roles
        missing = [roles[number] for number, other in missed.items() if other.tile == op.tile]
        there = [role for role, ops in zip(roles, met, strict=True) if role not in missing and ops]
        remedy = f"put {_WORDS[kind]} in {with_warps(missing)} as well"
        if kind is SyncThreads:
            warps = sum(role.warps for role in there)
            let = f"let {with_warps(there)} meet at {self._named(warps)}"
            remedy += f", or {let if warps > 1 else f'leave it out in {with_warps(there)}'}"
        seldom, times = (
            sum(self._turn(one) == self._turn(op) for one in met[number])
            for number in (roles.index(missing[0]), often)
        )  # fmt: skip
        told = f"{with_warps(missing)} {_how_often(len(missing), seldom)}"
        if seldom:
            turn = self.program.turn
            begin = op.tile // turn * turn
            told += f" in tiles {begin} to {begin + turn - 1}" if turn > 1 else ""
            told += f", role {roles[often].name!r} {times} times"
        place = next(place for place, one in enumerate(self.bodies[often]) if one is op)
        raise self._error(roles[often], place, op, f"{_FOR_ALL.format(_WORDS[kind])}, and {told}", remedy)

    def _missed(self, number: int, often: int, met: list[list[Op]]) -> Op | None:
        """The first meeting of the role that comes most ``often`` to which another does not, and still has tiles to do.

        None if it comes as often in all, or if those it lacks are behind its last tile.
        """
        mine, others = met[number], met[often]
        if len(mine) == len(others) or self._total(number, mine) == self._total(often, others):
            return None
        times, fewer = (Counter(map(self._turn, ops)) for ops in (others, mine))
        turn = next(turn for turn in map(self._turn, others) if times[turn] > fewer[turn])
        each = Counter(op.tile for op in mine)
        for op in (op for op in others if self._turn(op) == turn):
            each[op.tile] -= 1
            if each[op.tile] < 0:
                last = max((one.tile for one in self.bodies[number]), default=-1)
                return op if last > op.tile else None
        return None

    def _turn(self, op: Op) -> int:
        """Number of the turn of tiles in which all roles do what they do: they may take turns with one another."""
        return op.tile // self.program.turn

    def _total(self, number: int, ops: list[Op]) -> int:
        """How often a role with the meetings ``ops`` comes in all tiles, those left out among them."""
        if not self.left_out or not ops:
            return len(ops)
        less = self.program.roles[number].body(self.tiles - self.program.turn)
        return len(ops) + self.left_out * (len(ops) - sum(type(op) is type(ops[0]) for op in less))

    def _named(self, warps: int) -> str:
        """A named barrier for so many warps, with the first number that none has; 0 is that of ``sync_threads``."""
        taken = {op.id for body in self.bodies for op in body if isinstance(op, NamedBarrier)}
        number = next(number for number in count(1) if number not in taken)
        return f"named_barrier: {{id: {number}, warps: {warps}}}"

    def _error(self, role: Role, place: int, op: Op, what: str, remedy: str) -> HazardError:
        return HazardError(role.name, "", -1, op.tile, what, remedy, at=(self.tiles, place))


def _how_often(roles: int, times: int) -> str:
    if not times:
        return f"{'do' if roles > 1 else 'does'} not come to it"
    return f"{'come' if roles > 1 else 'comes'} to it only {'once' if times == 1 else f'{times} times'}"
