"""Which call belongs to which op."""

from __future__ import annotations

from typing import get_args

import pytest

from gpusim.engine import Simulation
from gpusim.errors import GpusimError
from gpusim.host.calls.caller import Caller
from gpusim.host.calls.memory import MemoryCalls
from gpusim.host.calls.shared import Shared
from gpusim.host.calls.streams import StreamCalls
from gpusim.host.calls.waits import WaitCalls
from gpusim.host.costs import HostCosts
from gpusim.host.device.machine import Machine
from gpusim.program import host as ops
from tests.host.profiles import textbook
from tests.host.test_streams import program, total


def test_every_op_has_one_call():
    """The groups together know all ops but those of the thread itself, each of them once."""
    sim, profile, empty = Simulation(), textbook(), program([])
    machine = Machine(sim, empty, profile, HostCosts(profile), None, exact=False)
    shared, caller = Shared(sim, empty, machine), Caller(sim, machine.streams, "t", 0, None)
    known = [op for group in (StreamCalls, WaitCalls, MemoryCalls) for op in group(shared, caller).calls]
    assert len(known) == len(set(known))
    assert {*known, ops.HostWork, ops.SetDevice} == set(get_args(ops.HostOp))


def test_what_is_no_op_is_refused():
    """By its name."""
    with pytest.raises(GpusimError, match="Stream is not an operation of the host"):
        total([ops.Stream("a")])
