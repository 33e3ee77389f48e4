"""Field types of scenario files: what a number may look like in YAML, and the base model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from gpusim.scenario.yaml_source import shown
from gpusim.units import parse, parse_bytes

__all__ = ["NAME", "NAME_LENGTH", "ByteCount", "Count", "Model", "Name", "Number", "Seconds", "Turns", "whole_number"]


class Model(BaseModel):
    """Base of all parts of a scenario: frozen, no unknown keys, no NaN and no infinity."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True,
        hide_input_in_errors=True,
    )  # fmt: skip


def whole_number(value: Any) -> int:
    """``value`` as int if it is a whole number as YAML writes one. Raises ValueError."""
    # pydantic would take True for 1 and "4" for 4; YAML's 1e3 is a float and means 1000.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a whole number, not {shown(value)}")  # noqa: TRY004 - pydantic reports ValueErrors
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities end here too
        raise ValueError(f"expected a whole number, not {shown(value)}")
    return int(value)


def _real(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, got {shown(value)}")  # noqa: TRY004 - pydantic reports ValueErrors
    return value


def _turns(value: Any) -> int | float:
    number = _real(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _bytes(value: Any) -> int:
    return parse_bytes(value)


def _seconds(value: Any) -> float:
    return parse(value, "time", bare=True)


Count = Annotated[int, BeforeValidator(whole_number, json_schema_input_type=int)]
"""A whole number; ``1e3`` is one."""

Turns = Annotated[int | float, BeforeValidator(_turns, json_schema_input_type=float)]
"""A number, whole or not."""

Number = Annotated[float, BeforeValidator(_real, json_schema_input_type=float)]
"""A finite number."""

ByteCount = Annotated[int, BeforeValidator(_bytes, json_schema_input_type=int | str)]
"""Bytes: a plain number or text with a unit, "16 KiB"."""

Seconds = Annotated[float, BeforeValidator(_seconds, json_schema_input_type=float | str)]
"""Seconds: a plain number or text with a unit, "12 us"."""

NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
NAME_LENGTH = 40
"""Characters of a name."""
Name = Annotated[str, Field(pattern=NAME, max_length=NAME_LENGTH)]
"""A name that can stand in a lane."""
