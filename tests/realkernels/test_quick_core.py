"""Which programs may be timed on one core, without a GPU."""

from __future__ import annotations

from importlib import import_module

import pytest

from gpusim.program import host as ops
from realkernels._harness.host_design import host_designs
from realkernels._harness.quick_core import one_thread_only

NOT_ALONE = {"host_callback_pool", "default_streams"}
"""Techniques with host functions, or with several threads."""


def test_the_drivers_thread_of_host_functions_does_not_share_the_core():
    """It is started by the thread that is bound, and would get what that one leaves."""
    stream, thread = ops.Stream("s"), ops.HostThread("main", (ops.DeviceSync(),))
    plain = ops.HostProgram("plain", (thread,), (stream,))
    calls = ops.HostProgram("calls", (ops.HostThread("main", (ops.HostFunc("s"),)),), (stream,))
    in_graph = ops.HostProgram("graph", (thread,), (stream,), graphs=(ops.Graph("g", (ops.HostFunc("s"),)),))
    two = ops.HostProgram("two", (thread, ops.HostThread("other", ())), (stream,))
    assert one_thread_only([plain, plain])
    assert not any(one_thread_only([plain, program]) for program in (calls, in_graph, two))


@pytest.mark.parametrize("name", host_designs())
def test_designs_are_bound_as_their_programs_allow(name):
    """Of the design that is recorded, so that nobody binds one by mistake."""
    technique, design = import_module(f"realkernels.{name}").TECHNIQUE, host_designs()[name]
    programs = [technique.build(params) for params in (*design.points(), *design.traced)]
    assert one_thread_only(programs) == (name not in NOT_ALONE)
