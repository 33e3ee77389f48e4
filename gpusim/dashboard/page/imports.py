"""Trace files of the user's own: what they hold takes the place of a recording."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from gpusim.dashboard.page.case import CaseError
from gpusim.errors import RecordingError
from gpusim.scenario import Scenario
from gpusim.timeline import Timeline
from gpusim.validation import read_measured

__all__ = ["MOST_BYTES", "Imported", "Imports"]

MOST_BYTES = 64 << 20
"""Size of a file; a browser sends it as text that is a third longer."""
MOST_FILES = 8
ALLOWED = "an .npz of the probe, Chrome JSON (.json, .json.gz), or what nsys export --type sqlite writes (.sqlite)"


@dataclass(frozen=True, slots=True)
class Imported:
    """A measured timeline, and the name of the file that it is from."""

    file: str
    timeline: Timeline


class Imports:
    """The last few files that were given, by a key that tells their contents; several threads may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Imported] = OrderedDict()
        self._busy = threading.Lock()

    def add(self, file: str, content: bytes, scenario: Scenario) -> str:
        """Read a file to stand beside ``scenario``; returns its key.

        Raises CaseError, naming file and part, where it is too large, of no known form, or of other parameters or
        another device.
        """
        if len(content) > MOST_BYTES:
            size = f"{len(content) >> 20:,} MiB, at most {MOST_BYTES >> 20} MiB are read"
            raise CaseError(f"{file}: {size}. Trace a shorter run, or compare it by gpusim compare --measured.")
        with tempfile.TemporaryDirectory(prefix="gpusim-") as folder:
            path = Path(folder) / "trace"
            path.write_bytes(content)
            try:
                _, timeline = read_measured(path, scenario)
            except RecordingError as error:
                raise CaseError(f"{file}: {error.problem}. A trace is {ALLOWED}.") from error
        key = hashlib.sha256(file.encode() + b"\0" + content).hexdigest()[:16]
        with self._busy:
            self._kept[key] = Imported(file, timeline)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_FILES:
                self._kept.popitem(last=False)
        return key

    def find(self, key: str) -> Imported:
        """The file of a key. Raises CaseError for one that is not held any more."""
        with self._busy:
            if key not in self._kept:
                raise CaseError("The imported trace is not held any more; drop its file on the page again.")
            return self._kept[key]
