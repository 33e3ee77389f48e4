"""Device profiles: every number of a device with its unit, kind and source.

A profile is a YAML file in ``profiles/``. Each entry of ``quantities`` is a `Quantity`; an
entry without a source does not load. Values are kept as the source states them and
converted to SI here; what can be derived is derived in code, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from gpusim.errors import ProfileError, UnitError
from gpusim.units import parse, parse_any

__all__ = [
    "HOST_GROUPS", "KINDS", "DeviceProfile", "Quantity", "is_profile_file", "load_profile", "profile_from_yaml",
    "profile_names", "profile_text",
]  # fmt: skip

KINDS = ("specified", "measured", "published", "assumed")
"""Where a number comes from: vendor document, our microbenchmark, somebody else's
measurement, or nobody's (shown in every report)."""


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
        """The SI value of a quantity. Raises ProfileError for an unknown name."""
        try:
            return self.quantities[key].value
        except KeyError:
            raise _unknown_key(self.name, key, self.quantities) from None

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
            if value == 0 and old.value != 0 and old.dimension in ("bandwidth", "frequency"):
                raise ProfileError(f"device {self.name}: {key}: {given!r} must be above zero", key=key, given=given)
            quantities[key] = replace(old, value=value, text=str(given), kind="assumed", source="scenario override")
        return replace(self, quantities=quantities)


def profile_names() -> list[str]:
    """Names of the profiles that ship with the package, in name order."""
    folder = resources.files("gpusim.hardware") / "profiles"
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml"))


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
        return profile_from_yaml(path.stem, text, host)
    except OSError as error:
        raise ProfileError(f"device {path.name}: {error.strerror}", given=str(path)) from None
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ProfileError(f"device {path.name} is not a device profile: {error}", given=str(path)) from None


def _text(path: str) -> str:
    return (resources.files("gpusim.hardware") / "profiles" / path).read_text(encoding="utf-8")


def _read(text: str) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)  # noqa: S506 - safe either way, quick where there is a C version


def profile_from_yaml(name: str, text: str, host_text: str | None = None) -> DeviceProfile:
    """A profile from the text of its file; ``host_text`` is that of its own host half, if there is one beside it.

    ``limits`` names a file of ``profiles/limits`` with the limits of the compute capability;
    ``like`` another profile whose quantities are taken over as assumed. Host calls, copies and
    streams are in the file ``host`` names in ``profiles/host`` (one of the profile's own name is found
    without). What the file itself states comes last. Raises ProfileError on an entry that is not complete.
    """
    data = _read(text)
    quantities: dict[str, Quantity] = {}
    if "like" in data:
        other = _load(data["like"])
        for key, quantity in other.quantities.items():
            quantities[key] = replace(quantity, kind="assumed", source=f"as {other.name}: {quantity.source}")
    if "limits" in data:
        limits = _read(_text(f"limits/{data['limits']}.yaml"))
        quantities.update(_quantities(f"limits {data['limits']}", limits["quantities"]))
    host = data.get("host", name)
    if host_text is not None:
        quantities.update(_quantities(f"host {name}", _read(host_text)["quantities"]))
    elif "host" in data or (resources.files("gpusim.hardware") / "profiles" / "host" / f"{host}.yaml").is_file():
        half = _read(_text(f"host/{host}.yaml"))
        quantities.update(_quantities(f"host {host}", half["quantities"]))
    quantities.update(_quantities(f"profile {name}", data["quantities"]))
    return DeviceProfile(name, data["title"], data.get("description", ""), quantities, data.get("recordings", name))


def _quantities(where: str, entries: Mapping[str, Any]) -> dict[str, Quantity]:
    found = {}
    for key, entry in entries.items():
        missing = [field for field in ("value", "kind", "source") if entry.get(field) in (None, "")]
        if missing:
            raise ProfileError(f"{where}: {key} lacks {', '.join(missing)}", key=key)
        if entry["kind"] not in KINDS:
            raise ProfileError(f"{where}: {key}: kind {entry['kind']!r}", key=key, allowed=KINDS)
        try:
            value, dimension = parse_any(entry["value"])
        except UnitError as error:
            raise ProfileError(f"{where}: {key}: {error}", key=key) from None
        spread = str(entry.get("spread", ""))
        found[key] = Quantity(key, value, dimension, str(entry["value"]), entry["kind"], entry["source"], spread)
    return found


def _unknown_key(device: str, key: str, known: Mapping[str, Any]) -> ProfileError:
    return ProfileError(f"device {device} has no quantity {key!r}", key=key, allowed=known)
