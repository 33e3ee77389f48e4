"""A disassembly as ``cuobjdump -sass`` prints it: its functions, instructions, and backward branches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,6})\*/\s+(.+?)\s*;(?:\s*/\* 0x[0-9a-f]{16} \*/\s*/\* 0x([0-9a-f]{16}) \*/)?")
_FUNCTION = re.compile(r"^\s*Function : (\S+)", re.MULTILINE)
_NUMBER = re.compile(r"\b0x([0-9a-f]+)\b")
_STALL_SHIFT, _STALL_MASK = 41, 15
"""Where the upper half of an instruction's code says for how many cycles the warp issues nothing after it."""

_ARRIVES_IN_CLUSTER = "UCGABAR_ARV"
_FENCES = ("MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "NOP")
"""What the compiler puts in front of that, unless the program says ``.relaxed``."""

__all__ = [
    "MATRICES",
    "Instruction",
    "Loop",
    "branch_loops",
    "count",
    "family",
    "functions",
    "only_waits",
    "parse",
]


MATRICES = ("LDSM", "STSM")
"""ldmatrix and stmatrix: of one, two or four matrices of 128 bytes."""
_WIDTHS = {
    "128": 16, "64": 8, "F64": 8, "F32x2": 8, "F32x4": 16, "F16x4": 8, "BF16x4": 8, "F16x8": 16, "BF16x8": 16,
}  # fmt: skip
"""Bytes a lane by the modifier that says more than 4; those of numbers are atomics'."""


@dataclass(frozen=True)
class Instruction:
    """One line: its address, opcode with modifiers and whole text; and what other modules here have found out about it.

    Threads of a CTA are told by a number whose bit i stands for thread i.
    """

    address: int
    opcode: str
    text: str
    stall: int | None = None
    """Cycles until the warp's next instruction, as the compiler has set them; None without machine code."""
    one_address: bool = False
    """A load, or an atomic on shared memory, that wants the same address in all lanes (`lanes`)."""
    threads: int | None = None
    """Those that come to it, where a branch keeps others from it (`threads`)."""
    taking: int | None = None
    """Those of them that execute it, where its predicate says so (`threads`)."""
    wavefronts: float | None = None
    """How often it passes shared memory (`shared_words`)."""
    announced: int | None = None
    """Bytes that an arrival at an mbarrier announces, if they are a constant (`threads`)."""
    places: tuple[int, int] | None = None
    """Bytes in a row that a warp wants of global memory, and in how many places (`global_places`)."""
    stride: int | None = None
    """Bytes from one lane's address to the next one's, where they are the same for all lanes (`global_places`)."""
    whole: bool = False
    """With others it takes all that lies between two lanes (`structures`)."""
    in_cluster: bool = False
    """A generic access to shared memory of another CTA (`cluster_addresses`)."""
    jumped_over: tuple[int, ...] = ()
    """Addresses of the branches inside its loops that jump over it, outermost first, and less those of exits and jumps
    behind which it stands as the other half of a choice (`blocks`)."""
    base: tuple[tuple[int, int], ...] = ()
    """Registers of an address in global memory, each with the address of the instruction that wrote it (`bases`)."""

    @staticmethod
    def of(text: str, address: int = 0, stall: int | None = None) -> Instruction:
        """The instruction that ``text`` is, with the predicate if it has one."""
        words = text.split()
        opcode = words[1] if words[0].startswith("@") else words[0]
        # The assembler pads asynchronous copies with loads that never execute and wait their turn all the same.
        if words[0] == "@!PT":
            opcode = f"@!PT.{opcode}"
        return Instruction(address, opcode, text, stall)

    @property
    def predicated(self) -> bool:
        """Whether only some lanes or turns execute it."""
        return self.predicate not in ("", "!PT")

    @property
    def predicate(self) -> str:
        """What decides who executes it, as ``!P0``; empty if all do."""
        return self._split[0].strip().removeprefix("@")

    @property
    def operands(self) -> list[str]:
        """What stands behind the opcode, results first."""
        return [operand.strip() for operand in self._split[1].split(",")]

    @property
    def width(self) -> int:
        """Bytes a lane of an access; those of less than 4 take as long as 4 and count as such."""
        root, *modifiers = self.opcode.split(".")
        if root in MATRICES:
            return {"4": 16, "2": 8}.get(modifiers[-1], 4)
        return next((_WIDTHS[modifier] for modifier in modifiers if modifier in _WIDTHS), 4)

    @property
    def _split(self) -> tuple[str, str]:
        """What stands in front of the opcode, and what behind it."""
        before, _, behind = self.text.partition(self.opcode.removeprefix("@!PT."))
        return before, behind

    @property
    def root(self) -> str:
        """The opcode without its modifiers: ``LDS`` of ``LDS.128``."""
        return self.opcode.split(".", 1)[0]

    @property
    def numbers(self) -> list[int]:
        """The hexadecimal numbers of the text in their order; the last one of a branch is its target."""
        return [int(number, 16) for number in _NUMBER.findall(self.text)]


@dataclass(frozen=True)
class Loop:
    """Instructions from a backward branch's target to the branch; inner loops are counted in as well.

    `gpusim.program.sass.loops` tells loops of the source from other branches that jump back.
    """

    first: int
    last: int
    counts: dict[str, int]


def functions(text: str) -> dict[str, str]:
    """The disassembly of each function in a dump, by its (mangled) name."""
    marks = [(m.group(1), m.start()) for m in _FUNCTION.finditer(text)]
    ends = [*(start for _, start in marks[1:]), len(text)]
    return {name: text[start:end] for (name, start), end in zip(marks, ends, strict=False)}


def parse(text: str) -> list[Instruction]:
    """Instructions in address order, predicates stripped from the opcode.

    Fences that belong to a barrier of the cluster, which is measured with them, are NOPs.
    """
    found = []
    for match in _INSTRUCTION.finditer(text):
        code = match.group(3)
        stall = int(code, 16) >> _STALL_SHIFT & _STALL_MASK if code else None
        found.append(Instruction.of(match.group(2), int(match.group(1), 16), stall))
    return _without_fences(found)


def _without_fences(found: Sequence[Instruction]) -> list[Instruction]:
    """Walked from the end, so that an arrival comes before the fences in front of it."""
    kept, arrives = [], False
    for one in reversed(found):
        arrives = one.root == _ARRIVES_IN_CLUSTER or (arrives and one.root in _FENCES)
        fence = arrives and one.root == "MEMBAR"
        kept.append(Instruction.of("NOP", one.address, one.stall) if fence else one)
    return kept[::-1]


def count(instructions: Sequence[Instruction]) -> dict[str, int]:
    """Instructions by opcode with its modifiers (``LDS.128``), padding NOPs left out."""
    return dict(sorted(Counter(i.opcode for i in instructions if i.opcode != "NOP").items()))


def branch_loops(instructions: Sequence[Instruction]) -> list[Loop]:
    """What lies between each backward branch and its target, shortest first.

    A branch to itself (the padding after EXIT) is none of them.
    """
    found = []
    for branch in instructions:
        if not branch.opcode.startswith("BRA"):
            continue
        targets = branch.numbers
        if not targets or targets[-1] >= branch.address:
            continue
        first = targets[-1]
        body = [i for i in instructions if first <= i.address <= branch.address]
        found.append(Loop(first, branch.address, count(body)))
    return sorted(found, key=lambda loop: loop.last - loop.first)


def only_waits(counts: Mapping[str, int]) -> bool:
    """Whether a loop does nothing but look at an mbarrier until its phase is complete, or wait for registers."""
    everything = sum(counts.values())
    asks = family(counts, "USETMAXREG") and family(counts, "USETMAXREG", "WARPSYNC", "PLOP3", "BRA") == everything
    # What other CTAs of a cluster have written is not in L1: a wait with acquire.cluster empties it (CCTL.IVALL).
    return bool(asks) or 0 < family(counts, "SYNCS", "BRA", "YIELD", "CCTL") == everything


def family(counts: dict[str, int], *opcodes: str) -> int:
    """Total of the given opcodes with any modifiers: ``family(counts, "LDS")`` includes LDS.128."""
    return sum(n for opcode, n in counts.items() if opcode.split(".")[0] in opcodes)
