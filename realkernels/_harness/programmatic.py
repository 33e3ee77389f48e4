"""Programmatic launches (programmatic stream serialization), for which CuPy has no call: the driver's own.

Source: CUDA Driver API (cuLaunchKernelEx, CUlaunchConfig, CUlaunchAttribute).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

__all__ = ["launch"]

_PROGRAMMATIC_STREAM_SERIALIZATION = 6
"""CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION."""


class _Attribute(ctypes.Structure):
    # The value is a union of 64 bytes, aligned to 8.
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_int), ("rest", ctypes.c_byte * 60)]


class _Config(ctypes.Structure):
    _fields_ = [
        *((f"{what}_{axis}", ctypes.c_uint) for what in ("grid", "block") for axis in "xyz"),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    ]


def launch(
    kernel: Any, grid: int, block: int, args: Sequence[np.generic], shared_bytes: int, stream: Any, *,
    programmatic: bool = True,
) -> Callable[[], None]:  # fmt: skip
    """A call that enqueues ``kernel`` (a CuPy RawKernel); ``programmatic``: it may begin while the one ahead runs.

    ``args``: NumPy scalars of the kernel's own types, pointers as uint64. The call raises RuntimeError if the driver
    refuses.
    """
    values = [ctypes.create_string_buffer(arg.tobytes(), arg.nbytes) for arg in args]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    attribute = _Attribute(_PROGRAMMATIC_STREAM_SERIALIZATION, 0, 1)
    config = _Config(grid, 1, 1, block, 1, 1, shared_bytes, stream.ptr, ctypes.pointer(attribute), int(programmatic))
    function, enqueue = ctypes.c_void_p(kernel.kernel.ptr), _driver().cuLaunchKernelEx
    where = ctypes.byref(config)

    def call(_alive: object = (values, attribute)) -> None:
        if status := enqueue(where, function, pointers, None):
            raise RuntimeError(f"cuLaunchKernelEx failed with CUresult {status}")

    return call


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")
