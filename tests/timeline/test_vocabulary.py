"""The words of timelines: all explained, and in the order in which recordings have them."""

from gpusim.timeline.vocabulary import KIND_MEANING, KINDS, REASON_MEANING, REASONS


def test_every_word_is_explained():
    """In the order of the vocabulary."""
    assert tuple(KIND_MEANING) == KINDS
    assert tuple(REASON_MEANING) == REASONS


def test_words_keep_their_numbers():
    """A recording holds the number, so that a word may be added at the end alone."""
    assert KINDS[:13] == (
        "compute", "load", "store", "issue", "copy", "transfer", "wait", "barrier", "launch", "kernel", "alloc",
        "host", "idle",
    )  # fmt: skip
    assert REASONS[:15] == (
        "", "stage_full", "stage_empty", "copy_in_flight", "issue_slot", "tensor_core_busy", "barrier", "cta_slot",
        "stream_order", "event", "copy_engine_busy", "host_sync", "launch", "memory_pool", "store_drain",
    )  # fmt: skip
