"""What to change in a kernel that reads and overwrites stages at the wrong time: op and role.

Found in the ops of each role, where they show it; a run says what happened, this says why.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence

from gpusim.program.kernel import KernelProgram, Ring
from gpusim.program.op_sample import OpSample
from gpusim.program.ops import (
    Acquire,
    CommitGroup,
    Compute,
    CpAsync,
    Fill,
    Op,
    ProducerCommit,
    Release,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
)
from gpusim.program.role_names import in_words
from gpusim.program.tensor_ops import Wgmma

__all__ = ["BULK_STORE", "PRODUCTS", "Remedies", "role_of"]

BULK_STORE = " (bulk store)"
PRODUCTS = " (wgmma)"
"""How the name of a lane ends whose bulk store, or whose products on the tensor cores, read a stage."""
_LANE = re.compile(rf"sm\[\d+\]\.cta\[\d+\]\.(.+?)(?:\.warp\[\d+\])?(?:{re.escape(BULK_STORE)}|{re.escape(PRODUCTS)})?")


def role_of(lane: str) -> str:
    """The name of the role that a lane of warps is of; the lane itself if it is none."""
    found = _LANE.fullmatch(lane)
    return found[1] if found else lane


class Remedies:
    """Remedies for one program; "" where its ops do not show any."""

    def __init__(self, program: KernelProgram, sample: OpSample) -> None:
        self._program, self._ops, self._roles_on = program, sample.of, program.roles_on

    def overwritten(self, ring: Ring, writer: str, reader: str) -> str:
        """For a stage that lane ``writer`` fills while ``reader`` still reads it."""
        name, role = ring.name, role_of(reader)
        released = bool(self._roles_on(name, Release))
        if released and (unacquired := self._unacquired(name, role_of(writer))):
            return unacquired
        if reader.endswith(BULK_STORE):
            where = f"between tma_store and release of {name}" if released else "in front of that"
            return f"put a bulk_wait that leaves no store of the stage pending {where} in role {role!r}"
        if reader.endswith(PRODUCTS):
            where = f"release of {name}" if released else "that"
            return f"put a wgmma_wait that leaves no product of the stage pending in front of {where} in role {role!r}"
        return self._unacquired(name, role_of(writer)) or self._unreleased(name, role) or self._released_twice(ring)

    def another_tile(self, ring: Ring, reader: str, tile: int, *, later: bool) -> str:
        """For a stage that does not hold the tile that is read, but none yet or an earlier one, or a ``later`` one."""
        if found := self._another_tile(ring, reader, tile, later=later):
            return found
        usual = "check the order of wait, release and acquire, and their phase"
        if not later:
            return usual
        return (
            "a copy in front of the read may run at most stages - 1 tiles ahead (`ahead: full`), one behind it "
            f"and a barrier all stages; else {usual}"
        )

    def _another_tile(self, ring: Ring, reader: str, tile: int, *, later: bool) -> str:
        if not later:
            once = self._filled_once(ring.name, tile)
            return once or self._unwaited(ring.name, role_of(reader), tile) or self._never_filled(ring.name)
        if not self._roles_on(ring.name, Release | WaitFull):
            return ""
        return self._unacquired(ring.name) or self._acquired_by_some(ring.name) or self._freed_too_early(ring)

    def skipped(self, ring: Ring, *, freed: bool) -> str:
        """For a barrier of a stage that is past a phase which somebody waits for: that of a ``freed`` or a full one."""
        return self._freed_too_early(ring) if freed else self._unacquired(ring.name) or self._freed_too_early(ring)

    def _freed_too_early(self, ring: Ring) -> str:
        """Releases that say nothing of whether a tile has been read, or too many of them."""
        return self._released_unwaited(ring.name) or self._released_twice(ring)

    def _released_unwaited(self, ring: str) -> str:
        """Roles that give back stages of a filled ring for which they have not waited."""
        if not self._roles_on(ring, TmaLoad | ProducerCommit):
            return ""
        waits = self._roles_on(ring, WaitFull)
        hasty = [role for role in self._roles_on(ring, Release) if role not in waits]
        return f"put wait: {ring} in front of release: {ring} in {in_words(hasty)}" if hasty else ""

    def in_flight(self, ring: Ring, reader: str, writers: Sequence[str], tile: int) -> str:
        """For a stage that is read before a copy into it has landed."""
        if found := self._in_flight(ring, reader, writers, tile):
            return found
        usual = "wait for the full barrier (or the cp.async group) before reading"
        if reader in writers or role_of(reader) not in map(role_of, writers):
            return usual
        return (
            f"{usual}; the copy is that of {writers[0]}: let all meet behind their wait (sync_threads), or if each "
            "warp reads only what it has copied itself, make the ring private (private: true)"
        )

    def _in_flight(self, ring: Ring, reader: str, writers: Sequence[str], tile: int) -> str:
        role = role_of(reader)
        if role in map(role_of, writers):
            # Of other warps of the role that are still copying it is the barrier that lacks.
            return self._group(ring.name, role, tile) if reader in writers else ""
        if unwaited := self._unwaited(ring.name, role, tile):
            return unwaited
        for writer in map(role_of, writers):
            ops = self._ops(writer)
            commit = _place(ops, ProducerCommit, ring.name, tile)
            if commit is not None and any(_fills(op, ring.name, tile) for op in ops[commit:]):
                return f"put producer_commit: {ring.name} behind what fills the stage in role {writer!r}"
            if commit is not None and any(isinstance(op, CpAsync) and _fills(op, ring.name, tile) for op in ops):
                return (
                    f"put wait_group in front of producer_commit: {ring.name} in role {writer!r}, which says that the "
                    "stage is full while cp_async still copies, or asynchronous: true, with which it waits for them"
                )
        return ""

    def _group(self, ring: str, role: str, tile: int) -> str:
        """Which group the role's own copies of a tile are in as it reads them, and what would wait for it."""
        ops = self._ops(role)
        if (copies := _place(ops, CpAsync, ring, tile)) is None:
            return ""
        asked = False
        # Groups that nothing has waited for: whether they hold the tile
        groups: deque[bool] = deque()
        younger = pending = -1
        for op in ops:
            if isinstance(op, CpAsync):
                asked = asked or _fills(op, ring, tile)
            elif isinstance(op, CommitGroup):
                groups.append(asked)
                asked = False
            elif isinstance(op, WaitGroup):
                younger = len(groups) - 1 - list(groups).index(True) if True in groups else -1
                pending = op.pending
                while len(groups) > op.pending:
                    groups.popleft()
            elif _reads(op, ring, tile):
                break
        else:
            return ""
        if not any(isinstance(op, CommitGroup) for op in ops) or asked:
            what = f"the copies of tile {tile} belong to no group there, so that no wait covers them"
            return f"{what}: put commit_group behind them in role {role!r}"
        commit = next((at for at, op in enumerate(ops) if isinstance(op, CommitGroup) and op.tile == tile), len(ops))
        if commit < copies:
            return f"commit_group comes in front of the copies of its tile: put it behind them in role {role!r}"
        if True in groups and 0 <= younger < pending:
            return f"wait_group: {pending} spares the group of tile {tile}; at most {younger} in role {role!r}"
        return f"put wait_group in front of the read in role {role!r}"

    def _unwaited(self, ring: str, reader: str, tile: int) -> str:
        """The wait for a full stage that a role leaves out in front of its first read of ``tile``, or has behind it."""
        if not self._roles_on(ring, TmaLoad | ProducerCommit):
            return ""
        for op in self._ops(reader):
            if isinstance(op, WaitFull) and (op.ring, op.tile) == (ring, tile):
                return ""
            if _reads(op, ring, tile):
                break
        remedy = f"put wait: {ring} in front of the read in role {reader!r}"
        return f"{remedy}, for the tile that is read" if reader in self._roles_on(ring, WaitFull) else remedy

    def _filled_once(self, ring: str, tile: int) -> str:
        """A ring into which only earlier tiles are ever put, such as one of what the whole CTA needs."""
        filled = {op.tile for role in self._program.roles for op in self._ops(role.name) if _is_fill(op, ring)}
        if not filled or max(filled) >= tile:
            return ""
        return (
            f"ring {ring!r} is filled for tile {max(filled)} at most: fill it for each tile that is read, or say "
            "`reads: false` where later tiles read what stays there"
        )

    def _never_filled(self, ring: str) -> str:
        """A ring whose stages are said to be full, and into which nothing is put."""
        if self._roles_on(ring, Fill) or not (commits := self._roles_on(ring, ProducerCommit)):
            return ""
        return f"put store_shared: {ring}, or what else fills it, in front of producer_commit in {in_words(commits)}"

    def _unacquired(self, ring: str, writer: str = "") -> str:
        """Roles (``writer``, if it is one) that fill stages of a ring which no role acquires, or not before."""
        fills = self._roles_on(ring, Fill)
        if self._roles_on(ring, Acquire) and not (fills := [role for role in fills if self._fills_first(role, ring)]):
            return ""
        return f"put acquire: {ring} in front of what fills it in {in_words([writer] if writer in fills else fills)}"

    def _unreleased(self, ring: str, reader: str) -> str:
        """A role that reads a ring which others release, and does not itself."""
        if not self._roles_on(ring, Acquire) or reader in (releasing := self._roles_on(ring, Release)):
            return ""
        whose = f", as {in_words(releasing)} does" if releasing else ""
        return (
            f"put release: {ring} behind the last read of a tile in role {reader!r}{whose}, and count its warps in "
            "empty_arrivals"
        )

    def _acquired_by_some(self, ring: str) -> str:
        """A role of which some warps acquire what all of them fill."""
        for role in self._program.roles:
            warps = [
                op.warps for op in self._ops(role.name) if isinstance(op, Acquire) and op.ring == ring and op.warps
            ]
            if warps and min(warps) < role.warps:
                return (
                    f"acquire of warps: {min(warps)} in role {role.name!r} lets its other warps through; leave warps "
                    "out, or put a barrier of the role behind it"
                )
        return ""

    def _fills_first(self, role: str, ring: str) -> bool:
        """Whether a role fills a stage before it acquires it; of what others acquire for it nothing is known."""
        filled = set()
        for op in self._ops(role):
            if _is_fill(op, ring):
                filled.add(op.tile)
            elif isinstance(op, Acquire) and op.ring == ring and op.tile in filled:
                return True
        return False

    def _released_twice(self, ring: Ring) -> str:
        """Roles that release more tiles than they wait for."""
        for role in self._program.roles:
            tiles = Counter(op.tile for op in self._ops(role.name) if isinstance(op, Release) and op.ring == ring.name)
            times = max(tiles.values(), default=0)
            if times > 1 and role.warps * times > ring.empty_arrivals:
                return f"release each tile once: role {role.name!r} releases ring {ring.name!r} {times} times a tile"
        return ""


def _place(ops: list[Op], kind: type[Op], ring: str, tile: int) -> int | None:
    found = (at for at, op in enumerate(ops) if isinstance(op, kind) and op.ring == ring and op.tile == tile)
    return next(found, None)


def _is_fill(op: Op, ring: str) -> bool:
    return isinstance(op, Fill) and op.ring == ring


def _fills(op: Op, ring: str, tile: int) -> bool:
    return _is_fill(op, ring) and op.tile == tile


def _reads(op: Op, ring: str, tile: int) -> bool:
    return op.tile == tile and (
        (isinstance(op, Compute | Wgmma) and op.reads == ring) or (isinstance(op, TmaStore) and op.ring == ring)
    )
