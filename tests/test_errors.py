"""Messages, and that an error survives being copied and sent."""

import pickle

import pytest

from gpusim.errors import (
    DoesNotFit,
    GpusimError,
    HazardError,
    ProfileError,
    RecordingError,
    ScenarioError,
    TechniqueError,
    UnitError,
    listing,
    nearest,
)

ERRORS = {
    "a.yaml:3:7: kernel.stags: unknown key (allowed: stages). Did you mean 'stages'?": ScenarioError(
        "unknown key", file="a.yaml", line=3, column=7, field="kernel.stags", allowed="stages", suggestion="stages"
    ),
    "unknown device 'h20' (allowed: h200, textbook). Did you mean 'h200'?": ProfileError(
        "unknown device 'h20'", given="h20", allowed=["h200", "textbook"]
    ),
    "stages=6 needs 240 KiB of shared memory per CTA, h200_sxm allows 227 KiB; use stages <= 5": DoesNotFit(
        demand=240 * 1024, bound=227 * 1024, unit="bytes", what="of shared memory per CTA", lever="use stages <= 5",
        subject="stages=6", device="h200_sxm",
    ),
    "producer at tile 3: stage overwritten (ring 'input', stage 1); acquire it first": HazardError(
        role="producer", ring="input", stage=1, tile=3, what="stage overwritten", remedy="acquire it first"
    ),
    "a/b.json: truncated": RecordingError("truncated", path="a/b.json"),
    "no unit": UnitError("no unit"),
    "no such technique": TechniqueError("no such technique"),
}  # fmt: skip


@pytest.mark.parametrize(("message", "error"), ERRORS.items(), ids=lambda value: type(value).__name__)
def test_error_reads_as_one_sentence_and_survives_copying(message, error):
    """SimPy copies exceptions by class and arguments, a process pool pickles them."""
    assert isinstance(error, GpusimError)
    copies = (error, type(error)(*error.args), pickle.loads(pickle.dumps(error)))
    assert [str(copy) for copy in copies] == [message] * 3
    assert all(vars(copy) == vars(error) for copy in copies)


def test_nearest_name_ignores_case():
    """KHz is nearly kHz; nothing is nearly everything."""
    assert nearest("KHZ", ["Hz", "kHz"]) == "kHz"
    assert nearest("zzz", ["Hz", "kHz"]) is None
    assert nearest("anything", []) is None


def test_a_beginning_wins_over_what_looks_alike():
    """Another GPU differs in one letter, the one that is meant in its ending."""
    devices = ["a100_sxm", "b200", "h100_sxm", "h200_sxm", "textbook"]
    assert nearest("h200", devices) == "h200_sxm"
    assert nearest("H100", devices) == "h100_sxm"
    assert nearest("b20", devices) == "b200"
    assert nearest("stage", ["input_stages", "stages_out", "stages"]) == "stages"
    assert nearest("", devices) is None


def test_long_listings_are_cut():
    """A message stays readable."""
    assert listing(range(3)) == "0, 1, 2"
    assert listing(range(100)).endswith("… (76 more)")
