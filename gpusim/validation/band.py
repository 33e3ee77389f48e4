"""How close a prediction must be, and which cases are known not to be there yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpusim.errors import RecordingError

__all__ = ["DEFAULT_BAND", "GAPS", "Band", "KnownGap", "known_gaps"]

GAPS = "known_gaps.yaml"
"""File of a technique's folder that names its known gaps."""


@dataclass(frozen=True, slots=True)
class Band:
    """The accuracy aimed at: relative errors of the total, and a difference of the hidden fraction."""

    mean: float = 0.03
    worst: float = 0.085
    hidden: float = 0.05
    choice: float = 0.02
    """The configuration chosen by the model is at most so much slower than the measured best."""


DEFAULT_BAND = Band()


@dataclass(frozen=True)
class KnownGap:
    """Cases that are outside the band for a reason we can name; ``params`` is the part that matters."""

    params: dict[str, Any]
    reason: str
    device: str | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.params, dict) and isinstance(self.reason, str)):
            raise TypeError(f"params are names with values, a reason is a text: {self.params!r}, {self.reason!r}")

    def covers(self, device: str, params: Mapping[str, Any]) -> bool:
        """Whether a case with these parameters on this device is one of them."""
        same_device = self.device in (None, device)
        return same_device and all(params.get(name) == value for name, value in self.params.items())


def known_gaps(folder: Path) -> tuple[KnownGap, ...]:
    """The gaps a technique declares in ``known_gaps.yaml``, a list of {params, reason, device}.

    They count in every number that is reported, and are not held against a technique in exit codes (`Accuracy.holds`).
    Raises RecordingError if the file is not such a list.
    """
    path = folder / GAPS
    if not path.exists():
        return ()
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8")) or []
        return tuple(KnownGap(**entry) for entry in entries)
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise RecordingError(f"not a list of {{params, reason}}: {error}", path=path) from None
