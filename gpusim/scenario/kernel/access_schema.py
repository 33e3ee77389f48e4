"""Ops of a role's list that move data: into rings and out of them, through registers, in shared memory."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from gpusim.scenario.fields import ByteCount, Count, Name, Number
from gpusim.scenario.kernel.schedule_schema import Amount, ByPartOfRole, Fraction, Schedule, Size, Width
from gpusim.units import parse_bytes

__all__ = [
    "AtomicUpdate",
    "BulkFetch",
    "ClusterLoad",
    "ClusterStore",
    "Commit",
    "GlobalStore",
    "InCluster",
    "OnRing",
    "OnRingBytes",
    "RegisterLoad",
    "SharedStore",
    "StageRelease",
    "StageWait",
    "ThreadFetch",
]

MAX_ALIGN = 2**20
MOST_SHARING = 18
"""SMs that may want the same bytes: those of the largest GPC of the devices."""


def _align(value: Any) -> int:
    number = parse_bytes(value)
    if number and (number > MAX_ALIGN or number & (number - 1)):
        raise ValueError(f"expected 0 or a power of two up to {MAX_ALIGN}")
    return number


Align = Annotated[int, BeforeValidator(_align, json_schema_input_type=int | str)]
Distance = Annotated[ByteCount, Field(le=2**30)]
Distinct = Annotated[ByteCount, Field(le=2**50)]
Pieces = Annotated[Count, Field(ge=1, le=2**20)]
Shared = Annotated[Number, Field(ge=1, le=MOST_SHARING)]
Shift = Annotated[ByteCount, Field(ge=0, lt=32)]
Row = Annotated[ByteCount, Field(ge=0, le=2**20, multiple_of=16)]


class OnRing(Schedule):
    """An op on the stage of a ring that belongs to the tile."""

    ring: Name
    """The ring; the stage is that of the op's tile."""


class StageWait(OnRing, ByPartOfRole):
    """A wait for a free stage, perhaps of those warps only that ask for the copy into it."""


class StageRelease(OnRing):
    """The end of reading a stage, of this tile or of an earlier one."""

    lag: Annotated[Count, Field(ge=0, le=8)] = 0
    """Release the stage of the tile so many tiles earlier, and none in the first ones: that of products for which
    `wgmma_wait` with as many pending has waited."""


class Commit(OnRing):
    """An arrival of those who have written the stage."""

    asynchronous: bool = False
    """cp.async.mbarrier.arrive.noinc: the warp goes on, and arrives when its cp.async so far have landed, which need no
    group."""


class OnRingBytes(OnRing):
    """An op that moves bytes of a ring's stage; by default the whole stage."""

    bytes: Size | None = None
    """Default: one stage of the ring."""


class Fetch(OnRingBytes):
    """A copy from global memory into a ring stage."""

    l2_hit: Fraction = 0.0
    """Fraction of the bytes found in L2; the others come from DRAM. Nothing finds it for you."""
    on_the_way: Fraction = 0.0
    """Part of what is found in L2 that is still on its way there: others have asked for it at about the same time, as
    for the halo of a stencil. It costs DRAM nothing more, and takes as long as what comes from there."""
    align: Align = 0
    """Largest power of two that divides every address it starts at, in bytes; below 128 it costs bandwidth. 0: that of
    its bytes, as when equal tiles lie one behind the other."""
    shared_by: Shared = 1.0
    """SMs of one GPC (16 or 18 SMs, which get CTAs of consecutive numbers) that copy the same bytes at about the same
    time: one read of L2 serves up to four of them, and fewer the longer L2 keeps them waiting. Of tiles that n CTAs in
    a row share it is n, at most 16; of those that every n-th CTA shares, 16 / n, at least 1. Only whole lines count:
    rows that are padded in shared memory, and copies that start off a line, gain nothing by it."""


class BulkFetch(Fetch):
    """A copy by the copy unit (cp.async.bulk)."""

    copies: Annotated[Count, Field(ge=1, le=4096)] = 1
    """Copies of one stage that the lanes of a warp issue together, each an equal part of the bytes (rows of a gather):
    the compiler makes a loop over those lanes of them."""
    multicast: bool = False
    """Every CTA of the cluster asks for an equal part of the bytes, and all of them get all (.multicast::cluster): L2
    reads them once for the cluster. A stage is free when the consumers of all its CTAs have released it."""


class ThreadFetch(Fetch, ByPartOfRole):
    """A copy issued by threads (cp.async)."""

    align: Align = 0
    """Largest power of two that divides the distance from every source to its destination in shared memory, in bytes;
    below 128 it costs bandwidth. 0: that of its bytes, as when equal tiles lie one behind the other. Of a tile in rows
    say `row` and `pitch` instead."""
    row: Row = 0
    """Bytes that lie side by side in global memory, where a tile is rows of a matrix: each row begins on a sector and
    far from the next one. 0: the tile lies in one piece."""
    pitch: Row = 0
    """Bytes from one such row to the next in shared memory; 0: side by side. Rows that are longer there than what they
    hold, against bank conflicts, land off lines and sectors, which costs bandwidth; a swizzle within 128 bytes costs
    none."""
    width: Width = 16
    """Bytes per lane and instruction; with the bytes it gives the number of instructions."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before, as `setup` of compute."""
    masked: Amount = 0.0
    """Loads of one warp that no lane executes: the assembler puts three `@!PT LDS` before each run of LDGSTS."""
    pieces: Pieces = 1
    """Places far from each other in which the bytes of all the role's warps lie: rows of a matrix, a part for each
    warp. The slowest of several comes later than that of as many bytes side by side. Loads that are ops of their own
    are always taken for such."""


class ThroughRegisters(ByPartOfRole):
    """ld.global or st.global: what one instruction of a warp looks like."""

    width: Width = 16
    """Bytes per lane and instruction; with the bytes it gives the number of instructions."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before, as `setup` of compute."""
    stride: Distance = 0
    """Bytes from one lane's address to the next lane's; 0: neighbours side by side. `bytes` stay those wanted. Below
    the width lanes share words: 3 with a width of 4 fetches 96 bytes for a warp's 128."""
    structure: Distance = 0
    """Each lane takes all of a structure of so many bytes, a `width` of it with each instruction, and the next lane the
    structure behind it: `bytes` are those of all these instructions. 0: it does not."""
    scatter: Distance = 0
    """Neighbouring lanes share blocks of so many bytes, and each block lies anywhere: 32 for single sectors, the row's
    length for rows by an index; no power of two is needed. What is fetched for it in whole sectors is counted. 0: they
    do not."""


class RegisterLoad(ThroughRegisters):
    """ld.global into registers."""

    bytes: Size | None = None
    """Bytes of the whole role and tile, all its warps together. Default: one stage of the only ring."""
    wait: bool = True
    """Block until the data is there; otherwise wait_loads does; never to wait for loads is an error."""
    masked: Amount = 0.0
    """Loads of one warp that no lane executes, because a predicate is false for all of them."""
    l1_hit: Fraction = 0.0
    """Fraction of the bytes found in L1, which this CTA or another one on the SM has read before. The rest comes in
    sectors: of a row of 128 bytes that begins a word later than one already read it is 0.75."""
    l1_wavefronts: Annotated[Number, Field(ge=0, le=32)] = 0.0
    """Turns of L1's data path, of 128 bytes each, for one instruction of which L1 holds everything: where lanes of
    several lines meet in a bank, as in shared memory (`lds_wavefronts`). 0: as `stride` says, or at random in blocks of
    `scatter`."""
    l2_hit: Fraction = 0.0
    """Fraction of the bytes that are not in L1 and found in L2; the others come from DRAM. Nothing finds it for you."""
    on_the_way: Fraction = 0.0
    """Part of what is found in L2 that is still on its way there: others have asked for it at about the same time, as
    for the halo of a stencil. It costs DRAM nothing more, and takes as long as what comes from there."""
    completed: Fraction = 0.0
    """With a stride or scatter: fraction of the bytes around which other loads, of other CTAs perhaps, read the rest at
    about the same time, so that DRAM opens what they lie in once for all. What passes from L2 to the SM stays as it
    is; what is found in L1 or L2 comes from neither."""
    shared_by: Shared = 1.0
    """SMs of one GPC that load the same bytes at about the same time, as of `cp_async` and `tma_load`."""
    pieces: Pieces = 1
    """Places far from each other in which the bytes of all the role's warps lie: rows of a matrix, a part for each
    warp. The slowest of several comes later than that of as many bytes side by side. Loads that are ops of their own
    are always taken for such."""
    align: Align = 0
    """Largest power of two that divides every address it starts at, in bytes; below 128 it costs bandwidth. 0: that of
    its bytes, as when equal tiles lie one behind the other."""


class SharedStore(ByPartOfRole):
    """st.shared from registers."""

    ring: Name | None = None
    """Ring whose stage it fills, if any: who reads it too early is then found."""
    bytes: ByteCount | None = None
    """Bytes of the whole role; default: one stage of the ring. 0: the stores are counted in `sts` of the compute that
    follows; only the stage is named."""
    width: Width = 16
    """Bytes per lane and instruction."""
    other: Amount = 0.0
    """Address instructions of one warp."""
    masked: Amount = 0.0
    """Stores of one warp that no lane executes, because a predicate is false for all of them."""


class InCluster(ByPartOfRole):
    """What a role loads from shared memory of other CTAs of the cluster, or stores there."""

    bytes: Size
    """Bytes of the whole role and tile, all its warps together; what is its own CTA's counts in `lds` or `sts`."""
    width: Width = 16
    """Bytes per lane and instruction; with the bytes it gives the number of instructions."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before: those of `mapa` are some ten."""
    masked: Amount = 0.0
    """Of one warp, those that no lane executes, because a predicate is false for all of them."""


class ClusterLoad(InCluster):
    """ld.shared::cluster into registers."""

    wait: bool = True
    """Block until the data is there; otherwise wait_loads does, which counts these as loads."""
    reads: Name | None = None
    """Ring whose stages it reads in the other CTAs. A stage is free when the consumers of all CTAs have released it."""


class ClusterStore(InCluster):
    """st.shared::cluster from registers."""


class GlobalStore(ThroughRegisters):
    """st.global from registers."""

    bytes: Size
    """Bytes of the whole role and tile, all its warps together."""
    l2_hit: Fraction = 0.0
    """Fraction of the bytes that is overwritten in L2 and never reaches DRAM."""
    completed: Fraction = 0.0
    """With a stride: fraction of the bytes whose sectors other stores complete before L2 gives them up, so that each
    goes to DRAM once and whole. The others' sectors are read first and written back in part."""
    shift: Shift = 0
    """Of lanes that write side by side: bytes from a multiple of 32 to where each warp begins, as in rows of an array
    with a border of 4 floats (16) or of 1001 floats (4, 8, ...). To a sector at the ends of a warp's bytes two of them
    store, which costs DRAM nearly three times as long as a whole one, for each. 0: at multiples of 32."""
    run: Distance = 0
    """With a `shift`: bytes side by side that are written at about the same time, so that their ends meet before DRAM
    is asked. 0: all of the op in CTAs that have one tile or whose warps meet; where warps go through tiles on their own
    those of one store, of which several may be right behind each other (say how many bytes these are)."""
    again: ByteCount = 0
    """Distinct bytes of one CTA where it writes the same ones again and again (spilled registers); 0: it does not."""


class AtomicUpdate(ByPartOfRole):
    """red.global or atom.global: atomicAdd and the like."""

    bytes: Size
    """Bytes of all lanes that take part, of the whole role and tile: 4 KiB where each of 1024 threads adds 4 bytes.
    Where one lane of each warp does it is its width for each warp, with a `scatter` of as much."""
    width: Width = 4
    """Bytes per lane and instruction: 4, 8 of 64 bits or two floats, 16 of four floats (red.v4.f32)."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before, as `setup` of compute."""
    masked: Amount = 0.0
    """Atomics of one warp that no lane executes, because a predicate is false for all of them."""
    returns: bool = False
    """The old values are used, so that the warps wait for them (atom, ATOMG); without, nobody waits (red, REDG)."""
    floating: bool = False
    """Sums of floating point: those that meet in the same 32 bytes wait for each other longer than integers do."""
    distinct: Distinct = 0
    """Bytes of the different values that the whole grid updates again and again: 4 for one counter, 1 KiB for a
    histogram of 256 bins, the output's for partial sums. The fewer, the fewer parts of L2 share the work. With
    `scatter` lanes pick among them at random, without they go through them side by side. 0: hardly two updates meet."""
    l2_hit: Fraction = 0.0
    """Fraction of the bytes that L2 holds; the others are read from DRAM and written back. `distinct` bytes for which
    L2 has room are found there whatever it says."""
    stride: Distance = 0
    """Bytes from one lane's address to the next lane's; 0: neighbours side by side."""
    scatter: Distance = 0
    """Neighbouring lanes share blocks of so many bytes, and each block lies anywhere: the width for lanes that go their
    own ways, as to bins of a histogram. 0: they do not."""
