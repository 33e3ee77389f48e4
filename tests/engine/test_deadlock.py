"""What a deadlock says of circles and remedies."""

from __future__ import annotations

import pickle

from gpusim.deadlock import Blocked, Deadlock
from gpusim.errors import GpusimError

ITSELF = Blocked("work", "host_sync", "work", ("work",))
NEVER = Blocked("lane", "barrier", "the barrier")


def test_deadlock_is_bad_input_and_survives_copying():
    """It leaves worker processes as every other mistake of the user's does."""
    error = Deadlock(2e-6, [NEVER])
    assert isinstance(error, GpusimError)
    for copy in (type(error)(*error.args), pickle.loads(pickle.dumps(error))):
        assert str(copy) == str(error)
        assert vars(copy) == vars(error)
    assert str(error).startswith("deadlock: nothing can go on\n  lane waits for the barrier (barrier);")


def test_work_that_waits_for_its_own_end_is_a_circle():
    """And needs nobody else to be named."""
    error = Deadlock(0.0, [ITSELF])
    assert error.cycle == ("work", "work")
    assert str(ITSELF) == "work waits for work (host sync)"


def test_who_has_arrived_and_waits_for_others_is_no_circle():
    """A lane is among those that can release a barrier at which it stands."""
    error = Deadlock(0.0, [Blocked("lane", "barrier", "the barrier", ("lane", "other"), progress="1 of 2 arrivals")])
    assert error.cycle == ()


def test_fewer_arrivals_are_proposed_only_where_some_are_counted():
    """Streams wait for each other without any."""
    circle = Blocked("a", "event", "b", ("b",)), Blocked("b", "event", "a", ("a",))
    assert Deadlock(0.0, circle).remedy == "one of them has to do its part before it waits"
    counted = Blocked("a", "barrier", "x", ("b",), progress="0 of 1"), Blocked("b", "barrier", "y", ("a",))
    assert Deadlock(0.0, counted).remedy.endswith("or fewer arrivals have to be enough")


def test_warps_and_ctas_that_wait_alike_are_one_line():
    """Another stage, or another number of arrivals, is another line."""
    alike = [
        Blocked(f"sm[0].cta[{cta}].work{warp}", "stage_empty", f"sm[0].cta[{cta}].ring[1] full barrier", tile=3)
        for cta in (0, 1)
        for warp in ("", ".warp[1]")
    ]
    other = Blocked("sm[0].cta[0].work", "stage_empty", "sm[0].cta[0].ring[2] full barrier", tile=3)
    _, first, second, _ = str(Deadlock(0.0, [*alike, other])).splitlines()
    assert first.startswith("  sm[0].cta[0].work waits at tile 3")
    assert first.endswith("; 3 more wait alike")
    assert "ring[2]" in second
