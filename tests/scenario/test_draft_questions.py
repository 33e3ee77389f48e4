"""Lines of a file in a sentence."""

import pytest

from gpusim.scenario.kernel.draft_questions import lines_are


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([7], "line 7 asks"),
        ([7, 9], "lines 7 and 9 ask"),
        (range(1, 10), "lines 1, 2, 3, 4, 5, 6, 7, 8 and 9 ask"),
        (range(1, 13), "lines 1, 2, 3, 4, 5, 6, 7, 8 and 4 others ask"),
    ],
)
def test_lines_in_a_sentence(lines, told):
    """Of many the first are named, the rest is counted."""
    assert lines_are(lines, "asks", "ask") == told
