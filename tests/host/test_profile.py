"""Where the host's numbers come from."""

from pathlib import Path

import pytest

from gpusim.hardware.profile import load_profile
from gpusim.host.profile_file import host_profile
from realkernels import microbench

RECORDED = Path(microbench.__file__).parent / "recorded" / "h200_sxm"
PROFILES = Path(load_profile.__code__.co_filename).parent / "profiles" / "host"


def test_committed_host_profile_follows_from_the_recorded_benches():
    """Nobody edits it by hand; a digit of difference means that a bench or a rule has changed since."""
    text = host_profile(RECORDED, load_profile("h200_sxm"))
    assert text == (PROFILES / "h200_sxm.yaml").read_text(encoding="utf-8")


def test_textbook_has_every_quantity_of_a_measured_device():
    """So that a program that runs on one runs on the other."""
    measured, textbook = (load_profile(name).quantities for name in ("h200_sxm", "textbook"))
    groups = ("host", "stream", "copy", "pageable", "pool", "alloc", "graph")
    host = [key for key in measured if key.split(".")[0] in groups]
    assert len(host) > 60
    assert not [key for key in host if key not in textbook]


@pytest.mark.parametrize("key", ["copy.h2d_bandwidth", "stream.retry", "host.cupy.launch", "alloc.device"])
def test_measured_quantities_name_their_bench(key):
    quantity = load_profile("h200_sxm").quantities[key]
    assert quantity.kind == "measured"
    assert quantity.source.startswith("realkernels.microbench.host ")
