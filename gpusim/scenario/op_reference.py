"""The reference of the op language in Markdown, made of the models that read it: the middle of ``docs/ops.md``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gpusim.errors import GpusimError
from gpusim.scenario.kernel_schema import BarrierSpec, RingSpec, RoleSpec, SpelledKernel
from gpusim.scenario.op_schema import REPEAT, STEPS, Schedule

__all__ = ["inserted", "reference"]

BEGIN, END = "<!-- reference:begin -->", "<!-- reference:end -->"

_PARTS = {
    "The kernel": (SpelledKernel, "Below `kernel`."),
    "A ring": (RingSpec, "Below `rings`, by name."),
    "A role": (RoleSpec, "Below `roles`, by name."),
    "A barrier": (BarrierSpec, "Below `barriers`, by name."),
}


def reference() -> str:
    """Tables of every field, its default and its meaning, by part of the file and by op."""
    lines: list[str] = []
    for title, (model, where) in _PARTS.items():
        lines += [f"### {title}", "", where, "", *_table(model.model_fields), ""]
    lines += ["### Every op", "", f"All but `{REPEAT}` take them:", "", *_table(Schedule.model_fields), ""]
    for word, entry in STEPS.items():
        own = {name: field for name, field in entry.spec.model_fields.items() if name not in Schedule.model_fields}
        short = f" `{word}: x` is short for `{word}: {{{entry.short}: x}}`." if entry.short else ""
        alone = " May stand alone." if entry.bare else ""
        lines += [f"### `{word}`", "", f"{entry.about}{short}{alone}", ""]
        if own:
            lines += [*_table(own), ""]
    return "\n".join(lines)


def inserted(page: str) -> str:
    """A page with the current reference between its markers. Raises GpusimError where it has none."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise GpusimError(f"the page has no lines {BEGIN} and {END}, between which the reference goes")
    return f"{head}{begin}\n\n{reference()}\n{end}{tail}"


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
    return "" if isinstance(value, BaseModel) or not value else str(value)
