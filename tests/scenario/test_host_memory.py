"""How much memory the buffers of a host program may take."""

from __future__ import annotations

import pytest

from gpusim.errors import DoesNotFit
from gpusim.scenario import loads, predict
from tests.scenario.host_programs import looped


class TestMemory:
    """There is so much of it."""

    @pytest.mark.parametrize(
        ("steps", "told"),
        [
            (
                "{malloc: {buffer: 'd#', bytes: 200 GiB}}, {free: 'd#'}",
                "buffer 'd0' needs 200 GiB of device memory, h200",
            ),
            (
                "{malloc: {buffer: 'd#', bytes: 50 GiB}}",
                "'d2' needs 150 GiB of device memory with what is allocated already",
            ),
            (
                "{malloc_async: {buffer: 'd#', bytes: 50 GiB}}",
                "_sxm allows 139.8 GiB; allocate less, or free buffers earlier",
            ),
            ("{malloc_async: {buffer: 'd#', bytes: 50 GiB}}, {free_async: 'd#'}", ""),
            ("{malloc: {buffer: 'd#', bytes: 50 GiB}}, {free: 'd#-1'}", ""),
            ("{malloc_host: {buffer: 'd#', bytes: 200 GiB}}", ""),
        ],
    )
    def test_what_is_not_there_is_told(self, steps, told):
        """Of buffers that are there at the same time; page-locked memory is the host's."""
        program = loads(f"question: Why?\ndevice: h200_sxm\nhost:\n{looped(steps)}")
        if not told:
            assert predict(program, trace=False).total_s > 0
            return
        with pytest.raises(DoesNotFit) as caught:
            predict(program, trace=False)
        assert told in str(caught.value)
        assert str(caught.value).startswith("scenario:7:20: host.threads.main.per_chunk.0.malloc")

    def test_more_memory_is_a_what_if(self):
        """Which the quantity says."""
        steps = "{malloc: {buffer: 'd#', bytes: 100 GiB}}"
        device = "{base: h200_sxm, set: {hbm.capacity: 400 GiB}}"
        assert predict(loads(f"question: Why?\ndevice: {device}\nhost:\n{looped(steps)}"), trace=False).total_s > 0
