import subprocess
import sys
from inspect import signature
from pathlib import Path

from gpusim.cli.app import dashboard
from gpusim.dashboard import PORT
from gpusim.dashboard.ports import LAST_PORT

APP = Path(__file__).parents[2] / "app.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(APP), *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_the_command_has_the_port_of_the_dashboard():
    """Which has it in a module of its own, so that --help does not load Dash."""
    assert signature(dashboard).parameters["port"].default == PORT


def test_every_port_that_is_offered_is_taken(gpusim, tmp_path):
    """0 for any free one; all else is checked in one place, the folder too."""
    for port in (0, LAST_PORT):
        code, _, err = gpusim("dashboard", tmp_path / "gone", "--port", port, "--no-browser")
        assert code == 2
        assert err == f"error: {tmp_path / 'gone'}: no such folder; give the one with the scenario files\n"
    assert "--port" in gpusim("dashboard", tmp_path, "--port", LAST_PORT + 1)[2]


def test_a_folder_that_does_not_exist_ends_with_2_and_a_sentence(tmp_path):
    done = run("--scenarios", str(tmp_path / "gone"), "--no-browser")
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_cannot_be_ends_with_2_and_a_sentence(tmp_path):
    done = run("--scenarios", str(tmp_path), "--port", "99999", "--no-browser")
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
