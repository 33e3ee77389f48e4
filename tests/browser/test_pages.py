"""The pages beside the timelines in a real browser. Every test also fails on a console error or a request outside."""

import pytest

from gpusim.dashboard.pages.ladder import RUNGS

pytestmark = pytest.mark.browser

POINTS = "#scatter .points path"


def go(seen, place, wait):
    """Open a page and wait for what comes last on it."""
    seen.page.goto(f"{seen.address}{place}")
    seen.page.wait_for_selector(wait, timeout=30_000)
    return seen.page


def test_every_page_is_a_link_away_and_the_way_back_is_the_browsers(shipped):
    page = shipped.open()
    for name in ("Accuracy", "Device", "Learn"):
        page.click(f".pages >> text={name}")
        page.wait_for_selector(f".to-page[aria-current=page] >> text={name}")
        assert page.url.endswith(f"/{name.lower()}/")
        assert page.title() == f"gpusim · {name}"
    page.go_back()
    page.wait_for_selector(".to-device[aria-current=page]")
    page.click(".brand")
    page.wait_for_selector("#gutter .lane-row", timeout=30_000)
    page.go_back()
    page.wait_for_selector(".to-device[aria-current=page]")


def test_pages_can_be_reached_from_the_keyboard(shipped):
    page = go(shipped, "/device/", "#roofline .points path")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Accuracy"
    page.keyboard.press("Enter")
    page.wait_for_selector(POINTS, timeout=30_000)


def test_filters_stay_in_the_address_and_a_row_opens_its_case(shipped):
    page = go(shipped, "/accuracy/", POINTS)
    everything = page.locator(POINTS).count()
    page.click("#techniques >> text=cluster_multicast")
    page.wait_for_function("location.search.includes('technique=cluster_multicast')")
    page.wait_for_function(f"document.querySelectorAll('{POINTS}').length < {everything}")
    page.click("#case-rows >> text=measured")
    page.wait_for_function("location.search.includes('by=measured')")
    page.wait_for_selector("#case-rows th[aria-sort=descending] >> text=measured")
    row = page.locator("#case-rows tbody tr").first
    measured, params = row.locator("td").nth(3).inner_text(), row.locator("td").nth(2).inner_text()
    row.locator("td").nth(2).click()
    page.wait_for_selector("#cards >> text=Measured", timeout=30_000)
    assert "scenario=cluster_multicast" in page.url
    assert measured in page.locator("#cards").inner_text()
    # Every change in the address is one of the case's own parameters.
    for change in page.evaluate("new URLSearchParams(location.search).getAll('set')"):
        assert change.removeprefix("kernel.params.") in params
    page.go_back()
    page.wait_for_selector(POINTS, timeout=30_000)
    assert "technique=cluster_multicast" in page.url
    assert page.locator("#technique").input_value() == "cluster_multicast"


def test_a_clicked_point_opens_its_case(shipped):
    page = go(shipped, "/accuracy/?technique=copy_engines", POINTS)
    box = page.locator(POINTS).first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#scatter .hoverlayer .hovertext")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector("#gutter .lane-row", timeout=30_000)
    assert "scenario=copy_engines" in page.url


def test_more_rows_come_on_request(shipped):
    page = go(shipped, "/accuracy/", POINTS)
    before = page.locator("#case-rows tbody tr").count()
    page.click("#more")
    page.wait_for_function(f"document.querySelectorAll('#case-rows tbody tr').length > {before}")
    page.fill("#words", "no such parameter")
    page.wait_for_selector("#summary >> text=none is like this")
    assert page.locator("#case-rows tbody tr").count() == 0


def test_a_device_can_be_chosen_searched_and_filled(shipped):
    page = go(shipped, "/device/?device=h100_sxm", "#roofline .points path")
    assert "H100" in page.locator("#about").inner_text()
    page.fill("#words", "hbm.read_bandwidth")
    page.wait_for_function("document.querySelectorAll('#quantities tbody tr').length === 2")
    page.wait_for_selector("#occupancy .card-value >> text=4")
    page.fill("#threads", "1024")
    page.wait_for_selector("#occupancy .card-value >> text=1")
    page.fill("#threads", "4096")
    page.wait_for_selector("#occupancy [role=alert] >> text=fewer threads")
    page.click("#device")
    page.click("[role=option] >> text=b200")
    page.wait_for_function("location.search === '?device=b200'")
    page.wait_for_selector("#about >> text=B200")
    page.wait_for_selector("text=Nothing is recorded on b200")


def test_the_ladder_steps_and_plays_through_time(shipped):
    page = go(shipped, "/learn/", ".rung-numbers")
    page.wait_for_function(f"document.querySelectorAll('.rung-numbers').length === {len(RUNGS)}", timeout=30_000)
    page.wait_for_function(f"document.querySelectorAll('.rung .js-plotly-plot').length === {len(RUNGS)}")
    rung = page.locator(".rung").nth(4)
    assert "Double buffering" in rung.inner_text()
    cursor, later = rung.locator(".now"), rung.locator(".later")
    assert not cursor.is_visible()
    rung.locator("[data-move=next]").click()
    rung.locator("[data-move=next]").focus()
    page.keyboard.press("ArrowRight")
    first = cursor.bounding_box()["x"]
    page.keyboard.press("ArrowRight")
    assert cursor.bounding_box()["x"] > first
    assert "producer" in rung.locator(".told").inner_text()
    rung.locator("[data-move=play]").click()
    page.wait_for_function(
        f"document.querySelectorAll('.rung')[4].querySelector('.now').getBoundingClientRect().x > {first + 60}"
    )
    rung.locator("[data-move=play]").click()
    right = rung.locator(".graph").bounding_box()
    shade = later.bounding_box()
    assert shade["x"] == pytest.approx(cursor.bounding_box()["x"], abs=3)
    assert shade["x"] + shade["width"] <= right["x"] + right["width"]
    rung.locator("[data-move=all]").click()
    assert not later.is_visible()


def test_the_ladder_is_drawn_anew_for_another_width(shipped):
    page = go(shipped, "/learn/", ".rung .js-plotly-plot .main-svg")
    width = "document.querySelector('.rung .js-plotly-plot').getBoundingClientRect().width"
    page.wait_for_function(
        f"document.querySelectorAll('.rung .js-plotly-plot').length === {len(RUNGS)}", timeout=30_000
    )
    before = page.evaluate(width)
    page.set_viewport_size({"width": 1024, "height": 800})
    page.wait_for_function(f"{width} !== {before}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024


@pytest.mark.parametrize("place", ["/accuracy/", "/device/", "/learn/"])
def test_the_theme_is_kept_from_page_to_page(shipped, place):
    page = go(shipped, "/device/", "#roofline .points path")
    page.click("#theme-toggle")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.goto(f"{shipped.address}{place}")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def test_a_folder_of_other_scenarios_says_what_the_ladder_needs(watched):
    page = go(watched, "/learn/", ".rung-missing >> text=come with gpusim")
    assert page.locator(".rung").count() == len(RUNGS)
