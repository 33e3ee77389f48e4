"""Memsets of measured host programs: what they leave in memory, the room they need, how their records are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.program import host as ops
from realkernels._harness.host_memory import memory_needed
from realkernels._harness.host_oracle import expected, mismatches
from realkernels._harness.host_timeline import from_records

STREAM = ops.Stream("s", "non_blocking")
WORDS = 64
BUFFERS = (
    ops.Buffer("in", 4 * WORDS, "pinned"),
    ops.Buffer("out", 4 * WORDS, "pinned"),
    ops.Buffer("data", 4 * WORDS, "device"),
)
ADD_ONE = ops.Work(ops.FixedCost(0.0))


def program(*calls, graphs=()):
    return ops.HostProgram("test", (ops.HostThread("t", calls),), (STREAM,), BUFFERS, graphs=graphs)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("captured", [False, True])
def test_the_oracle_expects_zeros(captured, wrong):
    """Copied in, half of it set to zero, one added to each word, copied out; wrong where nothing was set."""
    half = 2 * WORDS
    work = (
        ops.MemcpyAsync("h2d", 4 * WORDS, "s", host="in", device="data"),
        ops.MemsetAsync(half, "s", device="data", device_offset=half),
        ops.Launch(ADD_ONE, "s", "data", 0, 4 * WORDS),
        ops.MemcpyAsync("d2h", 4 * WORDS, "s", host="out", device="data"),
    )
    graphs = (ops.Graph("g", work),) if captured else ()
    plan = expected(program(*((ops.GraphLaunch("g", "s"),) if captured else work), graphs=graphs))
    given = np.arange(5, 5 + WORDS, dtype=np.uint32)
    left = given + np.uint32(1)
    if not wrong:
        left[WORDS // 2 :] = 1
    assert bool(mismatches(plan, {"in": given, "out": left}, {})) is wrong


def test_a_memset_of_no_buffer_cannot_be_checked():
    """It may have hit any."""
    out = ops.MemcpyAsync("d2h", 4 * WORDS, "s", host="out", device="data")
    assert "names no buffer" in mismatches(expected(program(ops.MemsetAsync(4, "s"), out)), {}, {})


@pytest.mark.parametrize("captured", [False, True])
def test_scratch_memory_holds_a_memset_of_no_buffer(captured):
    """Also one that only a graph holds."""
    work, size = ops.MemsetAsync(1 << 20, "s"), 1 << 20
    made = program(ops.GraphLaunch("g", "s"), graphs=(ops.Graph("g", (work,)),)) if captured else program(work)
    assert memory_needed(made) >= size


def test_its_record_is_drawn_as_it_is_predicted():
    """As a copy within the device."""
    call = {"kind": "RUNTIME", "name": "cudaMemsetAsync_v3020", "start": 0, "end": 1000, "correlation_id": 7}
    record = {"kind": "MEMSET", "bytes": 4096, "start": 2000, "end": 4000, "correlation_id": 7}
    traced = {"records": [call, record], "method": "cupti", "total_s": 5e-6}
    timeline = from_records(program(ops.MemsetAsync(4096, "s", chunk=3)), traced, {"device": "NVIDIA H200"})
    drawn = {(i.lane, i.kind, i.tile, i.bytes) for i in timeline}
    assert drawn == {
        ("host[0]", "issue", -1, 0),
        ("stream[0]", "copy", 3, 4096),
        ("copy_engine[d2d]", "transfer", 3, 4096),
    }
