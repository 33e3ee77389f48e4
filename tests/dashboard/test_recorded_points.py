"""Recordings that ship with the techniques, as the page shows them."""

import pytest

from gpusim.dashboard.figure.figures import timeline_figure
from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.program.host import HostProgram
from gpusim.scenario import techniques
from gpusim.validation import measurements


def recorded():
    """Techniques with a recorded timeline on a device of which there is a profile."""
    found = {}
    for measurement in measurements():
        if measurement.has_timeline:
            found.setdefault(measurement.technique.name, measurement.device)
    return found


@pytest.mark.parametrize("name", sorted(techniques()))
def test_a_recorded_point_shows_predicted_above_measured_with_matched_events(name, tmp_path):
    if name not in recorded():
        pytest.skip("no timeline recorded")
    (tmp_path / "s.yaml").write_text(f"question: Why?\ndevice: {recorded()[name]}\nkernel: {{technique: {name}}}\n")
    source = ScenarioFolder(tmp_path)
    points = source.case(Asked("s")).points
    assert len({point.label for point in points}) == len(points)
    case = source.case(Asked("s", points[1].key))
    assert case.other is not None
    # A host program has a handful of copies and kernels where a kernel has hundreds of tiles; some have one kernel
    # alone, and a kernel of one tile per CTA has only its phases.
    made = techniques()[name]
    program = made.build(made.params())
    if isinstance(program, HostProgram):
        ops = sum(len(thread.ops) for thread in program.threads)
        assert len(case.match) > (3 if ops > 4 else 0)
    else:
        assert len(case.match) > (20 if program.tiles_per_cta > 1 else 4)
    drawing = timeline_figure(case.predicted, case.other, View(mode="difference"), case.match)
    assert drawing.intervals > 0
    assert any(badge.text.startswith("instrumented") for badge in case.badges)
    assert case.error is not None
