"""The type itself."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from gpusim.timeline import COLUMNS, Timeline, TimelineBuilder


def test_columns_are_the_arrays_of_a_timeline():
    """Files of recordings hold these: a column that is missing in the list would be lost there."""
    assert tuple(field.name for field in fields(Timeline) if field.name not in ("lanes", "meta")) == COLUMNS


def test_meta_is_added_and_replaced_in_a_copy():
    """The columns are shared, and the timeline that it was made of stays as it is."""
    builder = TimelineBuilder()
    builder.add("warp", "compute", 0.0, 1e-6)
    before = builder.build(source="predicted", device="d")
    after = before.with_meta(device="e", total_s=2e-6)
    assert after.meta == {"source": "predicted", "device": "e", "total_s": 2e-6}
    assert before.meta == {"source": "predicted", "device": "d"}
    assert all(np.shares_memory(getattr(before, name), getattr(after, name)) for name in COLUMNS)
