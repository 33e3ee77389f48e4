"""How many CTAs and how many tiles: a grid as in dim3, and tiles that are stated for all CTAs together."""

import pytest

from gpusim.errors import ScenarioError
from gpusim.scenario import from_data, loads, predict, sweep, with_overrides
from gpusim.scenario.levers.variants import Variant, variants
from gpusim.scenario.overrides import parse_assignments
from gpusim.timeline.metrics import summary


@pytest.fixture
def total(spelled):
    """The spelled-out kernel of 8 CTAs with so many tiles in all."""
    return lambda tiles: loads(spelled.replace("tiles_per_cta: 12", f"tiles_per_cta: {{total: {tiles}}}"))


def counts(scenario, **overrides):
    """Grid and tiles of the program, ``kernel.name`` set to other values."""
    paths = {f"kernel.{name}": value for name, value in overrides.items()}
    program = with_overrides(scenario, paths).program()
    return program.grid, program.tiles_per_cta


@pytest.mark.parametrize(
    ("tiles", "dealt"),
    [(96, 12), (100, (13,) * 4 + (12,) * 4), (95, (12,) * 7 + (11,)), (3, (1,) * 3 + (0,) * 5), (8, 1)],
)
def test_a_total_is_dealt_as_a_grid_stride_loop_deals_it(spelled, total, tiles, dealt):
    """The first CTAs have one more; the prediction is that of the list, or of the number where it comes out even."""
    assert counts(total(tiles)) == (8, dealt)
    listed = dealt if isinstance(dealt, int) else list(dealt)
    written = loads(spelled.replace("tiles_per_cta: 12", f"tiles_per_cta: {listed}"))
    assert summary(predict(total(tiles))) == summary(predict(written))


def test_a_total_stays_as_it_was_said(total):
    """In what a sweep sends to its workers and in the hash."""
    own = total(100)
    assert own.resolved()["kernel"]["tiles_per_cta"] == {"total": 100}
    assert from_data(own.resolved()).hash == own.hash != total(101).hash


def test_a_total_stays_with_another_grid(total):
    """And can be set itself, as can one number in its place."""
    assert counts(total(96), grid=4) == (4, 24)
    assert counts(total(96), grid=5) == (5, (20, 19, 19, 19, 19))
    assert counts(total(96), **{"tiles_per_cta.total": 80}) == (8, 10)
    assert counts(total(96), tiles_per_cta=7) == (8, 7)
    given = parse_assignments(["kernel.tiles_per_cta={total: 40}"])
    assert with_overrides(total(96), {path: value for path, (value,) in given.items()}).program().tiles_per_cta == 5


def test_a_sweep_over_grids_does_the_same_tiles(total):
    """More CTAs, fewer tiles each."""
    result = sweep(total(96), {"kernel.grid": [4, 8, [4, 4]], "kernel.tiles_per_cta.total": [96]}, workers=1)
    assert [point.error for point in result.points] == [""] * 3
    assert result.points[0].total_s > result.points[1].total_s > result.points[2].total_s


def test_levers_keep_the_total(total):
    """Another grid leaves it alone, a larger tile halves it, and no variant drops a tile."""
    own = with_overrides(total(100), {"kernel.ctas_per_sm": 2, "kernel.grid": [4, 66]})
    found = {one.change: one for one in variants(own) if isinstance(one, Variant)}
    larger = found["tile 16 KiB → 32 KiB (tiles in total 100 → 50)"]
    assert larger.overrides["kernel.tiles_per_cta.total"] == 50
    own = with_overrides(own, {"kernel.grid": 300})
    grids = {one.scenario.model.kernel.grid: one for one in variants(own) if one.lever == "grid"}
    assert grids
    assert all(sum(one.scenario.program().tiles_per_cta) == 100 for one in grids.values())


def test_levers_leave_out_a_tile_that_would_not_come_out_even(total):
    """101 tiles of 16 KiB are no whole number of 32 KiB."""
    changes = [one.change for one in variants(total(101)) if isinstance(one, Variant)]
    assert not any(change.startswith("tile 16 KiB → 32 KiB") for change in changes)
    assert any(change.startswith("tile 16 KiB → 8 KiB (tiles in total 101 → 202)") for change in changes)


@pytest.mark.parametrize(("grid", "ctas"), [("[2, 4]", 8), ("[2, 2, 3]", 12), ("[1e1, 1]", 10)])
def test_a_grid_may_have_dimensions(spelled, grid, ctas):
    """Everything else sees their product, as if that had been written."""
    own, plain = (loads(spelled.replace("grid: 8", f"grid: {text}")) for text in (grid, ctas))
    assert own.program().grid == own.resolved()["kernel"]["grid"] == ctas
    assert own.hash == plain.hash


def test_a_grid_with_dimensions_can_be_set(spelled):
    """On the command line the brackets keep its numbers together."""
    given = parse_assignments(["kernel.grid=[16,16]"])
    assert given == {"kernel.grid": [[16, 16]]}
    assert counts(loads(spelled), grid=[16, 16])[0] == 256


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tiles_per_cta: 12", "tiles_per_cta: {total: 0}", r":5:\d+: kernel.tiles_per_cta.total: 0 is .*at least 1"),
        ("tiles_per_cta: 12", "tiles_per_cta: {total: many}", r"tiles_per_cta.total: expected a whole number"),
        ("tiles_per_cta: 12", "tiles_per_cta: {}", r":5:\d+: kernel.tiles_per_cta.total: is missing"),
        ("tiles_per_cta: 12", "tiles_per_cta: {totl: 4}", r"totl: unknown key .allowed: total.*mean 'total'"),
        (
            "tiles_per_cta: 12", "tiles_per_cta: {total: 1e9}",
            r"total: is 125,000,000 tiles for each of 8 CTAs .allowed: at most 10,000,000 for one, 80,000,000 in total",
        ),
        (
            "grid: 8\n  tiles_per_cta: 12", "grid: 2e6\n  tiles_per_cta: {total: 3e6}",
            r"total: does not come out even over 2,000,000 CTAs .allowed: a multiple of the grid, or a grid of at most",
        ),
        ("tiles_per_cta: 12", "tiles_per_cta: [1, x]", r":5:\d+: kernel.tiles_per_cta.1: expected a whole number"),
        ("tiles_per_cta: 12", "tiles_per_cta: [1, 2]", r"lists 2 CTAs, but grid is 8 .*or {total: n} for all"),
        ("grid: 8", "grid: []", r":4:\d+: kernel.grid: is a list of 0; expected one to three numbers"),
        ("grid: 8", "grid: [1, 2, 3, 4]", r"kernel.grid: is a list of 4; expected one to three numbers"),
        ("grid: 8", "grid: [2, 0]", r":4:\d+: kernel.grid.1: 0 is not possible .allowed: at least 1"),
        ("grid: 8", "grid: [2, x]", r"kernel.grid.1: expected a whole number"),
        ("grid: 8", "grid: [65536, 65535]", r"kernel.grid: 4294901760 is not possible .allowed: at most 2147483647"),
        ("grid: 8", "grid: [16, 70000]", r"kernel.grid: has 70000 CTAs in y .allowed: at most 65,535 in y and z"),
        ("grid: 8", "grid: [16, 1, 65536]", r"kernel.grid: has 65536 CTAs in z"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_explained(spelled, old, new, message):
    """Place, what was given, what is allowed."""
    assert old in spelled
    with pytest.raises(ScenarioError, match=message):
        loads(spelled.replace(old, new))
