"""Products on the tensor cores as a scenario file spells them out."""

from __future__ import annotations

import pytest

from gpusim.errors import GpusimError
from gpusim.program import Release, Wgmma, WgmmaWait
from gpusim.scenario import advise, loads, predict

GEMM = """
question: How long?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 12
  registers: 90
  rings: {tiles: {stages: 4, bytes: 32 KiB}}
  roles:
    consumer:
      warps: 8
      per_tile: [{wait: tiles}, {wgmma: {n: 128}}, {wgmma_wait: PENDING}, {release: RELEASE}]
      epilogue: [{wgmma_wait: 0}]
    producer: {warps: 1, per_tile: [{acquire: tiles}, {tma_load: tiles}]}
"""


def gemm(pending: int = 0, release: str = "tiles", stages: int = 4, tiles: int = 12):
    text = GEMM.replace("PENDING", str(pending)).replace("RELEASE", release)
    return loads(text.replace("stages: 4", f"stages: {stages}").replace("cta: 12", f"cta: {tiles}"))


def ops(scenario, kind):
    program = scenario.program()
    return [op for op in program.roles[0].body(12) if isinstance(op, kind)]


def test_words_are_ops():
    """The operands are in the stage that the role has waited for."""
    first = ops(gemm(), Wgmma)[0]
    assert (first.n, first.count, first.k, first.a, first.reads) == (128, 4, 16, "shared", "tiles")
    assert [op.pending for op in ops(gemm(1, "{ring: tiles, lag: 1}"), WgmmaWait)][-2:] == [1, 0]


def test_release_of_an_earlier_tile():
    """None in the first turn, and of the last tiles none in the loop."""
    assert [op.tile for op in ops(gemm(1, "{ring: tiles, lag: 1}"), Release)] == list(range(11))
    assert [op.tile for op in ops(gemm(), Release)] == list(range(12))


def test_products_under_way_cost_a_stage_and_hide_the_wait():
    """With enough stages it is quicker to leave one group under way, and with two it is not."""
    waits, leaves = (0, "tiles"), (1, "{ring: tiles, lag: 1}")
    many, two = (
        [predict(gemm(*way, stages=stages, tiles=200)).total_s for way in (waits, leaves)] for stages in (4, 2)
    )
    assert many[1] < many[0] * 1.03
    assert two[1] > two[0] * 1.1


def test_release_that_comes_too_early_is_named():
    """The products of its tile are still under way."""
    with pytest.raises(GpusimError, match="wgmma_wait that leaves no product of the stage pending in front of release"):
        predict(gemm(1, stages=1))


@pytest.mark.parametrize(
    ("of", "told"),
    [
        ("{n: 100}", "multiples of 8"),
        ("{n: 512}", "256"),
        ("{n: 128, a: nowhere}", "registers"),
        ("{n: 128, reads: tile}", "tiles"),
        ("{count: 4}", "n"),
    ],
)
def test_wrong_products_are_explained(of, told):
    """With the field and what is allowed."""
    with pytest.raises(GpusimError, match="wgmma") as error:
        loads(GEMM.replace("PENDING", "0").replace("RELEASE", "tiles").replace("{n: 128}", of)).program()
    assert told in str(error.value)


def test_levers_leave_the_work_as_it_is():
    """A tile of twice the depth has twice the products; more warps would have other rows."""
    found = advise(gemm(tiles=24, stages=3))
    changes = [lever.change for lever in found.levers]
    assert any("tile 32 KiB → 64 KiB" in change for change in changes)
    assert not any("warps" in change for change in changes)
    larger = next(lever for lever in found.levers if "tile 32 KiB → 64 KiB" in lever.change)
    assert larger.overrides["kernel.roles.consumer.per_tile.1"] == {"wgmma": {"n": 128, "count": 8}}
