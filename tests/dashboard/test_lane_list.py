import pytest

from gpusim.dashboard.figure.lane_list import LanePattern, default_open, rows_of
from gpusim.dashboard.figure.lane_tree import lane_tree

CTA = ["sm[0].cta[0].producer", "sm[0].cta[0].consumer", "sm[0].cta[0].input[0]", "sm[0].cta[0].input[1]", "sm[0].tma"]


def labels(lanes, **options):
    stages = {name for name in lanes if "input[" in name}
    root = lane_tree(lanes, stages)
    return [row.label for row in rows_of(root, **options)]


def test_roles_come_before_rings_and_units_come_last():
    assert labels(["sm[0].tma", "sm[0].cta[0].input[1]", "sm[0].cta[0].input[0]", "sm[0].cta[0].producer"]) == [
        "SM 0", "CTA 0", "producer", "input · stage 0", "input · stage 1", "TMA",
    ]  # fmt: skip


def test_groups_stand_in_the_order_host_streams_copy_engines_sms():
    lanes = ["sm[0].tma", "copy_engine[h2d]", "stream[1]", "host", "stream[0]"]
    assert labels(lanes) == ["Host", "stream 0", "stream 1", "copy engine H2D", "SM 0 · TMA"]


def test_lanes_of_several_gpus_stand_below_theirs():
    lanes = ["host[0]", "gpu[1].stream[2]", "gpu[1].stream[3]", "gpu[0].copy_engine[p2p]", "gpu[0].stream[0]"]
    assert labels(lanes) == ["GPU 0", "stream 0", "copy engine peer", "GPU 1 · stream 2", "GPU 1 · stream 3", "Host 0"]


def test_a_closed_group_shows_its_lanes_in_one_row():
    root = lane_tree(CTA)
    rows = rows_of(root, opened=set())
    assert [row.lanes for row in rows] == [tuple(root.lanes())]
    assert not rows[0].open


def test_opening_and_closing_wins_over_the_default():
    root = lane_tree(CTA)
    first = rows_of(root)[0]
    assert first.open
    assert len(rows_of(root, toggled={first.path: False})) == 1


def test_the_default_opens_the_first_cta_and_closes_what_exceeds_the_budget():
    lanes = [name.replace("cta[0]", f"cta[{k}]") for k in range(8) for name in CTA]
    root = lane_tree(dict.fromkeys(lanes))
    rows = rows_of(root, opened=default_open(root, budget=14))
    assert sum(row.label == "producer" for row in rows) == 1
    assert [row.label for row in rows if row.group and not row.open][:2] == ["CTA 1", "CTA 2"]


def test_very_many_groups_are_bundled():
    root = lane_tree([f"sm[{k}].cta[0].{role}" for k in range(132) for role in ("producer", "consumer")])
    rows = rows_of(root)
    assert rows[-1].label == "SM 4 … 131"
    assert len(rows[-1].lanes) == 256


def test_a_role_shows_its_own_lane_and_its_warps_when_opened():
    lanes = [*CTA, "sm[0].cta[0].consumer.warp[4]"]
    root = lane_tree(lanes)
    closed = next(row for row in rows_of(root) if row.label == "consumer")
    assert closed.lanes == ("sm[0].cta[0].consumer",)
    assert "warp 4" in [row.label for row in rows_of(root, toggled={closed.path: True})]


def test_alike_sms_say_how_many_they_stand_for():
    root = lane_tree(CTA, alike={"sm[0]": 132})
    assert rows_of(root)[0].label.startswith("SM 0 (×132)")


def test_pinned_lanes_come_first_and_once():
    rows = rows_of(lane_tree(CTA), pinned=["sm[0].tma", "gone"])
    assert rows[0].lanes == ("sm[0].tma",)
    assert sum("sm[0].tma" in row.lanes for row in rows) == 1


def test_a_search_keeps_matching_lanes_and_opens_the_way_to_them():
    rows = rows_of(lane_tree(CTA), opened=set(), pattern=LanePattern(r"input|TMA"))
    assert [lane for row in rows for lane in row.lanes] == CTA[2:]


@pytest.mark.parametrize("text", ["input[", "(", "*x", "a{2,1}"])
def test_a_bad_expression_says_why_and_hides_nothing(text):
    pattern = LanePattern(text)
    assert "regular expression" in pattern.error
    assert pattern.matches("anything")


def test_every_lane_is_in_exactly_one_row():
    lanes = [f"sm[{s}].cta[{c}].{r}" for s in range(3) for c in range(2) for r in ("a", "b", "in[0]", "in[1]")]
    shown = [lane for row in rows_of(lane_tree(lanes)) for lane in row.lanes]
    assert sorted(shown) == sorted(lanes)


def test_a_cta_of_one_role_is_one_row_with_its_launches():
    lanes = [
        name for k in range(2) for name in (f"sm[0].cta[{k}]", f"sm[0].cta[{k}].all", f"sm[0].cta[{k}].all.warp[4]")
    ]
    launches = {"sm[0].cta[0]", "sm[0].cta[1]"}
    root = lane_tree(lanes, launches=launches)
    rows = rows_of(root, launches=launches)
    assert [row.label for row in rows] == ["SM 0", "CTA 0 · all", "CTA 1 · all"]
    assert rows[1].lanes == ("sm[0].cta[0]", "sm[0].cta[0].all")
    assert (rows[1].own, rows[1].merged, rows[1].launching, rows[1].more) == ("sm[0].cta[0].all", True, 1, 1)
    opened = rows_of(root, toggled={rows[1].path: True}, launches=launches)
    assert [row.label for row in opened[1:3]] == ["CTA 0 · all", "warp 4"]
    assert len(rows_of(lane_tree(lanes))) > len(rows)


def test_a_pinned_role_takes_its_launches_along():
    lanes = ["sm[0].cta[0]", "sm[0].cta[0].all", "sm[0].tma"]
    rows = rows_of(lane_tree(lanes, launches={lanes[0]}), pinned=["sm[0].cta[0].all"])
    assert [row.label for row in rows] == ["SM 0 · CTA 0 · all", "SM 0", "TMA"]
