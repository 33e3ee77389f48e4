"""The scenario's text in a real browser: typed into, beside the form, wrong, kept, saved, and changed on the disk."""

import pytest
from one_scenario import SCENARIO

pytestmark = pytest.mark.browser

FIELD, LINES = "#text-input", "#text-lines"


def opened(watched, query="?scenario=mine"):
    """The page with the panel of the what-if."""
    page = watched.open(query)
    page.keyboard.press("w")
    page.wait_for_selector(FIELD, state="visible")
    return page


def type_over(page, old, new):
    """Put the caret behind ``old`` and type ``new`` in its place."""
    page.evaluate(
        """old => { const field = document.querySelector('#text-input'), at = field.value.indexOf(old);
                    field.focus(); field.setSelectionRange(at, at + old.length); }""",
        old,
    )
    page.keyboard.type(new)


def marked(page, kind):
    return page.locator(f"{LINES} .{kind}").all_inner_texts()


def test_a_typed_value_is_predicted_and_the_form_follows(mine):
    page = opened(mine)
    before = page.locator(".card-value").first.inner_text()
    type_over(page, "stages: 3", "stages: 5")
    page.wait_for_selector("#chips >> text=kernel.params.stages=5")
    assert page.locator(".panel-title").all_inner_texts() == ["What if", "Unchanged"]
    assert page.locator(".card-value").nth(1).inner_text() == before
    assert page.get_by_label("stages", exact=True).input_value() == "5"
    assert marked(page, "changed") == ["  params: {tile_bytes: 16 KiB, stages: 5}   # of a ring"]
    page.wait_for_function("location.search.includes('set=kernel.params.stages%3D5') && !location.hash")
    assert page.evaluate("document.activeElement.id") == "text-input"
    page.click("#undo")
    page.wait_for_selector("#chips >> text=nothing changed yet")
    assert page.locator(FIELD).input_value() == SCENARIO


def test_the_text_follows_the_form_and_keeps_its_comments(mine):
    page = opened(mine)
    page.get_by_label("stages", exact=True).fill("4")
    page.wait_for_selector(f"{LINES} .changed >> text=stages: 4")
    assert page.locator(FIELD).input_value() == SCENARIO.replace("stages: 3", "stages: 4")
    type_over(page, "16 KiB", "8 KiB")
    page.wait_for_selector("#chips >> text=kernel.params.tile_bytes=8 KiB")
    page.wait_for_selector("#chips >> text=kernel.params.stages=4")
    page.click("#undo")
    page.wait_for_function("document.querySelector('#text-input').value.includes('16 KiB, stages: 4')")
    page.click("#undo")
    page.wait_for_function("document.querySelector('#text-input').value.includes('16 KiB, stages: 3')")


def test_a_comment_is_kept_over_a_reload_and_saved(mine):
    page = opened(mine)
    type_over(page, "# of a ring", "# as measured")
    page.wait_for_selector("#chips >> text=text edited, 1 line")
    page.get_by_label("stages", exact=True).fill("5")
    page.wait_for_selector("#chips >> text=kernel.params.stages=5")
    edited = SCENARIO.replace("# of a ring", "# as measured").replace("stages: 3", "stages: 5")
    page.wait_for_function("location.hash.startsWith('#text=') && location.search.includes('stages%3D5')")
    page.reload()
    page.wait_for_selector("#chips >> text=text edited, 1 line")
    assert page.locator(FIELD).input_value() == edited
    assert page.locator("#wrong").inner_text() == ""
    page.wait_for_load_state("networkidle")
    page.fill("#save-name", "saved")
    page.wait_for_timeout(500)
    page.click("#save")
    page.wait_for_function("location.search.includes('scenario=saved') && !location.hash")
    said = "# Made from mine with its text edited, kernel.params.stages=5.\n"
    assert (mine.folder / "saved.yaml").read_text() == said + edited
    page.go_back()
    page.wait_for_function(
        "() => { const f = document.querySelector('#text-input'); return f && f.value.includes('# as measured'); }"
    )


def test_what_is_wrong_is_told_at_its_line_and_what_is_shown_stays(mine):
    page = opened(mine)
    shown = page.locator(".card-value").first.inner_text()
    type_over(page, "stages: 3", "stags: 3")
    page.wait_for_selector("#wrong >> text=mine.yaml:6:32: kernel.params.stags: unknown key (allowed: tile_bytes")
    assert marked(page, "wrong-line") == ["  params: {tile_bytes: 16 KiB, stags: 3}   # of a ring"]
    assert page.locator(FIELD).get_attribute("aria-invalid") == "true"
    assert page.locator(".card-value").first.inner_text() == shown
    page.click("#wrong")
    assert page.evaluate("[document.activeElement.id, document.activeElement.selectionStart]") == ["text-input", 93]
    page.fill("#save-name", "wrong")
    page.click("#save")
    page.wait_for_timeout(500)
    assert not (mine.folder / "wrong.yaml").exists()
    page.wait_for_function("location.hash.startsWith('#text=')")
    page.reload()
    page.wait_for_selector("#wrong >> text=unknown key")
    assert "stags: 3" in page.locator(FIELD).input_value()
    type_over(page, "stags", "stages")
    page.wait_for_function("!document.querySelector('#wrong').textContent && !location.hash")
    assert page.locator("#chips").inner_text() == "nothing changed yet"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "mine.yaml: is empty"),
        ("a: [", "mine.yaml:1:5: not YAML"),
        ("question: a: b", "in quotes"),
        ("- 1", "is not a scenario"),
        ("x" * 300_000, "is too large (allowed: at most 256 KiB)"),
        ("kernel: {}", "question: is missing"),
    ],
)
def test_whatever_stands_there_gets_a_sentence_and_can_be_taken_back(mine, text, told):
    page = opened(mine)
    page.locator(FIELD).fill(text)
    page.wait_for_selector(f"#wrong >> text={told}")
    assert "Traceback" not in page.locator("#wrong").inner_text()
    page.click("#undo")
    page.wait_for_function("!document.querySelector('#wrong').textContent")
    page.wait_for_function("text => document.querySelector('#text-input').value === text", arg=SCENARIO)


def test_keys_are_letters_there_and_tab_leaves(mine):
    page = opened(mine)
    type_over(page, "# mine", "# wsc0 mine")
    page.wait_for_selector("#chips >> text=text edited")
    assert page.locator("#sweep").is_hidden()
    assert page.locator("#what-if").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "text-input"
    page.locator(FIELD).focus()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") != "text-input"


def test_a_file_that_changes_takes_no_edited_text_away(mine):
    page = opened(mine)
    type_over(page, "# of a ring", "# mine alone")
    page.wait_for_selector("#chips >> text=text edited")
    (mine.folder / "mine.yaml").write_text(SCENARIO.replace("stages: 3", "stages: 2"))
    page.wait_for_selector("#text-note >> text=has changed on the disk")
    assert page.locator(FIELD).input_value() == SCENARIO.replace("# of a ring", "# mine alone")
    page.click("text=Load the file")
    page.wait_for_function("document.querySelector('#text-input').value.includes('stages: 2')")
    assert page.locator("#text-note").inner_text() == ""
    page.click("#undo")
    page.wait_for_function("document.querySelector('#text-input').value.includes('# mine alone')")


def test_a_text_that_is_not_edited_follows_its_file(mine):
    page = opened(mine)
    (mine.folder / "mine.yaml").write_text(SCENARIO.replace("stages: 3", "stages: 2"))
    page.wait_for_function("document.querySelector('#text-input').value.includes('stages: 2')")
    assert page.locator("#text-note").inner_text() == ""


def test_a_file_with_a_mistake_is_mended_in_the_page(mine):
    (mine.folder / "mine.yaml").write_text(SCENARIO.replace("stages: 3", "stages: -1"))
    page = mine.page
    page.goto(f"{mine.address}/?scenario=mine")
    page.wait_for_selector("[role=alert]")
    page.keyboard.press("w")
    page.wait_for_selector(f"{LINES} .wrong-line >> text=stages: -1")
    type_over(page, "stages: -1", "stages: 4")
    page.wait_for_selector("#gutter .lane-row")
    assert page.locator(".panel-title").all_inner_texts() == ["What if", "Measured"]


@pytest.mark.parametrize("width", [1024, 1440])
def test_the_letters_of_the_field_lie_on_those_of_the_lines(shipped, width):
    shipped.page.set_viewport_size({"width": width, "height": 900})
    page = opened(shipped, "?scenario=own_gemm")
    field, lines = page.evaluate(
        """() => { const field = document.querySelector('#text-input'); field.style.height = 'auto';
            const found = [field.scrollHeight, document.querySelector('#text-lines').offsetHeight];
            field.style.height = ''; return found; }"""
    )
    assert field == pytest.approx(lines, abs=2)


def test_the_line_with_the_caret_is_in_sight(shipped):
    page = opened(shipped, "?scenario=own_gemm")
    page.locator(FIELD).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# end")
    page.wait_for_function(
        """() => { const box = document.querySelector('#scenario-text').getBoundingClientRect();
            const last = document.querySelector('#text-lines').lastChild.getBoundingClientRect();
            return last.top >= box.top && last.bottom <= box.bottom + 1; }"""
    )


def test_a_spelled_out_program_has_sliders_and_a_text_to_edit(shipped):
    page = opened(shipped, "?scenario=own_kernel")
    slider = page.get_by_role("slider", name="input stages, slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{LINES} .changed >> text=stages: 4")
    type_over(page, "ffma: 512", "ffma: 256")
    page.wait_for_selector("#chips >> text=compute.ffma=256")
    assert page.locator("#wrong").inner_text() == ""
