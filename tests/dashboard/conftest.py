"""Made-up timelines and cases for tests of the dashboard."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from synthetic_source import Synthetic
from synthetic_timelines import dense, pipeline

from gpusim.dashboard.figure.match import match_events
from gpusim.dashboard.figure.track import Track


@pytest.fixture(scope="session")
def source():
    """A source with a measured, an unmeasured, two large and one broken case."""
    return Synthetic()


@pytest.fixture(scope="session")
def ring():
    """Predicted and measured track of a two-CTA ring with 3 stages."""
    predicted = Track(pipeline(ctas=2), "predicted")
    return predicted, Track(pipeline(ctas=2, copy_us=0.96, jitter=0.06, source="measured", seed=3), "measured")


@pytest.fixture(scope="session")
def ring_match(ring):
    """Matched events of the ring."""
    return match_events(ring[0].timeline, ring[1].timeline)


@pytest.fixture(scope="session")
def crowd():
    """20,000 intervals on 40 lanes."""
    return Track(dense(20_000, lanes=40), "predicted")
