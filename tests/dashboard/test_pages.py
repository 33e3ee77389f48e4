"""What all pages have in common: they are served, to this machine alone, and lead to each other."""

import pytest
from page_texts import texts

from gpusim.dashboard import build_app
from gpusim.dashboard.page.layout import PAGES, navigation

HERE = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def client(source):
    return build_app(source).server.test_client()


@pytest.mark.parametrize("place", PAGES.values())
def test_every_page_is_served_with_its_layout(client, place):
    assert client.get(place, headers=HERE).status_code == 200
    layout = client.get(f"{place}_dash-layout", headers=HERE | {"Referer": f"http://127.0.0.1:8050{place}"})
    assert layout.status_code == 200
    assert layout.headers["Cache-Control"] == "no-store"
    assert all(repr(link) in str(layout.get_json()) for link in PAGES.values())


@pytest.mark.parametrize("place", PAGES.values())
def test_no_page_is_served_to_the_name_of_another_site(client, place):
    assert client.get(place, headers={"Host": "elsewhere.example"}).status_code == 403


@pytest.mark.parametrize("place", [place for place in PAGES.values() if place != "/"])
def test_scripts_of_the_timelines_stay_on_their_page(client, place):
    text = client.get(place, headers=HERE).text
    assert "pages.js" in text
    assert "b_graph.js" not in text
    assert "pages.js" not in client.get("/", headers=HERE).text


def test_the_open_page_is_marked():
    marked = [link for link in navigation("learn").children if getattr(link, "aria-current", "")]
    assert texts(marked) == ["Learn"]
