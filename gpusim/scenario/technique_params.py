"""A technique's ``Params`` dataclass as a pydantic model: same fields, limits and docs.

The dataclass stays the only place where a parameter is declared.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model

from gpusim.scenario.fields import ByteCount, Count, Model, Number, Seconds
from gpusim.scenario.technique import Technique

__all__ = ["params_model"]


@cache
def params_model(technique: Technique) -> type[BaseModel]:
    """The pydantic model of the technique's parameters; all have defaults, no others are allowed."""
    hints = get_type_hints(technique.params)
    fields: dict[str, Any] = {
        field.name: (_annotation(field, hints[field.name]), field.default)
        for field in dataclasses.fields(technique.params)
    }
    return create_model(
        f"{technique.name}_params", __base__=Model, __doc__=technique.summary or technique.title, **fields
    )


def _annotation(field: dataclasses.Field, hint: type) -> Any:
    limits = field.metadata
    constraints = {name: limits[name] for name in ("ge", "le", "multiple_of") if limits.get(name) is not None}
    if limits.get("choices"):
        base: Any = Literal[tuple(limits["choices"])]
        constraints = {}
    elif limits.get("unit") == "bytes":
        base = ByteCount
    elif limits.get("unit") in ("s", "time"):
        base = Seconds
    else:
        base = {int: Count, float: Number}.get(hint, hint)
    if "le" in constraints and math.isinf(constraints["le"]):
        del constraints["le"]
    return Annotated[base, Field(description=limits.get("doc"), **constraints)]
