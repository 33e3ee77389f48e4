"""The commands that list what there is: techniques, devices, this machine, the schema."""

import pytest


@pytest.mark.parametrize("command", ["techniques", "devices", "doctor", "schema"])
def test_lists_are_json_too(answer, command):
    """One object each."""
    assert answer(command)


def test_device_shows_every_quantity_with_its_source(answer, gpusim):
    """Nothing without a source."""
    quantities = answer("devices", "textbook")["quantities"]
    assert all(quantity["source"] for quantity in quantities.values())
    assert "sm.clock" in gpusim("devices", "textbook")[1]
    code, _, err = gpusim("devices", "textbok")
    assert code == 2
    assert "textbook" in err


def test_schema_says_whether_a_file_is_current(gpusim, tmp_path, monkeypatch):
    """Or that there is none where one looks, and how to name it."""
    monkeypatch.chdir(tmp_path)
    code, out, err = gpusim("schema", "--check")
    assert (code, out) == (2, "")
    assert "scenarios/schema.json: no such file; gpusim schema --check -o FILE names the one to check" in err
    assert gpusim("schema", "-o", "mine.json") == (0, "mine.json: written\n", "")
    assert gpusim("schema", "--check", "-o", "mine.json") == (0, "mine.json: current\n", "")
    (tmp_path / "mine.json").write_text("{}")
    assert gpusim("schema", "--check", "-o", "mine.json")[:2] == (
        1,
        "mine.json: not current; run gpusim schema -o mine.json\n",
    )
