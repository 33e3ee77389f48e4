"""Files that are replaced as a whole."""

import pytest

from gpusim.files import write_atomically


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
