"""What a quantity of a device may be, wherever it stands."""

from __future__ import annotations

import pytest

from gpusim import loads
from gpusim.errors import ProfileError, ScenarioError
from gpusim.hardware import load_profile, profile_names
from gpusim.hardware.profile import profile_text
from gpusim.hardware.profile_limits import allowed_for


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_states_the_same_quantities_in_the_same_dimensions(name):
    """By those of one of them it is known what a file may state."""
    profile, textbook = load_profile(name).quantities, load_profile("textbook").quantities
    assert {key: each.dimension for key, each in profile.items()} == {
        key: each.dimension for key, each in textbook.items()
    }


@pytest.mark.parametrize(
    ("key", "given", "allowed"),
    [
        ("sm.count", 0, "a whole number, at least 1"),
        ("sm.count", 1.5, "a whole number, at least 1"),
        ("sm.count", 1e30, "at most 1,048,576"),
        ("sm.schedulers", 0.5, "a whole number"),
        ("sm.shared_allocation_unit", "0 B", "at least 1 B"),
        ("pageable.piece", "0.5 B", "at least 1 B"),
        ("l2.reads_merged", "0.5", "at least 1"),
        ("l2.moving_apart", "0 cycles", "above zero"),
        ("stream.queue_depth", 0, "a whole number"),
        ("pageable.buffers", 0, "a whole number"),
        ("lsu.bandwidth", "0 B/cycle", "above zero"),
        ("sm.ffma_issue_rate", "0 /cycle", "above zero"),
        ("sm.setup_latency", "0 cycles", "above zero"),
        ("lsu.cp_async_under_way", "0 B", "above zero"),
        ("tma.unaligned_sector_efficiency", 0, "above zero"),
        ("hbm.mix_loss_few_reads", 1, "a part, at least 0 and below 1"),
    ],
)
def test_what_cannot_be_is_refused(key, given, allowed):
    """Where the model divides by it, counts it, or takes it from one."""
    with pytest.raises(ProfileError, match=allowed) as caught:
        load_profile("h200_sxm", {key: given})
    assert caught.value.key == key


@pytest.mark.parametrize("key", ["sm.count", "hbm.read_bandwidth", "alloc.waits", "barrier.base"])
def test_true_is_no_number(key):
    """Though Python has it for one."""
    with pytest.raises(
        ScenarioError, match=rf"device\.set\.{key}: expected a number with its unit, as 8 TB/s, got True"
    ):
        loads(f"question: q\ndevice: {{base: textbook, set: {{{key}: true}}}}\nkernel: {{technique: sync_tile}}\n")


def test_most_quantities_may_be_nothing():
    """A latency, an overhead, a share: a device without it."""
    for key in ("barrier.base", "cta.reserved_shared_memory", "launch.overhead", "hbm.mix_loss", "alloc.waits"):
        assert allowed_for(key, load_profile("h200_sxm").quantities[key].dimension, 0.0) == ""


@pytest.mark.parametrize(
    ("key", "given", "told"),
    [
        ("hbm.read_bandwidth", 8, "8 B/s is little: write 8 TB/s, or 8 B/s"),
        ("sm.clock", "2", "2 Hz is little: write 2 MHz, or 2 Hz"),
        ("launch.overhead", 2.5, "2.5 s is long: write 2.5 us, or 2.5 s"),
    ],
)
def test_a_unit_that_was_left_out(key, given, told):
    """A plain number is SI, of which nobody thinks who writes 8."""
    with pytest.raises(ProfileError, match=told):
        load_profile("h200_sxm", {key: given})
    assert load_profile("h200_sxm", {"hbm.read_bandwidth": 8e12}).value("hbm.read_bandwidth") == 8e12


class TestFile:
    """A profile in a file of its own: the same limits, and its lines in messages."""

    @pytest.fixture
    def refused(self, tmp_path):
        """``refused(old, new)``: the message about the textbook's file with that change."""

        def call(old: str, new: str) -> str:
            text = profile_text("textbook")
            assert old in text
            (tmp_path / "mine.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
            with pytest.raises(ScenarioError) as caught:
                loads(f"question: q\ndevice: {tmp_path}/mine.yaml\nkernel: {{technique: sync_tile}}\n")
            return str(caught.value)

        return call

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            ("sm.count: {value: 132", "sm.count: {value: -132", ": sm.count is -132, and must be zero or more"),
            ("sm.count: {value: 132", "sm.count: {value: 0", "must be a whole number, at least 1"),
            ("sm.clock: {value: 1 GHz", "sm.clock: {value: 1 GB", "'1 GB' is a number of bytes, not a frequency"),
            ("sm.clock: {value: 1 GHz", "sm.clock: {value: true", "sm.clock cannot be"),
            ("  sm.clock:", "  sm.clokc:", "sm.clokc is not a quantity of a device"),
            ("  sm.clock:", "  sm.count: {value: 1}\n  sm.clock:", "sm.count is given twice"),
            ("  sm.clock:", "  sm.clock: 4 #", "sm.clock has to be {value: …, kind: …, source: …}"),
            ("kind: specified", "kin: specified", "unknown key 'kin'"),
            ("quantities:", "quantity:", "unknown key 'quantity'"),
            ("limits: cc90", "limits: cc91", "limits 'cc91' is unknown (allowed: cc100, cc80, cc89, cc90)"),
            ("limits: cc90", "like: h200", "like 'h200' is unknown"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_has_file_and_line(self, refused, old, new, told):
        """Beside the place in the scenario."""
        message = refused(old, new)
        assert "device: device mine.yaml:" in message
        assert message.split("mine.yaml:")[1].split(":")[0].split(" ")[0].isdigit()
        assert told in message

    @pytest.mark.parametrize(
        ("text", "told"), [("", "it is empty"), ("[]", "expected a mapping"), ("title: t", "no quant")]
    )
    def test_what_is_no_profile_at_all(self, tmp_path, text, told):
        """In words that are not those of Python."""
        (tmp_path / "mine.yaml").write_text(text)
        with pytest.raises(ProfileError, match=rf"device mine\.yaml is not a device profile: .*{told}"):
            load_profile(str(tmp_path / "mine.yaml"))

    def test_what_the_file_lacks_is_named_alone(self, tmp_path):
        """And what would state it; not the names of all others."""
        text = profile_text("textbook").replace("limits: cc90\n", "")
        (tmp_path / "mine.yaml").write_text(text)
        profile = load_profile(str(tmp_path / "mine.yaml"))
        with pytest.raises(ProfileError) as caught:
            profile.value("cta.max_threads")
        message = str(caught.value)
        assert "its file states no cta.max_threads, which is needed here; say limits: cc100 or" in message
        assert "allowed" not in message
