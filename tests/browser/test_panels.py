"""The panels beside the timelines in a real browser: what a sweep of unlike work shows, and a narrow screen."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1024, 1440])
def test_a_sweep_of_unlike_work_opens_the_best_point_of_an_amount_within_its_width(shipped, width):
    shipped.page.set_viewport_size({"width": width, "height": 900})
    page = shipped.open("?scenario=fused_softmax")
    page.keyboard.press("s")
    page.wait_for_selector(".sweep-note >> text=one setting for all: variant fused")
    assert page.evaluate(
        """() => [...document.querySelectorAll('#sweep-table .ranking')].every(
            table => table.offsetWidth <= document.querySelector('#sweep-table').clientWidth + 1)"""
    )
    page.locator(".ranking").first.locator(".pick").first.click()
    page.wait_for_selector("#chips >> text=kernel.params.rows_per_cta=1", state="attached")
    page.wait_for_function("document.querySelectorAll('.ranking .here').length === 2")  # it is in both tables


def test_on_a_narrow_screen_the_tools_take_one_row_and_nothing_is_missing(shipped):
    shipped.page.set_viewport_size({"width": 1024, "height": 768})
    page = shipped.open("?scenario=stages&set=kernel.params.stages%3D2")
    page.wait_for_selector(".advice-roof", state="visible")
    tops = "[...document.querySelectorAll('#toolbar > *')].filter(p => p.offsetHeight).map(p => p.offsetTop)"
    assert page.evaluate(f"(tops => Math.max(...tops) - Math.min(...tops))({tops})") < 20
    first = page.locator("#graph .xtick text").first
    assert first.text_content().strip() == "0"
    assert first.evaluate("label => label.getBoundingClientRect().width") > 0


CUT = """() => [...document.querySelectorAll('#cards .card')].filter(card => {
    const value = card.querySelector('.card-value'), box = card.getBoundingClientRect();
    const inside = [...card.children].every(part => part.getBoundingClientRect().bottom <= box.bottom + 1);
    const lines = value.clientHeight / parseFloat(getComputedStyle(value).lineHeight);
    if (!card.classList.contains('long') && lines > 1.6) return true;
    return !inside || value.scrollWidth > value.clientWidth + 1 || value.scrollHeight > value.clientHeight + 3;
}).map(card => card.innerText)"""
"""Cards whose words do not fit, or whose value takes more than a line without need."""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
@pytest.mark.parametrize("name", ["stages", "gemm", "own_gemm", "stream_pipeline"])
def test_the_words_of_the_cards_fit_with_and_without_a_panel(shipped, name, width, height):
    shipped.page.set_viewport_size({"width": width, "height": height})
    page = shipped.open(f"?scenario={name}")
    assert page.evaluate(CUT) == []
    page.keyboard.press("w")
    page.wait_for_selector("#fields input", state="visible")
    page.wait_for_timeout(300)
    assert page.evaluate(CUT) == []


def test_a_window_narrower_than_the_page_is_scrolled_sideways(watched):
    watched.page.set_viewport_size({"width": 700, "height": 700})
    page = watched.open("?scenario=ring")
    assert page.evaluate("document.querySelector('.app').clientHeight <= document.body.clientHeight")
    page.evaluate("document.body.scrollLeft = 1000")
    for button in ("[aria-label^='Save the picture']", "#theme-toggle"):
        box = page.locator(button).bounding_box()
        assert box["x"] + box["width"] <= 700


TOLD = """() => getComputedStyle(document.querySelector('.answer'), '::after').visibility === 'visible'
    && document.querySelector('#message').hasAttribute('data-dash-is-loading')"""
"""Whether it is told that something is being predicted."""


def test_a_prediction_that_takes_a_while_is_told(slow):
    page = slow.open("?scenario=ring")
    page.keyboard.press("w")
    page.wait_for_selector("#fields input", state="visible")
    assert not page.evaluate(TOLD)
    page.fill("#fields input", "7")
    page.wait_for_function(TOLD)
    page.wait_for_selector("#chips >> text=kernel.params.stages=7")
    page.wait_for_function(f"!({TOLD})()")
    assert page.evaluate("getComputedStyle(document.querySelector('#cards')).opacity") == "1"
