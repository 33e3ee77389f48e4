"""Whether the points of a sweep can run: each is tried with few tiles, and of many points only some dozens."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpusim.errors import GpusimError
from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.host import simulate_host
from gpusim.program import KernelProgram, check_program
from gpusim.program.host import HostOp, HostProgram, Launch
from gpusim.scenario.blame import placed
from gpusim.scenario.overrides import assignment
from gpusim.scenario.scenario import Scenario

__all__ = ["Trial", "try_points"]

MOST_TRIED = 48
"""Points of a sweep that are tried."""
MOST_S = 10.0
"""Seconds after which no further one is begun."""
ROUNDS = 2
"""How often the ring with the most stages is filled: what is wrong with its stages shows in the second round."""

Point = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """What came of a sweep's ``points``, of which ``tried`` were run; ``problems`` has a message for each kind."""

    points: int
    tried: int
    problems: tuple[str, ...] = ()


def try_points(points: Sequence[tuple[Point, Scenario]], ran: Scenario) -> Trial:
    """Run points of a sweep, up to `MOST_TRIED`, for as few tiles as show whether they fit, deadlock or have a hazard.

    Every value of every axis is tried before any second combination of them is. ``ran``: what has run already, and need
    not again where a point is the same.
    """
    end_s = time.monotonic() + MOST_S
    failed: dict[str, list[tuple[Point, GpusimError]]] = {}
    tried = 0
    for point, scenario in _chosen(points):
        if time.monotonic() > end_s:
            break
        tried += 1
        try:
            if scenario.hash != ran.hash:
                _try(scenario)
        except GpusimError as error:
            failed.setdefault(f"{error.place}: {error.message}", []).append((point, error))
    return Trial(len(points), tried, tuple(map(_told, failed.values())))


def _told(failed: Sequence[tuple[Point, GpusimError]]) -> str:
    """One message for points that fail alike."""
    point, error = failed[0]
    setting = ", ".join(assignment(path, value) for path, value in point.items())
    others = f" (as {len(failed) - 1} more point{'s' if len(failed) > 2 else ''})" if len(failed) > 1 else ""
    return ": ".join(part for part in (error.place, f"with {setting}{others}", error.message) if part)


def _chosen(points: Sequence[tuple[Point, Scenario]]) -> Iterator[tuple[Point, Scenario]]:
    """Those with a value that none before has, and behind them others that are evenly far from each other."""
    seen: set[tuple[str, str]] = set()
    first, rest = [], []
    for entry in points:
        values = {(path, json.dumps(value, default=str)) for path, value in entry[0].items()}
        (rest if values <= seen else first).append(entry)
        seen |= values
    yield from first[:MOST_TRIED]
    room = min(MOST_TRIED - len(first), len(rest))
    yield from (rest[number * len(rest) // room] for number in range(room))


def _try(scenario: Scenario) -> None:
    with placed(scenario):
        program, profile = scenario.program(), scenario.profile()
        if isinstance(program, KernelProgram):
            check_program(program)
            simulate_kernel(_short(program), profile, trace=False)
        else:
            simulate_host(_short_kernels(program), profile, host=scenario.host_api, trace=False)


def _short_kernels(program: HostProgram) -> HostProgram:
    """The same calls; what they launch is as quick as it can be."""
    made: dict[int, KernelProgram] = {}

    def short(op: HostOp) -> HostOp:
        if not isinstance(op, Launch) or not isinstance(op.kernel, KernelProgram):
            return op
        # A kernel that is launched again is simulated once as long as it is the same object.
        if id(op.kernel) not in made:
            check_program(op.kernel)
            made[id(op.kernel)] = _short(op.kernel)
        return replace(op, kernel=made[id(op.kernel)])

    threads = tuple(replace(thread, ops=tuple(map(short, thread.ops))) for thread in program.threads)
    graphs = tuple(replace(graph, ops=tuple(map(short, graph.ops))) for graph in program.graphs)
    return replace(program, threads=threads, graphs=graphs)


def _short(program: KernelProgram) -> KernelProgram:
    """The first cluster of CTAs, and the last one, with few tiles: nothing that others do stops them."""
    ends = 1 if program.equal_tiles is not None or program.grid == program.cluster else 2
    tiles = program.tiles_per_cta
    if not isinstance(tiles, int):
        tiles = tiles[: program.cluster] + (tiles[-program.cluster :] if ends == 2 else ())
    short = program.resized(grid=ends * program.cluster, tiles_per_cta=tiles)
    stages = max((ring.stages for ring in program.rings), default=1)
    most = program.head + program.tail + program.turn * (ROUNDS * stages + 2)
    spare = (short.fewest_tiles - most) // program.turn * program.turn
    return short.shortened(spare) if spare > 0 else short
