import numpy as np
import pytest

from gpusim.dashboard.figure.bins import bin_shares


def shares(intervals, *, rows=1, low=0.0, high=10.0, count=10):
    start, end, row, category = (np.array(column) for column in zip(*intervals, strict=True))
    return bin_shares(start, end, row, category, rows=rows, low_us=low, high_us=high, count=count)


def test_an_interval_inside_one_bin_counts_there_alone():
    bins = shares([(2.25, 2.75, 0, 4)])
    assert bins.time_us[0, 2, 0] == pytest.approx(0.5)
    assert bins.time_us.sum() == pytest.approx(0.5)


def test_a_long_interval_is_split_over_its_bins():
    # [1.5, 4.25] covers half of bin 1, all of 2 and 3, a quarter of 4.
    bins = shares([(1.5, 4.25, 0, 0)])
    assert bins.time_us[0, :, 0] == pytest.approx([0, 0.5, 1, 1, 0.25, 0, 0, 0, 0, 0])


def test_neighbouring_bins_need_no_middle():
    bins = shares([(1.5, 2.25, 0, 0)])
    assert bins.time_us[0, :4, 0] == pytest.approx([0, 0.5, 0.25, 0])


def test_edges_of_the_window_cut():
    bins = shares([(-3.0, 1.0, 0, 0), (9.0, 40.0, 0, 0)])
    assert bins.time_us[0, :, 0] == pytest.approx([1] + [0] * 8 + [1])


@pytest.mark.parametrize("seed", range(5))
def test_time_is_conserved_per_row_and_category(seed):
    random = np.random.default_rng(seed)
    start = random.uniform(-2, 11, 4000)
    end = start + random.gamma(1.0, 0.4, 4000) * random.choice([0.01, 1, 20], 4000)
    row, category = random.integers(0, 6, 4000), random.choice([0, 3, 9, 17], 4000)
    bins = bin_shares(start, end, row, category, rows=6, low_us=0.0, high_us=10.0, count=137)
    inside = np.clip(end, 0, 10) - np.clip(start, 0, 10)
    for r in range(6):
        for place, code in enumerate(bins.categories):
            expected = inside[(row == r) & (category == code)].sum()
            assert bins.time_us[r, :, place].sum() == pytest.approx(expected, rel=1e-9)


def test_shares_are_of_the_time_of_all_lanes_of_a_row():
    # Half of bin 0 on one lane; the same on a row that mixes two; overlapping intervals fill a bin once.
    bins = shares([(0.0, 0.5, 0, 7), (0.0, 0.5, 1, 7), (0.0, 1.0, 2, 7), (0.0, 1.0, 2, 3)], rows=3)
    part = bins.shares(np.array([1, 2, 1]))
    assert part[0, 0].tolist() == [0, 0.5]
    assert part[1, 0].tolist() == [0, 0.25]
    assert part[2, 0].tolist() == [0.5, 0.5]
    assert not part[:, 1:].any()
