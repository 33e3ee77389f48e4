"""From microbenchmarks to the quantities of copies and stores that do not start on a line: what HBM and an SM lose.

Where HBM is full, copies off a line are served unevenly: the slowest CTA ends up to 1.9 times as late as the quickest.
So bulk copies off a line count until the last CTA is done, and where little is lost the rate of the median CTA does.
"""

from __future__ import annotations

from math import inf

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured, Rows
from gpusim.hardware.memory.access import LINE_BYTES, SECTOR_BYTES, WIDEST
from gpusim.program import WARP_SIZE

__all__ = ["ALIGNMENT_STEPS"]

_RATE, _DEVICE_RATE = "bytes_per_cycle_per_sm", "bytes_per_s"
_FULL = 0.97
"""Part of the highest rate from which HBM counts as full."""
_LOST = 0.93
"""The same below which copies off a line, of which enough are under way to fill it, have lost some."""
_MANY_BYTES = 16000
"""Copies off a sector and cp.async were measured with these sizes and more, so that HBM is full."""

_SEEN = (0.1, 0.6)
"""Part of a group that waits for room, from which on it is no noise, and up to which the group before has some left."""


def _bulk(b: Benches, _: dict) -> dict[str, Measured]:
    """Bandwidth of bulk copies that start off a line (multiples of 32 or 64 B) or off a sector, against aligned ones.

    The starts of neighbouring tiles go through all residues. Copies off a line lose nothing as long as so few of them
    are under way on the whole device, most where there are somewhat more, and then less and less.
    """
    rows = [row for row in b.rows("alignment", unit="tma", offset=0) if row["ctas"] % b.sms("alignment") == 0]
    whole = [row for row in rows if row["bytes"] % LINE_BYTES == 0]
    best = float(np.median([row[_RATE] for row in whole if row["bytes"] > _MANY_BYTES]))
    enough = min(_under_way(row) for row in whole if row[_RATE] > _FULL * best)
    off_sector = [row for row in rows if row["bytes"] % SECTOR_BYTES and row["bytes"] > _MANY_BYTES]
    off_line = [row for row in rows if row["bytes"] % LINE_BYTES and row["bytes"] % SECTOR_BYTES == 0]
    off_line = [row for row in off_line if _under_way(row) >= enough]
    until_last = float(np.median([row[_DEVICE_RATE] for row in whole if row["bytes"] > _MANY_BYTES]))
    most = max(map(_under_way, off_line))
    first_lost = min((_under_way(row) for row in off_line if row[_RATE] < _LOST * best), default=most)
    last_kept = max((size for size in map(_under_way, off_line) if size < first_lost), default=first_lost)
    few = (first_lost * last_kept) ** 0.5
    lost = [(_under_way(row), 1.0 - row[_DEVICE_RATE] / until_last) for row in off_line if _under_way(row) > few]
    crowd, most_lost, many = _fall_and_rise(lost, few) if first_lost < most else (few, 0.0, few)
    source = "alignment (bulk copies)"
    return {
        "tma.unaligned_sector_efficiency": _ratio(off_sector, best, source),
        "tma.off_line_few_under_way": Measured(few / 2**20, "MiB", source, (first_lost - last_kept) / 2**20),
        "tma.off_line_crowd_under_way": Measured(crowd / 2**20, "MiB", source),
        "tma.off_line_many_under_way": Measured(many / 2**20, "MiB", source),
        "l2.fabric_bandwidth": Measured((1.0 - most_lost) * until_last / 1e12, "TB/s", source),
    }


def _fall_and_rise(lost: list[tuple[float, float]], few: float) -> tuple[float, float, float]:
    """Where most is ``lost``, how much, and where nothing is lost any more: two straight lines from ``few`` on.

    ``lost``: bytes under way and the part that is lost. The second line goes through what is beyond the first, which
    ends where both together describe everything best.
    """
    x, y = np.array(sorted(lost)).T
    fits = []
    for crowd in np.unique(x)[:-2]:
        rise, begins = np.polyfit(x[x >= crowd], y[x >= crowd], 1)
        most = begins + rise * crowd
        told = np.where(x < crowd, most * (x - few) / (crowd - few), begins + rise * x)
        fits.append((float(np.sum((y - told) ** 2)), float(crowd), float(most), float(-begins / rise)))
    return min(fits)[1:]


def _under_way(row: dict) -> float:
    """Bytes asked for and not yet there, on the whole device."""
    return row["bytes"] * row["outstanding"] * row["ctas"]


def _ratio(rows: Rows, best: float, source: str) -> Measured:
    values = [row[_RATE] / best for row in rows]
    return Measured(float(np.mean(values)), "", source, float(np.std(values)))


def _cp_async(b: Benches, _: dict) -> dict[str, Measured]:
    """The same of cp.async, measured residue by residue and averaged over them."""
    rows = [row for row in b.rows("alignment", unit="lsu") if row["bytes"] > _MANY_BYTES]
    best = float(np.mean([row[_RATE] for row in rows if row["offset"] == 0]))
    by_offset = {
        offset: float(np.mean([row[_RATE] for row in rows if row["offset"] == offset])) / best
        for offset in (0, 16, 32, 48, 64, 96)
    }
    on_sectors = [value for offset, value in by_offset.items() if offset % SECTOR_BYTES == 0]
    # Residues 80 and 112 behave as 16 and 48.
    everywhere = [*by_offset.values(), by_offset[16], by_offset[48]]
    return {
        f"lsu.unaligned_{name}_efficiency": Measured(
            len(values) / sum(1.0 / value for value in values), "", "alignment (cp.async)", float(np.std(values))
        )
        for name, values in (("line", on_sectors), ("sector", everywhere))
    }


def _offset(b: Benches, _: dict) -> dict[str, Measured]:
    """What one SM takes in of copies and loads that start off a line or off a sector, all such places equally often."""

    def rate(unit: str, offsets: tuple[int, ...]) -> Measured:
        best = [max(r["bytes_per_cycle_per_sm"] for r in b.rows("offset", unit=unit, offset=at)) for at in offsets]
        mean = len(best) / sum(1.0 / each for each in best)
        return Measured(mean, "B/cycle", f"offset ({unit})", float(np.ptp(best)))

    # 80 is to the end of a line what 48 is to its beginning; 16 and 112 are alike.
    off_sector, off_line = (16, 48, 48, 112), (32, 64, 96)
    return {
        "tma.off_sector_bandwidth": rate("tma", off_sector),
        "tma.off_line_bandwidth": rate("tma", off_line),
        "lsu.cp_async_off_sector_bandwidth": rate("cp_async", off_sector),
        "lsu.cp_async_off_line_bandwidth": rate("cp_async", off_line),
        "lsu.ldg_off_line_bandwidth": rate("ldg", (*off_sector, *off_line)),
    }


def _room(b: Benches, _: dict) -> dict[str, Measured]:
    """How much cp.async an SM can have under way, by where copies start: who issues more waits for what exceeds it.

    Seen where the warps' issue takes longer than it does alone, but not yet all of their time.
    """
    rows = [row for row in b.rows("under_way", source="dram") if row["ctas"] >= b.sms("under_way")]
    alone: dict[tuple, float] = {}
    for row in rows:
        alone[_alike(row)] = min(row["issue_cycles"], alone.get(_alike(row), inf))
    found = {}
    for name, offsets in (("", (0,)), ("off_line_", (32, 64)), ("off_sector_", (16,))):
        sizes = []
        for row in rows:
            issue = row["issue_cycles"] - alone[_alike(row)]
            held_up = issue / (issue + row["wait_cycles"])
            if row["offset"] in offsets and _SEEN[0] < held_up < _SEEN[1]:
                sizes.append((row["in_flight"] - held_up) * row["group_bytes"] * row["ctas_per_sm"] / 1024.0)
        found[f"lsu.cp_async_{name}under_way"] = Measured(
            float(np.median(sizes)), "KiB", "under_way (all SMs)", float(np.ptp(sizes))
        )
    return found


def _alike(row: dict) -> tuple:
    return row["warps"], row["group_bytes"], row["ctas_per_sm"], row["offset"]


def _parts_of_sectors(b: Benches, _: dict) -> dict[str, Measured]:
    """What each of the two stores that fill a sector takes of DRAM beyond the whole one, in bytes written.

    Of warps that write side by side, 8 and 16 bytes a lane, which DRAM keeps waiting where they begin with a sector.
    """
    rows = [
        row for row in b.rows("shifted_stores", run=1) if row["kept"] == row["bytes"] and row["width"] >= WIDEST / 2
    ]
    whole = {(row["width"], row["reads"], row["bytes"]): row["seconds"] for row in rows if not row["shift"]}
    found = []
    for row in (row for row in rows if row["shift"] % SECTOR_BYTES):
        parts = 2.0 * row["bytes"] / (WARP_SIZE * row["width"])
        rate = row["bytes"] / whole[WIDEST, False, row["bytes"]]
        found.append((row["seconds"] - whole[row["width"], row["reads"], row["bytes"]]) / parts * rate)
    return {
        "hbm.part_of_sector": Measured(
            float(np.median(found)), "B", "shifted_stores (8 and 16 bytes a lane, alone and behind loads; H200)",
            float(np.ptp(found)),
        )
    }  # fmt: skip


ALIGNMENT_STEPS = (_bulk, _cp_async, _offset, _room, _parts_of_sectors)
