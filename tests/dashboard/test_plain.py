"""Components as plain data: what a script needs to build them."""

from dash import html

from gpusim.dashboard.pages.plain import plain


def test_tags_attributes_and_children_are_kept():
    row = html.Tr([html.Th("a", scope="row"), html.Td(3, className="bad", colSpan=2)], **{"data-href": "/?x=1&y"})
    assert plain(row) == [
        "tr", {"data-href": "/?x=1&y"},
        [["th", {"scope": "row"}, ["a"]], ["td", {"class": "bad", "colspan": "2"}, ["3"]]],
    ]  # fmt: skip


def test_what_is_not_there_is_left_out():
    assert plain(html.Td(None, className="", title=None)) == ["td", {}, []]
    assert plain(html.Td([])) == ["td", {}, []]


def test_markup_in_a_text_stays_a_text():
    assert plain(html.Td("<b>")) == ["td", {}, ["<b>"]]
