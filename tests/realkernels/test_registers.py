"""The registers that models state give as many resident CTAs as the compiler's and the H200's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusim.hardware import load_profile
from gpusim.hardware.occupancy import occupancy
from gpusim.scenario import techniques
from gpusim.validation.cases import measurements
from tests.realkernels.compiled import REGISTER_STEP, allocated, compile_spec

PROFILE = load_profile("h200_sxm")
ONE_KERNEL = sorted({measured.technique.name for measured in measurements() if measured.row.registers})
FULL_SMS = [
    ("register_prefetch", {"tile_bytes": 7376, "fma_per_element": 1, "warps": 14, "ctas_per_sm": 4}),
    ("register_prefetch", {"tile_bytes": 32768, "fma_per_element": 4, "warps": 16, "ctas_per_sm": 3}),
    ("sync_tile", {"tile_bytes": 16384, "fma_per_element": 4, "warps": 12, "ctas_per_sm": 4, "batch": 8}),
    ("sync_tile", {"tile_bytes": 12304, "fma_per_element": 16, "warps": 16, "ctas_per_sm": 4, "batch": 4}),
    ("persistent", {"tile_bytes": 3344, "fma_per_element": 0, "warps": 16, "ctas_per_sm": 4, "stages": 2}),
    ("persistent", {"tile_bytes": 8192, "fma_per_element": 16, "warps": 4, "ctas_per_sm": 4, "stages": 3}),
    ("cp_async_multistage", {"tile_bytes": 8192, "fma_per_element": 4, "warps": 16, "ctas_per_sm": 4, "stages": 3}),
    ("stencil2d", {"tile_width": 2048, "radius": 2, "warps": 16, "ctas_per_sm": 3, "stages": 2}),
]
"""Many warps, so that one step of registers more would leave room for fewer CTAs."""


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_recorded_kernels_had_as_many_resident_ctas_as_predicted(name: str) -> None:
    """Of every recording: the driver's count of resident CTAs, and registers within a few steps."""
    for measured in measurements():
        row = measured.row
        if measured.technique.name != name or not row.registers:
            continue
        program = measured.technique.build(measured.technique.make_params(dict(row.params)))
        assert occupancy(program, PROFILE).ctas_per_sm == row.max_active_ctas, row.params
        beyond = program.registers - allocated(row.registers)
        assert -REGISTER_STEP <= beyond <= 3 * REGISTER_STEP, row.params


@pytest.mark.slow
@pytest.mark.parametrize(("name", "values"), FULL_SMS, ids=str)
def test_compiled_kernels_leave_room_for_as_many_ctas_as_predicted(name: str, values: dict) -> None:
    """Of kernels that fill an SM with warps, compiled for sm_90a."""
    technique = techniques()[name]
    params = technique.make_params(values)
    program = technique.build(params)
    found = compile_spec(technique.launch(params).plan.spec())
    compiled = replace(program, registers=allocated(found.registers))
    assert occupancy(program, PROFILE).ctas_per_sm == occupancy(compiled, PROFILE).ctas_per_sm
