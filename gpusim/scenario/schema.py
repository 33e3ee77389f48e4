"""What a scenario file may say, as pydantic models; every unknown key is an error."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainValidator, Tag, model_validator

from gpusim.scenario.fields import Model
from gpusim.scenario.host.schema import SpelledHost
from gpusim.scenario.kernel.schema import (
    BarrierSpec,
    RingSpec,
    RoleSpec,
    SpelledKernel,
    TechniqueKernel,
    names_technique,
)
from gpusim.scenario.yaml_source import shown

__all__ = ["BarrierSpec", "DeviceSpec", "RingSpec", "RoleSpec", "ScenarioModel", "SpelledKernel", "TechniqueKernel"]


def _question(text: str) -> str:
    if text and not text.strip():
        raise ValueError("has nothing but blanks (allowed: a text)")
    if odd := next((char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"), ""):
        # It would reach the terminal.
        raise ValueError(f"has the control character {odd!r} (allowed: text that can be printed)")
    return text


def _value(value: Any) -> str | int | float:
    if isinstance(value, dict):
        problem = "is a mapping; the name of a quantity is one key with its dots, as hbm.read_bandwidth: 8 TB/s"
        raise ValueError(problem)  # noqa: TRY004 - pydantic reports ValueErrors
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        problem = f"expected a number with its unit, as 8 TB/s, got {shown(value)}"
        raise ValueError(problem)  # noqa: TRY004 - as above
    return value


# Not a union, which would tell a mistake of each of its forms.
Value = Annotated[str | int | float, PlainValidator(_value, json_schema_input_type=str | int | float)]
"""A quantity of a device as it is written, the dimension of which only its name says."""


class DeviceSpec(Model):
    """A device profile, and quantities of it to replace."""

    base: str
    """Name of a device profile (`gpusim devices` lists them), or the file that `gpusim calibrate` has written."""
    set: dict[str, Value] = {}
    """What if: quantity name to value with unit, as {hbm.read_bandwidth: 8 TB/s}."""


def _kernel_form(value: Any) -> str:
    return "technique" if names_technique(value) else "spelled"


def _device(value: Any) -> Any:
    return {"base": value} if isinstance(value, str) else value


def _sweep(value: Any) -> Any:
    """A mapping path → values (all combinations), or a list of mappings path → value."""
    if value in ({}, []):
        raise ValueError("is empty; give {path: [values]}, or leave it out")
    if isinstance(value, dict):
        for path, values in value.items():
            if not isinstance(values, list) or not values:
                raise ValueError(f"{path}: expected a list of values such as [1, 2, 3]")
    elif not isinstance(value, list) or not all(isinstance(point, dict) and point for point in value):
        raise ValueError("expected {path: [values]}, or a list of {path: value}")
    return value


class ScenarioModel(Model):
    """One what-if: a question, a device, and a kernel, a technique or a host program."""

    question: Annotated[str, Field(min_length=1, max_length=400), AfterValidator(_question)]
    """What the scenario is to answer."""
    device: Annotated[DeviceSpec, BeforeValidator(_device, json_schema_input_type=str | DeviceSpec)]
    kernel: (
        Annotated[
            Annotated[TechniqueKernel, Tag("technique")] | Annotated[SpelledKernel, Tag("spelled")],
            Discriminator(_kernel_form),
        ]
        | None
    ) = None
    """A technique (of a kernel, or of streams and copies), or a kernel spelled out."""
    host: SpelledHost | None = None
    """A host program spelled out: threads, streams, copies."""
    sweep: Annotated[
        dict[str, list[Any]] | list[dict[str, Any]] | None,
        BeforeValidator(_sweep, json_schema_input_type=dict[str, list[Any]] | list[dict[str, Any]]),
    ] = None
    """Dotted paths with the values to try: a mapping for all combinations, a list for chosen points."""

    @model_validator(mode="after")
    def _one_program(self) -> ScenarioModel:
        if self.kernel is None and self.host is None:
            raise ValueError("kernel is missing; say kernel (a technique or a kernel spelled out) or host")
        if self.kernel is not None and self.host is not None:
            raise ValueError("both kernel and host are given; launch the kernel from host.threads, under host.kernels")
        return self
