"""Lane names as a tree of groups.

``sm[0].cta[1].input[2]`` is a path: SM 0, CTA 1, ring ``input``, stage 2. Groups that have
one child are joined with it, so that a single CTA costs one heading. A role may have a
lane of its own and lanes of single warps (``sm[0].cta[0].consumer.warp[2]``) under it, a stream
those of what happens inside its kernels (``stream[0].kernel[3].sm[0].cta[0].consumer``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from gpusim.timeline.lane_names import last_part, parts_of

__all__ = ["Node", "lane_tree", "short_name"]

_ROLE, _UNIT = 6, 9
_RANK = {"gpu": 0, "host": 1, "stream": 2, "copy_engine": 3, "kernel": 3, "sm": 4, "cta": 5, "warp": _ROLE}
_UNITS = {"tma", "lsu", "dsmem", "tensor", "l2", "hbm"}
_TITLE = {
    "sm": "SM", "cta": "CTA", "tma": "TMA", "lsu": "LSU", "dsmem": "DSMEM", "tensor": "tensor cores", "gpu": "GPU",
    "host": "Host", "h2d": "H2D", "d2h": "D2H", "d2d": "D2D", "p2p": "peer", "copy_engine": "copy engine",
}  # fmt: skip
_DETAIL = ("warp[", "kernel[", "more")
"""Children that say in more detail what their parent's own lane says."""
SHOWN_OF_MANY = 4
"""So many of very many groups stay in sight; the rest goes into one closed group."""


@dataclass
class Node:
    """A group or a lane (a node without children). ``path`` is unique; ``lane`` its lane name."""

    path: str
    label: str
    rank: tuple[int, int, tuple] = (0, 0, ())
    """Kind of node, place among its kind, name to sort by."""
    lane: str | None = None
    children: dict[str, Node] = field(default_factory=dict)
    turns: str | None = None
    """A lane that takes turns with ``lane`` and is drawn in the same place: what launches a CTA of one role."""

    def lanes(self) -> list[str]:
        """Names of all lanes beneath, in display order."""
        own = [name for name in (self.turns, self.lane) if name]
        return own + [name for child in self.children.values() for name in child.lanes()]

    @property
    def is_ring(self) -> bool:
        """A group whose children are all lanes with an index, of one kind: stages of a ring, or warps of a role."""
        leaves = self.children.values()
        alike = len({last_part(leaf.path.rpartition("/")[2]).name for leaf in leaves}) == 1
        return self.lane is None and alike and all(not leaf.children and leaf.path.endswith("]") for leaf in leaves)

    @property
    def has_detail(self) -> bool:
        """A role whose warps have lanes besides the role's own, or a stream whose kernels show what is inside them."""
        inner = (leaf.path.removeprefix(f"{self.path}/") for leaf in self.children.values())
        return self.lane is not None and all(path.startswith(_DETAIL) for path in inner)

    @property
    def is_unit(self) -> bool:
        """A unit of the hardware, such as TMA or L2."""
        return self.rank[0] == _UNIT


def _natural(text: str) -> tuple:
    return tuple((0, int(t), "") if t.isdigit() else (1, 0, t) for t in re.findall(r"\d+|\D+", text))


def _steps(lane: str, stage: bool = False) -> list[tuple[str, str, tuple]]:
    """(key, label, rank) for every level of a lane's name; ``stage``: it is a stage of a ring."""
    steps: list[tuple[str, str, tuple]] = []
    for part, base, index in parts_of(lane):
        title = _TITLE.get(base, base.replace("_", " "))
        rank = _RANK.get(base, _UNIT if base in _UNITS else _ROLE)
        if not index:
            steps.append((base, title, (rank, 0, ())))
        elif base in _RANK:
            label = f"{title} {_TITLE.get(index, index)}"
            steps.append((part, label, (rank, 0, _natural(index))))
        else:
            steps.append((base, title, (rank, 0, ())))
            steps.append((part, f"stage {index}" if stage else f"{title} {index}", (0, 0, _natural(index))))
    return steps


def lane_tree(
    lanes: Iterable[str], stages: AbstractSet[str] = frozenset(), alike: Mapping[str, int] | None = None,
    places: Mapping[str, int] | None = None, budget: int = 16, launches: AbstractSet[str] = frozenset(),
    called: Mapping[str, str] | None = None,
) -> Node:  # fmt: skip
    """The lanes as a tree, groups in the order host, streams, copy engines, SMs, CTAs, roles, rings, units.

    ``stages`` are the lanes that stand for a stage of a ring; ``alike`` says how many SMs
    one of them stands for (``{"sm[0]": 131}``); ``places`` orders roles by the last part of
    their lane's name, lowest first. More like children than ``budget`` rows are
    bundled, but for the first few. A group whose own lane is one of ``launches`` is one with its only role.
    ``called``: what the program calls some of the lanes.
    """
    root = Node("", "")
    for lane in lanes:
        node, path = root, ""
        for key, label, rank in _steps(lane, lane in stages):
            path = f"{path}/{key}"
            if key not in node.children:
                count = (alike or {}).get(key, 1)
                place = (_ROLE, places.get(key, 0), _natural(key)) if places and rank[0] == _ROLE else rank
                node.children[key] = Node(path, f"{label} (×{count})" if count > 1 else label, place)
            node = node.children[key]
        node.lane = lane
        if called and lane in called:
            node.label += f" · {called[lane]}"
    _arrange(root, launches)
    _bundle(root, budget)
    return root


def _bundle(node: Node, budget: int) -> None:
    """Put what lies beyond the first few of many like children into one group."""
    for child in node.children.values():
        _bundle(child, budget)
    numbered = [key for key in node.children if key.endswith("]")]
    if len(numbered) <= budget:
        return
    plain = all(not node.children[key].children for key in numbered)
    shown = max(budget - 2, 1) if plain else SHOWN_OF_MANY
    rest = {key: node.children.pop(key) for key in numbered[shown:]}
    first, last = next(iter(rest.values())), list(rest.values())[-1]
    base = first.label.split(" · ")[0]
    group = Node(f"{node.path}/more", f"{base} … {last.label.split(' · ')[0].split()[-1]}", first.rank, None, rest)
    place = list(node.children).index(numbered[shown - 1]) + 1
    items = list(node.children.items())
    node.children = dict([*items[:place], ("more", group), *items[place:]])


def _arrange(node: Node, launches: AbstractSet[str]) -> None:
    for key, child in list(node.children.items()):
        _arrange(child, launches)
        node.children[key] = _joined(child, launches)
    node.children = dict(sorted(node.children.items(), key=lambda item: _order(item[1])))


def _joined(node: Node, launches: AbstractSet[str]) -> Node:
    """A group with one child and no lane, or one that only launches its child, as one node with it."""
    if len(node.children) != 1:
        return node
    only = next(iter(node.children.values()))
    if node.lane is not None and (node.lane not in launches or only.lane is None or only.turns):
        return node
    label = f"{node.label} · {only.label}"
    return _joined(Node(only.path, label, node.rank, only.lane, only.children, node.lane or only.turns), launches)


def _order(node: Node) -> tuple:
    """Rings come after roles; ties keep first use."""
    kind, place, name = node.rank
    return (kind, kind == _ROLE and node.is_ring, place, name)


def short_name(lane: str) -> str:
    """A lane's name without the outer groups, as words."""
    return " · ".join(label for _, label, _ in _steps(lane)[-3:])
