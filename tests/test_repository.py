"""Promises that no single module can keep: generated files are current, what ships is complete."""

import ast
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpusim.program.host import HostProgram
from gpusim.scenario import Scenario, load, techniques
from gpusim.scenario.json_schema import schema_text
from gpusim.validation.markdown import BEGIN, END

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_is_valid_and_fits(path):
    """It loads, its points load, and its kernel can be built."""
    scenario = load(path)
    assert isinstance(scenario, Scenario)
    assert scenario.question.endswith("?")
    program = scenario.program()
    assert program.threads if isinstance(program, HostProgram) else program.warps > 0


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_names_the_schema(path):
    """So that an editor completes it."""
    assert path.read_text().startswith("# yaml-language-server: $schema=schema.json\n")


def test_committed_schema_is_current():
    """``gpusim schema -o scenarios/schema.json`` writes it."""
    assert (ROOT / "scenarios" / "schema.json").read_text(encoding="utf-8") == schema_text()


def test_every_technique_folder_is_found():
    """A folder that declares a technique is one, without being named anywhere else."""
    modules = (ROOT / "realkernels").glob("*/__init__.py")
    folders = {path.parent.name for path in modules if "\nTECHNIQUE = " in path.read_text(encoding="utf-8")}
    assert folders
    assert set(techniques()) >= folders, "install the project again: pip install -e ."


@pytest.mark.parametrize("group", ["gpusim.techniques", "gpusim.measurement", "gpusim.calibration"])
def test_entry_points_load(group):
    """Without a GPU and without CuPy."""
    found = list(entry_points(group=group))
    assert found
    assert all(point.load() is not None for point in found)


def test_readme_has_the_markers_of_its_table():
    """In this order, once."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert text.index(BEGIN) < text.index(END)


def test_modules_stay_small():
    """One module, one idea: at most 300 lines."""
    modules = [path for folder in ("gpusim", "realkernels") for path in (ROOT / folder).rglob("*.py")]
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert {str(path): size for path, size in sizes.items() if size > 300} == {}


SHARED = ("gpusim", "realkernels._parts", "realkernels._harness")
"""Whose modules say what others may use of them. Those of a technique are for itself, those of benches for benches."""


def test_public_names_exist():
    """What others may use of a module is listed in it, and all that is listed is there."""
    for path in sorted(path for name in SHARED for path in ROOT.joinpath(*name.split(".")).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module.endswith("__main__"):
            continue
        loaded = import_module(module)
        assert hasattr(loaded, "__all__") or path.name == "__init__.py", module
        missing = [name for name in getattr(loaded, "__all__", ()) if not hasattr(loaded, name)]
        assert not missing, module


def test_only_public_names_are_imported():
    """What one module imports of another is in ``__all__`` of that one, or a module itself."""
    private = set()
    for path in (path for folder in ("gpusim", "realkernels") for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module
                and f"{node.module}.".startswith(tuple(f"{name}." for name in SHARED))
            ):
                listed = set(getattr(import_module(node.module), "__all__", ()))
                names = {alias.name for alias in node.names} - listed
                private |= {(node.module, name) for name in names if not is_module(node.module, name)}
    assert not private


def is_module(package, name):
    """Whether ``name`` is a module of ``package``."""
    return hasattr(import_module(package), "__path__") and find_spec(f"{package}.{name}") is not None


def test_no_eval_and_no_pickle():
    """Nothing a user gives is ever run as code."""
    for path in (ROOT / "gpusim").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert not called & {"eval", "exec", "compile", "__import__"}, path
        assert not imported & {"pickle", "marshal", "shelve"}, path


def test_import_contracts_hold(monkeypatch):
    """The order of packages, by import-linter; the contracts stand in pyproject.toml."""
    linter = pytest.importorskip("importlinter.cli")
    monkeypatch.chdir(ROOT)
    assert linter.lint_imports(no_cache=True) == 0
