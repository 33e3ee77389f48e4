"""What a parameter of a technique is, so that whoever changes it need not know its name."""

from __future__ import annotations

from enum import StrEnum, auto

__all__ = ["STAGES", "Kind"]


class Kind(StrEnum):
    """Said of a parameter by `gpusim.scenario.technique.param`. First what can be pulled, the most telling first."""

    STAGES = auto()
    """Stages of the only ring."""
    INPUT_STAGES = auto()
    OUTPUT_STAGES = auto()
    BUFFERS = auto()
    """Buffers that batches take in turn."""
    TILE = auto()
    """The size of a tile, in whatever unit."""
    PER_SM = auto()
    """CTAs that share an SM."""
    WARPS = auto()
    """Of a CTA, all of which compute."""
    CONSUMERS = auto()
    """Warps that compute what a producer has loaded."""
    COMPUTING = auto()
    """Warps that compute between others that load and store."""
    LOADS = auto()
    """In flight per thread."""
    LOAD_BATCH = auto()
    """The same, where a loop takes so many at a time."""
    VECTOR = auto()
    """Bytes that a lane moves at once."""
    STREAMS = auto()
    STREAMS_EACH_WAY = auto()
    CHUNKS = auto()
    COPIES = auto()
    BATCHES = auto()
    GRID = auto()
    """CTAs of a kernel."""

    RESIDENT = auto()
    """CTAs of a grid that stays, which go with those per SM."""
    TURNS = auto()
    """How often a loop runs: scaled where a turn does more or less than before."""
    SHARE = auto()
    """What a batch has its share of, bytes or seconds: all `BATCHES` together stay the same."""


STAGES = (Kind.STAGES, Kind.INPUT_STAGES, Kind.OUTPUT_STAGES)
"""How many stages a ring has, whichever ring of a technique it is."""
