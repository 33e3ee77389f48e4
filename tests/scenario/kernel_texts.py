"""Kernels spelled out, for tests."""

__all__ = ["PING_PONG"]

PING_PONG = """\
question: q
device: {base: textbook, set: {sm.ffma_latency: 4 cycles}}
kernel:
  grid: 4
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 4 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    ping: {warps: 4, every: 2, per_tile: [{wait: input}, {compute: {ffma: 128, ilp: 1}}, {release: input}]}
    pong: {warps: 4, every: 2, offset: 1, per_tile: [{wait: input}, {compute: {ffma: 128, ilp: 1}}, {release: input}]}
"""
