"""Instruction counts of one warp for one op, and the parallelism among them."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.program.banks import WORD

__all__ = ["HALF_RATE", "Mix"]

HALF_RATE = 2
"""Cycles for which a pipe of half rate is busy with one warp instruction."""


@dataclass(frozen=True, slots=True)
class Mix:
    """What one warp executes for one op, by kind of instruction, and how far the instructions wait for each other.

    The counts are those of the compiled kernel (SASS), summed over the op; `gpusim.program.sass` finds them, and the
    cycles, in machine code.

    Units: warp instructions, where a field does not say another one.
    """

    ffma: float = 0.0
    """FFMA, FADD and FMUL."""
    mufu: float = 0.0
    """MUFU and others of the special-function unit."""
    lds: float = 0.0
    """Loads from shared memory (LDS) and shuffles, all of one width, `lds_bytes`."""
    sts: float = 0.0
    """Stores to shared memory (STS), all of one width, `sts_bytes`."""
    atoms: float = 0.0
    """Atomics on shared memory (ATOMS), of any width."""
    other: float = 0.0
    """All others inside the loop that the next instruction waits for."""
    interleaved: float = 0.0
    """All others that the compiler has put between instructions that do not wait for them: each takes its issue slot
    and no more."""
    setup: float = 0.0
    """All others before and after the loop (addresses, stage bookkeeping, branches), where the warp has no arithmetic
    to hide them behind."""
    masked: float = 0.0
    """Loads and stores that no lane executes, because a predicate is false for the whole warp: they take part in the
    queue for shared memory and L1 all the same."""
    mma: float = 0.0
    """Products of 16 x 8 x 16 on the tensor cores that the warp waits for (HMMA.16816 of FP16 or BF16); one of half the
    depth is half of one."""
    ldc: float = 0.0
    """How many of `other`, `setup` and `interleaved` load a constant or a kernel parameter into a register."""
    half_rate: float = 0.0
    """How many of `other`, `setup` and `interleaved` the fullest pipe of half rate takes, and beside halves of FP32;
    one keeps it busy for `HALF_RATE` cycles."""
    ilp: float = 4.0
    """Chains of dependent FP32 instructions that are independent of each other; a number without a unit."""
    mma_ilp: float = 4.0
    """Products that are independent of each other, each with accumulators of its own; a number without a unit."""
    loads_in_flight: float = 1.0
    """How many `lds` the warp issues before it needs the first of them (the unroll factor of the loop around them)."""
    load_to_use: float = 0.0
    """How many other instructions stand between these `lds` and the first that needs what they bring."""
    lds_bytes: int = 16
    """Bytes that a lane loads with one `lds`: 4, 8 or 16."""
    sts_bytes: int = 16
    """Bytes that a lane stores with one `sts`: 4, 8 or 16."""
    lds_wavefronts: float = 0.0
    """How often one `lds` passes the 128 bytes a clock of shared memory; 0 stands for `lds_bytes` / 4, each lane its
    own words. Where neighbours load the same words it is half of that or less."""
    sts_wavefronts: float = 0.0
    """The same of one `sts`."""
    atoms_wavefronts: float = 1.0
    """The same of one `atoms`: as often as the fullest bank has lanes that want its words, two of the same word counted
    twice; once for all lanes of a word to which 1 is added, and twice as often for a comparison that swaps."""
    atoms_waits: float = 0.0
    """How often the warp waits for what `atoms` bring back, the values from before."""
    bank_conflict: float = 1.0
    """Factor on the shared-memory cycles of every `lds` and `sts`; a number without a unit."""
    register_conflicts: float = 0.0
    """Cycles in which nothing can be issued because operands meet in one bank of the register file."""
    pipe_stalls: float = 0.0
    """Cycles in which nothing can be issued because a pipe of half rate is busy."""
    alone: float = 0.0
    """Cycles that one warp needs for all of it where it waits for no load; 0: they are estimated from the counts."""
    divergent_branches: float = 0.0
    """How often lanes of the warp part ways at a branch, and come together again where it ends (BSYNC)."""
    divergent_syncwarps: float = 0.0
    """The same where they come together at ``__syncwarp`` (WARPSYNC), as in kernels whose warps have roles."""
    gaps: tuple[float, ...] = ()
    """Of its instructions, how many the warp's next one follows after one cycle, two, three and four; the others after
    more, as `alone` says. Without them every gap of a warp serves for others' instructions."""
    fragments: tuple[tuple[int, int, int], ...] = ()
    """In the order of the machine code, loads (`lds`), products (`mma`) behind them, and how many of the last loads
    until then these do not need yet; once or as often as the counts say. Without them `loads_in_flight` and
    `load_to_use` say how the loads lie."""

    @property
    def issue_slots(self) -> float:
        """Warp instructions in total; each takes one issue slot."""
        memory, around = self.lds + self.sts + self.atoms + self.masked, self.other + self.setup + self.interleaved
        return self.ffma + self.mma + self.mufu + memory + around

    @property
    def load_turns(self) -> float:
        """How often one `lds` passes the 128 bytes a clock of shared memory, with its conflicts."""
        return (self.lds_wavefronts or self.lds_bytes / WORD) * self.bank_conflict

    @property
    def store_turns(self) -> float:
        """The same of one `sts`."""
        return (self.sts_wavefronts or self.sts_bytes / WORD) * self.bank_conflict

    @property
    def shared_turns(self) -> float:
        """The same of all accesses to shared memory together."""
        return self.lds * self.load_turns + self.sts * self.store_turns + self.atoms * self.atoms_wavefronts
