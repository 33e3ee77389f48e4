"""A loop without a producer: thread 0 of the computing warps waits for a free stage and asks for its copy."""

from __future__ import annotations

from collections import defaultdict

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError, ScenarioError
from gpusim.program.remedies import role_of
from gpusim.scenario import loads, predict

OWN_RING = """\
question: q
device: h200_sxm
kernel:
  grid: 264
  tiles_per_cta: 40
  registers: 64
  rings: {input: {stages: 3, bytes: 16 KiB}}
  roles:
    all:
      warps: 4
      per_tile:
        - acquire: {ring: input, ahead: full, warps: 1}
        - tma_load: {ring: input, ahead: full}
        - wait: input
        - compute: {ffma: 256, lds: 8, other: 24}
        - release: input
"""
BY_HAND = (
    OWN_RING[: OWN_RING.index("    all:")]
    + """\
    first:
      warps: 1
      per_tile:
        - acquire: {ring: input, ahead: full}
        - tma_load: {ring: input, ahead: full}
        - wait: input
        - compute: {ffma: 256, lds: 8, other: 24}
        - release: input
    others:
      warps: 3
      per_tile:
        - wait: input
        - compute: {ffma: 256, lds: 8, other: 24}
        - release: input
"""
)


def with_ops(*ops: str) -> str:
    """The same kernel, with other ops in each tile."""
    return OWN_RING.split("        - acquire", maxsplit=1)[0] + "".join(f"        - {op}\n" for op in ops)


def waits(text: str) -> dict[str, set[str]]:
    """What the warps of one CTA wait for, by lane."""
    found = defaultdict(set)
    for interval in predict(loads(text)):
        if interval.lane.startswith("sm[0].cta[0].all") and interval.kind == "wait":
            found[interval.lane.removeprefix("sm[0].cta[0].")].add(interval.reason)
    return found


def test_the_others_do_not_wait_for_the_free_stage():
    """Only for the data: with ``warps: 1`` as without it the first warp waits for both."""
    found = waits(OWN_RING)
    assert found.pop("all") == {"stage_full", "stage_empty"}
    assert found == {f"all.warp[{warp}]": {"stage_empty"} for warp in (1, 2, 3)}


def test_is_the_same_as_the_role_in_two():
    """One warp that asks and computes beside three that compute."""
    one, two = (predict(loads(text), trace=False).total_s for text in (OWN_RING, BY_HAND))
    assert one == pytest.approx(two, rel=5e-3)


def test_all_warps_of_it_free_the_stage():
    """Those that wait for it when it is full, not only the one that waits for it to be free."""
    program = loads(OWN_RING).program()
    assert program.rings[0].empty_arrivals == 4
    assert loads(OWN_RING).doubts() == ()


def test_extrapolated_tiles_agree_with_exact_ones():
    """As of other loops."""
    kernel = loads(OWN_RING.replace("tiles_per_cta: 40", "tiles_per_cta: 400"))
    assert predict(kernel).total_s == pytest.approx(predict(kernel, exact=True).total_s, rel=1e-3)


def test_a_stage_that_nobody_releases():
    """Who waits is the first warp, with tile and stage."""
    with pytest.raises(Deadlock) as stop:
        predict(loads(OWN_RING.replace("        - release: input\n", "")))
    assert "cta[0].all waits at tile 3 for sm[0].cta[0].input[0] empty barrier" in str(stop.value)
    assert "put release: input in role 'all'" in str(stop.value)


def test_a_stage_that_is_released_before_it_is_read():
    """The first warp may overwrite what the others still read."""
    text = with_ops(
        "wait: input", "release: input", "acquire: {ring: input, ahead: 3, warps: 1}",
        "tma_load: {ring: input, ahead: 3}", "compute: {ffma: 256, lds: 8}",
    )  # fmt: skip
    with pytest.raises(HazardError) as stop:
        predict(loads(text))
    told = stop.value
    assert (role_of(told.role), told.ring, told.stage, told.tile) == ("all", "input", 0, 0)
    assert "put release: input behind the last read of a tile in role 'all'" in str(told)


def test_a_wait_of_one_warp_is_no_meeting():
    """Copies of all warps over what others read are in doubt, though one of them has waited for the free stage."""
    text = with_ops(
        "acquire: {ring: input, warps: 1}", "cp_async: input", "producer_commit: {ring: input, asynchronous: true}",
        "compute: {ffma: 256, lds: 8, reads: input}", "release: input",
    )  # fmt: skip
    assert any("no barrier lets them wait for each other" in doubt for doubt in loads(text).doubts())
    assert not any("each other" in doubt for doubt in loads(text.replace(", warps: 1", "")).doubts())


def test_more_warps_than_the_role_has():
    """Is told, with the place."""
    with pytest.raises(ScenarioError, match=r"acquire\.warps: is 5, the role has 4 .allowed: at most 4"):
        loads(OWN_RING.replace("warps: 1}", "warps: 5}"))
