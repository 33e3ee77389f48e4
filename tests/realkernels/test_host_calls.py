"""The real calls of host programs, as far as they can be looked at without a GPU."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import get_args

import pytest

from gpusim.program import host as ops
from realkernels._harness.host_calls import CallMaker
from realkernels._harness.host_memory import DriverPool
from realkernels._harness.host_threads import put_back, semaphores


def test_every_op_of_the_model_has_a_real_call():
    """A technique may use any of them."""
    known = set(CallMaker.__dict__["call"].dispatcher.registry) - {object}
    assert known == set(get_args(ops.HostOp))


def test_a_thread_that_polls_asks_until_the_event_has_happened():
    """And does not let the driver put it to sleep."""
    looks = iter([False, False, True])

    class Event:
        def __init__(self, *, disable_timing: bool) -> None:
            assert disable_timing

        @property
        def done(self) -> bool:
            return next(looks)

        def synchronize(self) -> None:
            raise AssertionError

    maker = CallMaker.__new__(CallMaker)
    maker._cupy, maker._events = SimpleNamespace(cuda=SimpleNamespace(Event=Event, Device=nullcontext)), {}
    maker.program = ops.HostProgram("test", ())
    maker.call(ops.EventSync("e", poll=True))()
    assert list(looks) == []


@pytest.mark.parametrize("count", [0, 1, 3])
def test_slots_are_put_back_between_runs(count):
    """Whether a run took one and kept it or gave back one too many: each begins with as many."""
    program = ops.HostProgram("test", (), slots=(ops.Slots("ring", count),))
    slots = semaphores(program)
    take, give = slots["ring"].acquire, slots["ring"].release
    for change in (lambda: take(blocking=False), give, lambda: None):
        change()
        put_back(program, slots)
        assert [take(blocking=False) for _ in range(count + 1)] == [True] * count + [False]
        put_back(program, slots)


def test_a_limit_of_a_driver_pool_is_not_dropped_in_silence():
    """The model keeps to it, and a pool made through CuPy could not."""
    with pytest.raises(ValueError, match="pool 'own' has a limit, which CuPy cannot set"):
        DriverPool(ops.Pool("own", limit=1 << 25))
