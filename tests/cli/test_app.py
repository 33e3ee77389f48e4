"""What all commands share: usage, version, and a start that imports little."""

import subprocess
import sys


def test_wrong_usage_is_exit_code_two(gpusim):
    """On stderr, as all errors."""
    for arguments in (("run",), ("nonsense",), ("run", "x.yaml", "--nonsense")):
        code, out, err = gpusim(*arguments)
        assert (code, out) == (2, "")
        assert err


def test_version(gpusim):
    """One line."""
    assert gpusim("--version")[1].startswith("gpusim ")


def test_help_imports_no_numpy():
    """Commands import what they need, so help is quick."""
    code = (
        "import sys, gpusim.cli; sys.exit(any(name in sys.modules for name in ('numpy', 'pydantic', 'simpy', 'dash')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
