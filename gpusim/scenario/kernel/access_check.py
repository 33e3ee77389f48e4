"""What is wrong with where the bytes of an access lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpusim.scenario.problem import Problem

__all__ = ["layout_problems"]


def layout_problems(spec: Any, path: tuple) -> Iterator[Problem]:
    """Of where the bytes of an access lie, and who else wants them."""
    if getattr(spec, "stride", 0) and spec.scatter:
        yield Problem((*path, "scatter"), "addresses are a stride apart or scattered, not both", "stride or scatter")
    if structure := getattr(spec, "structure", 0):
        if spec.stride or spec.scatter or spec.completed:
            what = "goes along with stride, scatter or completed, of which it says more"
            yield Problem((*path, "structure"), what, "structure alone")
        if structure % spec.width:
            yield Problem((*path, "structure"), f"expected whole parts of {spec.width} bytes, got {structure}",
                          f"a multiple of the width, {spec.width}")  # fmt: skip
    if shift := getattr(spec, "shift", 0):
        if spec.stride or spec.scatter or spec.structure or spec.again:
            what = "is of lanes that write side by side, each sector once"
            yield Problem((*path, "shift"), what, "shift without stride, scatter, structure and again")
        if shift % spec.width:
            yield Problem((*path, "shift"), f"a store of {spec.width} bytes a lane does not begin at {shift}",
                          f"a multiple of the width, {spec.width}")  # fmt: skip
    if getattr(spec, "run", 0) and not spec.shift:
        yield Problem((*path, "run"), "is of stores that begin off a sector", "with a shift")
    if getattr(spec, "completed", 0.0) and not (spec.stride or spec.scatter):
        yield Problem(
            (*path, "completed"), "is for what is read or written in part, and here nothing is",
            "with a stride or scatter",
        )  # fmt: skip
    if 0 < getattr(spec, "distinct", 0) < spec.width:
        yield Problem((*path, "distinct"), f"{spec.distinct} B hold no value of {spec.width}", f"0, or {spec.width}")
    if getattr(spec, "on_the_way", 0.0) and not spec.l2_hit:
        yield Problem((*path, "on_the_way"), "is a part of what is found in L2, and here nothing is", "with an l2_hit")
