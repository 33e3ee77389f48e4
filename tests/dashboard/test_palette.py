"""Colours must stay apart for readers with the common forms of colour blindness."""

from itertools import combinations

import numpy as np
import pytest

from gpusim.dashboard.figure.palette import CATEGORY_COUNT, colour, label, meaning, order
from gpusim.timeline import KINDS

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}  # fmt: skip
MAIN = ("compute", "load", "store", "issue", "copy", "transfer")


def lab(colour_text, vision):
    rgb = np.array([int(colour_text[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(VISION[vision] @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(xyz / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_the_kinds_of_one_kernel_differ_for_every_reader(vision, theme):
    seen = {kind: lab(colour(KINDS.index(kind), theme), vision) for kind in MAIN}
    for one, other in combinations(MAIN, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 11, (one, other)


def test_every_category_has_a_plain_hex_colour_a_label_and_an_explanation():
    for category in range(CATEGORY_COUNT):
        for theme in ("light", "dark"):
            assert len(colour(category, theme)) == 7
            assert colour(category, theme).startswith("#")
        assert label(category)
        assert " " in meaning(category)


def test_waits_come_after_work_in_the_legend():
    assert order([KINDS.index("wait"), CATEGORY_COUNT - 1, 0]) == [0, KINDS.index("wait"), CATEGORY_COUNT - 1]
