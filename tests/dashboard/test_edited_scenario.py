"""Edited texts of real scenarios: predicted, compared with their file, saved, and wrong."""

import pytest

from gpusim.dashboard.page.altered import BY_FIELD, BY_TEXT, opening
from gpusim.dashboard.page.asking import shown_after
from gpusim.dashboard.page.case import UNCHANGED, Asked, CaseError
from gpusim.dashboard.page.content import show_case, show_form
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.form import NOT_IN_FILE
from gpusim.scenario import load

TEXT = """# yaml-language-server: $schema=schema.json
question: How many stages hide the load?  # mine
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 8 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 64, ilp: 4}}, {release: input}]}
sweep: {kernel.rings.input.stages: [1, 2]}
"""
HOST = """question: Do two streams overlap?
device: textbook
host:
  streams: 2
  threads: {main: {chunks: 4, deal: [s0, s1], per_chunk: [{h2d: 1 MiB}, {d2h: 1 MiB}]}}
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "mine.yaml").write_text(TEXT)
    (tmp_path / "host.yaml").write_text(HOST)
    return ScenarioFolder(tmp_path)


def edited(old, new, name="mine", text=TEXT, **more):
    assert old in text
    return Asked(name, text=text.replace(old, new), **more)


def test_an_edited_text_stands_against_its_file(source):
    case = source.case(edited("tiles_per_cta: 12", "tiles_per_cta:  24"))
    assert case.against == UNCHANGED
    assert (case.predicted.title, case.other.title) == ("what if", UNCHANGED)
    assert case.badges[0].text == "edited text"
    assert case.predicted_numbers.total_s > case.other_numbers.total_s
    again = source.case(edited("# mine", "", changes=("kernel.tiles_per_cta=24",)))
    assert again.predicted_numbers.total_s == case.predicted_numbers.total_s


def test_changes_come_to_an_edited_text(source):
    asked = edited("grid: 8", "grid: 16", changes=("kernel.rings.input.stages=4",))
    form = source.form(asked)
    found = {field.path: (field.value, field.base) for field in form.fields}
    assert found["kernel.grid"] == ("16", "16")
    assert found["kernel.rings.input.stages"] == ("4", "2")
    assert form.command == NOT_IN_FILE
    assert source.text(asked).changed == (5, 7)


def test_a_comment_is_predicted_once(source, monkeypatch):
    source.case(Asked("mine"))
    monkeypatch.setattr("gpusim.dashboard.page.data.predict", lambda *_, **__: pytest.fail("predicted again"))
    assert source.case(edited("# mine", "# yours"), quick=True).altered


def test_another_question_is_shown(source):
    assert source.case(edited("How many stages", "How few stages"), quick=True).question.startswith("How few")


def test_its_own_sweep_is_swept(source):
    assert [row.values for row in source.sweep(edited("[1, 2]", "[2, 3, 4]")).rows] == [("2",), ("3",), ("4",)]


def test_advice_is_for_what_stands_there(source):
    assert source.advice(edited("stages: 2", "stages: 1")).levers


@pytest.mark.parametrize(
    ("old", "new", "told", "lines"),
    [
        ("stages: 2", "stages: two", "mine.yaml:7:19: kernel.rings.input.stages", (7,)),
        ("grid:", "gird:", "mine.yaml:5:3: kernel.gird: unknown key", (5,)),
        ("grid: 8", "grid: [", "not YAML", (7,)),
        (TEXT, "", "is empty (allowed: a scenario", ()),
        ("{release: input}", "", "deadlock", (9,)),
        ("8 KiB", "800 KiB", "of shared memory", (4,)),
    ],
)
def test_what_is_wrong_is_told_with_its_place(source, old, new, told, lines):
    with pytest.raises(CaseError) as caught:
        source.case(edited(old, new), quick=True)
    assert told in str(caught.value) + caught.value.title
    assert "Traceback" not in str(caught.value)
    assert caught.value.lines == lines


def test_the_line_of_a_wrong_change_is_marked_in_the_text(source):
    asked = Asked("mine", changes=("kernel.rings.input.stages=two",))
    assert show_form(source, asked)["text"]["wrong"] == [7]


def test_a_wrong_value_that_is_typed_is_told_with_its_line_and_one_of_the_form_without(source):
    held = show_case(source, Asked("mine"), quick=True)["case"]
    made = opening(["kernel.rings.input.stages=two"])
    picked = {"scenario": "mine", "point": "own", "against": "measured", "wrong": "", "imported": None,
              "stamp": {"name": "mine", "stamp": "1", "changed": False}}  # fmt: skip
    told = [
        shown_after(source, "changes", picked | {"changes": {**made, "by": by}}, held) for by in (BY_TEXT, BY_FIELD)
    ]
    assert f"{source.folder / 'mine.yaml'}:7:19: kernel.rings.input.stages: " in told[0]["wrong"]
    assert told[1]["wrong"].startswith("kernel.rings.input.stages: ")
    assert [one["text"]["wrong"] for one in told] == [[7], [7]]


def test_a_program_of_the_host_can_be_edited(source):
    case = source.case(edited("streams: 2", "streams: 2  # two", "host", HOST), quick=True)
    assert case.against == UNCHANGED
    with pytest.raises(CaseError, match=r"host\.yaml:4:3"):
        source.case(edited("streams: 2", "streems: 2", "host", HOST), quick=True)


def test_what_cannot_run_is_mended_by_a_change_and_by_the_text(source):
    path = source.folder / "mine.yaml"
    path.write_text(TEXT.replace("8 KiB", "800 KiB"))
    with pytest.raises(CaseError):
        source.case(Asked("mine"), quick=True)
    for asked in (Asked("mine", changes=("kernel.rings.input.bytes=8 KiB",)), edited("# mine", "")):
        case = source.case(asked, quick=True)
        assert case.altered
        assert case.other is None


@pytest.mark.parametrize("text", ["a: [", "", "question: 1"])
def test_a_file_that_cannot_be_read_is_shown_as_it_is(source, text):
    (source.folder / "mine.yaml").write_text(text)
    shown = show_form(source, Asked("mine"))
    assert shown["text"]["text"] == text
    assert source.case(edited("# mine", ""), quick=True).other is None


def test_a_file_that_is_gone_takes_no_edited_text_away(source):
    (source.folder / "mine.yaml").unlink()
    asked = edited("# mine", "# still mine")
    assert "still mine" in source.text(asked).text
    assert show_case(source, asked)["case"]["text"] == asked.text
    with pytest.raises(CaseError, match="no scenario called"):
        source.case(Asked("../mine", text=TEXT))


def test_a_saved_text_has_its_comments_and_says_where_it_comes_from(source):
    source.save(edited("# mine", "# yours", changes=("kernel.grid=16",)), "yours")
    first, second, rest = (source.folder / "yours.yaml").read_text().split("\n", 2)
    assert first.startswith("# yaml-language-server")
    assert second == "# Made from mine with its text edited, kernel.grid=16."
    assert rest == TEXT.split("\n", 1)[1].replace("# mine", "# yours").replace("grid: 8", "grid: 16")
    assert load(source.folder / "yours.yaml").model.kernel.grid == 16


def test_of_what_is_wrong_no_file_is_made(source):
    with pytest.raises(CaseError, match="gird"):
        source.save(edited("grid:", "gird:"), "yours")
    assert not (source.folder / "yours.yaml").exists()


def test_line_breaks_of_other_systems_are_those_of_the_page(source):
    (source.folder / "mine.yaml").write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert source.text(Asked("mine")).text == TEXT
