"""Op lists of scenario files: each step is a mapping with one key, the word, or the word alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model, model_validator

from gpusim.errors import listing
from gpusim.scenario.fields import Model
from gpusim.scenario.other_names import closest

__all__ = ["OpWord", "chosen", "step_model"]


@dataclass(frozen=True, slots=True)
class OpWord:
    """A word of an op list: its model, the field its short form sets, that field's type, and what it does."""

    spec: type[Model]
    short: str | None = None
    short_type: Any = str
    about: str = ""

    @property
    def bare(self) -> bool:
        """Whether the word may stand alone."""
        return not any(field.is_required() for field in self.spec.model_fields.values())


def step_model(name: str, words: Mapping[str, OpWord], example: str) -> Any:
    """The model of one step whose word is one of ``words``; ``example`` is shown for what is none."""

    class _OneKey(Model):
        @model_validator(mode="before")
        @classmethod
        def _exactly_one(cls, value: Any) -> Any:
            if isinstance(value, str) and value in words:
                return {value: None}
            if isinstance(value, dict) and len(value) == 1:
                return value
            raise ValueError(_not_an_op(value, words, example))

    return create_model(
        name,
        __base__=_OneKey,
        __doc__="One op: a mapping with exactly one key, or the word alone.",
        **{word: (_field(entry), None) for word, entry in words.items()},
    )


def _field(word: OpWord) -> Any:
    def expand(value: Any) -> Any:
        if value is None:
            return {}
        if word.short is None or isinstance(value, dict | Model):
            return value
        return {word.short: value}

    written = word.spec | (word.short_type if word.short else None)
    if word.bare:
        written = written | None
    about = Field(description=word.about or None)
    return Annotated[word.spec | None, BeforeValidator(expand, json_schema_input_type=written), about]


def _not_an_op(value: Any, words: Mapping[str, OpWord], example: str) -> str:
    if isinstance(value, dict) and len(value) > 1:
        words_given = listing(value, 4)
        what = f"expected one op, such as {example}, not {words_given} in one step: each op is a step of its own"
        if "every" in value and "every" not in words:
            what += ", and there is no every here: write out as many chunks as make a round"
        return what
    if not isinstance(value, str):
        return f"expected one op, such as {example}"
    close = closest(value, words)
    return f"unknown op {value[:40]!r}" + (f"; did you mean {close!r}?" if close else "")


def chosen(step: Any) -> tuple[str, Any]:
    """The word of an op step and its arguments."""
    (name,) = step.model_fields_set
    return name, getattr(step, name)
