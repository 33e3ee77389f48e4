"""The contract between this package and a technique folder.

Techniques are found through the entry-point group ``gpusim.techniques``; an entry point names a
`Technique`, or a function that returns several. Model and launcher are given as ``"module:function"`` so that
listing techniques imports neither numpy-heavy model code nor CuPy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from gpusim.errors import TechniqueError
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import Lever

__all__ = ["ENTRY_POINT_GROUP", "Kind", "Lever", "Technique", "param", "technique", "techniques"]

ENTRY_POINT_GROUP = "gpusim.techniques"


def param(
    default: Any,
    doc: str,
    kind: Kind | None = None,
    *,
    ge: float | None = None,
    le: float | None = None,
    choices: tuple | None = None,
    unit: str | None = None,
    multiple_of: int | None = None,
    lever: Lever | None = None,
) -> Any:
    """A field of a technique's ``Params`` dataclass with its limits.

    ``kind``: what it is, where advice, the same work without overlap or a design of measurements ask for it. ``unit``
    is the unit a plain number has ("bytes" also admits "16 KiB" in a scenario). ``lever``: what advice may pull that is
    of no such kind, or is shown by other words; the work has to stay the same.
    """
    metadata = {
        "doc": doc, "kind": kind, "ge": ge, "le": le, "choices": choices, "unit": unit, "multiple_of": multiple_of,
        "lever": lever,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Technique:
    """One way to overlap copies with computation.

    ``params``: a frozen dataclass whose fields are made with `param`; its
    ``__post_init__`` raises ValueError for impossible combinations.
    ``model``: "module:function", ``build(params)`` -> `KernelProgram` or `HostProgram`.
    ``launcher``: "module:function", ``build(params) -> realkernels._harness.Launcher``.
    ``folder``: where ``kernel.cu`` and ``recorded/<device>/`` lie.
    ``summary``: when it helps and when it does not, one sentence.
    """

    name: str
    title: str
    params: type
    model: str
    launcher: str
    folder: Path
    summary: str = ""

    def build(self, params: Any) -> KernelProgram | HostProgram:
        """The program the hardware model runs for these parameters."""
        return _load(self.model)(params)

    def launch(self, params: Any) -> Any:
        """The real kernel's launcher; needs CuPy and a GPU."""
        return _load(self.launcher)(params)

    def defaults(self) -> dict[str, Any]:
        """Parameter names with their default values."""
        return {f.name: f.default for f in dataclasses.fields(self.params)}

    def named(self, *kinds: Kind) -> list[str]:
        """Names of the parameters that are of one of ``kinds``, as they are declared."""
        return [f.name for f in dataclasses.fields(self.params) if f.metadata.get("kind") in kinds]

    def make_params(self, values: Mapping[str, Any]) -> Any:
        """``Params`` from plain values. Raises ValueError or TypeError as ``Params`` does."""
        return self.params(**values)


def _load(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


@cache
def techniques() -> dict[str, Technique]:
    """All installed techniques by name, in name order. Raises TechniqueError if two have the same one."""
    found: dict[str, Technique] = {}
    by: dict[str, str] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        loaded = point.load()
        for one in [loaded] if isinstance(loaded, Technique) else loaded():
            # The same entry point may be seen twice, once for each place where its package lies.
            if by.setdefault(one.name, point.value) != point.value:
                raise TechniqueError(
                    f"two techniques are called {one.name!r}, those of {by[one.name]} and {point.value}; uninstall one "
                    "of the packages, or rename its technique"
                )
            found[one.name] = one
    return dict(sorted(found.items()))


def technique(name: str) -> Technique:
    """The technique called ``name``. Raises KeyError if none is installed under it."""
    return techniques()[name]
