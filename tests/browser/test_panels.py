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
