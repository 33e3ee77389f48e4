"""Techniques that are installed, of this project and of others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gpusim.errors import TechniqueError
from gpusim.scenario import technique as module
from gpusim.scenario.technique import Technique, techniques

DEMO = Technique("demo", "Demonstration", SimpleNamespace, "none:build", "none:build", Path("/nowhere"))


def installed(monkeypatch, *targets: str) -> dict:
    """What is found where each of the entry points is the technique ``demo``."""
    points = [SimpleNamespace(value=target, load=lambda: DEMO) for target in targets]
    monkeypatch.setattr(module, "entry_points", lambda group: points)
    return techniques.__wrapped__()


def test_two_packages_may_not_have_one_name(monkeypatch):
    """Which of them runs would depend on the order in which they were installed."""
    with pytest.raises(TechniqueError, match="two techniques are called 'demo', those of first:all and second:all"):
        installed(monkeypatch, "first:all", "second:all")


def test_a_package_that_is_seen_twice_is_one(monkeypatch):
    """As where it is installed and lies in the folder as well."""
    assert installed(monkeypatch, "first:all", "first:all") == {"demo": DEMO}
