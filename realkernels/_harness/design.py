"""Which configurations to measure: spread over the parameter space, the same on every run.

Points come from the Halton sequence, so that any first part of the list fills the space
evenly. Configurations that do not fit are left out, as are runs so short that the launch
hides them or so long that they cost without telling more.

A technique whose parameters are not those of the tile pipelines has a module ``design`` in its
folder; what it defines of `candidate`, `estimate_s`, `moved_bytes`, `groups`, `timelines`,
``POINTS`` and ``TIMELINES`` is taken instead of what stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import ceil, exp, log
from types import ModuleType
from typing import Any

from gpusim.scenario.technique import Technique
from realkernels._parts.hopper import (
    REGISTERS_PER_SCHEDULER,
    RESERVED_PER_CTA,
    SCHEDULERS,
    SHARED_PER_SM,
    SMS,
    WARPS_PER_SM,
)

POINTS = 96
GROUPS = 11
TIMELINES = 10

MIN_BYTES, MAX_BYTES = 8 << 20, 6 << 30
SHORTEST_S, LONGEST_S = 30e-6, 20e-3
BYTES_PER_S = 4.2e12
ISSUE_PER_S = SMS * SCHEDULERS * 1.9e9
"""Only to choose sizes with; no prediction uses these."""

BASES = (2, 3, 5, 7, 11, 13, 17, 19)
_WARPS = ("consumer_warps", "compute_warps", "warps")


def halton(index: int, base: int) -> float:
    """Element ``index`` (from 1) of the van der Corput sequence in ``base``, in (0, 1)."""
    value, scale = 0.0, 1.0
    while index:
        scale /= base
        index, digit = divmod(index, base)
        value += digit * scale
    return value


def between(low: float, high: float, share: float) -> float:
    """``share`` of the way from ``low`` to ``high``, both positive, in equal ratios."""
    return exp(log(low) + share * (log(high) - log(low)))


def points(technique: Technique, count: int | None = None) -> list[Any]:
    """``count`` configurations that fit, spread over all parameters."""
    found = (params for params in candidates(technique) if is_measurable(technique, params))
    return [next(found) for _ in range(_own(technique, "POINTS") if count is None else count)]


def stage_groups(technique: Technique, count: int = GROUPS) -> list[list[Any]]:
    """Groups of configurations that differ in one respect alone, so that the best of each can be told."""
    return _own(technique, "groups")(technique, count)


def groups(technique: Technique, count: int = GROUPS) -> list[list[Any]]:
    """Groups of configurations that differ in their stages alone: 1 … 8 as far as they fit, at least four."""
    if "stages" not in technique.defaults():
        return []
    found: list[list[Any]] = []
    for params in candidates(technique, skip=5000, largest=24 * 1024):
        values = vars(params)
        members = [technique.params(**values | {"stages": stages}) for stages in range(1, 9)]
        members = [member for member in members if is_measurable(technique, member)]
        if len(members) >= 4:
            found.append(members)
        if len(found) == count:
            return found
    raise AssertionError("unreachable: the sequence has no end")


def timeline_points(technique: Technique, count: int | None = None) -> list[Any]:
    """Small configurations for in-kernel timelines."""
    return _own(technique, "timelines")(technique, _own(technique, "TIMELINES") if count is None else count)


def timelines(technique: Technique, count: int) -> list[Any]:
    """Those of the tile pipelines: one wave, at most 64 tiles per CTA."""
    found = []
    for index, chosen in enumerate(candidates(technique, skip=9000)):
        one_wave = {"grid": SMS * chosen.ctas_per_sm, "tiles_per_cta": 24 + 5 * (index % 9)}
        params = technique.params(**vars(chosen) | one_wave)
        if _own(technique, "estimate_s")(params) <= 2e-3 and fits(technique, params, observer=True):
            found.append(params)
        if len(found) == count:
            return found
    raise AssertionError("unreachable: the sequence has no end")


def is_measurable(technique: Technique, params: Any) -> bool:
    """Whether the configuration fits and its run is neither too small nor too long."""
    moved, seconds = _own(technique, "moved_bytes")(params), _own(technique, "estimate_s")(params)
    return MIN_BYTES <= moved <= MAX_BYTES and SHORTEST_S <= seconds <= LONGEST_S and fits(technique, params)


def fits(technique: Technique, params: Any, observer: bool = False) -> bool:
    """Whether ``ctas_per_sm`` CTAs fit on an SM; with ``observer`` those of the instrumented build."""
    program = technique.build(params)
    ctas = params.ctas_per_sm
    warps = program.warps + observer
    registers = program.registers + 16 * observer
    per_warp = ceil(registers * 32 / 256) * 256
    return (
        ctas * (program.shared_bytes + RESERVED_PER_CTA) <= SHARED_PER_SM
        and ctas * warps <= WARPS_PER_SM
        and ctas * ceil(warps / SCHEDULERS) <= REGISTERS_PER_SCHEDULER // per_warp
    )


def moved_bytes(params: Any) -> int:
    """Bytes read."""
    return params.grid * params.tiles_per_cta * params.tile_bytes


def estimate_s(params: Any, traffic: float = 1.0) -> float:
    """Roughly how long a run takes, in seconds; ``traffic``: bytes to and from memory per byte read."""
    moved = moved_bytes(params)
    instructions = moved / 512 * (4 * params.fma_per_element + 12)
    busy = min(1.0, params.grid / (SMS * params.ctas_per_sm))
    waves = ceil(params.grid / (SMS * params.ctas_per_sm)) / (params.grid / (SMS * params.ctas_per_sm))
    tail = waves if busy == 1.0 else 1.0
    return 5e-6 + tail * max(traffic * moved / BYTES_PER_S, instructions / (ISSUE_PER_S * busy))


def candidates(technique: Technique, skip: int = 0, largest: int = 65536) -> Iterator[Any]:
    """Endless configurations, most of which fit; impossible combinations are left out."""
    make = _own(technique, "candidate")
    index = skip
    while True:
        index += 1
        try:
            yield make(technique, [halton(index, base) for base in BASES], largest)
        except ValueError:
            continue


def candidate(technique: Technique, u: Sequence[float], largest: int) -> Any:
    """The configuration at ``u`` of the unit cube; ``tiles_per_cta`` is set by the run time aimed at."""
    defaults = technique.defaults()
    tile = round(exp(log(2048) + u[0] * (log(largest) - log(2048))) / 16) * 16
    ctas = 1 + int(4 * u[3])
    values = {
        "tile_bytes": tile,
        "fma_per_element": round(exp(u[1] * log(257)) - 1),
        next(name for name in _WARPS if name in defaults): 2 + int(15 * u[2]),
        "ctas_per_sm": ctas,
        "grid": (SMS * ctas, 264, 2 * SMS * ctas, SMS * ctas, 3 * SMS * ctas - 31, 100)[int(6 * u[4])],
        "tiles_per_cta": 1,
    }
    for name, position in zip((name for name in defaults if name.endswith("stages")), (u[5], u[7]), strict=False):
        values[name] = 1 + int(8 * position)
    if "batch" in defaults:
        values["batch"] = (1, 2, 4, 8, 8, 12, 16)[int(7 * u[5])]
    one_tile = _own(technique, "estimate_s")(technique.params(**values)) - 5e-6
    target = exp(log(45e-6) + u[6] * (log(6e-3) - log(45e-6)))
    values["tiles_per_cta"] = max(4, round((target - 5e-6) / one_tile))
    return technique.params(**values)


def product(one: Any, u: Sequence[float], estimate_s: Callable[[Any], float], largest: int) -> Any:
    """``one`` turn of a product, as one of 60 to 1800 CTAs with as many turns as take 40 us to 2 ms, by ``u``.

    Raises ValueError if an operand has more than ``largest`` bytes.
    """
    one = replace(one, grid_n=max(1, round(between(60, 1800, u[0]) / one.grid_m)))
    per_turn = estimate_s(replace(one, k_tiles=1001)) - estimate_s(one)
    sized = replace(one, k_tiles=max(4, round(1000 * (between(40e-6, 2e-3, u[1]) - 5e-6) / per_turn)))
    if sized.k_tiles * max(sized.grid_m * sized.a_bytes, sized.grid_n * sized.b_bytes) > largest:
        raise ValueError("too large")
    return sized


def _own(technique: Technique, name: str) -> Any:
    """``name`` of the technique's own design, else of this module."""
    return getattr(_design_of(technique.params.__module__), name, None) or globals()[name]


@cache
def _design_of(package: str) -> ModuleType | None:
    return import_module(f"{package}.design") if find_spec(f"{package}.design") else None
