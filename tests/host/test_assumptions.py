"""Only what a host program can use is listed as assumed."""

from __future__ import annotations

from itertools import chain
from typing import get_args

import pytest

from gpusim.hardware.profile import load_profile, profile_names
from gpusim.host import assumptions
from gpusim.host.assumptions import assumed_of
from gpusim.program import host as ops
from gpusim.program.host_parts import Direction, PoolKind
from gpusim.scenario import loads, predict

WORK = ops.Work(ops.FixedCost(1e-6))
LAUNCH = ops.Launch(WORK, "s")
OF_A_COPY = ["copy.d2d_block"]


def assumed(calls: list, device: str = "h200_sxm", api: str = "cupy", graphs: tuple = ()) -> list[str]:
    """Names of the quantities."""
    threads = (ops.HostThread("main", tuple(calls)),)
    pools = (ops.Pool("p"), ops.Pool("c", "caching"))
    program = ops.HostProgram("test", threads, (ops.Stream("s"),), pools=pools, graphs=graphs)
    return assumed_of(program, load_profile(device), api)


@pytest.mark.parametrize(
    ("calls", "api", "expected"),
    [
        ([LAUNCH, ops.MemcpyAsync("h2d", 4, "s")], "cupy", []),
        ([ops.MemcpyAsync("d2d", 4, "s")], "cupy", OF_A_COPY),
        ([ops.MemcpyAsync("h2d", 4, "s", pinned=False)], "cupy", ["pageable.buffers"]),
        ([ops.HostFunc("s")], "cupy", []),
        ([ops.HostFunc("s")], "cuda", ["host.cuda.func_steals"]),
        ([ops.MallocAsync("b", 4, "s", "p")], "cuda", []),
        ([ops.MallocAsync("b", 4, "s", "p"), ops.MemcpyAsync("h2d", 4, "s")], "cuda", []),
        ([ops.FreeAsync("b", "s")] * 2, "cuda", []),
        ([ops.MallocAsync("b", 4, "s", "c")], "cuda", ["host.cuda.cache_give", "host.cuda.cache_hit"]),
    ],
)
def test_calls_say_what_matters(calls, api, expected):
    """Of the H200, on which nearly everything was measured."""
    assert assumed(calls, api=api) == expected


@pytest.mark.parametrize("start", assumptions._ONLY_FOR)
def test_every_beginning_is_that_of_a_quantity(start):
    """Without the API; one that is called otherwise now would count for every program."""
    keys = {key for name in profile_names() for key in load_profile(name).quantities}
    names = {f"host.{key.split('.', 2)[2]}" if key.startswith("host.") else key for key in keys}
    assert any(name.startswith(start) for name in names)
    assert keys >= assumptions._OF_BLOCKS | assumptions._OF_WORK | assumptions._OF_COPIES | assumptions._OF_MEMSETS


def test_every_word_is_said_of_some_program():
    """By the type of a call, the way or the memory of a copy, the kind of a pool, or what there are several of."""
    said = {call.__name__ for call in get_args(ops.HostOp)} | {*get_args(Direction), *get_args(PoolKind)}
    said |= {"pinned", "pageable", "threads", "freeing", "devices"}
    assert set(chain.from_iterable(assumptions._ONLY_FOR.values())) <= said


def test_what_a_pool_takes_to_look_at_other_streams_matters_where_there_are_some():
    """With frees in two streams; on one of them alone it has nobody to look at."""
    calls = [ops.MallocAsync("b", 4, "s", "p"), ops.FreeAsync("b", "s"), ops.FreeAsync("d", "t")]
    assert assumed(calls) == ["pool.look_busy", "pool.look_done", "pool.look_idle"]
    assert assumed(calls[:2]) == []


def test_a_memset_has_the_blocks_of_a_copy_and_numbers_of_its_own():
    """On a device of which little was measured."""
    memset, copy = (
        set(assumed([op], "b200", "cuda")) for op in (ops.MemsetAsync(4, "s"), ops.MemcpyAsync("d2d", 4, "s"))
    )
    calls = {"host.cuda.memset_async", "host.cuda.memset_small"}
    own = {"copy.memset_bandwidth", "copy.memset_overhead", *calls}
    assert memset - copy == own
    assert copy - memset >= {"copy.d2d_bandwidth", "copy.d2d_overhead", "hbm.mix_loss", "hbm.read_bandwidth"}
    assert {"copy.d2d_threads", "hbm.write_bandwidth", "launch.cta_interval"} <= memset


def test_graphs_count_where_they_are_launched():
    """With what is captured in them."""
    graph = ops.Graph("g", (ops.MemcpyAsync("d2d", 4, "s"),))
    found = assumed([ops.GraphLaunch("g", "s")], graphs=(graph,))
    assert found == [*OF_A_COPY, "graph.start"]


def test_kernels_count_as_far_as_they_are_spelled_out():
    """On a device of which little was measured: none of what happens inside an SM, bandwidth where it is used."""
    fixed, work = (
        assumed([ops.Launch(ops.Work(cost), "s")], "b200") for cost in (ops.FixedCost(1e-6), ops.RooflineCost(1, 1))
    )
    assert "launch.cta_interval" in fixed
    assert not [key for key in fixed if key.startswith(("lsu.", "hbm.", "host.cuda.", "pool.", "wake."))]
    assert {"hbm.read_bandwidth"} < set(work) - set(fixed)
    assert "host.cupy.thread_first" not in fixed


def test_a_spelled_out_kernel_brings_its_own():
    """And a prediction tells them."""
    text = """question: q
device: b200
host:
  kernels: {k: {grid: 8, tiles_per_cta: 2, roles: {all: {warps: 4, per_tile: [{load: {bytes: 4 KiB}}]}}}}
  threads: {main: {per_chunk: [{launch: k}]}}
"""
    found = predict(loads(text), trace=False).meta["assumed"]
    assert "lsu.ldg_interval" in found
    assert not [key for key in found if key.startswith(("tma.", "copy."))]
