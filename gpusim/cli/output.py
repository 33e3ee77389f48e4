"""Printing: one JSON object, or tables for people, and how far a long command is."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpusim.scenario.sweeps.parallel import Progress
from gpusim.units import format_quantity

__all__ = ["console", "print_error", "print_json", "print_table", "progress_bar", "seconds", "share", "signed"]


def console() -> Console:
    """Where tables go; plain text when stdout is not a terminal. Brackets are those of lanes and paths, not markup."""
    width = None if sys.stdout.isatty() else 160
    return Console(file=sys.stdout, highlight=False, markup=False, width=width)


def print_error(message: str) -> None:
    """On stderr; control characters of a hostile file must not reach the terminal."""
    clean = "".join(char if char.isprintable() or char == "\n" else "�" for char in message)
    sys.stderr.write(f"error: {clean}\n")


def print_json(data: Any) -> None:
    """One JSON object on one line; NaN and infinities become null, which JSON does not have."""
    print(json.dumps(_plain(data), ensure_ascii=False, allow_nan=False))


def print_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[str] = ()) -> None:
    """A table for people; columns of numbers are aligned right, but for those of ``words``."""
    cells = [[str(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, column in zip(head, zip(*cells, strict=True) if cells else [()] * len(head), strict=True):
        numbers = name not in words and all(cell[:1] in "+-–0123456789" for cell in column)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))  # Text: lanes[0] is not markup
    if title:
        console().print(Text(title, style="bold"))
    console().print(table)


@contextmanager
def progress_bar(name: str, *, wanted: bool = True) -> Iterator[Progress | None]:
    """A bar on a terminal that counts what ``name`` says; nothing where stderr is none."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def seconds(value: float | None) -> str:
    """A time, or a dash."""
    return "–" if value is None else format_quantity(value, "time")


def share(value: float | None) -> str:
    """A fraction with two digits, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A signed relative error in percent, or a dash."""
    return "–" if value is None else f"{value:+.1%}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):  # numpy scalars
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return str(value)
