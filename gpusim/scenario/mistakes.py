"""What pydantic finds wrong with a scenario, in our words: place, problem, what is allowed, and the nearest name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gpusim.errors import ScenarioError, UnitError, listing
from gpusim.scenario.fields import NAME
from gpusim.scenario.host.schema import CHUNKED_KEY, GraphSpec, PoolSpec, SpelledHost, StreamSpec, ThreadSpec, WorkSpec
from gpusim.scenario.host.words import CHUNKED, HOST_STEPS
from gpusim.scenario.kernel.op_schema import REPEAT, STEPS
from gpusim.scenario.kernel.op_words import OpWord
from gpusim.scenario.kernel.schema import BarrierSpec, RingSpec, RoleSpec, TileTotal, names_technique
from gpusim.scenario.other_names import closest
from gpusim.scenario.schema import DeviceSpec, ScenarioModel, SpelledKernel, TechniqueKernel
from gpusim.scenario.yaml_source import Place, Source, shown
from gpusim.units import parse

__all__ = ["in_one", "of_model"]

_PLAIN_NAME = "letters, digits and _, not a digit first"
_NAMES = {
    NAME: f"{_PLAIN_NAME}; nothing here is numbered by the chunk (streams: `deal` sends chunks round them)",
    CHUNKED_KEY: f"{_PLAIN_NAME}, and # at the end for the chunk's number",
    CHUNKED: f"{_PLAIN_NAME}, and at the end # for the chunk's number or #-n for that of the one n before",
}
"""What names look like, by the pattern that they do not fit."""

_SLOTS_OF_FUNCTION = ("host_func", "releases")
_BY_DEFAULT = ("streams", "pools", "threads")
"""Sections of a host program whose entries need not say anything."""

MOST = 10
"""Mistakes that one message lists."""

QUOTE = "'"

_INTEGER = "integer instructions are `other`, or `setup` where nothing hides them"
_FP64, _ATOMIC = "FP64 is not modelled", "an atomic on global memory is the op `atomic`"
_ATOMS = "an atomic on shared memory is `compute: {atoms: n}`; `atomic` is for global memory"
_DSMEM = "shared memory of other CTAs of a cluster is `load_cluster`, `store_cluster`, or `multicast` of tma_load"
_MMA, _TCGEN05 = "mma.sync is `compute: {mma: n}`, wgmma is `wgmma`", "tcgen05 is not modelled"
_ELSEWHERE = {
    "int": _INTEGER, "integer": _INTEGER, "alu": _INTEGER, "iadd": _INTEGER, "imad": _INTEGER, "dp4a": _INTEGER,
    "fadd": "FADD and FMUL count as `ffma`", "fmul": "FADD and FMUL count as `ffma`",
    "shfl": "a shuffle is `lds` with lds_bytes: 4 and reads: false", "exp": "MUFU is `mufu`", "rsqrt": "MUFU is `mufu`",
    "ldg": "the word is `load`", "stg": "the word is `store`", "dfma": _FP64, "fp64": _FP64,
    "mma": _MMA, "hmma": _MMA, "wmma": _MMA, "hgmma": _MMA, "imma": "products of integers are not modelled",
    "tcgen05": _TCGEN05,
    "threads": "32 threads are a warp", "dsmem": _DSMEM, "ld_shared_cluster": _DSMEM, "mapa": _DSMEM,
    **dict.fromkeys(("atomics", "atomic_add", "atomicadd", "atom", "atomg", "red", "redg"), _ATOMIC),
    **dict.fromkeys(("atoms", "atomic_shared", "shared_atomic"), _ATOMS),
}  # fmt: skip
"""Words people try in an op list for what has another name here, or none."""
_UNDER_KERNEL = dict.fromkeys(("technique", "params"), "techniques stand under `kernel`, those of the host as well")
"""Keys people try beside ``kernel`` and under ``host``."""


def of_model(error: ValidationError, model: type[BaseModel], data: Any, source: Source, prefix: Place) -> ScenarioError:
    """All mistakes of one text as one error, in the order of the file."""
    details = error.errors(include_url=False, include_input=True)
    named = [(_plain(entry["loc"]), entry) for entry in details]
    found, guessed = [], set()
    # A misspelled key is the usual cause of a missing one, which then is no mistake of its own.
    for path, entry in sorted(named, key=lambda pair: pair[1]["type"] != "extra_forbidden"):
        problem, allowed, suggestion = _explain(entry, model, data, path)
        guessed.add((*path[:-1], suggestion))
        if entry["type"] != "missing" or path not in guessed:
            # What is missing has no place of its own; the place of its parent is used.
            given = entry.get("input")
            place = prefix + path
            found.append(source.error(problem, place, given=given, allowed=allowed, suggestion=suggestion))
    return in_one(found)


def in_one(found: Iterable[ScenarioError]) -> ScenarioError:
    """Several mistakes as one error: the first of them, with the others behind it."""
    given = list(found)
    each = [one for error in given for one in (error.with_others(()), *error.others)]
    first, *others = sorted(each, key=lambda error: (error.line or 0, error.column or 0))
    unlisted = sum(error.unlisted for error in given)
    return first.with_others(others[: MOST - 1], unlisted + max(len(others) - MOST + 1, 0))


def _plain(loc: tuple[int | str, ...]) -> Place:
    """Pydantic's location without the tags of unions, which stand nowhere in the file."""
    parts = list(loc)
    if len(parts) > 1 and parts[0] == "kernel" and parts[1] in ("technique", "spelled"):
        # "technique" is a field too, so the tag is only dropped where it is one.
        del parts[1]
    if len(parts) > 3 and parts[:2] == ["host", "kernels"] and parts[3] in ("technique", "spelled", "work"):
        del parts[3]
    return tuple(part for part in parts if part != "[key]")


_BOUNDS = {
    "greater_than": ("more than", "gt"), "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"), "less_than_equal": ("at most", "le"),
    "multiple_of": ("multiples of", "multiple_of"), "literal_error": ("", "expected"),
}  # fmt: skip


def _in_list(given: str) -> str:
    return "" if given == "None" else f"[{given.strip(QUOTE)}] for a list of one"


def _got(given: str) -> str:
    """What stands there, in the words of YAML, where None is nothing."""
    return "nothing" if given == "None" else given


_PLAIN_WORDS: dict[str, Callable[[str], tuple[str, str]]] = {
    "list_type": lambda given: (f"expected a list, got {_got(given)}", _in_list(given)),
    "tuple_type": lambda given: (f"expected a list of numbers, or of such lists, got {_got(given)}", ""),
    "dict_type": lambda given: (f"expected a mapping, got {_got(given)}", "{name: …}"),
    "string_type": lambda given: (
        f"expected a text, got {_got(given)}",
        "in quotes where it looks like something else",
    ),
    "too_short": lambda _: ("expected at least 1 entry, got none", ""),
    "string_too_short": lambda _: ("is empty", "a text"),
    "bool_type": lambda given: (f"expected true or false, got {_got(given)}", ""),
    "bool_parsing": lambda given: (f"expected true or false, got {_got(given)}", ""),
}
"""Problem and what is allowed, for what pydantic says in the words of programmers."""


def _explain(entry: ErrorDetails, model: type[BaseModel], data: Any, path: Place) -> tuple[str, str, str | None]:
    """Problem, what is allowed, and the nearest name, of one of pydantic's errors."""
    kind, context = entry["type"], entry.get("ctx", {})
    given = shown(entry.get("input"))
    if kind == "extra_forbidden":
        key, allowed = str(path[-1]), _field_names(model, data, path[:-1])
        hints = _ELSEWHERE if "roles" in path else _UNDER_KERNEL if path[:-1] in ((), ("host",)) else {}
        elsewhere = hints.get(key.casefold())
        close = closest(key, allowed)
        return f"unknown key{f'; {elsewhere}' if elsewhere else ''}", listing(allowed), close
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        # 'blocking', 'non_blocking' or 'legacy': what is between quotes is a word.
        close = closest(str(entry["input"]), re.findall(r"'(\w+)'", str(context[key])))
        return f"{given} is not possible", f"{words} {context[key]}".strip(), close
    if kind == "model_type":
        return (*_no_mapping(given, entry["input"], path, _field_names(model, data, path)), None)
    if kind == "string_pattern_mismatch" or (kind == "string_type" and path[-2:] == _SLOTS_OF_FUNCTION):
        return (*_no_name(given, entry["input"], path, str(context.get("pattern", CHUNKED))), None)
    if kind in _PLAIN_WORDS:
        return (*_PLAIN_WORDS[kind](given), None)
    messages = {
        "missing": "is missing",
        "value_error": str(context.get("error", "")),
        "finite_number": f"{given} is not a finite number",
    }
    otherwise = f"{given}: {entry['msg'][0].lower()}{entry['msg'][1:]}"
    return messages.get(kind, otherwise), "", None


def _no_mapping(given: str, value: Any, path: Place, names: list[str]) -> tuple[str, str]:
    """``{a, b}`` is YAML for names with nothing behind them."""
    if path == ("device",):
        return (
            f"expected a name or a mapping, got {_got(given)}",
            f"the name of a device; or a mapping of {listing(names)}",
        )
    if value is None and path[0] == "host" and path[1] in _BY_DEFAULT:
        return f"nothing is said of {path[-1]}", f"{path[-1]}: {{}} where all is by default"
    return f"expected a mapping, got {_got(given)}", listing(names)


def _no_name(given: str, value: Any, path: Place, pattern: str) -> tuple[str, str]:
    """Behind ``host_func`` alone stands the name of slots, where most expect how long it runs."""
    if path[-2:] == _SLOTS_OF_FUNCTION:
        with suppress(UnitError):
            parse(value, "time", bare=True)
            return f"{given} is a time, and what stands alone names slots", f"host_func: {{seconds: {value}}}"
    # Chunks are the host's.
    plain = pattern == NAME and path[0] != "host"
    return f"expected a name, got {_got(given)}", _PLAIN_NAME if plain else _NAMES[pattern]


def _field_names(model: type[BaseModel], data: Any, path: Place) -> list[str]:
    """Field names allowed at ``path``, by following the models along the data."""
    if model is not ScenarioModel:
        return list(model.model_fields)
    if path[:1] == ("kernel",):
        return _kernel_names(data["kernel"], path[1:])
    if path[:1] == ("host",):
        return _host_names(data["host"], path[1:])
    by_place: dict[Place, type[BaseModel]] = {(): ScenarioModel, ("device",): DeviceSpec}
    return list(by_place[path].model_fields) if path in by_place else []


def _kernel_names(data: Any, path: Place) -> list[str]:
    if not path:
        return list((TechniqueKernel if names_technique(data) else SpelledKernel).model_fields)
    if path == ("tiles_per_cta",):
        return list(TileTotal.model_fields)
    below: dict[Any, type[BaseModel]] = {"rings": RingSpec, "roles": RoleSpec, "barriers": BarrierSpec}
    if len(path) == 2 and path[0] in below:
        return list(below[path[0]].model_fields)
    return _step_names(STEPS, path[2:]) if path[0] == "roles" else []


def _step_names(words: Mapping[str, OpWord], path: Place) -> list[str]:
    """``path`` begins with the name of the list and the number of the step, which has one of ``words``."""
    if len(path) < 3:
        return list(words) if len(path) == 2 else []
    word = str(path[2])
    if word == REPEAT and len(path) > 3:
        return _step_names(words, path[3:])
    return list(words[word].spec.model_fields) if word in words else []


def _host_names(data: Any, path: Place) -> list[str]:
    if not path:
        return list(SpelledHost.model_fields)
    below: dict[Any, type[BaseModel]] = {
        "streams": StreamSpec, "pools": PoolSpec, "graphs": GraphSpec, "threads": ThreadSpec,
    }  # fmt: skip
    if len(path) == 2 and path[0] in below:
        return list(below[path[0]].model_fields)
    if path[0] in ("threads", "graphs"):
        return _step_names(HOST_STEPS, path[2:])
    if path[0] != "kernels" or len(path) < 2:
        return []
    kernel = _mapping(data["kernels"][path[1]])
    return _kernel_names(kernel, path[2:]) if {"technique", "roles"} & set(kernel) else list(WorkSpec.model_fields)


def _mapping(data: Any) -> dict[str, Any]:
    """What is given where a mapping should be, or none."""
    return data if isinstance(data, dict) else {}
