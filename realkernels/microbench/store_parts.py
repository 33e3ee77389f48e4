"""Stores to sectors that they fill and to parts of sectors, by warps that store at the same time: what each takes."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, spec

SOURCES = ("store_parts.cu",)
NOTES = {
    "rows": "pieces of so many bytes lie in rows of their own; else values of such a structure of each lane",
    "width": "bytes of a lane and store",
    "size": "bytes of a piece or structure",
    "warps": "of the only CTA, on one SM, all of which store at the same time",
    "lines, sectors": "that one store of a warp touches",
    "whole": "whether it fills the sectors",
    "cycles_per_store": "of the SM for a store of one warp: 64 stores of each less 32, over 32 and the warps",
}
PIECES = ((4, 4), (4, 8), (4, 16), (4, 32), (4, 64), (8, 8), (8, 16), (8, 32), (16, 16), (16, 32))
STRUCTURES = ((4, 8), (4, 16), (4, 32), (4, 64), (8, 16), (8, 32), (8, 64), (16, 32), (16, 64))
WARPS = (2, 4, 8, 16, 32)
FEW, MANY = 32, 64


def _cases() -> Iterator[tuple[bool, int, int]]:
    yield from ((True, *piece) for piece in PIECES)
    yield from ((False, *structure) for structure in STRUCTURES)


def _defines(rows: bool, width: int, size: int, stores: int) -> dict[str, int]:
    return {"ROWS": int(rows), "WIDTH": width, "SIZE": size, "STORES": stores}


def specs() -> list:
    return [spec("store_parts.cu", "store_parts", **_defines(*case, n)) for case in _cases() for n in (FEW, MANY)]


def run(context: Context) -> Iterator[dict]:
    for rows, width, size in _cases():
        for warps in WARPS:
            few, many = (_cycles(context, _defines(rows, width, size, stores), warps) for stores in (FEW, MANY))
            yield {
                "rows": rows, "width": width, "size": size, "warps": warps, **_touched(rows, width, size),
                "cycles_per_store": (many - few) / (MANY - FEW) / warps,
            }  # fmt: skip


def _touched(rows: bool, width: int, size: int) -> dict:
    if rows:
        pieces = 32 * width // size
        return {"lines": pieces, "sectors": pieces * max(size // 32, 1), "whole": size >= 32}
    return {"lines": 32 * size // 128, "sectors": min(size, 32), "whole": False}


def _cycles(context: Context, defines: dict[str, int], warps: int) -> float:
    kernel = context.kernel("store_parts.cu", "store_parts", **defines)
    return float(context.warm(kernel, 1, 32 * warps, (context.source, context.target), warps).max())
