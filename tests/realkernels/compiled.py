"""A kernel of a technique compiled for sm_90a without a GPU, for tests that count its instructions."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpusim.program import sass
from realkernels._harness.compile import KernelSpec
from realkernels._harness.disassembler import disassemble, disassembler

REGISTER_STEP = 8
"""Registers per thread are allocated in so many."""


def allocated(registers: int) -> int:
    """Registers per thread that a kernel occupies which was compiled to use ``registers``."""
    return -(-registers // REGISTER_STEP) * REGISTER_STEP


@dataclass(frozen=True)
class Compiled:
    """One compilation. ``loop``: opcodes with their modifiers of the shortest loop that reads global memory, if any."""

    instructions: list[sass.Instruction]
    loop: Counter
    registers: int
    spilled: int

    def family(self, *opcodes: str) -> int:
        """How many of the loop's instructions have one of ``opcodes``, whatever their modifiers."""
        return sass.family(self.loop, *opcodes)

    def other(self, *apart: str) -> int:
        """The loop's instructions that are none of ``apart``."""
        return sum(self.loop.values()) - self.family(*apart)


def instructions_of(
    instructions: Sequence[sass.Instruction], loop: sass.Loop, without: Sequence[sass.Loop] = ()
) -> list[sass.Instruction]:
    """Those between the first and the last of ``loop`` by address, the ones of loops ``without`` left out."""
    inside = [i for i in instructions if loop.first <= i.address <= loop.last]
    return [i for i in inside if not any(w.first <= i.address <= w.last for w in without)]


def within(inner: sass.Loop, outer: sass.Loop) -> bool:
    """Whether ``inner`` is another loop than ``outer``, and lies in it."""
    return outer.first <= inner.first and inner.last <= outer.last and inner is not outer


def tools() -> tuple[str, str]:
    """Compiler ($NVCC or nvcc on the path) and disassembler, or skip."""
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc")
    cuobjdump = disassembler()
    if not nvcc or not cuobjdump:
        pytest.skip("no nvcc and cuobjdump to compile and disassemble with (set NVCC, CUOBJDUMP)")
    return nvcc, cuobjdump


def assemble(spec: KernelSpec, *options: str) -> tuple[list[sass.Instruction], str]:
    """The kernel's instructions for sm_90a, and the compiler's report on its file; skips without the tools."""
    nvcc, _ = tools()
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        command = [nvcc, "-std=c++17", "-arch=sm_90a", "-cubin", "-Xptxas", "-v", "-o", str(cubin), str(spec.source)]
        command += [f"-D{key}={value}" for key, value in spec.defines.items()] + list(options)
        run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        instructions = sass.parse(disassemble(cubin, spec.name))
    return instructions, run.stderr


def compile_spec(spec: KernelSpec) -> Compiled:
    """Compile for sm_90a and disassemble; skips without the tools."""
    instructions, report = assemble(spec)
    # The compiler reports on every kernel of the file.
    report = report.split(f"Compiling entry function '{spec.name}'")[1]
    words = report.split()
    loop = next((loop.counts for loop in sass.branch_loops(instructions) if sass.family(loop.counts, "LDG")), {})
    return Compiled(
        instructions,
        Counter(loop),
        registers=int(words[words.index("Used") + 1]),
        spilled=int(report.split(" bytes spill stores")[0].split()[-1]),
    )
