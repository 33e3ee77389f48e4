"""Numbers of a ``compute`` that contradict each other: each of them counts some of what another one counts."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.scenario.kernel.compute_schema import ComputeMix
from gpusim.scenario.problem import Problem

__all__ = ["compute_problems"]

_ONE_TURN = 2048
"""Loads and products that are followed one by one."""
_NEARLY = 0.02
"""By how much counts may differ that are the same but for rounding."""
_ROUNDED = 0.99
"""Means over loops are rounded where they are written down."""


def compute_problems(spec: ComputeMix, path: tuple) -> Iterator[Problem]:
    """What is wrong with the counts of ``spec``."""
    around = spec.other + spec.setup + spec.interleaved
    if spec.ldc > around:
        yield Problem(
            (*path, "ldc"), f"{spec.ldc:g} of {around:g} instructions load a constant",
            f"at most {around:g}, those of other, setup and interleaved that do",
        )  # fmt: skip
    # IMAD.HI and IMAD.WIDE count twice, and beside conversions of halves FP32 has the same two pipes.
    if spec.half_rate > 2.0 * around + spec.ffma:
        yield Problem(
            (*path, "half_rate"), f"{spec.half_rate:g} of {around:g} instructions are of half rate",
            f"at most {around:g}, those of other, setup and interleaved that are; twice as many if all are IMAD.WIDE, "
            f"and up to {spec.ffma:g} more, those of ffma, beside halves",
        )  # fmt: skip
    if spec.loads_in_flight > max(spec.lds, 1.0):
        yield Problem(
            (*path, "loads_in_flight"), f"{spec.loads_in_flight:g} of {spec.lds:g} loads (lds) are under way at a time",
            f"at most {max(spec.lds, 1.0):g}",
        )  # fmt: skip
    if spec.atoms_waits > spec.atoms:
        yield Problem(
            (*path, "atoms_waits"), f"waits for {spec.atoms_waits:g} of {spec.atoms:g} atomics (atoms)",
            f"at most {spec.atoms:g}",
        )  # fmt: skip
    yield from _chain_problems(spec, path)
    if spec.fragments:
        yield from _fragment_problems(spec, (*path, "fragments"))
    issued = around + spec.ffma + spec.mma + spec.mufu + spec.lds + spec.sts + spec.atoms
    if spec.alone and spec.alone < issued * _ROUNDED:
        yield Problem(
            (*path, "alone"), f"{spec.alone:g} cycles for {issued:g} instructions, of which a warp issues one a cycle",
            f"at least {issued:g}, or leave it out",
        )  # fmt: skip


def _chain_problems(spec: ComputeMix, path: tuple) -> Iterator[Problem]:
    """Chains have an instruction each; what is given by default, and then written down, is no statement."""
    for chains, word in (("ilp", "ffma"), ("mma_ilp", "mma")):
        given, count = getattr(spec, chains), getattr(spec, word)
        most = max(count, ComputeMix.model_fields[chains].default)
        if count and given > most:
            text = f"{count:g} {word} are no {given:g} chains that are independent of each other"
            yield Problem((*path, chains), text, f"at most {count:g}")
    cycles = sum(count * apart for apart, count in enumerate(spec.gaps, 1))
    if spec.alone and cycles * _ROUNDED > spec.alone:
        yield Problem(
            (*path, "gaps"), f"these gaps are {cycles:g} cycles long, and a warp alone takes {spec.alone:g} (alone)",
            f"at most {spec.alone:g} cycles: the gaps of one cycle, two, three and four, as parts of alone",
        )  # fmt: skip


def _fragment_problems(spec: ComputeMix, path: tuple) -> Iterator[Problem]:
    loads, products = (sum(run[place] for run in spec.fragments) for place in (0, 1))
    if not (loads and products):
        yield Problem(
            path, f"{loads} loads and {products} products", "runs [loads, products, ahead] that have some of both"
        )  # fmt: skip
    elif loads + products > _ONE_TURN:
        yield Problem(
            path, f"{loads + products} loads and products", f"at most {_ONE_TURN}, those of one turn"
        )  # fmt: skip
    elif abs(spec.lds * products - spec.mma * loads) > _NEARLY * spec.mma * loads:
        yield Problem(
            path, f"{loads} loads for {products} products, and {spec.lds:g} lds for {spec.mma:g} mma",
            "as many loads for a product as lds for an mma: runs of one turn, or of all of them",
        )  # fmt: skip
