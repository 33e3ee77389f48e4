"""From microbenchmarks to what stores cost, and what it costs to touch more than is needed.

Each function isolates one mechanism; its docstring says which benches and how.
"""

from __future__ import annotations

import numpy as np

from gpusim.errors import RecordingError
from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.calibration.loaded import LOADED_STEPS
from gpusim.hardware.calibration.memory import BELOW_SATURATION, stream_bandwidth
from gpusim.hardware.calibration.order import MIXES, ORDER_STEPS, few_of_one
from gpusim.hardware.memory.access import BLOCK_BYTES, GRANULE_BYTES, LINE_BYTES, SECTOR_BYTES
from gpusim.hardware.memory.store_coalescing import WARPS_OF_AN_SM, merged_part
from gpusim.program import WARP_SIZE

__all__ = ["ACCESS_STEPS"]

_MIB = 1 << 20
_MANY_STORERS, _INSTRUCTION_BYTES = 8, 512
"""Warps that keep the queue full, with so many bytes an instruction."""
_MANY_FILLED = 1e12
"""Bytes/s from DRAM, of which it can be told what they take of the way into L2."""
_SOME = 0.05
"""Part put together from which on it is looked at how much less it is otherwise."""
_LINES_KEPT, _CROWDS = np.arange(8.0, 64.0, 0.25), np.arange(0.0, 8.0, 0.05)
_MANY_LOADERS, _LOADED = 31, {"part": "chain", "kind": "ldg", "count": 8}
"""Warps that always have more under way than L1 has room for, and their loads."""


def _kept(b: Benches) -> tuple[list[float], list[float]]:
    """MiB of writes that L2 holds at the end of kernels that do nothing else, and of all data beside reads.

    Where it holds all that was written there may be room for more.
    """
    rows = [row for row in b.rows("dirty", before="clean") if row["dram_written_bytes"] > 0.1 * row["written_bytes"]]
    mib = [(row, (row["written_bytes"] - row["dram_written_bytes"]) / _MIB) for row in rows]
    # The lines last touched are there, read or written: as many of the latter as there are among all.
    return [kept for row, kept in mib if not row["reads"]], [
        kept * (row["read_bytes"] + row["written_bytes"]) / row["written_bytes"]
        for row, kept in mib
        if row["reads"] >= row["writes"]
    ]


def _stores(b: Benches, _: dict) -> dict[str, Measured]:
    """What mixing costs by the share of writes; writes into L2, and those that stay there; stores of one SM."""
    reading, writing = stream_bandwidth(b, 1, 0), stream_bandwidth(b, 0, 1)

    def loss(reads: int, writes: int) -> float:
        ideal = (reads + writes) / (reads / reading + writes / writing)
        return 1.0 - stream_bandwidth(b, reads, writes) / ideal

    one_sm = b.one("access", "bytes_per_cycle_per_sm", kind="throughput", store=True, source="l2", sms=1, stride=1,
                   lane_bytes=16)  # fmt: skip
    # A burst is issued quicker than it is sent by what the queue holds.
    queue = [
        row["store_bytes"] - row["store_cycles"] * one_sm
        for row in b.rows("loaded", store="st", target="dram", load_bytes=0, ctas_per_sm=1, store_bytes=16384)
        if row["store_delay"]
    ]
    left, touched = _kept(b)
    return {
        **{
            f"hbm.mix_loss{name}": Measured(loss(*mix), "", f"hbm ({words}, against each alone)")
            for name, mix, words in MIXES
        },
        "l2.written_capacity": Measured(float(np.median(left)), "MiB", "dirty (only writes)", float(np.ptp(left))),
        "l2.touched_capacity": Measured(
            float(np.median(touched)), "MiB", "dirty (writes beside as many reads or more)", float(np.ptp(touched))
        ),
        "lsu.store_bandwidth": Measured(one_sm, "B/cycle", "access (stores, L2, one SM)"),
        "lsu.store_queue": Measured(
            float(np.mean(queue)), "B", "loaded (issue of 16 KiB of stores)", float(np.ptp(queue))
        ),
        "lsu.stores_ahead": _stores_ahead(b),
        "lsu.loads_ahead": _loads_ahead(b),
    }


def _both_ways(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """The way into L2, by stores beside reads of what is there, and beside reads from DRAM, which take it, too.

    Reads that hit do not share the way out, but their requests take a little of the one in: least squares over the
    mixes in which reads do not fill their own way.
    """
    clock = found["sm.clock"].value * 1e6
    fastest: dict[tuple[int, int], float] = {}
    for row in b.rows("l2", kind="both"):
        mix = row["reads"], row["writes"]
        fastest[mix] = max(fastest.get(mix, 0.0), row["bytes_per_cycle"] * clock)
    written, lines = [], []
    for (reads, writes), rate in fastest.items():
        read = rate * reads / (reads + writes)
        if read < BELOW_SATURATION * found["l2.read_bandwidth"].value * 1e12 and writes:
            written.append(rate - read)
            lines.append(read / LINE_BYTES)
    slope, stores = np.polyfit(lines, written, 1)
    bulk = max(row["written_bytes_per_s"] for row in b.rows("loaded", store="bulk", target="l2", load_bytes=0))
    most = (stores + bulk) / 2.0
    fills = [
        (most - row["written_bytes_per_s"]) / row["read_bytes_per_s"] + slope / LINE_BYTES
        for row in b.rows("loaded", target="l2", store_delay=0)
        if row["store_bytes"] and row["read_bytes_per_s"] > _MANY_FILLED
    ]
    return {
        "l2.fill_weight": Measured(
            float(np.median(fills)), "", "loaded (stores to 16 MiB beside reads from DRAM)", float(np.ptp(fills))
        ),
        "l2.write_bandwidth": Measured(
            float(most) / 1e12,
            "TB/s",
            "l2 (stores beside reads) and loaded (bulk stores to 16 MiB, no loads)",
            float(abs(stores - bulk)) / 1e12,
        ),
        "l2.read_command_bytes": Measured(
            float(-slope), "B", "l2 (stores beside reads: as many bytes could have been written)"
        ),
    }


def _stores_ahead(b: Benches) -> Measured:
    """Stores that a shared load waits for, over the warps whose next store finds the queue full."""
    idle = b.one("behind", "cycles", op="lds", target="dram", sms=1, storers=0)
    found = [
        (row["cycles"] - idle) * row["stored_bytes_per_cycle"] / (row["storers"] * _INSTRUCTION_BYTES)
        for row in b.rows("behind", op="lds")
        if row["storers"] >= _MANY_STORERS
    ]
    source = "behind (loads from shared memory, 8 to 31 storing warps)"
    return Measured(float(np.mean(found)), "", source, float(np.ptp(found)))


def _loads_ahead(b: Benches) -> Measured:
    """Loads without room in L1 that an access to shared memory waits for, by how fast they find room."""
    idle = {op: b.one("behind_loads", "cycles", op=op, loaders=0, **_LOADED) for op in ("lds", "shfl")}
    found = [
        (row["cycles"] - idle[row["op"]]) * row["loaded_bytes_per_cycle"] / _INSTRUCTION_BYTES
        for row in b.rows("behind_loads", loaders=_MANY_LOADERS, **_LOADED)
    ]
    words = "behind_loads (shared loads and shuffles beside 31 loading warps; H100)"
    return Measured(float(np.mean(found)), "", words, float(np.ptp(found)))


def _merging(b: Benches, _: dict) -> dict[str, Measured]:
    """How many lines L1 keeps of stores that come one warp at a time, and what comes in between where all store.

    Least squares over values of 4 to 16 bytes in structures of 8 to 128 of each lane.
    """
    cases = []
    for waiting, read in ((0, "apart"), (WARPS_OF_AN_SM, "none")):
        for row in b.rows("structs", read=read, write="structs"):
            structure = row["width"] * row["count"]
            cases.append((max(WARP_SIZE * structure / LINE_BYTES, 1.0), waiting, _put_together(b, row)))

    def off(kept: float, crowd: float) -> float:
        return sum((merged_part(lines, waiting, kept, crowd) - part) ** 2 for lines, waiting, part in cases)

    total, kept, crowd = min((off(kept, crowd), kept, crowd) for kept in _LINES_KEPT for crowd in _CROWDS)
    spread = (total / len(cases)) ** 0.5
    return {
        "lsu.merging_lines": Measured(float(kept), "", f"structs (warps one at a time; parts within {spread:.2f})"),
        "lsu.merging_crowd": Measured(float(crowd), "", f"structs (only stores; parts within {spread:.2f})"),
        "lsu.merging_split": _split(b),
    }


def _split(b: Benches) -> Measured:
    """What L1 puts together of stores that wait for loads of their own each, over that of stores behind one load."""
    parts = [
        {(row["width"], row["count"]): _put_together(b, row) for row in b.rows("structs", read=read, write="structs")}
        for read in ("dense", "one")
    ]
    found = [parts[0][case] / together for case, together in parts[1].items() if together > _SOME]
    return Measured(
        float(np.mean(found)), "", "structs (a load for each store, over one for all)", float(np.ptp(found))
    )


def _put_together(b: Benches, row: dict) -> float:
    """Part of the stores to a sector that come to L2 as one, 0..1, by a row of `structs`."""
    if row["counters"] is None:
        raise RecordingError("was measured without ncu, whose counters are needed", path=b.path("structs"))
    # Each instruction touches the sectors of all that lie closer together than these.
    passes = min(row["count"], SECTOR_BYTES // row["width"])
    return (passes - row["counters"]["l1_to_l2"]) / (passes - 1.0)


def _sparse_requests(b: Benches, _: dict) -> dict[str, Measured]:
    """What a line takes of the load-store unit of one SM, whether L1 holds it or it comes from L2."""
    lines = [
        row["lane_bytes"] / row["bytes_per_cycle_per_sm"]
        for row in b.rows("access", kind="throughput", store=False, source="l2", sms=1, stride=0)
    ]
    tags = [
        row["cycles_per_load"] / row["lines"]
        for row in b.rows("gather", apart=True, lines=32) if row["warps"] == 32
    ]  # fmt: skip
    return {
        "lsu.tag_interval": Measured(
            float(np.median(tags)), "cycles", "gather (32 lines of a load that L1 holds)", float(np.ptp(tags))
        ),
        "lsu.line_interval": Measured(
            float(np.median(lines)), "cycles", "access (random sectors, L2, one SM)", float(np.ptp(lines))
        ),
    }


def _segment_rate(b: Benches, segment: int, source: str, store: bool) -> float:
    """Accesses a second to segments of so many bytes each, anywhere in L2 or DRAM."""
    return b.one("access", "bytes_per_s", kind="segment", segment=segment, source=source, store=store) / segment


def _l2_requests(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What requests for a sector take of the ways into and out of L2, and those to write a part of one."""
    reading, writing = (found[f"l2.{way}_bandwidth"].value * 1e12 for way in ("read", "write"))
    # Four sectors of each line, written in part.
    partial = [
        row["bytes_per_s"] / row["lane_bytes"] / (LINE_BYTES / SECTOR_BYTES)
        for row in b.rows("access", kind="throughput", store=True, source="l2")
        if row["sms"] > 1 and row["stride"] * row["lane_bytes"] == SECTOR_BYTES
    ]
    whole = writing / _segment_rate(b, SECTOR_BYTES, "l2", True)
    sectors = LINE_BYTES / SECTOR_BYTES
    own = (sectors * whole - LINE_BYTES) / (sectors - 1.0)
    times = [(writing / each - own) / (LINE_BYTES - own) for each in partial]
    return {
        "l2.read_request_bytes": Measured(
            reading / _segment_rate(b, SECTOR_BYTES, "l2", False),
            "B",
            "access (random sectors, L2: as many bytes could have been read)",
        ),
        "l2.write_request_bytes": Measured(
            whole, "B", "access (random sectors, L2: as many bytes could have been written)"
        ),
        "l2.partial_sector": Measured(
            float(np.median(times)), "", "access (strides of a sector, L2, stores)", float(np.ptp(times))
        ),
    }


def _dram_blocks(b: Benches, _: dict) -> dict[str, Measured]:
    """What opening a DRAM block takes of a whole block's time; the rest are its granules.

    Blocks of 64 bytes anywhere against such of 4 KiB, and lanes that each want one granule of a block or of half one.
    """

    def opening(store: bool) -> float:
        small = _segment_rate(b, 4096, "dram", store) * 4096 / BLOCK_BYTES
        small /= _segment_rate(b, GRANULE_BYTES, "dram", store)
        # small = share + (1 - share) / 4, in units of a whole block
        granules = BLOCK_BYTES / GRANULE_BYTES
        return (small - 1.0 / granules) / (1.0 - 1.0 / granules)

    per_s = _segment_rate(b, 4096, "dram", False) * 4096
    strided = [
        (per_s * row["lane_bytes"] / row["bytes_per_s"] - GRANULE_BYTES)
        / (min(row["stride"] * row["lane_bytes"], BLOCK_BYTES) - GRANULE_BYTES)
        for row in b.rows("access", kind="throughput", store=False, source="dram")
        if row["sms"] > 1 and row["stride"] * row["lane_bytes"] >= LINE_BYTES
    ]
    return {
        "hbm.read_block_share": Measured(opening(False), "", "access (random 64 B against 4 KiB)"),
        "hbm.read_block_share_strided": Measured(
            float(np.median(strided)), "", "access (strides of 128 B to 1 KiB)", float(np.ptp(strided))
        ),
        "hbm.write_block_share": Measured(opening(True), "", "access (random 64 B against 4 KiB, stores)"),
    }


ACCESS_STEPS = (
    _stores,
    few_of_one,
    _merging,
    _both_ways,
    *LOADED_STEPS,
    *ORDER_STEPS,
    _sparse_requests,
    _l2_requests,
    _dram_blocks,
)
