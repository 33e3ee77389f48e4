"""A technique and scenario texts that need nothing but the textbook device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gpusim.scenario import technique as technique_module
from gpusim.scenario.technique import Kind, Technique, param


@dataclass(frozen=True)
class DemoParams:
    """Parameters of every sort."""

    tile_bytes: int = param(16384, "bytes of a tile", Kind.TILE, ge=512, le=65536, unit="bytes", multiple_of=512)
    stages: int = param(2, "ring stages", Kind.STAGES, ge=1, le=8)
    warps: int = param(4, "consumer warps", Kind.WARPS, choices=(1, 2, 4, 8))
    rate: float = param(1.5, "a number", ge=0)
    warm: bool = param(False, "data in L2")
    pause: float = param(1e-6, "a time", unit="s")
    keys: int = param(1, "called like a method of mappings", ge=1)

    def __post_init__(self) -> None:
        if self.stages * self.tile_bytes > 2**18:
            raise ValueError(f"stages={self.stages} of {self.tile_bytes} B exceed 256 KiB; use fewer stages")


def build(params: DemoParams):
    """One producer, one consumer."""
    from gpusim.scenario import loads

    text = SPELLED.replace("stages: 3", f"stages: {params.stages}").replace("16 KiB", str(params.tile_bytes))
    return loads(text).program()


DEMO = Technique("demo", "Demonstration", DemoParams, f"{__name__}:build", f"{__name__}:none", Path("/nowhere"))

SPELLED = """\
question: How many stages hide the load?
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 16 KiB}}
  roles:
    producer:
      warps: 1
      per_tile: [{acquire: input}, {tma_load: {ring: input}}]
    consumer:
      warps: 4
      per_tile: [{wait: input}, {compute: {ffma: 512, lds: 8, other: 24, ilp: 4}}, {release: input}]
"""

TECHNIQUE = """\
question: How many stages?
device: textbook
kernel:
  technique: demo
  params:
    tile_bytes: 8 KiB
    stages: 3
sweep: {kernel.params.stages: [1, 2, 3]}
"""


@pytest.fixture
def spelled() -> str:
    """A kernel spelled out."""
    return SPELLED


@pytest.fixture
def demo(monkeypatch) -> str:
    """A scenario of an installed technique called demo."""
    found = {"demo": DEMO}
    for module in ("loader", "json_schema"):
        monkeypatch.setattr(f"gpusim.scenario.{module}.techniques", lambda: found)
    monkeypatch.setattr(technique_module, "techniques", lambda: found)
    return TECHNIQUE
