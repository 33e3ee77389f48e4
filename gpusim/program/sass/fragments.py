"""In which order a warp loads fragments and multiplies them by HMMA, from the instructions of a loop or part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.products import share
from gpusim.program.sass.registers import loaded, read, written

__all__ = ["fragment_runs"]

_LOADS = ("LDS", "LDSM", "SHFL")
_FIRST, _SECOND = 4, 2
"""Registers of the two operands of a whole product."""
_REGISTER = re.compile(r"R(\d+)")


def fragment_runs(body: Sequence[Instruction], *, loop: bool) -> list[tuple[int, int, int]]:
    """Loads, products behind them and how many of the last loads these do not need yet; of ``body``, in its order.

    A turn of a loop goes on with what the one before has loaded. Empty where there are no loads or no products. Two
    products of half the depth are one.
    """
    if not (any(one.root == "HMMA" for one in body) and any(one.root in _LOADS for one in body)):
        return []
    where: dict[int, int] = {}
    number = 0
    if loop:
        for _ in _needs(body, where, number):
            pass
        number = sum(one.root in _LOADS for one in body)
    runs: list[list[float]] = []
    loads = 0
    for ahead, product in _needs(body, where, number):
        if not product:
            loads += 1
        elif runs and not loads and runs[-1][2] == ahead:
            runs[-1][1] += product
        else:
            runs.append([loads, product, ahead])
            loads = 0
    if loads:
        runs.append([loads, 0.0, 0])
    return list(_whole(runs))


def _needs(body: Sequence[Instruction], where: dict[int, int], number: int) -> Iterator[tuple[int, float]]:
    """For each load (0, 0), for each product the loads until then that it does not need, and which part of one it is.

    ``where``: registers by the ``number`` of the load that they hang on, 0 for those of an earlier turn.
    """
    for one in body:
        if one.root in _LOADS:
            number += 1
            where.update(dict.fromkeys(loaded(one) if one.root != "SHFL" else written(one), number))
            yield 0, 0.0
        elif one.root == "HMMA":
            needed = max((where.get(register, 0) for register in _operands(one)), default=0)
            yield number - needed, share(one)
        else:
            needed = max((where.get(register, 0) for register in read(one)), default=0)
            where.update(dict.fromkeys(written(one), needed))


def _operands(one: Instruction) -> Iterator[int]:
    """Registers of both operands of a product."""
    for operand, whole in zip(one.operands[1:3], (_FIRST, _SECOND), strict=False):
        match = _REGISTER.match(operand.strip())
        if match:
            yield from range(int(match[1]), int(match[1]) + max(round(whole * share(one)), 1))


def _whole(runs: Sequence[Sequence[float]]) -> Iterator[tuple[int, int, int]]:
    """``runs`` with whole products."""
    done, counted = 0.0, 0
    for loads, products, ahead in runs:
        done += products
        yield int(loads), round(done) - counted, int(ahead)
        counted = round(done)
