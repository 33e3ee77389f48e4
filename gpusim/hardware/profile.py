"""Device profiles: every number of a device with its unit, kind and source.

A profile is a YAML file in ``profiles/`` (see `profile_source`). Each entry of ``quantities`` is a `Quantity`; an
entry without a source does not load, nor one whose value cannot be (`profile_limits`). Values are kept as the source
states them and converted to SI here; what can be derived is derived in code, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from gpusim.errors import ProfileError, UnitError
from gpusim.hardware.profile_limits import allowed_for, bare_doubt
from gpusim.hardware.profile_source import ProfileSource
from gpusim.units import parse, parse_any

__all__ = [
    "HOST_GROUPS", "KINDS", "DeviceProfile", "Quantity", "is_profile_file", "load_profile", "profile_from_yaml",
    "profile_names", "profile_text",
]  # fmt: skip

KINDS = ("specified", "measured", "published", "assumed")
"""Where a number comes from: vendor document, our microbenchmark, somebody else's
measurement, or nobody's (shown in every report)."""
_NEEDED = ("title", "quantities")
"""What the file of a profile has; one of limits, or of a host, has quantities alone."""


HOST_GROUPS = frozenset({"alloc", "copy", "graph", "host", "pageable", "pool", "stream", "wake"})
"""First words of the quantities that only predictions of host programs use."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a device. ``value`` is SI (seconds, bytes, Hz, bytes/s) or cycles or a count."""

    name: str
    value: float
    dimension: str
    text: str
    kind: str
    source: str
    spread: str = ""


@dataclass(frozen=True)
class DeviceProfile:
    """A device as the model sees it: named quantities, a title and what is left out."""

    name: str
    title: str
    description: str
    quantities: Mapping[str, Quantity]
    recordings: str
    """Which device's recordings its predictions are compared with: its own name, if its file says no other."""

    def value(self, key: str) -> float:
        """The SI value of a quantity. Raises ProfileError for an unknown name, or one that the profile's file lacks."""
        try:
            return self.quantities[key].value
        except KeyError:
            raise self._lacks(key) from None

    def _lacks(self, key: str) -> ProfileError:
        if key not in _known():
            return _unknown_key(self.name, key, self.quantities)
        limits = _limits_with(key)
        lever = f"say limits: {' or '.join(limits)} there, or state it" if limits else "state it there"
        return ProfileError(f"device {self.name}: its file states no {key}, which is needed here; {lever}", key=key)

    @property
    def clock_hz(self) -> float:
        """SM clock."""
        return self.value("sm.clock")

    def seconds(self, cycles: float) -> float:
        """SM cycles as seconds."""
        return cycles / self.clock_hz

    def seconds_of(self, key: str) -> float:
        """Seconds of quantity ``key``, which is stated in SM cycles."""
        return self.value(key) / self.clock_hz

    def at_clock(self, hz: float) -> DeviceProfile:
        """The same device with its SMs at a clock of ``hz``, or at their own if that is lower.

        L2 goes with the SMs and DRAM does not: what it takes beyond L2, stated in cycles, are fewer of these then
        (realkernels.microbench power: 142 and 155 ns, and 206 and 202 more, at 1980 and 1766 MHz).
        """
        clock = self.quantities["sm.clock"]
        if hz >= clock.value:
            return self
        slower = {
            key: replace(quantity, value=quantity.value * hz / clock.value)
            for key, quantity in self.quantities.items()
            if key.startswith("dram.") and quantity.dimension == "cycles"
        }
        return replace(self, quantities={**self.quantities, **slower, "sm.clock": replace(clock, value=hz)})

    @property
    def assumed(self) -> list[str]:
        """Names of the quantities nobody measured or specified, as far as a kernel alone depends on them."""
        return [key for key in self.assumed_with_host if key.split(".")[0] not in HOST_GROUPS]

    @property
    def assumed_with_host(self) -> list[str]:
        """Names of the assumed quantities, those of host calls, streams, copies and allocation among them."""
        return [key for key, quantity in self.quantities.items() if quantity.kind == "assumed"]

    def overridden(self, overrides: Mapping[str, Any]) -> DeviceProfile:
        """The same device with some quantities replaced ("what if HBM were 8 TB/s").

        Raises ProfileError for an unknown name or a value of another dimension.
        """
        if not overrides:
            return self
        quantities = dict(self.quantities)
        for key, given in overrides.items():
            old = quantities.get(key)
            if old is None:
                raise _unknown_key(self.name, key, quantities)
            try:
                value = parse(given, old.dimension, bare=True)
            except UnitError as error:
                raise ProfileError(f"device {self.name}: {key}: {error}", key=key, given=given) from None
            allowed = allowed_for(key, old.dimension, value)
            problem = f"{given!r} must be {allowed}" if allowed else bare_doubt(given, old.dimension)
            if problem:
                raise ProfileError(f"device {self.name}: {key}: {problem}", key=key, given=given)
            quantities[key] = replace(old, value=value, text=str(given), kind="assumed", source="scenario override")
        return replace(self, quantities=quantities)


def profile_names() -> list[str]:
    """Names of the profiles that ship with the package, in name order."""
    return _names(".")


def profile_text(name: str) -> str:
    """The file of a profile that ships with the package. Raises ProfileError for an unknown device."""
    if name not in profile_names():
        raise ProfileError(f"unknown device {name!r}", given=name, allowed=profile_names())
    return _text(f"{name}.yaml")


def is_profile_file(name: str) -> bool:
    """Whether a device is named by its profile's file, as `gpusim calibrate` writes it, and not by its name."""
    return name.endswith((".yaml", ".yml"))


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> DeviceProfile:
    """The profile called ``name``, or in the file ``name`` if that ends in .yaml, with ``overrides`` applied.

    Raises ProfileError for an unknown device, a file that cannot be read, an unknown quantity or a wrong unit.
    """
    if is_profile_file(name):
        path = Path(name).resolve()
        half = path.parent / "host" / path.name
        changed = tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in (path, half))
        return _load_file(path, half, changed).overridden(overrides or {})
    return _load(name).overridden(overrides or {})


@lru_cache
def _load(name: str) -> DeviceProfile:
    return profile_from_yaml(name, profile_text(name))


@lru_cache
def _load_file(path: Path, half: Path, _changed: tuple[int, ...]) -> DeviceProfile:
    try:
        text = path.read_text(encoding="utf-8")
        host = half.read_text(encoding="utf-8") if half.is_file() else None
    except OSError as error:
        raise ProfileError(f"device {path.name}: {error.strerror}", given=str(path)) from None
    except UnicodeDecodeError:
        raise ProfileError(f"device {path.name} is not a device profile: expected text in UTF-8") from None
    source = ProfileSource.read(f"device {path.name}", text, _NEEDED)
    own_half = None if host is None else ProfileSource.read(f"device host/{path.name}", host)
    profile = _profile(path.stem, source, own_half)
    for each in (source, own_half):
        if each is not None:
            _check_known(each, profile)
    return profile


def _check_known(source: ProfileSource, profile: DeviceProfile) -> None:
    """Raise ProfileError unless what a file states is a quantity that there is, in a unit of its dimension."""
    known = _known()
    for key, entry in source.data["quantities"].items():
        if key not in known:
            raise source.of_quantity(key, "is not a quantity of a device", allowed=_alike(key, known))
        if profile.quantities[key].dimension != known[key].dimension:
            try:
                parse(entry["value"], known[key].dimension)
            except UnitError as error:
                raise source.of_quantity(key, f"cannot be: {error}") from None


def _known() -> Mapping[str, Quantity]:
    """All quantities that the model knows: every profile that ships states each of them."""
    return _load("textbook").quantities


def _text(path: str) -> str:
    return (resources.files("gpusim.hardware") / "profiles" / path).read_text(encoding="utf-8")


def _names(folder: str) -> list[str]:
    """Names of the files of a folder of ``profiles/``."""
    entries = (resources.files("gpusim.hardware") / "profiles" / folder).iterdir()
    return sorted(entry.name[:-5] for entry in entries if entry.name.endswith(".yaml"))


def _shared(folder: str, name: str) -> ProfileSource:
    """A file of ``profiles/limits`` or ``profiles/host``, of which profiles take quantities."""
    return ProfileSource.read(f"{folder} {name}", _text(f"{folder}/{name}.yaml"))


def _limits_with(key: str) -> list[str]:
    """Names of the limits that state a quantity."""
    return [name for name in _names("limits") if key in _shared("limits", name).data["quantities"]]


def profile_from_yaml(name: str, text: str) -> DeviceProfile:
    """A profile from the text of its file.

    ``limits`` names a file of ``profiles/limits`` with the limits of the compute capability;
    ``like`` another profile whose quantities are taken over as assumed. Host calls, copies and
    streams are in the file ``host`` names in ``profiles/host`` (one of the profile's own name is found
    without). What the file itself states comes last. Raises ProfileError on an entry that is not complete or cannot be.
    """
    return _profile(name, ProfileSource.read(f"profile {name}", text, _NEEDED))


def _profile(name: str, source: ProfileSource, own_half: ProfileSource | None = None) -> DeviceProfile:
    """The profile in ``source``, with the host half that stands beside it, if there is one, else a shipped one."""
    data = source.data
    quantities: dict[str, Quantity] = {}
    if "like" in data:
        other = _load(_one_of(source, "like", profile_names()))
        for key, quantity in other.quantities.items():
            quantities[key] = replace(quantity, kind="assumed", source=f"as {other.name}: {quantity.source}")
    if "limits" in data:
        limits = _one_of(source, "limits", _names("limits"))
        quantities |= _quantities(_shared("limits", limits))
    halves = _names("host")
    if own_half is not None:
        quantities |= _quantities(own_half)
    elif "host" in data or name in halves:
        half = _one_of(source, "host", halves) if "host" in data else name
        quantities |= _quantities(_shared("host", half))
    quantities |= _quantities(source)
    title, about, recordings = (str(data.get(key, "")) for key in ("title", "description", "recordings"))
    return DeviceProfile(name, title, about, quantities, recordings or name)


def _one_of(source: ProfileSource, key: str, names: list[str]) -> str:
    """The name that stands at ``key``, which has to be one of ``names``."""
    if (given := source.data[key]) in names:
        return given
    # The key of the message is what was given, so that the nearest name is one to it.
    raise ProfileError(f"{source.at(key)}: {key} {given!r} is unknown", given=given, allowed=names)


def _quantities(source: ProfileSource) -> dict[str, Quantity]:
    found = {}
    for key, entry in source.data["quantities"].items():
        missing = [field for field in ("value", "kind", "source") if entry.get(field) in (None, "")]
        if missing:
            raise source.of_quantity(key, f"lacks {', '.join(missing)}")
        if entry["kind"] not in KINDS:
            raise source.of_quantity(key, f"has the kind {entry['kind']!r}", allowed=KINDS)
        try:
            value, dimension = parse_any(entry["value"])
        except UnitError as error:
            raise source.of_quantity(key, f"cannot be: {error}") from None
        if allowed := allowed_for(key, dimension, value):
            raise source.of_quantity(key, f"is {entry['value']}, and must be {allowed}")
        spread = str(entry.get("spread", ""))
        found[key] = Quantity(key, value, dimension, str(entry["value"]), entry["kind"], str(entry["source"]), spread)
    return found


def _unknown_key(device: str, key: str, known: Mapping[str, Any]) -> ProfileError:
    return ProfileError(f"device {device} has no quantity {key!r}", key=key, allowed=_alike(key, known))


def _alike(key: str, known: Mapping[str, Any]) -> list[str]:
    """Known names of the same first word, or all where there is none."""
    group = f"{key.partition('.')[0]}."
    return [name for name in known if name.startswith(group)] or list(known)
