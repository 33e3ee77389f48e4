"""The classes of a difference."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.dashboard.figure.difference import BORDERS, scale_of
from gpusim.dashboard.figure.match import Match
from gpusim.dashboard.figure.palette import ink


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_last_class_begins_at_half_of_what_most_differences_stay_below(theme):
    """One shade for each class, the strongest ones outside."""
    none = np.empty(0, dtype=np.int64)
    duration = np.concatenate([np.linspace(-1.9, 1.9, 99), [50.0, np.nan]])
    scale = scale_of(Match(none, none, duration, duration), theme)
    assert scale.edges_us.tolist() == pytest.approx([-1.0, -0.4, -0.1, 0.1, 0.4, 1.0])
    tones = ink(theme)
    assert len(tones.later) == len(tones.earlier) == len(BORDERS)
    assert scale.shades == (*tones.earlier[::-1], tones.neutral, *tones.later)
    assert scale.names()[0] == "< −1 µs"
    assert scale.names()[-1] == "> +1 µs"
    assert scale.classes(np.array([-1.5, 0.0, 50.0])).tolist() == [0, 3, 6]
