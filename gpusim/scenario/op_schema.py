"""The words of a role's op list in a scenario file, one model per op of `gpusim.program`.

Each op is a mapping with one key, ``{acquire: input}`` or ``{tma_load: {ring: input}}``;
ops without arguments may stand alone, ``sync_threads``. An op in ``per_tile`` belongs to
the tile of the iteration. With ``ahead: n`` it runs n tiles earlier, as software
pipelining does: the first n tiles are issued before the loop starts, none past the end.
``ahead: full`` is the deepest that never touches the stage in use, stages − 1. A role that
takes turns with others says so itself, with ``every`` and ``offset`` (`kernel_schema`); an op with them runs for some
of the tiles only, as what stands at the end of an item of several. A loop inside a tile is
``{repeat: {times: 8, ops: [...]}}``: the same as if its ops were written down eight times.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gpusim.scenario.fields import ByteCount, Count, Model, Name, Number, whole_number
from gpusim.scenario.op_words import OpWord, chosen, step_model
from gpusim.units import parse_bytes

__all__ = ["MAX_EVERY", "OPS", "REPEAT", "STEPS", "OpStep", "OpWord", "Schedule", "chosen"]

MAX_AHEAD = 64
MAX_EVERY = 1024
MAX_TIMES = 10_000
MAX_ALIGN = 2**20


def _align(value: Any) -> int:
    number = parse_bytes(value)
    if number and (number > MAX_ALIGN or number & (number - 1)):
        raise ValueError(f"expected 0 or a power of two up to {MAX_ALIGN}")
    return number


def _ahead(value: Any) -> Any:
    if value == "full":
        return value
    number = whole_number(value)
    if not 0 <= number <= MAX_AHEAD:
        raise ValueError(f'expected 0 to {MAX_AHEAD} or "full"')
    return number


Ahead = Annotated[int | Literal["full"], BeforeValidator(_ahead, json_schema_input_type=int | Literal["full"])]
Align = Annotated[int, BeforeValidator(_align, json_schema_input_type=int | str)]
Distance = Annotated[ByteCount, Field(le=2**30)]
Size = Annotated[ByteCount, Field(gt=0)]
Width = Literal[4, 8, 16]
Fraction = Annotated[Number, Field(ge=0, le=1)]
Amount = Annotated[Number, Field(ge=0, le=1e9)]


class Schedule(Model):
    """When an op runs: with its iteration, ahead of it, or for one given tile."""

    ahead: Ahead = 0
    """Tiles ahead of the iteration (per_tile only); "full" is the ring's stages - 1."""
    tile: Annotated[Count, Field(ge=-64, le=1_000_000)] | None = None
    """Tile index in prologue and epilogue; negative counts from the last tile."""
    every: Annotated[Count, Field(ge=1, le=MAX_EVERY)] = 1
    """The op runs for every so-manyth tile of the CTA only (per_tile, no op that fills or frees a stage)."""
    offset: Annotated[Count, Field(ge=0, lt=MAX_EVERY)] = 0
    """The first of these tiles, below `every`: with `every: 8` 7 for the last one of each eight."""


class OnRing(Schedule):
    """An op on the stage of a ring that belongs to the tile."""

    ring: Name
    """The ring; the stage is that of the op's tile."""


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
    align: Align = 0
    """Largest power of two that divides every address it starts at, in bytes; below 128 it costs bandwidth. 0: that of
    its bytes, as when equal tiles lie one behind the other."""


class BulkFetch(Fetch):
    """A copy by the copy unit (cp.async.bulk)."""

    copies: Annotated[int, BeforeValidator(whole_number), Field(ge=1, le=4096)] = 1
    """Copies of one stage that the lanes of a warp issue together, each an equal part of the bytes (rows of a gather):
    the compiler makes a loop over those lanes of them."""


class ThreadFetch(Fetch):
    """A copy issued by threads (cp.async)."""

    align: Align = 0
    """Largest power of two that divides the distance from every source to its destination in shared memory, in bytes;
    below 128 it costs bandwidth. 0: that of its bytes, as when equal tiles lie one behind the other."""
    width: Width = 16
    """Bytes per lane and instruction; with the bytes it gives the number of instructions."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before, as `setup` of compute."""
    masked: Amount = 0.0
    """Loads of one warp that no lane executes: the assembler puts three `@!PT LDS` before each run of LDGSTS."""


class ThroughRegisters(Schedule):
    """ld.global or st.global: what one instruction of a warp looks like."""

    width: Width = 16
    """Bytes per lane and instruction; with the bytes it gives the number of instructions."""
    other: Amount = 0.0
    """Address instructions of one warp, of which each waits for the one before, as `setup` of compute."""
    stride: Distance = 0
    """Bytes from one lane's address to the next lane's; 0: neighbours side by side. `bytes` stay those wanted."""
    scatter: Distance = 0
    """Neighbouring lanes share blocks of so many bytes, and each block lies anywhere: 32 for single sectors, the row's
    length for rows by an index. What is fetched for it in whole sectors is counted. 0: they do not."""


class RegisterLoad(ThroughRegisters):
    """ld.global into registers."""

    bytes: Size | None = None
    """Of the whole role and tile, all its warps together. Default: one stage of the only ring."""
    wait: bool = True
    """Block until the data is there; otherwise wait_loads does; never to wait for loads is an error."""
    masked: Amount = 0.0
    """Loads of one warp that no lane executes, because a predicate is false for all of them."""
    l1_hit: Fraction = 0.0
    """Fraction of the bytes found in L1, which the CTA has read before."""
    l1_wavefronts: Annotated[Number, Field(ge=0, le=32)] = 0.0
    """Turns of L1's data path, of 128 bytes each, for one instruction of which L1 holds everything: where lanes of
    several lines meet in a bank, as in shared memory (`lds_wavefronts`). 0: as `stride` says, or at random in blocks of
    `scatter`."""
    l2_hit: Fraction = 0.0
    """Fraction of the bytes that are not in L1 and found in L2; the others come from DRAM. Nothing finds it for you."""
    completed: Fraction = 0.0
    """With a stride or scatter: fraction of the bytes around which other loads, of other CTAs perhaps, read the rest at
    about the same time, so that DRAM opens what they lie in once for all. What passes from L2 to the SM stays as it
    is."""
    align: Align = 0
    """Largest power of two that divides every address it starts at, in bytes; below 128 it costs bandwidth. 0: that of
    its bytes, as when equal tiles lie one behind the other."""


class SharedStore(Schedule):
    """st.shared from registers."""

    ring: Name | None = None
    """Ring whose stage it fills, if any: who reads it too early is then found."""
    bytes: ByteCount | None = None
    """Of the whole role; default: one stage of the ring. 0: the stores are counted in `sts` of the compute that
    follows; only the stage is named."""
    width: Width = 16
    """Bytes per lane and instruction."""
    other: Amount = 0.0
    """Address instructions of one warp."""
    masked: Amount = 0.0
    """Stores of one warp that no lane executes, because a predicate is false for all of them."""


class GlobalStore(ThroughRegisters):
    """st.global from registers."""

    bytes: Size
    """Of the whole role and tile, all its warps together."""
    l2_hit: Fraction = 0.0
    """Fraction of the bytes that is overwritten in L2 and never reaches DRAM."""
    completed: Fraction = 0.0
    """With a stride: fraction of the bytes whose sectors other stores complete before L2 gives them up, so that each
    goes to DRAM once and whole. The others' sectors are read first and written back in part."""
    again: ByteCount = 0
    """Distinct bytes of one CTA where it writes the same ones again and again (spilled registers); 0: it does not."""


class ComputeMix(Schedule):
    """Instruction counts of one warp for one tile, and the parallelism among them."""

    ffma: Amount = 0.0
    """FFMA, FADD and FMUL: one pipe, one latency."""
    lds: Amount = 0.0
    """Loads from shared memory (LDS), and shuffles, which go the same way; all of one width, `lds_bytes`."""
    other: Amount = 0.0
    """All others inside the loop (addresses, counter, branch, comparisons) that the next instruction waits for. Those
    that nothing waits for are `interleaved` and not in here."""
    setup: Amount = 0.0
    """Those before and after the loop, once per tile, of which each waits for the one before: nothing hides them."""
    interleaved: Amount = 0.0
    """Others that stand between instructions which do not wait for them: an issue slot each and no more. In addition to
    `other` and `setup`, not part of them."""
    masked: Amount = 0.0
    """Loads and stores that no lane executes, because a predicate is false for all: a turn of the load-store unit."""
    sts: Amount = 0.0
    """Stores to shared memory (STS), all of one width, `sts_bytes`."""
    mufu: Amount = 0.0
    """MUFU: reciprocal, square root, exponential, logarithm, sine; and others of its unit, POPC, F2I, I2F of 8 and 16
    bits."""
    ilp: Annotated[Number, Field(ge=1, le=256)] = 4.0
    """Chains of dependent FP32 instructions that are independent of each other: 1 for a sum into one variable."""
    loads_in_flight: Annotated[Number, Field(ge=1, le=256)] = 1.0
    """lds for each time that the warp waits for some: those from one to the first instruction that uses what it loaded,
    itself among them. `gpusim count` finds it in the machine code, where the compiler has put loads ahead."""
    load_to_use: Annotated[Number, Field(ge=0, le=256)] = 0.0
    """Other instructions between such loads and the first that uses what they bring, which hide as much of the wait:
    software pipelining. `gpusim count` finds it; 0: the use stands right behind."""
    lds_bytes: Width = 16
    """Bytes that a lane loads with one lds. Loads of two widths are two compute ops, or among the same FFMAs one with
    the narrower and the mean of their `lds_wavefronts`."""
    sts_bytes: Width = 16
    """Bytes that a lane stores with one sts."""
    bank_conflict: Annotated[Number, Field(ge=1, le=32)] = 1.0
    """By how much longer every lds and every sts of the op occupies shared memory; it multiplies `lds_wavefronts` too,
    so say one of the two."""
    lds_wavefronts: Annotated[Number, Field(ge=0, le=32)] = 0.0
    """Turns of the shared-memory pipe for one lds, of 128 bytes each; 0: lds_bytes / 4, each lane its own words."""
    register_conflicts: Amount = 0.0
    """Cycles in which nothing is issued because operands meet in one bank of the register file; `gpusim count` finds
    them."""
    pipe_stalls: Amount = 0.0
    """Cycles in which nothing is issued because a pipe of half rate is busy: one for each instruction of integer
    arithmetic (IADD3, LOP3, SHF, ISETP, SEL, FMNMX …), of IMAD or of FP64 right behind another of its kind;
    `gpusim count` finds them."""
    half_rate: Amount = 0.0
    """Those of `other`, `setup` and `interleaved` that the fullest pipe of half rate takes. While one warp waits for it
    (`pipe_stalls`) others can issue, but nothing for this pipe, which takes one every two cycles. `gpusim count` finds
    them. The pipes: integer arithmetic; IMAD and VIADD; FP64; HADD2."""
    alone: Amount = 0.0
    """Cycles that one warp alone needs for all these instructions where it waits for no load: `gpusim count` finds them
    in a cubin, by the compiler's stall counts. 0: as `ffma`, `ilp`, `mufu`, `other` and `setup` make it."""
    ldc: Amount = 0.0
    """Those of `other`, `setup` and `interleaved` that load a constant or a kernel parameter into a register (LDC): an
    SM does one every two cycles."""
    reads: Name | Literal[False] | None = None
    """Ring whose stage `lds` reads; default: the last one this role waited for. false: none, as for shuffles."""


class Group(Schedule):
    """Close a group of cp.async; `ring` only gives "ahead: full" its depth."""

    ring: Name | None = None
    """Ring whose stages - 1 is meant by "ahead: full"."""


class PendingGroups(Schedule):
    """Wait until at most `pending` newest groups are in flight."""

    pending: Annotated[Count, Field(ge=0, le=64)] = 0
    """Newest groups that may still be in flight."""


class PendingLoads(Schedule):
    """Wait until at most `pending` youngest loads are under way."""

    pending: Annotated[Count, Field(ge=0, le=64)] = 0
    """Youngest `load` ops with `wait: false` that may still be under way, of this tile or of others; 0: none."""


class PendingBulk(PendingGroups):
    """Wait for bulk stores; with `read`, only until their source has been read."""

    read: bool = True
    """Whether it is enough that the source has been read, so that its stage may be filled again."""


class Barrier(Schedule):
    """bar.sync of a subset of the CTA's warps."""

    id: Annotated[Count, Field(ge=0, le=15)]
    """Number of the barrier."""
    warps: Annotated[Count, Field(ge=1, le=32)]
    """Warps that meet there, of all roles together."""
    wait: bool = True
    """bar.sync; otherwise bar.arrive, which counts and goes on."""


class OnBarrier(Schedule):
    """An op on a barrier declared under `barriers`."""

    barrier: Name
    """A name under `barriers`."""


class Expect(OnBarrier):
    """Arrive and announce bytes."""

    bytes: Size
    """Bytes that must arrive until the phase is complete."""


class PhaseWait(OnBarrier):
    """Wait for a phase of a declared barrier; by default phase number = tile number."""

    phase: Annotated[Count, Field(ge=-1, le=1_000_000)] | None = None
    """Number of the phase, from 0; default: the tile's number."""
    lag: Annotated[Count, Field(ge=0, le=64)] = 0
    """Wait for the phase of the tile `lag` tiles earlier; a negative phase never blocks."""


class Registers(Schedule):
    """setmaxnreg."""

    registers: Annotated[Count, Field(ge=24, le=256, multiple_of=8)]
    """Per thread, from here on."""


OPS: dict[str, OpWord] = {
    "acquire": OpWord(OnRing, "ring", about="Wait until the stage has been released by all who read it."),
    "tma_load": OpWord(
        BulkFetch, "ring", about="cp.async.bulk into the stage, with the arrive.expect_tx that announces it."
    ),
    "wait": OpWord(OnRing, "ring", about="Wait until the stage is full: mbarrier.try_wait on its full barrier."),
    "compute": OpWord(ComputeMix, about="Instructions of each warp of the role, by kind."),
    "release": OpWord(OnRing, "ring", about="Give the stage back: one arrival of each warp on its empty barrier."),
    "load": OpWord(RegisterLoad, "bytes", int | str, about="ld.global into registers (LDG)."),
    "wait_loads": OpWord(
        PendingLoads, "pending", int, about="Wait for the data of loads before it, as the first use of them does."
    ),
    "store_shared": OpWord(SharedStore, "ring", about="st.shared from registers (STS), where that is all."),
    "cp_async": OpWord(ThreadFetch, "ring", about="cp.async into the stage (LDGSTS), issued by the threads."),
    "commit_group": OpWord(Group, "ring", about="cp.async.commit_group (LDGDEPBAR): the copies since the last one."),
    "wait_group": OpWord(PendingGroups, "pending", int, about="cp.async.wait_group (DEPBAR)."),
    "producer_commit": OpWord(
        Commit, "ring", about="The warps that wrote the stage themselves arrive on its full barrier."
    ),
    "tma_store": OpWord(
        OnRingBytes, "ring", about="cp.async.bulk from the stage to global memory, and its bulk group."
    ),
    "bulk_wait": OpWord(PendingBulk, "pending", int, about="cp.async.bulk.wait_group."),
    "store": OpWord(GlobalStore, "bytes", int | str, about="st.global from registers (STG)."),
    "sync_threads": OpWord(Schedule, about="__syncthreads: all warps of the CTA, of all roles."),
    "named_barrier": OpWord(Barrier, about="bar.sync with a number and some of the warps."),
    "arrive": OpWord(OnBarrier, "barrier", about="mbarrier.arrive, one lane of each warp."),
    "expect_tx": OpWord(Expect, about="mbarrier.arrive.expect_tx."),
    "mbarrier_wait": OpWord(PhaseWait, "barrier", about="mbarrier.try_wait until a phase of a barrier is complete."),
    "set_max_nreg": OpWord(Registers, "registers", int, about="setmaxnreg: move registers between warpgroups."),
}
"""Every word of an op list."""


class Repeat(Model):
    """Ops that run several times, one turn after the other: a loop inside a tile. It may hold others."""

    times: Annotated[Count, Field(ge=1, le=MAX_TIMES)]
    """Turns of the loop."""
    ops: Annotated[list[OpStep], Field(min_length=1)]
    """Its ops; all turns belong to the tile of the iteration."""


REPEAT = "repeat"
STEPS = {**OPS, REPEAT: OpWord(Repeat, about="Ops that run several times within the tile, as a loop does.")}
"""Every word that a step of an op list may have."""

OpStep = step_model("OpStep", STEPS, "{acquire: input}")
Repeat.model_rebuild()
