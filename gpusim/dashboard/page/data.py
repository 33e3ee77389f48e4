"""Scenario files to cases, with all that is known of them.

Results are kept in memory by all that they depend on, so that a zoom costs no prediction.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from gpusim.dashboard.page.build import baseline_of, build_case, serial_seconds, with_speedup
from gpusim.dashboard.page.case import Asked, Case, CaseError, Entry, Finder
from gpusim.dashboard.page.finding import finder_among
from gpusim.dashboard.page.form import Form, form_of
from gpusim.dashboard.page.imports import Imports
from gpusim.dashboard.page.resolving import base_of, changed, lines_of, own_of, points_of, text_of_asked
from gpusim.dashboard.page.saving import FILE_NAME, save_as
from gpusim.dashboard.page.scenario_text import ScenarioText
from gpusim.dashboard.page.sweeps import Sweep, axes_of, sweep_of, without
from gpusim.deadlock import Deadlock
from gpusim.errors import GpusimError, ScenarioError
from gpusim.scenario import Advice, Scenario, advise, load, predict, scenario_files, with_overrides
from gpusim.scenario.overrides import grid_points
from gpusim.timeline import Timeline
from gpusim.validation import measurement_of, recordings_stamp

__all__ = ["ScenarioFolder"]

MOST_CASES = 48
Made = TypeVar("Made")
_LOG = logging.getLogger(__name__)


class ScenarioFolder:
    """The scenarios of one folder as a `CaseSource`; nothing outside of it is read or written by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases: OrderedDict[tuple, Case] = OrderedDict()
        self._loaded: dict[Path, tuple[int, Scenario]] = {}
        self._busy = threading.Lock()
        self._timelines: OrderedDict[tuple, Timeline] = OrderedDict()
        self._advice: OrderedDict[tuple, Advice] = OrderedDict()
        self._serials: OrderedDict[tuple, float | None] = OrderedDict()
        self._sweeps: OrderedDict[tuple, Sweep] = OrderedDict()
        self._imports = Imports()
        self._advising = threading.Lock()  # of its own: a zoom must not wait for a dozen predictions

    def _paths(self) -> dict[str, Path]:
        return {path.stem: path for path in scenario_files(self.folder)}

    def entries(self) -> list[Entry]:
        """One entry per file, in name order; a file that cannot be read says so."""
        return [entry for path in self._paths().values() if (entry := self._entry(path)) is not None]

    def _entry(self, path: Path) -> Entry | None:
        try:
            scenario = self._load(path)
            measurement = measurement_of(scenario)
            recorded = 0 if measurement is None else 2 if measurement.has_timeline else 1
            return Entry(path.stem, scenario.question, recorded=recorded)
        except FileNotFoundError:
            return None  # it went since the folder was listed
        except (GpusimError, OSError) as error:
            return Entry(path.stem, "", str(error))

    def _load(self, path: Path) -> Scenario:
        """The scenario of a file, read again where the file has changed."""
        changed = path.stat().st_mtime_ns
        known = self._loaded.get(path)
        if known is None or known[0] != changed:
            known = self._loaded[path] = (changed, load(path))
        return known[1]

    def case(self, asked: Asked, *, quick: bool = False) -> Case:
        """The scenario, perhaps at a recorded point of its technique, perhaps changed. Raises CaseError."""
        return self._asked(asked, self._busy, lambda own: self._case(asked, own, quick))

    def advice(self, asked: Asked) -> Advice:
        """What changes of it would gain. Raises CaseError."""
        timeline = self.case(asked, quick=True).predicted.timeline

        def advised(own: Scenario) -> Advice:
            scenario = changed(base_of(own, asked), asked.changes)
            # In place: starting processes beside a server's threads takes longer than most advice.
            return _kept(self._advice, scenario.identity, lambda: advise(scenario, timeline, workers=1))

        return self._asked(asked, self._advising, advised)

    def form(self, asked: Asked) -> Form:
        """What can be changed of it, with the values it has. Raises CaseError."""

        def made(own: Scenario) -> Form:
            base = base_of(own, asked)
            return form_of(own, base, changed(base, asked.changes), asked.changes, in_file=asked.text is None)

        return self._asked(asked, self._busy, made)

    def sweep(self, asked: Asked) -> Sweep:
        """Its sweep, predicted and measured. Raises CaseError."""

        def made(own: Scenario) -> Sweep:
            base = base_of(own, asked)
            swept = own if asked.text is None else base
            scenario = changed(base, without(asked.changes, axes_of(swept)))
            key = (str(swept.model.sweep), *map(_depends_on, (scenario, *_on_devices(swept, scenario))))
            return _kept(self._sweeps, key, lambda: sweep_of(swept, scenario))

        return self._asked(asked, self._advising, made)

    def import_trace(self, asked: Asked, file: str, content: bytes) -> str:
        """Keep a trace to compare with; what `Asked` is to call it. Raises CaseError where it cannot be compared."""

        def made(own: Scenario) -> str:
            return self._imports.add(file, content, changed(base_of(own, asked), asked.changes))

        return self._asked(asked, self._advising, made)

    def finder(self) -> Finder:
        """How to find recorded parameters among the scenarios as they are now; those that cannot be read are none."""
        found = []
        for path in self._paths().values():
            with contextlib.suppress(GpusimError, OSError):
                found.append((path.stem, self._load(path)))
        return finder_among(found)

    def text(self, asked: Asked) -> ScenarioText:
        """The text of it, right or wrong; empty where there is none."""
        path = self._path(asked)
        return text_of_asked(asked, path) if path else ScenarioText()

    def save(self, asked: Asked, name: str) -> None:
        """Write it to ``name``.yaml in the folder. Raises CaseError, also where there is such a file already."""
        self.form(asked)  # of what is wrong no file is made
        save_as(self.folder, name, self._paths(), asked, self.text(asked).text)

    def stamp(self, name: str) -> str:
        """A word that differs when a scenario's file has changed since, its device's, or what is recorded of it.

        "" for a file that is not there.
        """
        path = self._paths().get(name)
        if path is None:
            return ""
        try:
            changed = str(path.stat().st_mtime_ns)
            return f"{changed} {zlib.crc32(repr(_depends_on(self._load(path))).encode()):x}"
        except FileNotFoundError:
            return ""
        except (GpusimError, OSError):
            return changed

    def _path(self, asked: Asked) -> Path | None:
        """Its file; of an edited text whose file is gone the one that it had."""
        kept = asked.text is not None and FILE_NAME.fullmatch(asked.name)
        return self._paths().get(asked.name) or (self.folder / f"{asked.name}.yaml" if kept else None)

    def _asked(self, asked: Asked, lock: threading.Lock, make: Callable[[Scenario], Made]) -> Made:
        name, path = asked.name, self._path(asked)
        if path is None and not self._paths():
            message = f"{self.folder} holds no scenario (*.yaml). Write one there, or open the page on another folder."
            raise CaseError(message, "No scenarios")
        if path is None:
            raise CaseError(f"There is no scenario called {name!r} in {self.folder}.", "Unknown scenario")
        try:
            with lock:
                return make(own_of(asked, path))
        except CaseError:
            raise
        except GpusimError as error:
            raise CaseError(str(error), _title(error, name), _fields(error), lines_of(error, str(path))) from error
        except OSError as error:
            raise CaseError(f"{path} cannot be read: {error.strerror}") from error
        except Exception as error:
            # A page shows a sentence; the traceback belongs in the server's log.
            _LOG.exception("scenario %s", name)
            raise CaseError(f"{type(error).__name__}: {error}", f"{name}: an error inside gpusim") from error

    def _case(self, asked: Asked, own: Scenario, quick: bool) -> Case:
        base = base_of(own, asked)
        scenario = changed(base, asked.changes)
        # Without the changes it is asked for by itself, so that it is made once.
        unchanged = self._unchanged(asked, own.source.name) if asked.altered else None
        key = (own.name, own.question, *map(_depends_on, (own, base, scenario)))
        imported = self._imports.find(asked.imported) if asked.imported else None
        serial = baseline_of(scenario)
        case = _kept(
            self._cases, (*key, asked),
            lambda: build_case(
                asked, own, scenario, self._predicted(scenario), points_of(own), unchanged, imported, serial is not None
            ),
        )  # fmt: skip
        # What it turned out to stand against is asked for by name from now on.
        named = (*key, replace(asked, against=case.against))
        case = _kept(self._cases, named, lambda: case)
        # Many changes of a scenario share a baseline: then there is nothing to wait for.
        if serial is None or (quick and serial.identity not in self._serials):
            return case
        serial_s = _kept(self._serials, serial.identity, lambda: serial_seconds(serial))
        return _kept(self._cases, (*named, "with speed-up"), lambda: with_speedup(case, serial_s))

    def _predicted(self, scenario: Scenario) -> Timeline:
        """Its prediction, with kernels of the host inside; another question or comment makes no other one."""
        found = _kept(self._timelines, scenario.identity, lambda: predict(scenario, zoom=True))
        return found.with_meta(scenario=scenario.resolved())

    def _unchanged(self, asked: Asked, file: str) -> Case | None:
        """What the file says without the changes; None where that cannot be predicted, which they may mend."""
        try:
            return self._case(Asked(asked.name, asked.point), self._load(Path(file)), quick=True)
        except (GpusimError, CaseError, OSError):
            return None


def _kept(known: OrderedDict[tuple, Made], key: tuple, make: Callable[[], Made]) -> Made:
    """What is known under ``key``, made if need be; the oldest of too many goes."""
    if key not in known:
        known[key] = make()
    known.move_to_end(key)
    while len(known) > MOST_CASES:
        known.popitem(last=False)
    return known[key]


def _depends_on(scenario: Scenario) -> tuple[Any, ...]:
    """All that what is shown of a scenario depends on; files of devices and recordings change behind a server."""
    return scenario.identity, scenario.recorded_device, recordings_stamp(scenario)


def _on_devices(own: Scenario, scenario: Scenario) -> Iterator[Scenario]:
    """The scenario on each of the devices that the sweep of ``own`` goes over."""
    for point in grid_points(own.model.sweep):
        device = {path: value for path, value in point.items() if path.partition(".")[0] == "device"}
        if device:
            yield with_overrides(scenario, device)


def _fields(error: GpusimError) -> tuple[str, ...]:
    """Where in the scenario the mistakes are that an error tells."""
    return tuple(one.field for one in (error, *error.others) if one.field) if isinstance(error, ScenarioError) else ()


def _title(error: Exception, name: str) -> str:
    if isinstance(error, Deadlock):
        return f"{name} deadlocks"
    return f"{name} cannot be shown"
