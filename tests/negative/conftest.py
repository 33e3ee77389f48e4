"""What every refusal has in common, whatever is wrong with the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def refused(gpusim, tmp_path) -> Callable[..., str]:
    """``refused(text_or_bytes)``: the one message with which ``gpusim run`` refuses the file."""

    def call(content: str | bytes, *options: str) -> str:
        path = tmp_path / "scenario.yaml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return message(gpusim("run", path, *options), path)

    def message(answer: tuple[int, str, str], path: Path) -> str:
        code, out, err = answer
        assert code == 2
        assert out == ""
        assert "Traceback" not in err
        assert err.startswith("error: ")
        return err.removeprefix("error: ").replace(str(path), "scenario.yaml")

    return call
