"""The JSON Schema of scenario files, for completion and checking in an editor."""

from __future__ import annotations

import json
from typing import Any

from gpusim.hardware.profile import profile_names
from gpusim.scenario.schema import ScenarioModel
from gpusim.scenario.technique import techniques
from gpusim.scenario.technique_params import params_model

__all__ = ["json_schema", "schema_text"]


def json_schema() -> dict[str, Any]:
    """The schema with the installed techniques and devices written in.

    A technique's parameters apply under ``if technique is …``, so an editor offers only
    the ones that belong to it.
    """
    schema = ScenarioModel.model_json_schema(mode="validation")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "gpusim scenario"
    definitions = schema["$defs"]
    kernel = definitions["TechniqueKernel"]
    # Own names are offered, others stay possible: plug-ins add techniques and devices.
    kernel["properties"]["technique"]["anyOf"] = [{"enum": list(techniques())}, {"type": "string"}]
    kernel["properties"]["technique"].pop("type", None)
    kernel["allOf"] = []
    for name, technique in techniques().items():
        model = params_model(technique).model_json_schema(mode="validation")
        definitions.update(model.pop("$defs", {}))
        definitions[f"params of {name}"] = model
        kernel["allOf"].append(
            {
                "if": {"properties": {"technique": {"const": name}}},
                "then": {"properties": {"params": {"$ref": f"#/$defs/params of {name}"}}},
            }
        )
    devices = {"anyOf": [{"enum": profile_names()}, {"type": "string"}]}
    definitions["DeviceSpec"]["properties"]["base"] |= devices
    forms = schema["properties"]["device"]["anyOf"]
    schema["properties"]["device"]["anyOf"] = [devices if form.get("type") == "string" else form for form in forms]
    return _standard(schema)


_KEYWORDS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}  # fmt: skip


def _standard(schema: Any) -> Any:
    """Limits under their JSON Schema names; pydantic leaves its own on fields with a validator."""
    if isinstance(schema, list):
        return [_standard(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {_KEYWORDS.get(key, key): _standard(value) for key, value in schema.items()}


def schema_text() -> str:
    """The content of ``scenarios/schema.json``; the same bytes for the same techniques."""
    return json.dumps(json_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
