"""The scenario file that commands are given."""

from __future__ import annotations

from pathlib import Path

import pytest

SCENARIO = """\
question: How many stages?
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 16 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 512, lds: 8}}, {release: input}]}
sweep: {kernel.rings.input.stages: [1, 2, 3]}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A scenario of a kernel of one's own, for the textbook device."""
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO)
    return file
