"""Hidden fractions are compared over the rings that both sides show."""

from gpusim.timeline import Timeline, TimelineBuilder
from gpusim.validation import compare_timelines


def computing_beside(**copies: float) -> Timeline:
    """Ten seconds, of which the first six compute, with one copy that begins at 0 into each ring, by its end."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].worker", "compute", 0.0, 6.0, tile=0)
    for ring, end_s in copies.items():
        builder.add(f"sm[0].cta[0].{ring}[0]", "copy", 0.0, end_s, tile=0, stage=0)
    return builder.build(device="d", total_s=10.0)


def test_a_ring_that_the_recording_does_not_show_is_left_out():
    found = compare_timelines(computing_beside(keys=8.0, queries=10.0), computing_beside(keys=8.0))
    assert found.watched == ("keys",)
    assert found.metric("hidden_fraction").predicted == 0.75
    assert found.hidden_error == 0.0


def test_where_both_sides_show_the_same_rings_nothing_is_left_out():
    found = compare_timelines(computing_beside(keys=8.0, values=10.0), computing_beside(keys=6.0, values=6.0))
    assert found.watched == ()
    assert found.metric("hidden_fraction").predicted == 0.6


def test_lanes_of_unlike_names_are_compared_as_they_are():
    found = compare_timelines(computing_beside(keys=8.0), computing_beside(tiles=8.0))
    assert found.watched == ()
    assert found.hidden_error == 0.0
