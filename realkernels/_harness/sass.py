"""Disassembly of a cubin and instruction counts, for kernels whose model is fed with their own counts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,6})\*/\s+(.+?)\s*;")
_FUNCTION = re.compile(r"^\s*Function : (\S+)", re.MULTILINE)
_TARGET = re.compile(r"\b0x([0-9a-f]+)\b")
_USUAL_PLACES = ("/usr/local/cuda/bin/cuobjdump",)


@dataclass(frozen=True)
class Instruction:
    address: int
    opcode: str
    text: str


@dataclass(frozen=True)
class Loop:
    """Instructions from a backward branch's target to the branch; inner loops are counted in as well."""

    first: int
    last: int
    counts: dict[str, int]


@cache
def disassembler() -> str | None:
    """Path of cuobjdump: $CUOBJDUMP, the search path, the toolkit, or the copy inside Triton's package."""
    named = os.environ.get("CUOBJDUMP")
    for candidate in (named, shutil.which("cuobjdump"), *_USUAL_PLACES, _triton_copy()):
        if candidate and Path(candidate).is_file():
            return candidate
    return None


def disassemble(cubin: Path, name: str) -> str | None:
    """SASS text of one function, or None without a disassembler."""
    tool = disassembler()
    if tool is None:
        return None
    run = subprocess.run([tool, "-sass", str(cubin)], capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        return None
    marks = [(m.group(1), m.start()) for m in _FUNCTION.finditer(run.stdout)]
    ends = [start for _, start in marks[1:]] + [len(run.stdout)]
    return next((run.stdout[start:end] for (found, start), end in zip(marks, ends, strict=True) if found == name), None)


def parse(text: str) -> list[Instruction]:
    """Instructions in address order, predicates stripped from the opcode."""
    found = []
    for match in _INSTRUCTION.finditer(text):
        words = match.group(2).split()
        opcode = words[1] if words[0].startswith("@") else words[0]
        # The assembler pads asynchronous copies with loads that never execute: a slot, but no access.
        if words[0] == "@!PT":
            opcode = f"@!PT.{opcode}"
        found.append(Instruction(int(match.group(1), 16), opcode, match.group(2)))
    return found


def count(instructions: Sequence[Instruction]) -> dict[str, int]:
    """Instructions by opcode with its modifiers (``LDS.128``), padding NOPs left out."""
    return dict(sorted(Counter(i.opcode for i in instructions if i.opcode != "NOP").items()))


def loops(instructions: Sequence[Instruction]) -> list[Loop]:
    """Loops, shortest first. A branch to itself (the padding after EXIT) is no loop."""
    found = []
    for branch in instructions:
        if not branch.opcode.startswith("BRA"):
            continue
        targets = _TARGET.findall(branch.text)
        if not targets or int(targets[-1], 16) >= branch.address:
            continue
        first = int(targets[-1], 16)
        body = [i for i in instructions if first <= i.address <= branch.address]
        found.append(Loop(first, branch.address, count(body)))
    return sorted(found, key=lambda loop: loop.last - loop.first)


def family(counts: dict[str, int], *opcodes: str) -> int:
    """Total of the given opcodes with any modifiers: ``family(counts, "LDS")`` includes LDS.128."""
    return sum(n for opcode, n in counts.items() if opcode.split(".")[0] in opcodes)


def _triton_copy() -> str | None:
    # Found by file name and not by import: importing Triton would load a driver.
    import importlib.util

    spec = importlib.util.find_spec("triton")
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(Path(next(iter(spec.submodule_search_locations))) / "backends/nvidia/bin/cuobjdump")
