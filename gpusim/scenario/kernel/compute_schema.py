"""The ``compute`` of a role's list: `gpusim.program.Mix` as it is written in a scenario file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gpusim.scenario.fields import Count, Name, Number
from gpusim.scenario.kernel.schedule_schema import Amount, ByPartOfRole, Width

__all__ = ["ComputeMix"]


InRun = Annotated[Count, Field(ge=0, le=4096)]
Run = tuple[InRun, InRun, InRun]


class ComputeMix(ByPartOfRole):
    """Instruction counts of one warp for one tile, and the parallelism among them."""

    ffma: Amount = 0.0
    """FFMA, FADD and FMUL: one pipe, one latency."""
    lds: Amount = 0.0
    """Loads from shared memory (LDS), and shuffles, which go the same way; all of one width, `lds_bytes`."""
    other: Amount = 0.0
    """All others inside the loop (addresses, counter, branch, comparisons) that the next instruction waits for. Those
    that nothing waits for are `interleaved` and not in here."""
    setup: Amount = 0.0
    """All others before and after the loop, once per tile, of which each waits for the one before: nothing hides
    them."""
    interleaved: Amount = 0.0
    """Others that stand between instructions which do not wait for them: an issue slot each and no more. In addition to
    `other` and `setup`, not part of them."""
    masked: Amount = 0.0
    """Loads and stores that no lane executes, because a predicate is false for all: a turn of the load-store unit."""
    sts: Amount = 0.0
    """Stores to shared memory (STS), all of one width, `sts_bytes`."""
    atoms: Amount = 0.0
    """Atomics on shared memory (ATOMS) of any width. Sums of floating point and of 64 bits are loops in the machine
    code, of lds, the sum and a swap (ATOMS.CAST.SPIN) that fails for all but one lane of each bank. Count all of a turn
    as often as the fullest bank has lanes, T = 3.6 times for words at random: in one op, with `lds_wavefronts`
    (T + 1) / 2 as lanes drop out, `atoms_wavefronts: 2` (4 of 64 bits) and `atoms_waits` as `atoms`. W other warps of
    the CTA that do the same with random words of the same N add 8 W / N turns, measured for 8 to 32 warps. A loop of a
    greatest or least value ends sooner: after 4 turns on average (1 + 1/2 + … + 1/32) if a whole warp has values at
    random."""
    mufu: Amount = 0.0
    """MUFU: reciprocal, square root, exponential, logarithm, sine; and others of its unit, POPC, F2I, I2F of 8 and 16
    bits."""
    mma: Amount = 0.0
    """mma.sync on the tensor cores, m16n8k16 of FP16 or BF16 (HMMA.16816): the warp waits where it needs the results.
    One of half the depth (HMMA.1688) is half of one."""
    mma_ilp: Annotated[Number, Field(ge=1, le=256)] = 4.0
    """mma that are independent of each other: tiles of accumulators that the warp goes through for each step in
    depth."""
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
    """By how much longer every lds and every sts of the op occupies shared memory; it multiplies `lds_wavefronts` and
    `sts_wavefronts` too, so say one of the two."""
    lds_wavefronts: Annotated[Number, Field(ge=0, le=32)] = 0.0
    """Turns of the shared-memory pipe for one lds, of 128 bytes each; 0: lds_bytes / 4, each lane its own words."""
    sts_wavefronts: Annotated[Number, Field(ge=0, le=32)] = 0.0
    """The same for one sts; 0: sts_bytes / 4."""
    atoms_wavefronts: Annotated[Number, Field(ge=1, le=128)] = 1.0
    """Turns of the shared-memory pipe for one `atoms`: as many as the fullest bank has lanes that want its words, also
    of the same word: 32 if all lanes want one, 3.6 of words at random. Lanes that add the constant 1 to the same word
    (POPC.INC) count once: 1 if all want one or if there are 32 words at most, 2 of 64 at random, 3.2 of 256, 3.5 of
    more. An atomicAdd of all lanes to one counter is a single lane's in the machine code, which adds up theirs: 1.
    Twice as many for CAS, and again for 64 bits."""
    atoms_waits: Amount = 0.0
    """How often the warp waits for the old values of its `atoms`: those, or groups of them, whose result is used."""
    register_conflicts: Amount = 0.0
    """Cycles in which nothing is issued because operands meet in one bank of the register file; `gpusim count` finds
    them."""
    pipe_stalls: Amount = 0.0
    """Cycles in which nothing is issued because a pipe of half rate is busy: one for each instruction of integer
    arithmetic (IADD3, LOP3, SHF, ISETP, SEL, FMNMX …), of IMAD or of FP64 right behind another of its kind,
    three behind IMAD.HI and IMAD.WIDE; `gpusim count` finds them."""
    half_rate: Amount = 0.0
    """How many of `other`, `setup` and `interleaved` the fullest pipe of half rate takes. While one warp waits for it
    (`pipe_stalls`) others can issue, but nothing for this pipe, which takes one every two cycles (IMAD.HI and
    IMAD.WIDE, which take four, count twice). `gpusim count` finds them. The pipes: integer arithmetic; FP64; the two of
    FP32, of which IMAD and VIADD take one and HFMA2, HADD2 and HMUL2 both, so that `ffma` counts beside these;
    HFMA2.MMA."""
    alone: Amount = 0.0
    """Cycles that one warp alone needs for all these instructions where it waits for no load: `gpusim count` finds them
    in a cubin, by the compiler's stall counts. 0: as `ffma`, `ilp`, `mufu`, `other` and `setup` make it."""
    divergent_branches: Amount = 0.0
    """How often a branch parts the lanes of the warp (a tile that fills the last warp only in part, a loop that some
    lanes leave sooner), who wait for each other where it ends (BSYNC). Predicated instructions part nobody. A
    mean over all warps that execute the op: 0.33 where one of three parts."""
    divergent_syncwarps: Amount = 0.0
    """The same where they wait at ``__syncwarp`` (WARPSYNC), six times as long; the compiler puts the meeting there in
    kernels whose warps have roles."""
    gaps: Annotated[tuple[Amount, ...], Field(max_length=4)] = ()
    """How many instructions a warp's next one follows after one cycle, two, three and four: `gpusim count` finds them.
    Warps that do the same take turns, so that a long gap of one is filled by others, and a short one is not. Left out:
    all gaps are filled."""
    fragments: Annotated[tuple[Run, ...], Field(max_length=1024)] = ()
    """Where a warp loads fragments (`lds`) and multiplies them (`mma`): in the order of the machine code, runs of
    loads, of products behind them, and how many of the last loads until then these do not need yet. `gpusim count`
    finds them. Left out: batches as `loads_in_flight` and `load_to_use` say."""
    ldc: Amount = 0.0
    """How many of `other`, `setup` and `interleaved` load a constant or a kernel parameter into a register (LDC): an
    SM does one every two cycles."""
    reads: Name | Literal[False] | None = None
    """Ring whose stage `lds` reads; default: the last one this role waited for. false: none, as for shuffles."""
