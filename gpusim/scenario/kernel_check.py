"""What pydantic cannot see in a spelled-out kernel: names that refer to nothing, sizes that cannot be.

Deadlocks and overwritten stages are found by running the program, not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from gpusim.errors import listing, nearest
from gpusim.scenario.kernel_schema import SpelledKernel
from gpusim.scenario.op_schema import chosen

__all__ = ["Problem", "problems"]

BULK_ALIGNMENT = 16  # PTX ISA: size of cp.async.bulk is a multiple of 16


class Problem(NamedTuple):
    """A place below ``kernel``, what is wrong there, what is allowed, and the nearest name."""

    path: tuple[str | int, ...]
    text: str
    allowed: str = ""
    suggestion: str | None = None


def problems(kernel: SpelledKernel) -> Iterator[Problem]:
    """Everything wrong with the references and sizes of ``kernel``, in file order."""
    tiles = kernel.tiles_per_cta
    if len(tiles) > 1 and len(tiles) != kernel.grid:
        yield Problem(
            ("tiles_per_cta",), f"lists {len(tiles)} CTAs, but grid is {kernel.grid}",
            "one number, or one number per CTA",
        )  # fmt: skip
    if kernel.l2_warm and kernel.footprint is None:
        yield Problem(("footprint",), "is needed when l2_warm is true", "the distinct bytes read, such as 32 MiB")
    for name in kernel.rings:
        if name in kernel.roles:
            yield Problem(("rings", name), "has the same name as a role", "different names")
    for role_name, role in kernel.roles.items():
        for part in ("prologue", "per_tile", "epilogue"):
            for index, step in enumerate(getattr(role, part)):
                word, spec = chosen(step)
                path = ("roles", role_name, part, index, word)
                yield from _op_problems(kernel, part, word, spec, path)


def _op_problems(kernel: SpelledKernel, part: str, word: str, spec: Any, path: tuple) -> Iterator[Problem]:
    for field, known in (("ring", kernel.rings), ("reads", kernel.rings), ("barrier", kernel.barriers)):
        name = getattr(spec, field, None)
        if name is not None and name not in known:
            kind = "barrier" if field == "barrier" else "ring"
            allowed = listing(known) or f"none; declare it under {kind}s"
            yield Problem((*path, field), f"there is no {kind} {name!r}", allowed, nearest(name, known))
            return
    if part != "per_tile" and spec.ahead:
        yield Problem((*path, "ahead"), f"means nothing in {part}", "tile: n")
    if part == "per_tile" and spec.tile is not None:
        yield Problem((*path, "tile"), "is the iteration's own tile in per_tile", "ahead: n")
    ring = getattr(spec, "ring", None)
    if spec.ahead == "full" and ring is None and len(kernel.rings) != 1:
        yield Problem((*path, "ahead"), "full needs to know the ring", "ring: name, or a number")
    if not hasattr(spec, "bytes"):
        return
    if spec.bytes is None and ring is None and len(kernel.rings) != 1:
        yield Problem(path, "needs bytes, as the kernel has not exactly one ring", "bytes: 16 KiB")
        return
    stage = kernel.rings[ring].bytes if ring else None
    if stage is not None and spec.bytes is not None and spec.bytes > stage:
        yield Problem((*path, "bytes"), f"{spec.bytes} B do not fit a stage of {stage} B", f"at most {stage}")
    size = spec.bytes if spec.bytes is not None else stage
    if word in ("tma_load", "tma_store") and size % BULK_ALIGNMENT:
        yield Problem((*path, "bytes"), f"a bulk copy of {size} B", f"a multiple of {BULK_ALIGNMENT}")
