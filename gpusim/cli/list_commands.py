"""``techniques``, ``devices`` and ``schema``: what there is to choose from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from gpusim.cli.output import console, print_json, print_table
from gpusim.errors import GpusimError
from gpusim.files import write_atomically
from gpusim.hardware.profile import load_profile, profile_names
from gpusim.scenario.json_schema import json_schema, schema_text
from gpusim.scenario.op_reference import inserted
from gpusim.scenario.technique import techniques as installed

__all__ = ["devices", "schema", "techniques"]


def techniques(*, json: bool) -> None:
    """All techniques with their parameters."""
    found = list(installed().values())
    if json:
        print_json({"techniques": [_technique_data(technique) for technique in found]})
        return
    if not found:
        console().print("No techniques are installed; install the project itself: pip install -e .")
    for technique in found:
        rows = [(entry["name"], entry["default"], _limits(entry), entry["doc"] or "") for entry in _params(technique)]
        print_table(f"{technique.name}: {technique.title}", ("parameter", "default", "allowed", "meaning"), rows)
        console().print(f"{technique.summary}\n")


def _technique_data(technique: Any) -> dict[str, Any]:
    return {
        "name": technique.name,
        "title": technique.title,
        "summary": technique.summary,
        "params": _params(technique),
    }


def _params(technique: Any) -> list[dict[str, Any]]:
    return [
        {"name": field.name, "default": field.default, "doc": None, **field.metadata, "lever": _lever(field)}
        for field in dataclasses.fields(technique.params)
    ]


def _lever(field: dataclasses.Field) -> str | None:
    """What a lever of the technique's own is called; None for all others."""
    lever = field.metadata.get("lever")
    return lever.label if lever else None


def _limits(entry: dict[str, Any]) -> str:
    if entry.get("choices"):
        return ", ".join(str(choice) for choice in entry["choices"])
    low, high = entry.get("ge"), entry.get("le")
    bounds = f"{'' if low is None else low}…{'' if high is None else high}" if (low, high) != (None, None) else ""
    step = f"multiples of {entry['multiple_of']}" if entry.get("multiple_of") else ""
    return ", ".join(part for part in (bounds, step) if part)


def devices(name: str | None, *, json: bool) -> None:
    """All profiles, or the quantities of one."""
    if name is None:
        profiles = [load_profile(known) for known in profile_names()]
        if json:
            rows = [{"name": p.name, "title": p.title, "assumed": p.assumed_with_host} for p in profiles]
            print_json({"devices": rows})
        else:
            rows = [(p.name, p.title, len(p.quantities), len(p.assumed_with_host)) for p in profiles]
            print_table("", ("device", "title", "quantities", "assumed"), rows)
        return
    profile = load_profile(name)
    quantities = profile.quantities
    if json:
        print_json({"name": profile.name, "title": profile.title, "quantities": dict(quantities)})
    else:
        rows = [(key, q.text, q.kind, q.spread or "", q.source) for key, q in quantities.items()]
        print_table(profile.title, ("quantity", "value", "kind", "spread", "source"), rows)


def schema(output: Path | None, *, check: bool, json: bool) -> int:
    """Print, write or check the JSON Schema; the exit code. Raises GpusimError where there is no file to check."""
    if json and (check or output is not None):
        raise GpusimError("schema --json prints the schema; it neither checks (--check) nor writes a file (-o)")
    if json or (output is None and not check):
        print_json(json_schema())
        return 0
    path = output or Path("scenarios/schema.json")
    # A page of the documentation holds the same as tables.
    if path.suffix == ".md" and not path.is_file():
        raise GpusimError(f"{path}: no such page; the tables go into one that exists, as docs/ops.md or docs/host.md")
    if check and not path.is_file():
        raise GpusimError(f"{path}: no such file; gpusim schema --check -o FILE names the one to check")
    text = inserted(path.read_text(encoding="utf-8")) if path.suffix == ".md" else schema_text()
    if check:
        current = path.read_text(encoding="utf-8") == text
        console().print(f"{path}: {'current' if current else 'not current; run gpusim schema -o ' + str(path)}")
        return 0 if current else 1
    write_atomically(path, text)
    console().print(f"{path}: written")
    return 0
