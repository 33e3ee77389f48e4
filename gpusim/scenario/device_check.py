"""The device of a scenario: where its profile's file lies, and what is wrong with it or with its changed quantities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpusim.errors import ProfileError, ScenarioError, listing, nearest
from gpusim.hardware.profile import is_profile_file, load_profile, profile_names
from gpusim.scenario.schema import DeviceSpec
from gpusim.scenario.yaml_source import Source, shown

__all__ = ["device_mistakes", "with_file"]


def with_file(device: DeviceSpec, source: Source) -> DeviceSpec:
    """The device with the path of its profile: a file beside the scenario's, else in the current folder."""
    if not is_profile_file(device.base) or not (beside := Path(source.name).parent / device.base).is_file():
        return device
    return device.model_copy(update={"base": str(beside)})


def device_mistakes(device: DeviceSpec, source: Source) -> Iterator[ScenarioError]:
    """What is wrong with a ``device`` that went through `with_file`."""
    base = ("device", "base") if ("device", "base") in {**source.marks, **source.overrides} else ("device",)
    names = profile_names()
    if is_profile_file(device.base):
        if problem := _not_there(device.base, source):
            yield source.error(problem, base, given=device.base, allowed="a file of gpusim calibrate")
            return
    elif device.base not in names:
        yield source.error(
            f"unknown device {shown(device.base)}", base, given=device.base, allowed=listing(names),
            suggestion=nearest(device.base, names),
        )  # fmt: skip
        return
    try:
        load_profile(device.base)
    except ProfileError as error:
        yield source.error(
            error.problem, base, given=device.base, allowed=listing(error.allowed), suggestion=error.suggestion
        )
        return
    for key, value in device.set.items():
        try:
            load_profile(device.base, {key: value})
        except ProfileError as error:
            yield source.error(str(error), ("device", "set", key), given=value)


def _not_there(name: str, source: Source) -> str:
    """Tell that there is no file ``name``, and where it was looked for."""
    path, folder = Path(name), Path(source.name).parent
    if path.is_file():
        return ""
    if path.is_absolute():
        return f"device {path.name}: there is no file {name}"
    beside = "" if folder == Path() else f"beside the scenario ({folder}) or "
    return f"device {name}: no such file {beside}in the current folder"
