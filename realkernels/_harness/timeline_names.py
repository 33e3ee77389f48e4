"""What a recorded timeline is called in its file: the same name for the same parameters, whoever writes it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict
from typing import Any

from gpusim.validation.recording import params_key
from gpusim.validation.timeline_file import NAME

__all__ = ["timeline_name"]

_DIGITS = 12
"""Of the hash, where there is no readable name: 48 bits tell far more parameters apart than anybody measures."""


def timeline_name(params: Any) -> str:
    """A name that tells ``params`` of a technique apart: initials and values, ``tb16384_s3_fpe16_…``.

    A hash where a file takes no such name: it is too long, or a value has a point in it.
    """
    values = asdict(params)
    readable = "_".join("".join(word[0] for word in key.split("_")) + str(value) for key, value in values.items())
    if re.fullmatch(NAME, readable):
        return readable
    return f"case-{hashlib.sha256(params_key(values).encode()).hexdigest()[:_DIGITS]}"
