"""Scenario files to cases: the only module here that reads and writes them, and that looks for recordings.

Results are kept in memory by all that they depend on, so that a zoom costs no prediction.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from gpusim.dashboard.page.build import baseline_of, build_case, serial_seconds, with_speedup
from gpusim.dashboard.page.case import OWN_POINT, Asked, Case, CaseError, Entry, Finder
from gpusim.dashboard.page.finding import finder_among
from gpusim.dashboard.page.form import Form, form_of
from gpusim.dashboard.page.imports import Imports
from gpusim.dashboard.page.sweeps import Sweep, axes_of, sweep_of, without
from gpusim.deadlock import Deadlock
from gpusim.errors import GpusimError, ScenarioError
from gpusim.files import write_atomically
from gpusim.scenario import Advice, Scenario, advise, from_data, load, with_overrides
from gpusim.scenario.overrides import grid_points, parse_assignments
from gpusim.validation import Measurement, measurement_of, measurements, recordings_stamp

__all__ = ["ScenarioFolder"]

MOST_CASES = 48
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
Made = TypeVar("Made")
_LOG = logging.getLogger(__name__)


class ScenarioFolder:
    """The scenarios of one folder as a `CaseSource`; nothing outside of it is read or written by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases: OrderedDict[tuple, Case] = OrderedDict()
        self._loaded: dict[Path, tuple[int, Scenario]] = {}
        self._busy = threading.Lock()
        self._saving = threading.Lock()
        self._advice: OrderedDict[tuple, Advice] = OrderedDict()
        self._serials: OrderedDict[tuple, float | None] = OrderedDict()
        self._sweeps: OrderedDict[tuple, Sweep] = OrderedDict()
        self._imports = Imports()
        self._advising = threading.Lock()  # of its own: a zoom must not wait for a dozen predictions

    def _paths(self) -> dict[str, Path]:
        files = (path for pattern in ("*.yaml", "*.yml") for path in self.folder.glob(pattern))
        return {path.stem: path for path in sorted(files) if path.is_file()}

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
        return self._asked(asked.name, self._busy, lambda own: self._case(asked, own, quick))

    def advice(self, asked: Asked) -> Advice:
        """What changes of it would gain. Raises CaseError."""
        timeline = self.case(asked, quick=True).predicted.timeline

        def advised(own: Scenario) -> Advice:
            scenario = _changed(_pointed(own, asked.point), asked.changes)
            # In place: starting processes beside a server's threads takes longer than most advice.
            return _kept(self._advice, scenario.identity, lambda: advise(scenario, timeline, workers=1))

        return self._asked(asked.name, self._advising, advised)

    def form(self, asked: Asked) -> Form:
        """What can be changed of it, with the values it has. Raises CaseError."""

        def made(own: Scenario) -> Form:
            base = _pointed(own, asked.point)
            return form_of(own, base, _changed(base, asked.changes), asked.changes)

        return self._asked(asked.name, self._busy, made)

    def sweep(self, asked: Asked) -> Sweep:
        """Its sweep, predicted and measured. Raises CaseError."""

        def made(own: Scenario) -> Sweep:
            base = _pointed(own, asked.point)
            scenario = _changed(base, without(asked.changes, axes_of(own)))
            key = (str(own.model.sweep), *map(_depends_on, (scenario, *_on_devices(own, scenario))))
            return _kept(self._sweeps, key, lambda: sweep_of(own, scenario))

        return self._asked(asked.name, self._advising, made)

    def import_trace(self, asked: Asked, file: str, content: bytes) -> str:
        """Keep a trace to compare with; what `Asked` is to call it. Raises CaseError where it cannot be compared."""

        def made(own: Scenario) -> str:
            return self._imports.add(file, content, _changed(_pointed(own, asked.point), asked.changes))

        return self._asked(asked.name, self._advising, made)

    def finder(self) -> Finder:
        """How to find recorded parameters among the scenarios as they are now; those that cannot be read are none."""
        found = []
        for path in self._paths().values():
            with contextlib.suppress(GpusimError, OSError):
                found.append((path.stem, self._load(path)))
        return finder_among(found)

    def save(self, asked: Asked, name: str) -> None:
        """Write it to ``name``.yaml in the folder. Raises CaseError, also where there is such a file already."""
        if not _FILE_NAME.fullmatch(name):
            raise CaseError(f"{name!r} is no name for a file: letters, digits, '_', '-' and '.', at most 80")
        stem = name.removesuffix(".yaml")
        path = self.folder / f"{stem}.yaml"
        text = self.form(asked).text
        made_of = ", ".join(map(_on_one_line, asked.changes))
        head = f"# Made from {_on_one_line(asked.name)}{f' with {made_of}' if made_of else ''}.\n"
        try:
            with self._saving:
                # What is called the same and ends otherwise would be shown in its place.
                if path.exists() or stem in self._paths():
                    raise CaseError(f"{path.name} is there already; choose another name")
                write_atomically(path, head + text)
        except OSError as error:
            raise CaseError(f"{path} cannot be written: {error.strerror}") from error

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

    def _asked(self, name: str, lock: threading.Lock, make: Callable[[Scenario], Made]) -> Made:
        paths = self._paths()
        if not paths:
            message = f"{self.folder} holds no scenario (*.yaml). Write one, or name another folder with --scenarios."
            raise CaseError(message, "No scenarios")
        if name not in paths:
            raise CaseError(f"There is no scenario called {name!r} in {self.folder}.", "Unknown scenario")
        try:
            with lock:
                return make(load(paths[name]))
        except CaseError:
            raise
        except GpusimError as error:
            raise CaseError(str(error), _title(error, name), _fields(error)) from error
        except OSError as error:
            raise CaseError(f"{paths[name]} cannot be read: {error.strerror}") from error
        except Exception as error:
            # A page shows a sentence; the traceback belongs in the server's log.
            _LOG.exception("scenario %s", name)
            raise CaseError(f"{type(error).__name__}: {error}", f"{name}: an error inside gpusim") from error

    def _case(self, asked: Asked, own: Scenario, quick: bool) -> Case:
        base = _pointed(own, asked.point)
        scenario = _changed(base, asked.changes)
        # Without the changes it is asked for by itself, so that it is made once.
        unchanged = self._case(Asked(asked.name, asked.point), own, quick=True) if asked.changes else None
        key = (own.name, own.question, *map(_depends_on, (own, base, scenario)))
        imported = self._imports.find(asked.imported) if asked.imported else None
        serial = baseline_of(scenario)
        case = _kept(
            self._cases, (*key, asked),
            lambda: build_case(asked, own, scenario, _points(own), unchanged, imported, serial is not None),
        )  # fmt: skip
        # What it turned out to stand against is asked for by name from now on.
        named = (*key, replace(asked, against=case.against))
        case = _kept(self._cases, named, lambda: case)
        # Many changes of a scenario share a baseline: then there is nothing to wait for.
        if serial is None or (quick and serial.identity not in self._serials):
            return case
        serial_s = _kept(self._serials, serial.identity, lambda: serial_seconds(serial))
        return _kept(self._cases, (*named, "with speed-up"), lambda: with_speedup(case, serial_s))


def _pointed(own: Scenario, point: str) -> Scenario:
    """The scenario itself, or at one of its recorded points."""
    if point == OWN_POINT:
        return own
    points = _points(own)
    if point not in points:
        raise CaseError(f"{own.name} has no recorded point {point!r}.", "Unknown recorded point")
    return _at(own, points[point])


def _changed(base: Scenario, changes: tuple[str, ...]) -> Scenario:
    """The scenario with the changes of a what-if, each of one value."""
    found = parse_assignments(changes)
    for path, values in found.items():
        if len(values) > 1:
            raise CaseError(f"{path}: one value, please; several of them are a sweep (gpusim sweep)", fields=[path])
    return with_overrides(base, {path: values[0] for path, values in found.items()}) if found else base


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


def _on_one_line(text: str) -> str:
    """As it is, if that can stand in a comment."""
    return text if text.isprintable() else json.dumps(text)


def _fields(error: GpusimError) -> tuple[str, ...]:
    """Where in the scenario the mistakes are that an error tells."""
    return tuple(one.field for one in (error, *error.others) if one.field) if isinstance(error, ScenarioError) else ()


def _title(error: Exception, name: str) -> str:
    if isinstance(error, Deadlock):
        return f"{name} deadlocks"
    return f"{name} cannot be shown"


def _points(scenario: Scenario) -> dict[str, Measurement]:
    """Recorded timelines of the scenario's technique on its device, by a key that suits an address."""
    technique = scenario.technique
    if technique is None or scenario.model.device.set:
        return {}
    found = [
        m for m in measurements(technique.name)
        if m.device == scenario.recorded_device and m.has_timeline
    ]  # fmt: skip
    return {",".join(f"{k}={v}" for k, v in _distinct(m, found).items()) or f"p{i}": m for i, m in enumerate(found)}


def _distinct(measurement: Measurement, among: list[Measurement]) -> Mapping[str, Any]:
    """The parameters that tell a measurement from the others."""
    return {
        name: value for name, value in measurement.params.items() if len({str(m.params.get(name)) for m in among}) > 1
    }


def _at(scenario: Scenario, measurement: Measurement) -> Scenario:
    kernel = {"technique": measurement.technique.name, "params": dict(measurement.params)}
    data = {"question": scenario.question, "device": scenario.device, "kernel": kernel}
    return from_data(data, scenario.source.name)
