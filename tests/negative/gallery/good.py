"""Two scenarios that are right, but for what a mistake changes in them."""

from __future__ import annotations

GOOD = """\
question: How many stages?
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 16 KiB}}
  roles:
    producer:
      warps: 1
      per_tile: [{acquire: input}, {tma_load: input}]
    consumer:
      warps: 4
      per_tile:
        - wait: input
        - compute: {ffma: 512, lds: 8}
        - release: input
"""


HOST = """\
question: Does it end?
device: textbook
host:
  slots: {ring: 1}
  streams: {a: {}, b: {}}
  threads:
    main:
      chunks: 2
      per_chunk:
        - acquire: ring
        - h2d: {bytes: 1 MiB, stream: a}
"""


def wrong(old: str, new: str) -> str:
    """The good scenario with one thing changed."""
    assert old in GOOD
    return GOOD.replace(old, new)
