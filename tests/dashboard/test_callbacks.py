from dataclasses import replace

import pytest

from gpusim.dashboard.page.address import MOST_LETTERS, address_of, ignored_in, view_of
from gpusim.dashboard.page.advice import advice_line
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.content import draw, show_advice, show_case
from gpusim.dashboard.page.sweep_panel import sweep_figure
from gpusim.dashboard.server import build_app

VIEWPORT = {"width": 1100, "height": 560, "room": 560}


def texts(component):
    """All text in a tree of components."""
    if component is None:
        return ""
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        return " ".join(map(texts, component))
    return texts(getattr(component, "children", None))


def test_an_address_holds_scenario_window_and_mode():
    address = address_of("?scenario=ring&mode=overlay&from=1.5&to=2.5&point=s4")
    assert address == {
        "scenario": "ring", "point": "s4", "mode": "overlay", "window": [1.5, 2.5], "changes": [], "against": "",
    }  # fmt: skip
    assert address_of("?scenario=ring")["point"] == "own"


def test_an_address_that_is_too_long_loses_whole_entries_only():
    """Half of the last one would be another change."""
    entry = "&set=kernel.params.stages=16"
    filler = "x" * (MOST_LETTERS - len(f"scenario={entry}") + 1)
    for cut in range(len(entry) + 2):
        address = address_of(f"?scenario={filler[cut:]}{entry}&mode=overlay")
        assert address["changes"] in ([], ["kernel.params.stages=16"])
    assert address["changes"] == ["kernel.params.stages=16"]
    assert address_of(f"?scenario={filler}{entry}")["changes"] == []
    assert address_of("x" * (MOST_LETTERS + 1))["scenario"] is None


@pytest.mark.parametrize("search", ["", None, "?from=5&to=1", "?from=nan&to=inf", "?mode=evil&from=a&to=b", "%%%&&=?"])
def test_nonsense_in_an_address_is_dropped(search):
    address = address_of(search)
    assert address["window"] is None
    assert address["mode"] is None


def test_what_is_left_out_of_an_address_is_told():
    """But nothing of one that says what it may say."""
    assert ignored_in("?scenario=ring&mode=overlay&from=1.5&to=2.5&point=s4&set=a%3D1&set=b%3D2&against=measured") == []
    assert ignored_in(None) == []
    told = " ".join(ignored_in("?case=ring&mode=evil&against=luck&from=5&to=1"))
    for part in (
        "'case' is nothing",
        "mode: there is no 'evil'",
        "against: there is no 'luck'",
        "from and to: expected",
    ):
        assert part in told
    assert "longer than 4000 letters" in ignored_in("?scenario=ring&set=" + "x" * MOST_LETTERS)[0]


def test_a_view_ignores_what_belongs_to_another_case():
    window = {"case": "other|", "low": 1, "high": 2}
    assert view_of("ring|", {"window": window, "viewport": VIEWPORT}).window_us is None
    assert view_of("other|", {"window": window, "viewport": VIEWPORT}).window_us == (1.0, 2.0)


@pytest.mark.parametrize(
    "values",
    [
        {
            "window": {"case": "k", "low": "x", "high": None},
            "offset": "abc",
            "align_tile": "",
            "viewport": {"width": "q"},
        },
        {"window": [1, 2], "lanes": "text", "selected": 5, "viewport": None, "mode": "none", "offset": float("nan")},
        {"viewport": {"width": 10**9, "height": -4}, "search": None},
    ],
)
def test_a_view_of_broken_values_is_the_default(values):
    view = view_of("k", values)
    assert view.window_us is None
    assert view.offset_us == 0.0
    assert 200 <= view.width <= 8000
    assert 120 <= view.height <= 8000


def test_a_case_fills_question_cards_and_points(source):
    shown = show_case(source, Asked("ring"))
    assert shown["case"] == {
        "name": "ring", "point": "own", "key": "ring|own|measured", "other": True, "changes": [], "against": "measured",
        "imported": "", "text": None,
    }  # fmt: skip
    assert len(shown["cards"]) == 8
    assert "outside ±5\u00a0%" in texts(shown["cards"])
    assert [point["value"] for point in shown["points"]] == ["own", "s4"]


def test_a_case_without_recording_is_a_prediction_only(source):
    shown = show_case(source, Asked("alone"))
    assert "not measured" in texts(shown["cards"])
    assert shown["work"] == {"--sides": "none"}  # nothing to compare with
    assert "prediction only" in texts(shown["badges"])
    drawn = draw(source.case(Asked("alone")), "alone|", view_of("alone|", {"viewport": VIEWPORT}))
    assert "yaxis2" not in drawn["figure"]["layout"]


@pytest.mark.parametrize(
    ("name", "words"), [("bad", "must be at least 1"), ("nowhere", "no scenario called"), (None, "no scenario")]
)
def test_what_cannot_be_shown_gives_a_message_and_no_timeline(source, name, words):
    shown = show_case(source, Asked(name))
    assert words in texts(shown["message"])
    assert shown["work"] == {"display": "none"}
    assert shown["case"] is None


def test_advice_names_the_change_its_gain_and_the_roofline(source):
    said = texts(show_advice(source, Asked("ring")))
    assert "stages 3 → 4" in said
    assert "−4.2 % time" in said
    assert "memory-bound" in said
    assert "92 % of bandwidth, 55 % of FP32 arithmetic" in said


def test_advice_to_leave_it_says_what_holds_and_what_was_tried(source):
    said = texts(show_advice(source, Asked("alone")))
    assert "leave it" in said
    assert "memory bandwidth, at 92 % of its peak" in said
    assert "−1.3 %" in said


def test_a_case_without_advice_has_a_line_all_the_same(source):
    assert "none" in texts(show_advice(source, Asked("bad")))


def test_advice_is_pending_until_a_case_has_been_drawn(source):
    assert "predicting" in texts(show_case(source, Asked("ring"))["advice"])


def test_a_drawing_says_how_much_is_in_view_and_whether_it_is_binned(source):
    drawn = draw(source.case(Asked("dense100000")), "d|", view_of("d|", {"viewport": VIEWPORT}))
    assert "binned" in drawn["count"]
    assert drawn["figure"]["layout"]["meta"]["case"] == "d|"


def test_a_selection_opens_the_details_with_partner_and_cause(source):
    case = source.case(Asked("ring"))
    line = case.predicted.timeline
    wait = next(i for i in range(len(line)) if line.cause[i] >= 0 and line[i].reason == "stage_empty")
    view = view_of("r|", {"selected": {"case": "r|", "side": "predicted", "index": wait}, "viewport": VIEWPORT})
    said = texts(draw(case, "r|", view)["details"])
    assert "wait: no filled stage" in said
    assert "copy in flight" in said
    assert "Measured − predicted" in said


@pytest.mark.parametrize("index", [-1, 10**9])
def test_a_selection_that_does_not_exist_opens_nothing(source, index):
    view = view_of("r|", {"selected": {"case": "r|", "side": "predicted", "index": index}, "viewport": VIEWPORT})
    assert draw(source.case(Asked("ring")), "r|", view)["details"] == []


def test_waits_share_their_word_in_the_legend_of_every_mode(source):
    for mode, parts in (("stacked", ["wait:"]), ("difference", ["duration", "points", "wait:"])):
        view = view_of("r|", {"mode": mode, "viewport": VIEWPORT})
        legend = draw(source.case(Asked("ring")), "r|", view)["legend"]
        assert [texts(one).strip() for one in legend if one.className == "legend-part"] == parts
        assert not any("wait:" in texts(one) for one in legend if "chip" in one.className)


def test_a_bad_search_reaches_the_search_box(source):
    drawn = draw(source.case(Asked("ring")), "r|", view_of("r|", {"search": "[", "viewport": VIEWPORT}))
    assert "not a regular expression" in drawn["search_error"]


def test_the_page_names_no_other_server(source):
    app = build_app(source)
    client = app.server.test_client()
    with client.get("/") as reply:
        page = reply.get_data(as_text=True)
    assert "http://" not in page
    assert "https://" not in page
    for name in ("a_view.js", "b_graph.js", "c_input.js", "style.css"):
        with client.get(f"/assets/{name}") as reply:
            assert reply.status_code == 200


def test_the_page_names_the_numbers_that_hold(source, monkeypatch):
    """Limits and modes have one place each; what the page says of them is made of it."""
    monkeypatch.setattr("gpusim.dashboard.page.layout.BAR_LIMIT", 1234)
    monkeypatch.setattr("gpusim.dashboard.page.layout.MODES", ("stacked", "apart"))
    monkeypatch.setattr("gpusim.dashboard.page.advice.WORTH_IT", 0.07)
    monkeypatch.setattr("gpusim.dashboard.page.sweep_panel.LONG_US", 5.0)
    page = build_app(source).layout()
    assert "Up to 1,234 intervals" in texts(page)
    (modes,) = (part for part in page._traverse() if getattr(part, "id", None) == "mode")
    assert [mode["value"] for mode in modes.data] == ["stacked", "apart"]
    unheld = replace(source.advice(Asked("alone")), bottleneck=None)
    assert "no lever gains more than 7 %" in texts(advice_line(unheld))
    assert sweep_figure(source.sweep(Asked("ring")), "light")["layout"]["yaxis"]["ticksuffix"] == " ms"


def test_every_element_that_a_callback_needs_is_on_the_page(source):
    app = build_app(source)
    ids = set()

    def walk(component):
        if getattr(component, "id", None):
            ids.add(str(component.id))
        children = getattr(component, "children", None)
        for child in children if isinstance(children, list | tuple) else [children]:
            if hasattr(child, "to_plotly_json"):
                walk(child)

    walk(app.layout())
    wanted = {part["id"] for callback in app.callback_map.values() for part in callback["inputs"] + callback["state"]}
    # The key of a callback names its outputs, "..a.children...b.data@some-hash..".
    outputs = {part.rpartition(".")[0] for key in app.callback_map for part in key.strip(".").split("...")}
    assert {"drawn", "changes", "wrong-fields"} <= outputs
    # Ids with braces stand for the fields of whatever scenario is shown.
    assert {name for name in wanted | outputs if not name.startswith("{")} <= ids


def test_a_request_under_a_foreign_name_is_refused(source):
    client = build_app(source).server.test_client()
    with client.get("/", headers={"Host": "evil.example:8050"}) as reply:
        assert reply.status_code == 403
    with client.get("/", headers={"Host": "127.0.0.1:8050"}) as reply:
        assert reply.status_code == 200


def test_the_page_opens_at_the_address_it_was_asked_for(source):
    client = build_app(source).server.test_client()
    asked = {"Referer": "http://localhost/?scenario=ring&mode=overlay&from=4&to=9"}
    with client.get("/_dash-layout", headers=asked) as reply:
        body = reply.get_data(as_text=True)
    assert '"ring|own|measured"' in body
    assert '"low":4.0' in body.replace(" ", "")
    assert "How many stages" in body
