"""Accesses of a warp one after the other, their addresses at hand: how soon it issues the next."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("in_a_row.cu",)
NOTES = {
    "access": "ld.global, st.global, cp.async (of 16 bytes past L1); of data that L2 holds, lane beside lane",
    "lane_bytes": "bytes per lane",
    "count": "accesses, each in front of the next",
    "cycles": "of a warp that is alone on the device, until all are issued",
}
ACCESSES = ("ld.global", "st.global", "cp.async")
WIDTHS = (4, 8, 16)
COUNTS = (4, 8, 12, 16)
REPEATS = 12


def variants() -> list[dict[str, int]]:
    return [
        {"ACCESS": access, "WIDTH": width, "COUNT": count}
        for access in range(len(ACCESSES))
        for width in WIDTHS
        for count in COUNTS
    ]


def specs() -> list:
    return [spec("in_a_row.cu", "in_a_row", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("in_a_row.cu", "in_a_row", **variant)
        found = settled(context.warm(kernel, 1, 32, (context.target, i32(REPEATS)), REPEATS))
        yield {
            "access": ACCESSES[variant["ACCESS"]],
            "lane_bytes": variant["WIDTH"],
            "count": variant["COUNT"],
            "cycles": found["cycles_median"],
        }
