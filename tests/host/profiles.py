"""The textbook device with changes to its host quantities."""

from __future__ import annotations

from dataclasses import replace

from gpusim.hardware.profile import DeviceProfile, load_profile


def textbook(**changes: float) -> DeviceProfile:
    """The device; ``changes`` are quantities with ``__`` for the dot."""
    base = load_profile("textbook")
    quantities = dict(base.quantities)
    for key, value in changes.items():
        name = key.replace("__", ".")
        quantities[name] = replace(quantities[name], value=float(value))
    return replace(base, quantities=quantities)
