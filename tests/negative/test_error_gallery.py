"""Every way to get a scenario wrong: exit code 2 and one message with file, line, field, allowed."""

import pytest

from tests.negative.gallery.devices import DEVICES
from tests.negative.gallery.fields import FIELDS
from tests.negative.gallery.files import FILES
from tests.negative.gallery.good import GOOD, HOST, wrong
from tests.negative.gallery.hosts import HOSTS
from tests.negative.gallery.kernels import KERNELS


def test_good_scenario_is_good(gpusim, tmp_path):
    """What all the others differ from."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    code, out, err = gpusim("run", path, "--json")
    assert (code, err) == (0, "")
    assert '"predicted"' in out


GALLERY = {**FIELDS, **DEVICES, **KERNELS, **HOSTS, **FILES}


@pytest.mark.parametrize(("content", "expected"), GALLERY.values(), ids=GALLERY.keys())
def test_wrong_scenario_is_explained(refused, content, expected):
    """One message that names the place and what is allowed there."""
    message = refused(content)
    for part in expected:
        assert part in message


def test_streams_that_wait_for_each_other_have_not_ended(refused):
    """Nothing of them had too few arrivals: streams have none."""
    message = refused(HOSTS["deadlock of two streams"][0])
    assert "ended before" not in message
    assert "arrivals" not in message


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("kernel.gird=4", "--set kernel.gird"),
        ("kernel.grid=many", "whole number"),
        ("kernel.grid", "expected path=value"),
        ("kernel..grid=4", "has an empty part"),
        ("kernel.grid=[", "not YAML"),
        ("kernel.grid=4,8", "gpusim sweep takes lists"),
        ("device=nothing", "unknown device"),
    ],
)
def test_wrong_override_is_explained(refused, option, expected):
    """The message names the override, not a line of the file."""
    assert expected in refused(GOOD, "--set", option)


def test_folder_instead_of_a_file(gpusim, tmp_path):
    """Says that it is a folder."""
    code, _, err = gpusim("run", tmp_path)
    assert code == 2
    assert "is a folder, not a scenario file" in err


def test_missing_file_offers_the_nearest(gpusim, tmp_path):
    """By name, among the files beside it."""
    (tmp_path / "stages.yaml").write_text(GOOD)
    code, _, err = gpusim("run", tmp_path / "stage.yaml")
    assert code == 2
    assert "no such file. Did you mean 'stages.yaml'?" in err


def test_a_page_for_the_reference_has_to_be_there(gpusim, tmp_path):
    """It goes between two lines of one."""
    code, _, err = gpusim("schema", "-o", tmp_path / "new.md")
    assert code == 2
    assert "new.md: no such page; the tables go into one that exists, as docs/ops.md or docs/host.md" in err


def test_a_file_is_not_like_another_because_of_its_ending(gpusim, tmp_path):
    """All scenarios end in .yaml."""
    (tmp_path / "t.yaml").write_text(GOOD)
    assert gpusim("run", tmp_path / "nonexist.yaml")[2].endswith("no such file\n")


def test_terminal_is_safe_from_control_characters(gpusim, tmp_path):
    """A key with an escape sequence is printed harmlessly."""
    path = tmp_path / "scenario.yaml"
    path.write_text(GOOD + '"\\e[2Jkey": 1\n')
    code, _, err = gpusim("run", path)
    assert code == 2
    assert "\x1b" not in err


def test_overwritten_stage_is_explained(refused):
    """A producer that does not acquire overwrites what is being read: role, stage and remedy."""
    message = refused(wrong("[{acquire: input}, {tma_load: input}]", "[{tma_load: input}]"))
    for part in ("stage", "tile", "ring 'input'", "acquire"):
        assert part in message


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (wrong("16 KiB", "160 KiB"), "scenario.yaml:3:1: kernel: "),
        (wrong("        - release: input\n", ""), "yaml:10:19: kernel.roles.producer.per_tile.0.acquire: deadlock"),
        (HOST, ": host.threads.main: deadlock"),
        (HOST.replace("acquire: ring", "launch: {kernel: k, stream: b}")
         + "  kernels: {k: {grid: 1, tiles_per_cta: 1, rings: {r: {stages: 1, bytes: 16}}, "
         "roles: {p: {warps: 1, per_tile: [{wait: r}]}}}}\n", ": host.kernels.k.roles.p.per_tile.0.wait: deadlock"),
        (HOST.replace("acquire: ring", "launch: {kernel: k, stream: b}")
         + "  kernels: {k: {duration: 1 us, threads: 999, registers: 99}}\n", ": host.kernels.k: k needs"),
        (HOST.replace("acquire: ring", 'malloc_async: {buffer: "x#", bytes: 64 MiB, stream: b, pool: own}')
         + "  pools: {own: {limit: 32 MiB}}\n", ": host.pools.own: pool 'own' has no room for 'x0'"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_the_run_has_its_place_too(refused, content, place):
    """What does not fit, deadlocks, and calls that the runtime rejects, at file, line and field."""
    assert place in refused(content)
