"""Running the command line as a user does, and checking the form of what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpusim.cli import main


@pytest.fixture
def gpusim(capsys) -> Callable[..., tuple[int, str, str]]:
    """``gpusim("run", path)`` → exit code, stdout, stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call


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
