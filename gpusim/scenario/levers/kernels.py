"""Levers of kernels that a scenario spells out: rings, tiles, warps, CTAs.

An op list states instruction counts per tile. What is ``setup`` there stays once per tile; how ``other``,
``interleaved`` and ``masked`` split into work and overhead nobody says. A larger tile is therefore charged those of all
the tiles it replaces, and a smaller one those of a whole tile: gains of tile size and warps come out too small rather
than too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.kernel.schema import MAX_CTAS_PER_SM, MAX_STAGES, TileTotal
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import LEVERS, Proposal, enough, grid_with, grids_to_try, shown, values_to_try, whole
from gpusim.scenario.schema import SpelledKernel

__all__ = ["TWICE", "of_kernel", "rewritten"]

TWICE = ((2, 1), (1, 2))
"""Double and half, as (multiply by, divide by)."""
ACCUMULATORS = 0.25
"""Part of its registers from which a thread cannot have twice as many accumulators, or half, and be the same else."""

_COUNTED = ("ffma", "mma", "lds", "sts", "atoms", "atoms_waits", "mufu", "register_conflicts", "pipe_stalls")
_OVERHEAD = ("other", "interleaved", "masked", "ldc", "half_rate")
_INSTRUCTIONS = ("ffma", "mma", "lds", "sts", "atoms", "mufu", "setup", "other", "interleaved", "masked")
_FILLS = ("acquire", "tma_load", "cp_async", "commit_group", "wait_group")
Steps = list[tuple[str, str, Any]]
"""(dotted path of the step, word, arguments)."""


def of_kernel(kernel: SpelledKernel, place: str, sms: int) -> list[Iterator[Proposal]]:
    """Proposals by lever for a kernel below ``place``."""
    balance = _loop_count(kernel, place)
    rings = [_stages(kernel, place, name) for name in kernel.rings]
    return [*rings, _tile(kernel, place, balance), _warps(kernel, place), _ctas(kernel, place, balance, sms),
            _grid(kernel, place, balance, sms)]  # fmt: skip


def _loop_count(kernel: SpelledKernel, place: str) -> dict[str, int]:
    """What says how often the loop over tiles runs; nothing where tiles are listed CTA by CTA."""
    tiles = kernel.tiles_per_cta
    if isinstance(tiles, TileTotal):
        return {f"{place}.tiles_per_cta.total": tiles.total}
    return {f"{place}.tiles_per_cta": tiles[0]} if len(tiles) == 1 else {}


def _stages(kernel: SpelledKernel, place: str, ring: str) -> Iterator[Proposal]:
    old = kernel.rings[ring].stages
    name = f"{ring} stages" if len(kernel.rings) > 1 else "stages"
    for order, new in enumerate(values_to_try(LEVERS[Kind.STAGES], old, {"ge": 1, "le": MAX_STAGES})):
        ahead = _run_ahead(kernel, place, ring, new - old)
        if ahead is not None:
            steps, also = ahead
            overrides = {f"{place}.rings.{ring}.stages": new, **steps}
            yield Proposal(
                f"{ring}.stages", f"{name} {old} → {new}", overrides, also, order=order,
                enough=enough(LEVERS[Kind.STAGES], old, new, name),
            )  # fmt: skip


def _run_ahead(
    kernel: SpelledKernel, place: str, ring: str, more: int
) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Steps that follow the depth of the ring, ``more`` tiles further ahead, and what changes in words.

    None where it is not clear how.
    """
    depth = kernel.rings[ring].stages - 1
    found: dict[str, Any] = {}
    words: dict[str, None] = {}
    for role, spec in kernel.roles.items():
        steps = _steps(kernel, place, role)
        rings = {getattr(args, "ring", None) for _, _, args in steps} - {None}
        if ring not in rings or not any(args.ahead or word == "wait_group" for _, word, args in steps):
            continue
        # Copies and groups of the first tiles that are spelled out would have to become more as well.
        if rings != {ring} or any(word in _FILLS for _, word, _ in as_written(spec.prologue)):
            return None
        for path, word, args in steps:
            if args.ahead not in (0, "full"):
                if args.ahead != depth:
                    return None
                found[path] = rewritten(word, args, ahead=args.ahead + more)
                words[f"ahead {args.ahead} → {args.ahead + more}"] = None
            if word == "wait_group":
                if args.pending not in (depth, depth - 1) or args.pending + more < 0:
                    return None
                found[path] = rewritten(word, args, pending=args.pending + more)
                words[f"wait_group {args.pending} → {args.pending + more}"] = None
    return found, tuple(words)


def _tile(kernel: SpelledKernel, place: str, balance: Mapping[str, int]) -> Iterator[Proposal]:
    steps = [step for role in kernel.roles for step in _steps(kernel, place, role)]
    sizes = {ring.bytes for ring in kernel.rings.values()}
    # Loads into registers would need more of them, of which the file states a number; what runs for some of the tiles
    # only would run for others.
    if not sizes or any(word == "load" or _of_some_tiles(args) for _, word, args in steps):
        return
    size = max(sizes)
    for order, (times, over) in enumerate(TWICE):
        # Where integers or halves are the work, nobody says how much of it a smaller tile has.
        if any(one * times % over for one in sizes) or (over > times and _mostly_overhead(steps)):
            continue
        overrides: dict[str, Any] = {
            f"{place}.rings.{name}.bytes": ring.bytes * times // over for name, ring in kernel.rings.items()
        }
        overrides |= _scaled(steps, times, over, bytes_too=True)
        change = f"tile {shown(size, 'bytes')} → {shown(size * times // over, 'bytes')}"
        yield Proposal("tile_bytes", change, overrides, balance=balance, order=order)


def _of_some_tiles(args: Any) -> bool:
    return args.every > 1 or bool(args.skip_first or args.skip_last)


def _mostly_overhead(steps: Steps) -> bool:
    """Whether most of what is computed per tile are instructions that may be work or overhead."""
    computed = [args for _, word, args in steps if word == "compute"]
    unclear, counted = (
        sum(getattr(args, name) for args in computed for name in names)
        for names in (("other", "interleaved"), ("ffma", "mma", "lds", "sts", "atoms", "mufu"))
    )
    return unclear > counted


def _warps(kernel: SpelledKernel, place: str) -> Iterator[Proposal]:
    """The roles that compute, all at once; barriers with counts of their own would have to be told."""
    steps = {role: _steps(kernel, place, role) for role in kernel.roles}
    computing = [role for role, ops in steps.items() if any(_computes(word, args) for _, word, args in ops)]
    told = any(ring.empty_arrivals or ring.full_arrivals for ring in kernel.rings.values())
    # A named barrier counts warps, and what each thread loads is in registers, of which the file states a number.
    # Of a register-blocked product so are the accumulators, one for each chain; and rows of tensor cores are those of
    # its warps.
    bound = any(
        word in ("named_barrier", "load", "wgmma")
        or (word == "compute" and (args.mma or args.ilp > ACCUMULATORS * kernel.registers))
        for ops in steps.values()
        for _, word, args in ops
    )
    if told or bound or kernel.barriers or not computing:
        return
    for order, (times, over) in enumerate(TWICE):
        if any(kernel.roles[role].warps * times % over for role in computing):
            continue
        overrides: dict[str, Any] = {}
        words = []
        for role in computing:
            old = kernel.roles[role].warps
            overrides[f"{place}.roles.{role}.warps"] = old * times // over
            overrides |= _scaled(steps[role], over, times, bytes_too=False)
            words.append(f"{role} warps {old} → {old * times // over}")
        yield Proposal("warps", ", ".join(words), overrides, order=order)


def _computes(word: str, args: Any) -> bool:
    return word == "compute" and bool(args.ffma or args.mufu)


def _ctas(kernel: SpelledKernel, place: str, balance: Mapping[str, int], sms: int) -> Iterator[Proposal]:
    old = kernel.ctas_per_sm
    if old is None:
        return
    for order, new in enumerate(values_to_try(LEVERS[Kind.PER_SM], old, {"ge": 1, "le": MAX_CTAS_PER_SM})):
        grid = grid_with(kernel.grid, old, new, sms)
        if grid is not None:
            overrides, also = {f"{place}.ctas_per_sm": new}, ()
            if grid != kernel.grid:
                overrides[f"{place}.grid"], also = grid, (f"CTAs {kernel.grid} → {grid}",)
            change, spare = f"CTAs per SM {old} → {new}", enough(LEVERS[Kind.PER_SM], old, new)
            yield Proposal("ctas_per_sm", change, overrides, also, balance, order, spare, kind=Kind.PER_SM)


def _grid(kernel: SpelledKernel, place: str, balance: Mapping[str, int], sms: int) -> Iterator[Proposal]:
    # With tiles listed CTA by CTA the grid is part of the work.
    tried = grids_to_try(kernel.grid, sms * (kernel.ctas_per_sm or 1)) if balance else ()
    for order, new in enumerate(tried):
        overrides = {f"{place}.grid": new}
        change = f"CTAs {kernel.grid} → {new}"
        yield Proposal("grid", change, overrides, balance=balance, order=order, kind=Kind.GRID)


def _steps(kernel: SpelledKernel, place: str, role: str) -> Steps:
    """The steps of the tile loop of a role, those that repeats hold among them."""
    return [
        (f"{place}.roles.{role}.per_tile.{'.'.join(map(str, path[:-1]))}", word, args)
        for path, word, args in as_written(kernel.roles[role].per_tile)
        if word != REPEAT
    ]


def rewritten(word: str, args: Any, **changed: Any) -> dict[str, Any]:
    """A step as a scenario writes it, with some arguments changed."""
    return {word: {**args.model_dump(mode="json", exclude_unset=True), **changed}}


def _scaled(steps: Steps, times: int, over: int, *, bytes_too: bool) -> dict[str, Any]:
    """Steps whose counts (and own ``bytes``) change by ``times / over``; overhead grows, but does not shrink."""
    found = {}
    for path, word, args in steps:
        changed: dict[str, Any] = {}
        if word == "compute":
            changed = {name: whole(getattr(args, name) * times / over) for name in _COUNTED if getattr(args, name)}
        if times > over:
            changed |= {name: whole(getattr(args, name) * times / over) for name in _OVERHEAD if getattr(args, name, 0)}
        if changed and getattr(args, "alone", 0):
            # As long as before for each instruction.
            before = {name: getattr(args, name) for name in _INSTRUCTIONS}
            after = {name: changed.get(name, number) for name, number in before.items()}
            more = sum(after.values()) / (sum(before.values()) or 1)
            changed["alone"] = args.alone * more
            if args.gaps:
                changed["gaps"] = [number * more for number in args.gaps]
        if bytes_too and getattr(args, "bytes", None):
            changed["bytes"] = whole(args.bytes * times / over)
        if bytes_too and word == "wgmma":
            # The tile is deeper or less deep.
            changed["count"] = max(args.count * times // over, 1)
        if bytes_too and getattr(args, "align", 0) and over > times:
            changed["align"] = args.align * times // over
        if changed:
            found[path] = rewritten(word, args, **changed)
    return found
