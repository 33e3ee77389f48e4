"""How fast many short CTAs issue code that runs once: what naive kernels of an element a thread are made of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from gpusim.program.sass import parse, parts, steps_of
from realkernels._harness.compile import CompiledKernel
from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import MIB, Context, spec, u32

SOURCES = ("short_ctas.cu",)
NOTES = {
    "block": "threads of a CTA; as many CTAs as fit are on an SM",
    "integers, chains": "of source code, in so many chains of dependent ones",
    "loads": "of 4 bytes a lane, from lines of L2 that nobody else in the SM loads",
    "steps": "the machine code as ops, [word, {field: number}]; null without cuobjdump",
    "seconds": "median event-to-event time",
}
BLOCKS, INTEGERS, CHAINS, LOADS = (128, 256, 512, 1024), (8, 32, 96), (1, 4), (1, 4)
ELEMENTS = 4 * MIB
APART = ELEMENTS // 8
WAVES, THREADS_PER_SM, REPEATS = 16, 2048, 7


def cases() -> list[dict[str, int]]:
    names = "BLOCK", "INTEGERS", "CHAINS", "LOADS"
    return [dict(zip(names, case, strict=True)) for case in product(BLOCKS, INTEGERS, CHAINS, LOADS)]


def specs() -> list:
    return [spec("short_ctas.cu", "short_ctas", ELEMENTS=ELEMENTS, **case) for case in cases()]


def run(context: Context) -> Iterator[dict]:
    for case in cases():
        kernel = context.kernel("short_ctas.cu", "short_ctas", ELEMENTS=ELEMENTS, **case)
        grid = WAVES * context.sms * THREADS_PER_SM // case["BLOCK"]
        args = (context.source, context.target, u32(0), u32(APART))
        times = time_launch(lambda k=kernel, g=grid, b=case["BLOCK"], a=args: k.launch(g, b, a), REPEATS, 1)
        yield {name.lower(): value for name, value in case.items()} | {
            "grid": grid,
            "registers": kernel.registers,
            "steps": machine_code(kernel),
            "seconds": times.median_s,
        }


def machine_code(kernel: CompiledKernel) -> list | None:
    """The ops that state a kernel without loops."""
    text = kernel.sass()
    if text is None:
        return None
    found = parts(parse(text))
    return [[step.word, {row.field: row.number for row in step.rows}] for step in steps_of(found[-1], found)]
