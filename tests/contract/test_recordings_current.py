"""That what was recorded was recorded of the kernels as they are."""

import pytest

from gpusim.scenario import techniques
from gpusim.validation.recording import (
    TIMELINES,
    TOTALS,
    Totals,
    is_stale,
    list_timelines,
    recorded_devices,
    recordings_folder,
)

TECHNIQUES = techniques()
OLDER = {"c4_cmulticast_tb16384_s4_fpe0_cw8_cps1_g240_tpc512"}
"""Timelines to be recorded anew: this one is from before the kernel could load parts from peers, which it does not."""


@pytest.mark.parametrize("name", list(TECHNIQUES))
def test_no_recording_is_older_than_its_kernel(name):
    """A header that techniques share is part of each of them: what one alone needs belongs in a file of its own."""
    technique = TECHNIQUES[name]
    for device in recorded_devices(technique):
        folder = recordings_folder(technique) / device
        if (folder / TOTALS).exists():
            assert not [row.params for row in Totals.load(folder / TOTALS).rows if is_stale(technique, row)]
        if (folder / TIMELINES).exists():
            stale = {key for key, meta in list_timelines(folder / TIMELINES).items()
                     if is_stale(technique, meta)}  # fmt: skip
            assert stale <= OLDER
