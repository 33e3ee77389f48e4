"""In which order fragments are loaded and used, from machine code."""

from __future__ import annotations

from gpusim.program.sass import Instruction, fragment_runs

FFMA = "FFMA R90, R91, R92, R90"


def found(*lines: str, loop: bool = False) -> list[tuple[int, int, int]]:
    """Of these instructions."""
    return fragment_runs([Instruction.of(line) for line in lines], loop=loop)


def load(register: int) -> str:
    """Of four registers."""
    return f"LDSM.16.M88.4 R{register}, [R99]"


def product(first: int, second: int, shape: str = "16816") -> str:
    """Of four registers and two."""
    return f"HMMA.{shape}.F32 R80, R{first}, R{second}, R80"


def test_products_need_the_later_of_their_loads():
    """The first one needs two of three loads, the second all of them."""
    lines = [load(0), load(4), load(8), product(0, 4), product(0, 8)]
    assert found(*lines) == [(3, 1, 1), (0, 1, 0)]


def test_the_second_half_of_a_load_counts():
    """Four registers are two second operands."""
    assert found(load(0), load(4), product(0, 6), product(0, 4)) == [(2, 2, 0)]


def test_a_turn_begins_with_what_the_one_before_has_loaded():
    """In a loop; in code that runs once nobody knows when that was."""
    lines = [product(0, 4), load(8), product(0, 4), load(0), load(4)]
    assert found(*lines, loop=True) == [(0, 1, 0), (1, 1, 1), (2, 0, 0)]


def test_what_is_made_of_a_load_hangs_on_it():
    """As where numbers are unpacked before they are multiplied."""
    lines = ["LDS R20, [R99]", load(4), load(8), "PRMT R0, R20, R21, R22", product(0, 4), FFMA, product(0, 8)]
    assert found(*lines) == [(3, 1, 1), (0, 1, 0)]


def test_two_products_of_half_the_depth_are_one():
    """Of m16n8k8."""
    assert found(load(0), *[product(0, 2, "1688")] * 4) == [(1, 2, 0)]


def test_nothing_without_both():
    """Loads alone, products alone."""
    assert not found(load(0), FFMA)
    assert not found(product(0, 4), FFMA)
