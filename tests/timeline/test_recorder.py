"""What models put intervals into."""

from __future__ import annotations

import inspect

from gpusim.timeline import Recorder, TimelineBuilder


def test_a_recorder_is_called_as_the_builder_is():
    """The same parameters with the same defaults, so that `TimelineBuilder.add` is one."""
    protocol, add = (
        [(one.name, one.default, one.kind) for one in inspect.signature(call).parameters.values()]
        for call in (Recorder.__call__, TimelineBuilder.add)
    )
    assert protocol == add
