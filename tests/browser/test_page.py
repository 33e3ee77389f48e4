"""The page in a real browser. Every test also fails on a console error or a request outside."""

import pytest

pytestmark = pytest.mark.browser


def test_both_panels_stand_above_each_other(watched):
    page = watched.open("?scenario=ring")
    assert watched.figure()["axes"] == 2
    titles = page.locator(".panel-title").all_inner_texts()
    assert titles == ["Predicted", "Measured"]
    assert "How many stages" in page.locator("#question").inner_text()


def test_an_address_restores_scenario_mode_and_window(watched):
    watched.open("?scenario=ring&mode=overlay&from=4&to=9")
    figure = watched.figure()
    assert figure["mode"] == "overlay"
    assert figure["range"] == pytest.approx([4, 9])


def test_zooming_into_a_hundred_thousand_intervals_refines_to_bars(watched):
    page = watched.open("?scenario=dense100000")
    assert watched.figure()["types"] == ["heatmap"]
    page.evaluate("gpusimView.setWindow(50, 52)")
    page.wait_for_function("gpusimView.plot().data.some(t => t.type === 'bar')")
    assert watched.figure()["range"] == pytest.approx([50, 52])
    page.wait_for_function("location.search.includes('from=50')")


def test_keys_zoom_move_and_show_everything_again(watched):
    page = watched.open("?scenario=ring")
    whole = watched.figure()["range"]
    page.keyboard.press("+")
    half = (whole[1] - whole[0]) / 2
    watched.wait_for_range(f"Math.abs(high - low - {half}) < 1e-6")
    low = watched.figure()["range"][0]
    page.keyboard.press("ArrowRight")
    watched.wait_for_range(f"Math.abs(low - {low + half / 4}) < 1e-6")
    page.keyboard.press("0")
    watched.wait_for_range(f"Math.abs(low - {whole[0]}) < 1e-6 && Math.abs(high - {whole[1]}) < 1e-6")
    page.keyboard.press("?")
    page.wait_for_selector("text=Keyboard and mouse")


def test_the_mode_can_be_switched_and_the_zoom_stays(watched):
    page = watched.open("?scenario=ring")
    page.evaluate("gpusimView.setWindow(5, 10)")
    page.wait_for_function("location.search.includes('from=5')")
    page.keyboard.press("2")
    page.wait_for_function("gpusimView.meta().mode === 'overlay'")
    page.get_by_text("Difference", exact=True).click()
    page.wait_for_function("gpusimView.meta().mode === 'difference'")
    assert watched.figure()["range"] == pytest.approx([5, 10])


def test_a_bad_search_is_explained_beside_the_box(watched):
    page = watched.open("?scenario=ring")
    page.fill("#search", "cta[")
    page.wait_for_selector("text=not a regular expression")
    page.fill("#search", "consumer")
    page.wait_for_function("document.querySelectorAll('#gutter .lane-row').length < 12")
    assert page.locator("text=not a regular expression").count() == 0


def test_a_click_shows_the_numbers_and_leads_to_the_cause(watched):
    page = watched.open("?scenario=ring")
    wait = page.evaluate(
        """() => {
            const trace = gpusimView.plot().data.find(t => t.name === 'wait: no filled stage');
            return trace.customdata[2];
        }"""
    )
    page.evaluate("([side, index]) => gpusimView.select(side, index)", wait)
    page.wait_for_selector("#details >> text=wait: no filled stage")
    page.click("text=go there")
    page.wait_for_selector("#details >> text=copy in flight")
    page.keyboard.press("Escape")
    page.wait_for_selector("#details", state="hidden")


def test_legend_folding_and_pinning_change_the_picture(watched):
    page = watched.open("?scenario=ring")
    before = watched.figure()["traces"]
    page.click("#legend >> text=compute")
    page.wait_for_function(f"gpusimView.plot().data.length < {before}")
    rows = page.locator("#gutter .lane-row").count()
    label = {"x": 40, "y": 8}  # the rest of a row lies under the figure
    page.locator("#gutter .lane-row.heading").first.click(position=label)
    page.wait_for_function(f"document.querySelectorAll('#gutter .lane-row').length < {rows}")
    page.locator("#gutter .lane-row.closed").first.click(position=label)
    page.wait_for_function(f"document.querySelectorAll('#gutter .lane-row').length === {rows}")
    page.locator("#gutter .lane-row:has-text('consumer')").first.hover(position=label)
    page.locator("#gutter .lane-row:has-text('consumer') .pin").first.click()
    page.wait_for_selector("#gutter .lane-row.pinned")


def test_hovering_over_a_bin_tells_its_mix(watched):
    page = watched.open("?scenario=dense100000")
    box = page.locator("#graph-box").bounding_box()
    for step in range(30):
        page.mouse.move(box["x"] + 300 + step, box["y"] + 38)
        page.wait_for_timeout(100)
        if page.locator("#tip .tip-line").count():
            break
    assert "%" in page.locator("#tip").inner_text()


@pytest.mark.parametrize("name", ["bad", "nowhere"])
def test_a_scenario_that_cannot_be_read_gets_a_message(watched, name):
    watched.page.goto(f"{watched.address}/?scenario={name}")
    watched.page.wait_for_selector("[role=alert]")
    assert "Traceback" not in watched.page.locator("[role=alert]").inner_text()


def test_choosing_another_scenario_shows_it_and_changes_the_address(watched):
    page = watched.open("?scenario=ring")
    watched.choose("alone")
    page.wait_for_function("document.querySelector('#question').textContent.includes('nobody measured')")
    page.wait_for_function("location.search.includes('scenario=alone')")
    page.wait_for_function("gpusimView.meta().case === 'alone|own|measured'")


def test_advice_follows_the_picture_and_the_scenario(watched):
    page = watched.open("?scenario=ring")
    page.wait_for_selector("#advice >> text=stages 3 → 4")
    watched.choose("alone")
    page.wait_for_selector("#advice >> text=leave it")
    watched.choose("ring")
    page.wait_for_selector("#advice >> text=stages 3 → 4")


def test_a_laptop_screen_holds_the_page_without_a_sideways_scroll(watched):
    watched.page.set_viewport_size({"width": 1280, "height": 720})
    page = watched.open("?scenario=ring")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.wait_for_function(
        "document.querySelector('#scroller').scrollHeight <= document.querySelector('#scroller').clientHeight"
    )


@pytest.mark.parametrize("width", [900, 1280])
def test_buttons_and_numbers_are_never_cut(watched, width):
    """At the least width that the page has, too."""
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = watched.open("?scenario=ring")
    cut = page.evaluate(
        """() => [...document.querySelectorAll('.header button, .header button *, .toolbar button, .card-value')]
            .filter(part => part.offsetParent && (part.scrollWidth > part.clientWidth + 1
                                                  || part.getBoundingClientRect().right > innerWidth))
            .map(part => part.textContent)"""
    )
    assert cut == []


@pytest.mark.parametrize("width", [1000, 1400])
def test_advice_is_never_cut(watched, width):
    watched.page.set_viewport_size({"width": width, "height": 900})
    page = watched.open("?scenario=alone")
    page.wait_for_selector("#advice >> text=leave it")
    assert page.evaluate(
        """() => {
            const frame = document.querySelector('#advice').getBoundingClientRect();
            return [...document.querySelectorAll('.advice-words > *')].every((part) => {
                const box = part.getBoundingClientRect();
                return box.bottom <= frame.bottom && box.right <= frame.right;
            });
        }"""
    )


def test_a_what_if_is_shown_beside_what_was_and_can_be_taken_back(watched):
    page = watched.open("?scenario=ring")
    before = page.locator(".card-value").first.inner_text()
    page.keyboard.press("w")
    stages = page.locator("#fields input")
    stages.fill("5")
    page.wait_for_function("[...document.querySelectorAll('.panel-title')].map(t => t.innerText).includes('Unchanged')")
    assert page.locator(".panel-title").all_inner_texts() == ["What if", "Unchanged"]
    assert page.locator(".card-value").first.inner_text() != before
    assert page.locator(".card-value").nth(1).inner_text() == before
    page.wait_for_function("location.search.includes('set=kernel.params.stages%3D5')")
    stages.fill("99")
    page.wait_for_selector("#wrong >> text=99 is not possible")
    assert page.locator("#wrong").inner_text().startswith("kernel.params.stages: 99")
    page.wait_for_selector("#fields .field.changed input[aria-invalid='true']")
    page.click("#undo")
    page.wait_for_function("document.querySelector('#fields input').value === '5'")
    assert page.locator("#wrong").inner_text() == ""
    page.wait_for_selector("#fields input[aria-invalid='true']", state="detached")
    page.click("#reset")
    page.wait_for_function("document.querySelectorAll('.panel-title')[1].innerText === 'Measured'")
    assert page.locator("#chips").inner_text() == "nothing changed yet"


def test_an_address_restores_a_what_if(watched):
    page = watched.open("?scenario=ring&set=kernel.params.stages%3D5")
    assert page.locator(".panel-title").all_inner_texts() == ["What if", "Unchanged"]
    assert page.locator("#fields input").input_value() == "5"
    page.wait_for_selector("#chips >> text=kernel.params.stages=5")


def test_a_what_if_is_saved_under_a_new_name(watched):
    page = watched.open("?scenario=ring&set=kernel.params.stages%3D5")
    page.fill("#save-name", "alone")
    page.click("#save")
    page.wait_for_selector("#wrong >> text=is there already")
    # On a busy machine the answer is still being drawn, and whoever types faster than that is not heard.
    page.wait_for_load_state("networkidle")
    page.fill("#save-name", "five")
    page.wait_for_timeout(500)
    page.click("#save")
    page.wait_for_function("location.search.includes('scenario=five')")
    assert page.locator("#wrong").inner_text() == ""


def test_a_point_of_the_sweep_opens_as_a_what_if(watched):
    page = watched.open("?scenario=ring")
    page.keyboard.press("s")
    page.wait_for_selector(".ranking .pick")
    assert page.locator(".ranking .pick").count() == 3
    page.wait_for_function("document.querySelectorAll('#sweep-graph .scatterlayer .trace').length === 2")
    page.click(".ranking .pick >> nth=1")
    page.wait_for_function("location.search.includes('set=kernel.params.stages%3D2')")
    page.wait_for_selector(".ranking .here")
    assert page.locator(".panel-title").all_inner_texts() == ["What if", "Unchanged"]


@pytest.mark.parametrize(("entry", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!doctype html>")])
def test_what_is_shown_is_exported(watched, entry, begins, tmp_path):
    page = watched.open("?scenario=ring&from=2&to=9")
    page.click("text=Export")
    with page.expect_download() as loading:
        page.click(f"#export-{entry}")
    assert loading.value.suggested_filename == f"ring.{entry}"
    loading.value.save_as(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    assert content.startswith(begins)
    if entry == "svg":
        assert "consumer" in content.decode()


def test_an_exported_page_opens_without_a_network(watched, tmp_path):
    page = watched.open("?scenario=ring&from=2&to=9")
    page.click("text=Export")
    with page.expect_download() as loading:
        page.click("#export-html")
    loading.value.save_as(tmp_path / "ring.html")
    alone = page.context.browser.new_context(offline=True).new_page()
    alone.goto((tmp_path / "ring.html").as_uri())
    alone.wait_for_selector(".plotly-graph-div .main-svg")
    shown = alone.evaluate("document.querySelector('.plotly-graph-div')._fullLayout.xaxis.range.map(Number)")
    assert shown == pytest.approx([2, 9])
    alone.context.close()


DROP = """([name, text]) => {
    const files = new DataTransfer();
    files.items.add(new File([text], name));
    const tell = (target, kind) =>
        target.dispatchEvent(new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true }));
    tell(document.body, "dragenter");
    const seen = getComputedStyle(document.querySelector(".drop-zone")).display;
    tell(document.querySelector(".drop-target"), "drop");
    return seen;
}"""


def test_a_dropped_trace_is_the_measured_side_until_it_is_taken_back(watched):
    page = watched.open("?scenario=ring")
    assert page.evaluate(DROP, ["mine.json", "a trace"]) == "block"
    page.wait_for_selector("#imported-mark >> text=mine.json")
    page.wait_for_selector(".drop-zone", state="hidden")
    page.click("[data-imported=trace]")
    page.wait_for_selector("[data-imported=trace]", state="detached")
    page.set_input_files("#trace input[type=file]", [{"name": "b.json", "mimeType": "", "buffer": b"x"}])
    page.wait_for_selector("#imported-mark >> text=b.json")


def test_a_bad_trace_is_told_and_what_is_shown_stays(watched):
    page = watched.open("?scenario=ring")
    page.evaluate(DROP, ["mine.json", ""])
    page.wait_for_selector("[role=alert] >> text=mine.json: truncated or not a timeline file")
    assert page.locator(".panel-title").all_inner_texts() == ["Predicted", "Measured"]
    page.click("[data-imported=message]")
    page.wait_for_selector("[role=alert]", state="detached")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("?case=ring", "'case' is nothing that an address here has"),
        ("?scenario=ring#text=half", "text behind #text= cannot be read"),
        ("?scenario=ring&set=kernel.params.stages%3D" + "1" * 5000, "longer than 4000 letters"),
    ],
)
def test_what_is_left_out_of_an_address_is_told(watched, query, told):
    page = watched.open(query)
    page.wait_for_selector(f"#import-message >> text={told}")
    page.click("#import-message .close")
    page.wait_for_selector("#import-message .banner", state="detached")
