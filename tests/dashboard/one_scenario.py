"""A scenario with comments, for tests that edit it."""

SCENARIO = """# mine
question: How many stages?
device: h200_sxm
kernel:
  technique: tma_warp_specialized
  params: {tile_bytes: 16 KiB, stages: 3}   # of a ring
"""
