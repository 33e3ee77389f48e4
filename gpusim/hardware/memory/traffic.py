"""Bytes, FLOPs and turns of shared memory that a program asks for, counted from its ops."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, Atomic, Compute, CpAsync, KernelProgram, Load, Store, TmaLoad, TmaStore, Wgmma
from gpusim.program.tensor_ops import ROWS
from gpusim.program.warpgroups import WARPGROUP

__all__ = ["Traffic", "tensor_clock_hz", "tensor_flop_per_cycle"]


PRODUCT = 16 * 8 * 16
"""Multiply-adds of one ``mma`` of a `Mix`."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a kernel asks for, over its whole grid unless a field says otherwise."""

    ctas: int
    read_bytes: float
    missed_bytes: float
    """Bytes among ``read_bytes`` that L2 does not have."""
    written_bytes: float
    """Bytes that are written or updated."""
    flop: float
    """In FP32, on the cores for it."""
    tensor_flop: float
    """On the tensor cores."""
    shared_turns: float
    """Turns of 128 bytes of the SMs' paths of shared memory, those of loads, stores and atomics of threads."""
    tile_bytes: float
    """Bytes that one tile of one CTA reads."""
    tile_written_bytes: float
    """Bytes that one tile of one CTA writes."""
    burst_bytes: float
    """Most bytes that one CTA writes at a time, as results at its end."""

    @property
    def cta_written_bytes(self) -> float:
        """Bytes that one CTA writes, on average."""
        return self.written_bytes / self.ctas

    @staticmethod
    def of(program: KernelProgram) -> Traffic:
        """Count ``program``'s traffic on CTAs of one turn of tiles and of two; each further turn costs the same.

        Not so of CTAs that have only tiles in which some op is left out: their ops are counted as they are.
        """
        ends = program.head + program.tail
        one, two = (_count(program, ends + turns * program.turn) for turns in (1, 2))
        per_tile = [(b - a) / program.turn for a, b in zip(one, two, strict=True)]
        fixed = [a - (ends + program.turn) * b for a, b in zip(one, per_tile, strict=True)]
        short = _short_ctas(program, ends)
        ctas = program.grid - short.total()
        tiles = program.total_tiles - sum(few * number for few, number in short.items())
        total = [f * ctas + p * tiles for f, p in zip(fixed, per_tile, strict=True)]
        for few, number in short.items():
            total = [all_of + number * each for all_of, each in zip(total, _count(program, few), strict=True)]
        return Traffic(program.grid, *total, per_tile[0] or one[0], per_tile[2], _burst(program, ends + program.turn))


def tensor_flop_per_cycle(program: KernelProgram, profile: DeviceProfile) -> float:
    """Most that the tensor cores of an SM do of what ``program`` asks for: wgmma, if there are any, else mma.sync."""
    depth = _wgmma_depth(program)
    if depth:
        return 2.0 * ROWS * depth * profile.value("tensor.wgmma_columns")
    return 2.0 * PRODUCT * profile.value("sm.schedulers") / profile.value("tensor.mma_interval")


def tensor_clock_hz(program: KernelProgram, profile: DeviceProfile) -> float:
    """Clock of the SMs under the products of ``program``: mma.sync does fewer of them, and slows the SMs less."""
    return profile.value("tensor.wgmma_clock" if _wgmma_depth(program) else "tensor.mma_clock")


def _wgmma_depth(program: KernelProgram) -> int:
    """Most elements deep that a wgmma of ``program`` multiplies; 0 if it has none."""
    ops = (op for role in program.roles for op in program.sample(role) if isinstance(op, Wgmma))
    return max((op.k for op in ops), default=0)


def _short_ctas(program: KernelProgram, tiles: int) -> Counter[int]:
    """How many CTAs have so many tiles, of those with fewer than ``tiles``."""
    if program.equal_tiles is not None:
        return Counter({program.equal_tiles: program.grid} if program.equal_tiles < tiles else {})
    return Counter(count for count in program.tiles_per_cta if count < tiles)


def _burst(program: KernelProgram, tiles: int) -> float:
    ops = (op for role in program.roles for op in role.body(tiles) if isinstance(op, Store | TmaStore | Atomic))
    return max((op.bytes for op in ops), default=0.0)


def _count(program: KernelProgram, tiles: int) -> tuple[float, float, float, float, float, float]:
    read = missed = written = flop = tensor = shared = 0.0
    for role in program.roles:
        for op in role.body(tiles):
            if isinstance(op, Load | CpAsync | TmaLoad):
                asked = op.bytes * (1.0 - op.l1_hit if isinstance(op, Load) else 1.0)
                if isinstance(op, TmaLoad) and op.multicast:
                    asked /= program.cluster
                read += asked
                missed += asked * (1.0 - op.l2_hit)
            elif isinstance(op, Store | TmaStore | Atomic):
                written += op.bytes
            elif isinstance(op, Compute):
                warps = op.warps or role.warps
                flop += 2.0 * op.mix.ffma * WARP_SIZE * warps
                tensor += 2.0 * op.mix.mma * PRODUCT * warps
                shared += op.mix.shared_turns * warps
            elif isinstance(op, Wgmma):
                tensor += 2.0 * op.count * ROWS * op.n * op.k * role.warps / WARPGROUP
    return read, missed, written, flop, tensor, shared
