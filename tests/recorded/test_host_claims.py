"""What `layer_pipeline`, `gradient_overlap` and `multi_gpu_pipeline` claim: of recordings, and as predicted."""

from __future__ import annotations

from typing import ClassVar

import pytest

from gpusim.scenario import techniques
from tests.recorded.predictions import points

WHO = ("measured_s", "predicted_s")
PASS_S, COMM_S, STEPS = 1.6e-3, 0.8e-3, 2


def seconds(name: str, who: str, **changes: object) -> float:
    """Run time of the one recorded configuration that differs from the default in ``changes``."""
    wanted = {**techniques()[name].defaults(), **changes}
    (found,) = [point for point in points(name) if point.params == wanted]
    return getattr(found, who)


@pytest.mark.parametrize("who", WHO)
class TestLayerPipeline:
    """Eight layers of 0.1 ms, four stages, 16 batches: 12.8 ms of kernels one after another."""

    NAME = "layer_pipeline"
    SERIAL_S = 12.8e-3

    def test_stages_overlap(self, who):
        """Each further stream takes its part off, until filling the pipeline counts."""
        times = [seconds(self.NAME, who, streams=streams) for streams in (1, 2, 4, 8)]
        assert times[0] > self.SERIAL_S
        for before, after, gain in zip(times, times[1:], (1.8, 1.6, 1.15), strict=False):
            assert before > gain * after

    def test_a_pool_in_the_loop_costs_next_to_nothing(self, who):
        """Beside kernels of either size."""
        for blocks in (64, 264):
            without = seconds(self.NAME, who, blocks=blocks)
            assert seconds(self.NAME, who, blocks=blocks, allocation="async") < 1.06 * without

    def test_cuda_free_in_the_loop_ends_the_pipeline(self, who):
        """A single one for each batch is enough; one for each layer doubles that, although it frees what is unused."""
        once = seconds(self.NAME, who, allocation="malloc", workspace_bytes=0)
        each = seconds(self.NAME, who, allocation="malloc")
        assert once > self.SERIAL_S > 2.5 * seconds(self.NAME, who)
        assert each > 1.6 * once

    def test_kernels_that_fill_the_device_do_not_overlap(self, who):
        """All that streams still hide are copies and calls."""
        assert self.SERIAL_S < seconds(self.NAME, who, blocks=264) < 1.02 * self.SERIAL_S


@pytest.mark.parametrize("who", WHO)
class TestGradientOverlap:
    """Two steps of 1.6 ms of backward and 0.8 ms of communication in eight buckets."""

    NAME = "gradient_overlap"

    def hidden(self, who, **changes):
        """Part of the communication that is spared by not waiting for the end of the pass."""
        blocks = {"blocks": changes.get("blocks", 132)}
        behind = seconds(self.NAME, who, overlap="after_backward", **blocks)
        return (behind - seconds(self.NAME, who, **changes)) / (STEPS * COMM_S)

    def test_all_but_the_last_bucket_hides_where_there_is_room(self, who):
        """The more buckets, the smaller the last one."""
        for buckets, least in ((2, 1 / 2), (4, 3 / 4), (8, 7 / 8), (32, 31 / 32)):
            assert self.hidden(who, buckets=buckets) == pytest.approx(least, abs=0.04)

    def test_communication_in_the_stream_of_the_pass_hides_as_little_as_behind_it(self, who):
        """Nothing of it."""
        for blocks in (132, 264, 1056):
            both = [seconds(self.NAME, who, overlap=how, blocks=blocks) for how in ("after_backward", "same_stream")]
            assert both[1] == pytest.approx(both[0], rel=0.01)
            assert min(both) > STEPS * (PASS_S + COMM_S)

    def test_kernels_that_fill_the_device_let_less_than_half_of_it_hide(self, who):
        """Blocks of theirs wait where communication is, and the kernel takes a part of a wave longer."""
        for blocks in (264, 1056):
            assert 0.3 < self.hidden(who, blocks=blocks) < 0.5

    def test_priority_is_nothing_with_room_and_with_kernels_of_one_wave(self, who):
        """There is no end of a block in between at which it could count."""
        for blocks in (132, 264):
            both = [seconds(self.NAME, who, blocks=blocks, priority=priority) for priority in ("high", "normal")]
            assert both[1] == pytest.approx(both[0], rel=0.005)

    def test_priority_is_for_few_long_kernels_of_many_waves(self, who):
        """Kernels of eight waves: with two buckets it spares 3 % and more, with 32 less than 1."""
        gain = {}
        for buckets in (2, 4, 32):
            many = {"blocks": 2112, "buckets": buckets}
            high, normal = (seconds(self.NAME, who, priority=priority, **many) for priority in ("high", "normal"))
            gain[buckets] = normal / high - 1.0
        assert gain[2] > 0.03
        assert gain[4] > 0.03
        assert -0.005 < gain[32] < 0.01


@pytest.mark.parametrize("who", WHO)
class TestMultiGpuPipeline:
    """16 micro-batches of 64 MiB through two GPUs; copies take as long as kernels."""

    NAME = "multi_gpu_pipeline"
    EVEN: ClassVar[dict] = {"bytes": 64 << 20, "kernel_s": 180e-6}

    def test_room_for_two_hides_copies(self, who):
        """Of one tensor on each GPU copies and kernels take turns; a third one brings next to nothing."""
        one, two, three = (seconds(self.NAME, who, slots=slots, **self.EVEN) for slots in (1, 2, 3))
        assert one > 1.75 * two
        assert 1.0 < two / three < 1.05

    def test_who_asks_for_copies_hardly_matters_where_they_hide(self, who):
        """Pulled copies begin and end later, which kernels cover."""
        push, pull = (seconds(self.NAME, who, way=way, **self.EVEN) for way in ("push", "pull"))
        assert push < pull < 1.03 * push

    def test_copies_among_kernels_do_not_hide(self, who):
        """A stream does one thing after the other."""
        assert seconds(self.NAME, who, copy_stream="compute", **self.EVEN) > 1.6 * seconds(self.NAME, who, **self.EVEN)

    def test_a_host_that_waits_overlaps_nothing(self, who):
        """Two kernels and a copy for each micro-batch, one after the other."""
        assert seconds(self.NAME, who, hand_over="host", **self.EVEN) > 2.3 * seconds(self.NAME, who, **self.EVEN)
