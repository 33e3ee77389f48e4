"""Recorded cases with their predictions, as the accuracy page filters and sorts them. Nothing here is simulated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from gpusim.scenario import techniques
from gpusim.validation import RecordedCase, kept_cases
from gpusim.validation.band import GAPS
from gpusim.validation.predicted_file import PREDICTED
from gpusim.validation.recording import TOTALS, recorded_devices, recordings_folder

__all__ = ["BEYOND", "COLUMNS", "Wanted", "chosen", "error_of", "known_cases", "sorted_cases", "wanted_of"]

BEYOND = {"all": 0.0, "±5 %": 0.05, "±10 %": 0.10}
"""What may be left out: cases whose total is predicted better than this."""


def error_of(case: RecordedCase) -> float:
    """Predicted over measured total, minus one."""
    return case.comparison.total_error


COLUMNS: Mapping[str, Callable[[RecordedCase], Any]] = {
    "technique": lambda case: case.technique,
    "device": lambda case: case.device,
    "parameters": lambda case: case.label,
    "measured": lambda case: case.comparison.measured.total_s,
    "predicted": lambda case: case.comparison.predicted.total_s,
    "error": lambda case: abs(error_of(case)),
    "hidden": lambda case: abs(case.comparison.hidden_error) if case.comparison.hidden_error is not None else -1.0,
    "spread": lambda case: case.spread,
}
"""What each column is sorted by."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cases, and in which order. Empty names are all techniques and all devices."""

    technique: str = ""
    device: str = ""
    beyond: str = "all"
    words: str = ""
    by: str = "error"
    down: bool = True


def wanted_of(query: str) -> Wanted:
    """What the page's address asks for; nonsense is dropped."""
    found = {key: values[0] for key, values in parse_qs(query.lstrip("?")[:2000]).items()}
    beyond, by = found.get("beyond", ""), found.get("by", "")
    return Wanted(
        found.get("technique", ""), found.get("device", ""), beyond if beyond in BEYOND else "all",
        found.get("words", ""), by if by in COLUMNS else "error", found.get("order") != "up",
    )  # fmt: skip


def chosen(cases: Sequence[RecordedCase], wanted: Wanted) -> list[int]:
    """Numbers of the cases that are wanted, in their own order.

    Every word has to be in a case's technique or parameters; one with ``=`` is a whole parameter, as ``stages=2``.
    """
    least = BEYOND[wanted.beyond]
    words = [word.lower() for word in re.split(r"[\s,]+", wanted.words) if word]
    return [
        number
        for number, case in enumerate(cases)
        if wanted.technique in ("", case.technique)
        and wanted.device in ("", case.device)
        and abs(error_of(case)) >= least
        and all(_says(case, word) for word in words)
    ]


def _says(case: RecordedCase, word: str) -> bool:
    if "=" in word:
        return any(word == f"{name}={value}".lower() for name, value in case.params.items())
    return word in f"{case.technique} {case.label}".lower()


def sorted_cases(cases: Sequence[RecordedCase], numbers: Iterable[int], wanted: Wanted) -> list[int]:
    """The same numbers in the order that is wanted."""
    key = COLUMNS[wanted.by]
    return sorted(numbers, key=lambda number: key(cases[number]), reverse=wanted.down)


def known_cases() -> tuple[tuple[RecordedCase, ...], int]:
    """All cases and the number of recordings without a kept prediction; read again when a file has changed.

    Raises RecordingError.
    """
    return _known(tuple(_stamps()))


@lru_cache(maxsize=1)
def _known(_stamp: tuple[tuple[Path, int], ...]) -> tuple[tuple[RecordedCase, ...], int]:
    cases, missing = kept_cases()
    return tuple(cases), missing


def _stamps() -> Iterable[tuple[Path, int]]:
    for technique in techniques().values():
        folder = recordings_folder(technique)
        files = [folder / device / name for device in recorded_devices(technique) for name in (TOTALS, PREDICTED)]
        for file in (*files, technique.folder / GAPS):
            if file.exists():
                yield file, file.stat().st_mtime_ns
