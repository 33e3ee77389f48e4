"""The files that commands are given, and the JSON that they answer with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.fixture
def listed(tmp_path: Path) -> Callable[[str], Path]:
    """``listed(text)``: the file of a disassembly."""

    def write(text: str) -> Path:
        file = tmp_path / "kernel.sass"
        file.write_text(text)
        return file

    return write


@pytest.fixture
def drafted(gpusim, listed) -> Callable[..., str]:
    """``drafted(text)``: the draft of a disassembly, of a role of ``warps`` warps."""

    def call(text: str, warps: int = 4) -> str:
        code, out, err = gpusim("count", listed(text), "--draft", warps)
        assert (code, err) == (0, "")
        return out

    return call


@pytest.fixture
def answer(gpusim) -> Callable[..., Any]:
    """``answer("run", path)``: the JSON object that a command prints."""

    def call(*arguments: object) -> Any:
        code, out, err = gpusim(*arguments, "--json")
        assert (code, err) == (0, "")
        assert len(out.splitlines()) == 1
        return json.loads(out)

    return call
