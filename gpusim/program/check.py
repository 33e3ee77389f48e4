"""Whether a kernel program makes sense, before any of it is simulated.

Scenario files are checked field by field where they are read; this is for programs that
were built in Python, and for what only the ops themselves can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from gpusim.errors import HazardError, ProgramError, listing, nearest
from gpusim.program.barrier_ops import Arrive, ClusterSync, ExpectTx, NamedBarrier, Wait
from gpusim.program.copy_ops import BULK_UNIT
from gpusim.program.kernel import WARP_SIZE, KernelProgram, Role
from gpusim.program.late_reads import check_late_reads
from gpusim.program.meetings import check_meetings
from gpusim.program.named_barriers import disputed_meetings, uneven_meetings
from gpusim.program.ops import (
    CpAsync,
    LoadCluster,
    Op,
    PartOfRole,
    RegisterLoad,
    SetMaxNReg,
    StoreCluster,
    TmaLoad,
    TmaStore,
    WaitLoads,
    ring_read,
)
from gpusim.program.registers import MOST_REGISTERS, REGISTER_BYTES, allocated_registers
from gpusim.program.warpgroups import split_warpgroups, torn_products

__all__ = ["check_program"]

CLUSTERS = (1, 2, 4, 8)
"""CTAs of a cluster: what every device with clusters takes, as powers of two."""


def check_program(program: KernelProgram) -> None:
    """Raises ProgramError naming kernel, role and op: what is wrong, and what would be allowed.

    Raises HazardError for loads whose data nobody waits for, for barriers of the CTA that some warps miss, and for
    reads of a stage behind its release.
    """
    for problem in _problems(program):
        raise ProgramError(f"kernel {program.name!r}: {problem}")
    for role in program.roles:
        for number, op in enumerate(program.sample(role)):
            for problem in chain(_op_problems(program, role, op), _in_cluster_problems(program, role, op)):
                at = program.sampled_tiles, number
                raise ProgramError(f"kernel {program.name!r}: {problem}", role=role.name, at=at)
    for role in program.roles:
        _check_loads(program, role)
    check_meetings(program)
    check_late_reads(program)


def _problems(program: KernelProgram) -> Iterator[str]:
    if not program.roles or program.warps < 1:
        yield "it has no warps; give it at least one role"
    if program.grid < 1:
        yield f"grid {program.grid}: expected at least one CTA"
    yield from _cluster_problems(program)
    yield from _unequal_clusters(program)
    tiles = program.tiles_per_cta
    if program.equal_tiles is None and len(tiles) != program.grid:
        yield f"tiles_per_cta lists {len(tiles)} CTAs, the grid has {program.grid}"
    for ring in program.rings:
        if ring.stages < 1 or ring.bytes < 0:
            yield f"ring {ring.name!r} has {ring.stages} stages of {ring.bytes} bytes; expected one or more"
    # What is wrong with one tile is wrong with all.
    bodies = [(role, program.sample(role)) for role in program.roles]
    for role, ops in bodies:
        if role.warps < 1:
            yield f"role {role.name!r} has {role.warps} warps; expected at least one"
        if not ops and any(others for _, others in bodies):
            yield f"role {role.name!r} never does anything; give it ops, or count its warps as idle_warps"
    for barrier in program.barriers:
        if barrier.arrivals < 1:
            yield f"barrier {barrier.name!r} takes {barrier.arrivals} arrivals; expected at least one"
    yield from disputed_meetings(program)
    yield from uneven_meetings(program)
    yield from _register_problems(program, bodies)
    yield from split_warpgroups(program)
    yield from torn_products(program)


def _cluster_problems(program: KernelProgram) -> Iterator[str]:
    size = program.cluster
    if size not in CLUSTERS:
        yield f"clusters of {size} CTAs; expected one of {listing(CLUSTERS)}"
    elif program.grid % size:
        whole = program.grid // size * size + size
        yield f"expected a grid of whole clusters of {size}, got {program.grid}; use {whole}"


def _unequal_clusters(program: KernelProgram) -> Iterator[str]:
    """CTAs of a cluster that meet, or copy for each other, tile by tile, and have not as many tiles."""
    size, tiles = program.cluster, program.tiles_per_cta
    if size == 1 or isinstance(tiles, int):
        return
    number = next((n for n in range(len(tiles) // size) if len(set(tiles[n * size : (n + 1) * size])) > 1), None)
    if number is None:
        return
    if word := next((word for role in program.roles for word in _met_in_tiles(role)), ""):
        unequal = listing(tiles[number * size : (number + 1) * size])
        yield f"expected as many tiles for all CTAs of a cluster, for {word}, got {unequal} in cluster {number}"


def _met_in_tiles(role: Role) -> Iterator[str]:
    """What CTAs of a cluster do together, if a CTA with a tile more does more of it."""
    few, many = (Counter(map(_together, role.body(count))) for count in (1, 2))
    yield from (word for word in many - few if word)


def _together(op: Op) -> str:
    if isinstance(op, TmaLoad) and op.multicast:
        return "the parts that each copies for the others"
    if isinstance(op, LoadCluster | StoreCluster):
        return "what each reads or writes in the others"
    if isinstance(op, Arrive) and op.cluster:
        return "the arrivals of each at the others' barriers"
    return "the barrier at which they meet in each" if isinstance(op, ClusterSync) else ""


def _in_cluster_problems(program: KernelProgram, role: Role, op: Op) -> Iterator[str]:
    if program.cluster == 1 and (isinstance(op, LoadCluster | StoreCluster) or getattr(op, "cluster", False)):
        yield (
            f"role {role.name!r}, {type(op).__name__} of tile {op.tile}: it reaches the CTAs of a cluster; give the "
            "kernel one (cluster), or leave it out"
        )
    if not isinstance(op, TmaLoad) or not op.multicast:
        return
    where, unit = f"role {role.name!r}, TmaLoad of tile {op.tile}", BULK_UNIT * program.cluster
    if program.cluster == 1:
        yield f"{where}: multicast reaches the CTAs of a cluster; give the kernel one (cluster), or leave it out"
    elif op.bytes % unit:
        yield (
            f"{where}: expected a multiple of {unit} bytes, whole {BULK_UNIT} bytes for each of the {program.cluster} "
            f"CTAs of the cluster, got {op.bytes}"
        )


def _register_problems(program: KernelProgram, bodies: list[tuple[Role, list[Op]]]) -> Iterator[str]:
    """``setmaxnreg`` only moves what the CTA was launched with; who asks for more waits for ever."""
    moved = {role.name: op.registers for role, ops in bodies for op in ops if isinstance(op, SetMaxNReg)}
    if not moved:
        return
    at_launch = allocated_registers(program.registers)
    asked = sum(role.warps * moved.get(role.name, at_launch) for role in program.roles)
    # Warps that do nothing complete a warpgroup, whose registers go together.
    asked += program.idle_warps * min(*moved.values(), at_launch)
    held = program.warps * at_launch
    if asked > held:
        roles = ", ".join(f"{name} {registers}" for name, registers in moved.items())
        yield (
            f"setmaxnreg ({roles}) asks for {WARP_SIZE * asked} registers per CTA, launched were {WARP_SIZE * held} "
            f"({at_launch} per thread), so the role that asks for more would wait forever; take fewer, give more away, "
            "or launch with more registers; warps that do nothing bring theirs, too (idle_warps)"
        )


def _check_loads(program: KernelProgram, role: Role) -> None:
    """A load per tile is there when something has waited for it; else bytes would arrive that cost no time.

    What is loaded ahead of a tile that never comes, or once and not needed, may stay open.
    """
    tiles, ops = program.sampled_tiles, program.sample(role)
    spared = max((op.pending for op in ops if isinstance(op, WaitLoads)), default=0)
    if spared:
        # So many turns that there are more loads than that, if any CTA has them.
        tiles = min(program.most_tiles, program.head + (spared + 2) * program.turn + program.tail)
        ops = list(role.body(tiles))
    never = [op for op in ops if isinstance(op, RegisterLoad) and op.bytes and op.tile >= 0]
    if never and not _waits_for_loads(ops):
        first = never[0]
        remedy = "put wait_loads before the first op that needs the data"
        if spared:
            remedy += f", with pending: n below the number of loads before it (here {spared})"
        what = f"nothing waits for a load of {first.bytes} bytes with wait: false, so that its data is never there"
        raise HazardError(role.name, "", -1, first.tile, what, remedy, at=(tiles, ops.index(first)))


def _waits_for_loads(ops: list[Op]) -> bool:
    """Whether anything waits for a load; what spares the youngest does where there are more."""
    loads = 0
    for op in ops:
        if isinstance(op, RegisterLoad):
            loads += 1
            if op.wait:
                return True
        if isinstance(op, WaitLoads) and (loads > op.pending or not op.pending):
            return True
    return False


def _op_problems(program: KernelProgram, role: Role, op: Op) -> Iterator[str]:
    where = f"role {role.name!r}, {type(op).__name__} of tile {op.tile}"
    rings = {ring.name: ring for ring in program.rings}
    name = ring_read(op) or getattr(op, "ring", None)
    if name and name not in rings:
        yield f"{where}: there is no ring {name!r}{_known(name, rings)}"
    elif isinstance(op, CpAsync | TmaLoad) and op.bytes > rings[name].bytes:
        yield f"{where}: {op.bytes} bytes do not fit a stage of ring {name!r} ({rings[name].bytes} bytes)"
    elif isinstance(op, TmaLoad | TmaStore) and rings[name].private:
        yield f"{where}: ring {name!r} is private, but one thread asks for a bulk copy for all; leave private out"
    if isinstance(op, PartOfRole) and op.warps is not None and not 1 <= op.warps <= role.warps:
        yield f"{where}: asks for {op.warps} warps, but the role has {role.warps}"
    if isinstance(op, RegisterLoad):
        warps = op.warps or role.warps
        most = warps * WARP_SIZE * MOST_REGISTERS * REGISTER_BYTES
        if op.bytes > most:
            yield (
                f"{where}: {op.bytes:,} bytes at once into the registers of {warps} warp{'s' if warps > 1 else ''}, "
                f"which hold at most {most:,} ({MOST_REGISTERS} of {REGISTER_BYTES} bytes a thread); load less, in a "
                "repeat or in more tiles"
            )
    if isinstance(op, NamedBarrier) and op.warps < 1:
        yield f"{where}: {op.warps} warps are to meet at named barrier {op.id}; expected at least one"
    barriers = {barrier.name for barrier in program.barriers}
    if isinstance(op, Arrive | ExpectTx | Wait) and op.barrier not in barriers:
        yield f"{where}: there is no barrier {op.barrier!r}{_known(op.barrier, barriers)}"
    size = getattr(op, "bytes", 0)
    if not 0 <= size < float("inf"):
        yield f"{where}: {size} bytes; expected none or more"


def _known(name: str, names: dict | set) -> str:
    close = nearest(name, names)
    return f" (there is: {listing(sorted(names)) or 'none'})" + (f". Did you mean {close!r}?" if close else "")
