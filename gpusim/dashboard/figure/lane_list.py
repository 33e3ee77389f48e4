"""The rows that a panel shows of a tree of lanes: which groups are open, and what each kind of row holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from gpusim.dashboard.figure.lane_tree import Node, short_name

__all__ = ["LanePattern", "Row", "default_open", "rows_of"]

MAX_ROWS = 400


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a panel. A closed group shows all of its lanes in one line.

    ``heading`` is the thin line of an open group; ``more`` counts the lanes inside a closed one.
    Lanes of a ``merged`` row take turns, so that they need no room beside each other; the last names it.
    """

    path: str
    label: str
    depth: int
    lanes: tuple[str, ...]
    group: bool = False
    open: bool = False
    pinned: bool = False
    heading: bool = False
    more: int = 0
    merged: bool = False
    launching: int = 0
    """Lanes of these that do nothing but launch."""

    @property
    def own(self) -> str:
        """The lane that the row is about, "" for a group of several."""
        return self.lanes[-1] if len(self.lanes) == 1 or self.merged else ""


class LanePattern:
    """A search box's regular expression: what it matches, or why it cannot be read."""

    def __init__(self, text: str | None) -> None:
        self.error = ""
        self._pattern = None
        if text and text.strip():
            try:
                self._pattern = re.compile(text.strip()[:200], re.IGNORECASE)
            except re.error as error:
                at = f" at character {error.pos + 1}" if error.pos is not None else ""
                self.error = f"not a regular expression: {error.msg}{at}"

    def __bool__(self) -> bool:
        return self._pattern is not None

    def matches(self, lane: str) -> bool:
        """True when there is no pattern, or it occurs in the lane's name."""
        return self._pattern is None or bool(self._pattern.search(lane))


def default_open(root: Node, budget: int = 16) -> set[str]:
    """Groups opened at first: in display order while the rows fit the budget, the first branch always."""
    opened: set[str] = set()
    rows = len(root.children)

    def visit(node: Node, first: bool) -> None:
        nonlocal rows
        for place, child in enumerate(node.children.values()):
            if not child.children or child.path.endswith("/more") or child.has_detail:
                continue
            lead = first and place == 0
            more = len(child.children) - child.is_ring  # an open ring has no heading
            if lead or rows + more <= budget:
                opened.add(child.path)
                rows += more
                visit(child, lead)

    visit(root, True)
    return opened


def rows_of(
    root: Node,
    *,
    opened: set[str] | None = None,
    toggled: Mapping[str, bool] | None = None,
    pinned: Iterable[str] = (),
    pattern: LanePattern | None = None,
    launches: AbstractSet[str] = frozenset(),
) -> list[Row]:
    """Rows from top to bottom: pinned lanes, then the tree with closed groups in one row each.

    ``toggled`` holds the user's own opening (True) and closing (False) of groups. With a
    pattern only matching lanes stay, and every group on the way to one is open.
    """
    pattern = pattern or LanePattern(None)
    is_open = {**dict.fromkeys(opened if opened is not None else default_open(root), True), **(toggled or {})}
    pinned = list(pinned)
    known = set(root.lanes())
    rows = [Row(f"pin:{lane}", short_name(lane), 0, (lane,), pinned=True) for lane in pinned if lane in known]

    def visit(node: Node, depth: int) -> None:
        for child in node.children.values():
            lanes = tuple(name for name in child.lanes() if pattern.matches(name))
            if not lanes or len(rows) >= MAX_ROWS:
                continue
            if not child.children:
                rows.extend(_leaf(child, depth, lanes, pinned))
            elif not pattern and not is_open.get(child.path, False):
                rows.append(
                    _closed_detail(child, depth, lanes) if child.has_detail else _closed_group(child, depth, lanes)
                )
            elif child.is_ring:
                rows.extend(_open_ring(child, depth, lanes, pinned))
            else:
                rows.append(_open_group(child, depth, lanes, pinned))
                visit(child, depth + 1)

    visit(root, 0)
    return [replace(row, launching=sum(name in launches for name in row.lanes)) for row in rows]


def _own(node: Node, lanes: tuple[str, ...]) -> tuple[str, ...]:
    """Of ``lanes`` the node's own, not those of its children."""
    return tuple(name for name in (node.turns, node.lane) if name in lanes)


def _leaf(node: Node, depth: int, lanes: tuple[str, ...], pinned: Collection[str]) -> list[Row]:
    """The row of a lane, unless it stands at the top already."""
    if node.lane in pinned:
        return []
    return [Row(node.path, node.label, depth, lanes, merged=len(_own(node, lanes)) > 1)]


def _open_ring(node: Node, depth: int, lanes: tuple[str, ...], pinned: Collection[str]) -> list[Row]:
    """A row per stage. A ring needs no heading of its own: its first stage can fold it."""
    stages = [leaf for leaf in node.children.values() if leaf.lane in lanes and leaf.lane not in pinned]
    rows = []
    for place, leaf in enumerate(stages):
        label = leaf.label if leaf.label.startswith(node.label) else f"{node.label} · {leaf.label}"
        path = node.path if place == 0 else leaf.path
        rows.append(Row(path, label, depth, (leaf.lane,), group=place == 0, open=True))
    return rows


def _open_group(node: Node, depth: int, lanes: tuple[str, ...], pinned: Collection[str]) -> Row:
    """The line above an open group's rows, with the group's own lane if it has one."""
    own = () if node.lane in pinned else _own(node, lanes)
    heading = not node.has_detail and not node.is_unit
    return Row(node.path, node.label, depth, own, group=True, open=True, heading=heading, merged=len(own) > 1)


def _closed_detail(node: Node, depth: int, lanes: tuple[str, ...]) -> Row:
    """The own lane of a role or a stream, which says what those beneath would say in more detail."""
    own = _own(node, lanes) or (node.lane,)
    more = len(lanes) - len(own)
    return Row(node.path, node.label, depth, own, group=True, more=more, merged=len(own) > 1)


def _closed_group(node: Node, depth: int, lanes: tuple[str, ...]) -> Row:
    """All lanes of a closed group in one row."""
    return Row(node.path, node.label, depth, lanes, group=True, more=len(lanes))
