"""The what-if panel in a real browser: its fields, sliders and text, and the room that it takes."""

import pytest

pytestmark = pytest.mark.browser


def top(page):
    """Where the timelines begin, px."""
    return page.evaluate("document.querySelector('#scroller').getBoundingClientRect().top")


@pytest.mark.parametrize("width", [1024, 1440, 1920])
def test_a_what_if_moves_nothing(shipped, width):
    """Other badges, cards, colours and advice take the room that there is."""
    shipped.page.set_viewport_size({"width": width, "height": 900})
    page = shipped.open("?scenario=stages")
    page.wait_for_selector("#advice >> text=others")
    page.keyboard.press("w")
    page.wait_for_selector("#fields input", state="visible")
    page.wait_for_timeout(500)  # the timelines make room
    before = top(page)
    for stages in ("2", "99", "1"):
        page.get_by_label("stages", exact=True).fill(stages)
        if stages == "99":
            page.wait_for_selector("#wrong >> text=not possible")
        else:
            page.wait_for_selector(f".line.changed >> text=stages: {stages}")
            assert top(page) == pytest.approx(before, abs=1)  # before there is advice, too
            page.wait_for_selector("#advice >> text=others")
        assert top(page) == pytest.approx(before, abs=1)


@pytest.mark.parametrize(("width", "height", "least"), [(1024, 768, 0.45), (1440, 900, 0.6), (1920, 1080, 0.65)])
def test_what_if_and_sweep_leave_the_timelines_in_sight(shipped, width, height, least):
    """They keep that part of the screen's height, and nothing is wider than the screen."""
    shipped.page.set_viewport_size({"width": width, "height": height})
    page = shipped.open("?scenario=stages")
    page.keyboard.press("s")
    page.wait_for_selector(".ranking .pick")
    page.keyboard.press("w")
    page.wait_for_selector("#fields input", state="visible")
    assert page.evaluate("document.querySelector('#scroller').clientHeight") > least * height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for panel in ("#what-if", "#sweep"):
        page.click(f"{panel} .panel-close")
        page.wait_for_selector(panel, state="hidden")
    assert page.evaluate("document.querySelector('#drawer').offsetWidth") == 0


def test_the_line_of_a_wrong_value_is_shown(shipped):
    page = shipped.open("?scenario=own_sgemm")
    page.keyboard.press("w")
    page.get_by_label("lds wavefronts").first.fill("-1")
    page.wait_for_selector(".line.wrong-line >> text=lds_wavefronts: -1")
    assert page.evaluate(
        """() => { const line = document.querySelector('.wrong-line').getBoundingClientRect();
            const text = document.querySelector('#scenario-text').getBoundingClientRect();
            return line.top >= text.top && line.bottom <= text.bottom; }"""
    )


def test_the_panels_are_as_wide_as_they_are_dragged(shipped):
    page = shipped.open("?scenario=stages")
    page.keyboard.press("w")
    page.wait_for_selector("#fields input", state="visible")
    before = page.evaluate("document.querySelector('#drawer').offsetWidth")
    grip = page.locator("#drawer-grip").bounding_box()
    page.mouse.move(grip["x"] + 4, 400)
    page.mouse.down()
    page.mouse.move(grip["x"] + 4 - 150, 400, steps=3)
    page.mouse.up()
    page.wait_for_function(f"Math.abs(document.querySelector('#drawer').offsetWidth - {before + 150}) < 3")


def test_sliders_and_what_is_typed_stay_in_step(shipped):
    page = shipped.open("?scenario=stages")
    page.keyboard.press("w")
    stages, slider = page.get_by_label("stages", exact=True), page.get_by_role("slider", name="stages, slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#chips >> text=kernel.params.stages=4")
    assert stages.input_value() == "4"
    stages.fill("6")
    page.wait_for_selector("#chips >> text=kernel.params.stages=6")
    page.wait_for_function("document.querySelector('[aria-label=\"stages, slider\"]').ariaValueNow === '5'")
    tile, bytes_slider = page.get_by_label("tile bytes"), page.get_by_role("slider", name="tile bytes, slider")
    before = int(bytes_slider.get_attribute("aria-valuenow"))
    tile.first.fill("20 KiB")  # between two stops: what is typed counts
    page.wait_for_selector("#chips >> text=kernel.params.tile_bytes=20 KiB")
    assert int(bytes_slider.get_attribute("aria-valuenow")) in (before, before + 1)
    assert tile.first.input_value() == "20 KiB"
    page.click("#reset")
    page.wait_for_selector("#chips >> text=nothing changed yet")
    page.wait_for_function("document.querySelector('[aria-label=\"stages, slider\"]').ariaValueNow === '2'")


def test_a_dragged_slider_asks_when_it_rests(shipped):
    page = shipped.open("?scenario=stages")
    page.keyboard.press("w")
    page.wait_for_timeout(500)  # the timelines make room
    track = page.locator("#fields .slider").nth(1).bounding_box()
    middle = track["y"] + track["height"] / 2
    page.mouse.move(track["x"] + 2, middle)
    page.mouse.down()
    page.mouse.move(track["x"] + track["width"], middle, steps=12)
    page.wait_for_selector("#chips >> text=kernel.params.stages=8")
    page.mouse.up()
    assert page.get_by_label("stages", exact=True).input_value() == "8"
