"""References of the op languages in Markdown, made of the models that read them.

The kernel's is the middle of ``docs/ops.md``, that of host programs of ``docs/host.md``; a page says by its markers
which it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gpusim.errors import GpusimError
from gpusim.scenario.host.schema import GraphSpec, PoolSpec, SpelledHost, StreamSpec, ThreadSpec, WorkSpec
from gpusim.scenario.host.words import HOST_STEPS, OnStream
from gpusim.scenario.kernel.op_schema import REPEAT, STEPS
from gpusim.scenario.kernel.op_words import OpWord
from gpusim.scenario.kernel.schedule_schema import Schedule
from gpusim.scenario.kernel.schema import BarrierSpec, RingSpec, RoleSpec, SpelledKernel

__all__ = ["HOST_PARTS", "PARTS", "host_reference", "inserted", "reference"]

Parts = dict[str, tuple[type[BaseModel], str]]
"""Model and where it stands, by title."""

PARTS: Parts = {
    "The kernel": (SpelledKernel, "Below `kernel`."),
    "A ring": (RingSpec, "Below `rings`, by name."),
    "A role": (RoleSpec, "Below `roles`, by name."),
    "A barrier": (BarrierSpec, "Below `barriers`, by name."),
}
HOST_PARTS: Parts = {
    "The host program": (SpelledHost, "Below `host`."),
    "A thread": (ThreadSpec, "Below `threads`, by name."),
    "A stream": (StreamSpec, "Below `streams`, by name."),
    "A kernel by what it costs": (
        WorkSpec, "Below `kernels`, by name: either `duration`, or `bytes` and `flop` or one of them."
    ),
    "A pool": (PoolSpec, "Below `pools`, by name."),
    "A graph": (GraphSpec, "Below `graphs`, by name."),
}  # fmt: skip


def reference() -> str:
    """Tables of every field of a kernel, its default and its meaning, by part of the file and by op."""
    common = ["### Every op", "", f"All but `{REPEAT}` take them:", "", *_table(Schedule.model_fields), ""]
    return "\n".join([*_parts(PARTS), *common, *_words(STEPS, Schedule)])


def host_reference() -> str:
    """Tables of every field of a host program, its default and its meaning, by part of the file and by op."""
    into = [f"`{word}`" for word, entry in HOST_STEPS.items() if issubclass(entry.spec, OnStream)]
    common = ["### Every op in a stream", "", f"{', '.join(into)}:", "", *_table(OnStream.model_fields), ""]
    return "\n".join([*_parts(HOST_PARTS), *common, *_words(HOST_STEPS, OnStream)])


_REFERENCES: dict[str, Callable[[], str]] = {"reference": reference, "host-reference": host_reference}


def inserted(page: str) -> str:
    """A page with the current reference between its markers. Raises GpusimError where it has none."""
    for name, make in _REFERENCES.items():
        head, begin, rest = page.partition(f"<!-- {name}:begin -->")
        _, end, tail = rest.partition(f"<!-- {name}:end -->")
        if begin and end:
            return f"{head}{begin}\n\n{make()}\n{end}{tail}"
    pairs = " or ".join(f"<!-- {name}:begin --> and <!-- {name}:end -->" for name in _REFERENCES)
    raise GpusimError(f"the page has no lines {pairs}, between which the reference goes")


def _parts(parts: Parts) -> Iterable[str]:
    for title, (model, where) in parts.items():
        yield from (f"### {title}", "", where, "", *_table(model.model_fields), "")


def _words(words: Mapping[str, OpWord], common: type[BaseModel]) -> Iterable[str]:
    """Every word with its fields but for the ``common`` ones."""
    for word, entry in words.items():
        own = {name: field for name, field in entry.spec.model_fields.items() if name not in common.model_fields}
        short = f" `{word}: x` is short for `{word}: {{{entry.short}: x}}`." if entry.short else ""
        alone = " May stand alone." if entry.bare else ""
        yield from (f"### `{word}`", "", f"{entry.about}{short}{alone}", "")
        if own:
            yield from (*_table(own), "")


def _table(fields: dict[str, FieldInfo]) -> Iterable[str]:
    yield "| Field | Default | Meaning |"
    yield "|---|---|---|"
    for name, field in fields.items():
        about = " ".join((field.description or "").split()).replace("|", "\\|")
        yield f"| `{name}` | {_default(field)} | {about} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value: Any = field.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, dict):
        return ", ".join(value)
    return "" if isinstance(value, BaseModel) or not value else str(value)
