"""What a what-if has made of a scenario: a list of changes, perhaps of an edited text, with the states before it.

This is what the page's store `changes` holds, and the one truth of it: form, text and address show it. Its ``list``
comes to its ``text``, or to the scenario's own where that is None. ``by`` is the part of the panel that made it last,
which need not be told of it. ``number`` is that of the last edit of the text that it knows, ``at`` when that was, ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["BY_FIELD", "BY_TEXT", "NOTHING", "opening", "remembered", "state_of", "stepped", "undone"]

BY_FIELD, BY_TEXT = "field", "text"
NOTHING: Mapping[str, Any] = {"list": [], "text": None, "history": [], "by": "", "number": 0, "at": 0}
"""No changes, none before them."""
MOST_STEPS = 100
MOST_LETTERS = 200_000
"""Of all texts before the present one: they travel with every change."""


def opening(changes: Sequence[str]) -> dict[str, Any]:
    """The state of a page that opens with ``changes``."""
    return {**NOTHING, "list": list(changes)}


def state_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """What can be gone back to."""
    return {"list": list(known["list"]), "text": known.get("text")}


def stepped(known: Mapping[str, Any], changes: Sequence[str], text: str | None, by: str = "") -> dict[str, Any] | None:
    """The state after ``known`` in which these changes come to this text; None where nothing has changed."""
    before, now = state_of(known), {"list": list(changes), "text": text}
    return None if now == before else {**known, **now, "history": remembered(known["history"], before), "by": by}


def undone(known: Mapping[str, Any]) -> dict[str, Any] | None:
    """The state before ``known``; None where there is none."""
    history = known["history"]
    return {**known, **history[-1], "history": history[:-1], "by": ""} if history else None


def remembered(history: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """``history`` with one more state; the oldest of too many or of too long ones go."""
    kept, letters = [], 0
    for one in reversed([*history, state][-MOST_STEPS:]):
        letters += len(one["text"] or "")
        if letters > MOST_LETTERS:
            break
        kept.append(one)
    return kept[::-1]
