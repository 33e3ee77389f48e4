"""The YAML of a device profile: plain data, of which every mistake is told with file and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from gpusim.errors import ProfileError

__all__ = ["ProfileSource"]

_TOP = ("title", "description", "limits", "like", "host", "recordings", "quantities")
_ENTRY = ("value", "kind", "source", "spread")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # safe either way, quick where there is a C version


class _StrictLoader(_Loader):
    """A loader that takes no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping. Raises ConstructorError where a key stands twice."""
        found = super().construct_mapping(node, deep=deep)
        seen: set[str] = set()
        for key, _ in node.value if len(found) < len(node.value) else ():
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value} is given twice", key.start_mark)
            seen.add(key.value)
        return found


@dataclass(frozen=True)
class ProfileSource:
    """One file of a profile: ``where`` names it in messages."""

    where: str
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, where: str, text: str, needed: Iterable[str] = ("quantities",)) -> ProfileSource:
        """The file of ``text``, the form of which is checked, not its values. Raises ProfileError."""
        try:
            data = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - it is a safe one
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = f":{mark.line + 1}" if mark else ""
            raise ProfileError(f"{where}{line} is not a device profile: {error.problem or error.context}") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise ProfileError(f"{where} is not a device profile: {first}") from None
        if not isinstance(data, dict):
            what = "it is empty" if data is None else "expected a mapping"
            raise ProfileError(f"{where} is not a device profile: {what}", allowed=_TOP)
        source = cls(where, text, data)
        source._check_form(needed)
        return source

    def _check_form(self, needed: Iterable[str]) -> None:
        for key in self.data:
            if key not in _TOP:
                raise self.error(f"unknown key {key!r}", (key,), allowed=_TOP)
        missing = [key for key in needed if self.data.get(key) in (None, "")]
        if missing:
            raise ProfileError(f"{self.where} is not a device profile: it has no {' and no '.join(missing)}")
        if not isinstance(self.data["quantities"], dict):
            raise self.error("expected quantities to be a mapping", ("quantities",))
        for key, entry in self.data["quantities"].items():
            if not isinstance(key, str) or not isinstance(entry, dict):
                raise self.of_quantity(key, "has to be {value: …, kind: …, source: …}")
            for word in entry:
                if word not in _ENTRY:
                    raise self.error(f"{key}: unknown key {word!r}", ("quantities", key, word), allowed=_ENTRY)

    def error(self, problem: str, path: tuple[Any, ...], allowed: Iterable[str] = ()) -> ProfileError:
        """A ProfileError with the line of what stands at ``path``; the nearest name is that of its last key."""
        return ProfileError(f"{self.at(*path)}: {problem}", key=str(path[-1]), allowed=allowed)

    def of_quantity(self, key: Any, problem: str, allowed: Iterable[str] = ()) -> ProfileError:
        """A ProfileError about the quantity ``key``."""
        return self.error(f"{key} {problem}", ("quantities", key), allowed)

    def at(self, *path: Any) -> str:
        """File and line of what stands at ``path``."""
        # Found only when it is needed: a profile has some hundred entries.
        node, line = yaml.compose(self.text, Loader=_Loader), ""
        for part in path:
            pairs = node.value if isinstance(node, yaml.MappingNode) else ()
            key, node = next(((key, value) for key, value in pairs if key.value == str(part)), (None, None))
            line = f":{key.start_mark.line + 1}" if key is not None else line
        return f"{self.where}{line}"
