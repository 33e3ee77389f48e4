"""Kernels that nobody would write, and that are no mistake: each has its time."""

from __future__ import annotations

import pytest

from gpusim import loads, predict

KERNEL = """\
question: Does it end?
device: h200_sxm
kernel:
  grid: %d
  tiles_per_cta: %d
  registers: 32
  roles:
    all:
      warps: 8
      per_tile:
%s
"""


@pytest.mark.parametrize(
    ("grid", "tiles", "ops"),
    [
        (132, 128, ["compute: {ffma: 64}", "store: {bytes: 4 KiB, every: 64}"]),  # turns of 64 tiles and no ring
        (32768, 1, ["compute: {setup: 5, interleaved: 4, ldc: 4}", "load: {bytes: 1 KiB, width: 4}",
                    "compute: {pipe_stalls: 1}",  # of nothing
                    "load: {bytes: 2 KiB, width: 8, scatter: 8, l2_hit: 0.35}", "store: {bytes: 2 KiB, width: 8}"]),
        (1056, 4, ["load: {bytes: 255 KiB}", "compute: {ffma: 4}"]),  # all registers that a thread can name
    ],
)  # fmt: skip
def test_it_has_its_time(grid, tiles, ops):
    """A few seconds at most, and none ends otherwise."""
    steps = "\n".join(f"        - {op}" for op in ops)
    assert predict(loads(KERNEL % (grid, tiles, steps)), trace=False).total_s > 2e-6
