"""What machine code does not say of an op, in the words in which a draft of a scenario asks for it."""

__all__ = [
    "ALWAYS_TAKEN", "COMPLETED", "DISTINCT", "HITS", "PATTERN", "PIECES", "RING", "ROWS", "WAVEFRONTS",
]  # fmt: skip

RING = "its ring?"
ROWS = "row? pitch?"
PATTERN = "stride? scatter?"
COMPLETED = "completed?"
PIECES = "pieces?"
WAVEFRONTS = "wavefronts?"
DISTINCT = "distinct?"
ALWAYS_TAKEN = "always taken?"
HITS = "find what in L2 or L1?"
