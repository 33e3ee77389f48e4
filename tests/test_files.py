"""Files that are replaced as a whole."""

import json

import pytest

from gpusim.files import json_by_rows, write_atomically


@pytest.mark.parametrize("content", ["µs", "µs".encode()])
def test_write_is_all_or_nothing(tmp_path, content):
    """No scratch file is left, and everybody may read what was written."""
    file = tmp_path / "deep" / "file.md"
    write_atomically(file, "before")
    write_atomically(file, content)
    assert file.read_text(encoding="utf-8") == "µs"
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_cannot_be_replaced_stays(tmp_path):
    """Here a folder stands in its place."""
    (tmp_path / "file" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file", "text")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_rows_that_change_are_lines_that_change():
    """And the whole can be read again."""
    head, rows = {"device": {"name": "µ"}}, [{"us": 1.5, "why": "a,\n b"}, {"us": 2}]
    before, after = json_by_rows(head, rows), json_by_rows(head, [rows[0], {"us": 3}])
    assert json.loads(before) == {**head, "rows": rows}
    changed = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert changed == [('  {"us": 2}', '  {"us": 3}')]


@pytest.mark.parametrize("head", [{}, {"bench": "x"}])
@pytest.mark.parametrize("rows", [[], [{}]])
def test_little_is_json_too(head, rows):
    assert json.loads(json_by_rows(head, rows)) == {**head, "rows": rows}


def test_what_json_cannot_say_is_not_written():
    with pytest.raises(ValueError, match="JSON"):
        json_by_rows({}, [{"us": float("nan")}])
