"""Shares of time as cells of a picture."""

import numpy as np
import pytest

from gpusim.dashboard.figure.stack import MOST_CELLS, level_counts, level_edges, picked, stacked


def test_heights_are_shares_from_the_bottom_up():
    cells = stacked(np.array([[[0.5, 0.25], [1.0, 0.0], [0.0, 0.0]]]), np.array([8]))
    assert cells[:, 0].tolist() == [-1, -1, 1, 1, 0, 0, 0, 0]
    assert (cells[:, 1] == 0).all()
    assert (cells[:, 2] == -1).all()


def test_what_is_short_has_a_level_even_in_a_full_bin():
    cells = stacked(np.array([[[0.001, 0.003, 0.996]]]), np.array([10]))
    assert cells[:, 0].tolist() == [2] * 8 + [1, 0]


def test_more_categories_than_levels_still_fill_the_strip():
    cells = stacked(np.full((1, 1, 5), 0.2), np.array([3]))
    assert (cells >= 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_levels_are_within_one_of_the_shares_where_all_are_large(seed):
    shares = np.random.default_rng(seed).dirichlet([8, 8, 8], size=(4, 50))
    cells = stacked(shares, np.full(4, 20)).reshape(4, 20, 50)
    for place in range(3):
        assert np.abs((cells == place).sum(axis=1) - 20 * shares[:, :, place]).max() <= 1


def test_strips_of_different_heights_stand_below_each_other():
    cells = stacked(np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]]), np.array([1, 2, 2]))
    assert cells[:, 0].tolist() == [0, 1, 1, 1, 0]


def test_free_strips_have_one_level_and_edges_stay():
    edges = np.array([0.0, 4.0, 34.0, 40.0])
    counts = level_counts(edges, np.array([False, True, False]), 100)
    assert counts.tolist() == [1, 20, 1]
    assert np.isin(edges, level_edges(edges, counts)).all()
    assert len(level_edges(edges, counts)) == counts.sum() + 1


def test_a_large_picture_has_fewer_levels():
    edges = np.arange(401) * 14.0
    assert level_counts(edges, np.ones(400, bool), 300).sum() * 300 <= MOST_CELLS


def test_a_picked_category_is_as_frequent_as_its_share():
    # In every bin a tenth of the first: the largest share alone would never show it.
    found = picked(np.tile([0.1, 0.9], (1, 100, 1)))[0]
    assert (found == 0).sum() == pytest.approx(10, abs=1)
    assert (found == 1).sum() == pytest.approx(90, abs=1)


def test_only_what_occurs_in_a_bin_is_picked_in_it():
    shares = np.zeros((2, 6, 2))
    shares[0, 0, 1], shares[0, 5, 0], shares[1, 0, 0] = 1.0, 0.01, 0.4
    assert picked(shares)[0].tolist() == [1, -1, -1, -1, -1, 0]
    assert picked(shares)[1].tolist() == [0, -1, -1, -1, -1, -1]


def test_without_any_category_nothing_is_picked():
    assert (picked(np.zeros((2, 3, 0))) == -1).all()
