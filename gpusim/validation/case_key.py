"""What tells recorded cases apart: the parameters, and the device by the name of its profile."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["device_folder", "params_key"]

_FOLDERS = {
    "NVIDIA H200": "h200_sxm", "NVIDIA H100 80GB HBM3": "h100_sxm", "NVIDIA A100-SXM4-80GB": "a100_sxm",
    "NVIDIA B200": "b200", "NVIDIA GeForce RTX 4090": "rtx4090",
}  # fmt: skip


def device_folder(name: str) -> str:
    """Folder and profile name of a device the driver calls ``name`` ("NVIDIA H200" -> "h200_sxm")."""
    return _FOLDERS.get(name) or re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def params_key(params: Mapping[str, Any]) -> str:
    """What tells two parameter sets apart, whatever the order of their names."""
    return json.dumps(dict(params), sort_keys=True)
