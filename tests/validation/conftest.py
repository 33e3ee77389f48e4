"""A technique with recordings made up so that every error is known in advance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from gpusim.program import Acquire, Compute, KernelProgram, Mix, Release, Ring, Role, TmaLoad, WaitFull
from gpusim.scenario.technique import Kind, Technique, param
from gpusim.validation.recording import TIMELINES, TOTALS, TotalRow, Totals, save_timeline, source_hash


@dataclass(frozen=True)
class Params:
    """Two numbers are enough."""

    stages: int = param(2, "ring stages", Kind.STAGES, ge=1, le=8)
    tiles: int = param(12, "tiles of a CTA", ge=1, le=100)


def build(params: Params) -> KernelProgram:
    """One producer and one consumer warp."""

    def producer(tiles):
        for tile in range(tiles):
            yield Acquire("input", tile=tile)
            yield TmaLoad("input", 8192, tile=tile)

    def consumer(tiles):
        for tile in range(tiles):
            yield WaitFull("input", tile=tile)
            yield Compute(Mix(ffma=512, lds=4), tile=tile, reads="input")
            yield Release("input", tile=tile)

    return KernelProgram(
        "made_up", 8, params.tiles, (Role("producer", 1, producer), Role("consumer", 1, consumer)),
        (Ring("input", params.stages, 8192),), shared_bytes=params.stages * 8192,
    )  # fmt: skip


class Made:
    """Writes recordings of the made-up technique."""

    def __init__(self, technique: Technique) -> None:
        self.technique = technique
        self.folder = technique.folder / "recorded" / "textbook"

    def record(self, params: Params, total_s: float, timeline=None) -> None:
        """One run time, and on demand a timeline."""
        row = TotalRow(
            asdict(params), total_s, total_s, total_s, 0.01 * total_s, 15, 1e9, 32, 0, 1024, 1,
            source_hash(self.technique.folder / "kernel.cu"), "2026-01-01",
        )  # fmt: skip
        path = self.folder / TOTALS
        totals = Totals.load(path) if path.exists() else Totals(self.technique.name, {})
        totals.merge([row])
        totals.save(path)
        if timeline is not None:
            save_timeline(
                self.folder / TIMELINES, f"s{params.stages}", timeline.with_meta(params=asdict(params), device="GPU")
            )


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """The technique made_up, installed, without recordings."""
    (tmp_path / "kernel.cu").write_text("// a kernel\n")
    technique = Technique("made_up", "Made up", Params, f"{__name__}:build", f"{__name__}:none", tmp_path)
    found = {"made_up": technique}
    for module in ("scenario.loader", "validation.cases", "scenario.technique"):
        monkeypatch.setattr(f"gpusim.{module}.techniques", lambda: found)
    return Made(technique)


@pytest.fixture
def params():
    """The class of its parameters."""
    return Params
