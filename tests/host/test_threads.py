"""Several host threads: what the first launch of a new one takes, and how long it keeps the others out."""

from __future__ import annotations

import pytest

from gpusim.errors import RecordingError
from gpusim.host import simulate_host
from gpusim.host.calibration.benches import HostBenches
from gpusim.host.calibration.calibrate import host_runs, measure_host_quantities
from gpusim.program import host as ops
from tests.bench_rows import RECORDED
from tests.host.profiles import textbook
from tests.host.test_streams import COPY_S, MIB, total

US = 1e-6
COSTS = {"launch": 5.0, "lock": 5.0, "thread_first": 20.0, "thread_first_lock": 100.0}
PROFILE = textbook(**{f"host__cupy__{name}": us * US for name, us in COSTS.items()})
WORK = ops.Work(ops.FixedCost(1 * US))


def launches(stream: str, count: int) -> list[ops.HostOp]:
    return [ops.Launch(WORK, stream)] * count


def test_the_only_thread_of_a_program_has_launched_before():
    """Three calls of 5 us and the last kernel."""
    assert total(launches("a", 3), profile=PROFILE) == pytest.approx(16 * US)


@pytest.mark.parametrize("kind", ["non_blocking", "per_thread"])
@pytest.mark.parametrize("threads", [2, 4])
def test_first_launches_of_new_threads_queue(threads, kind):
    """Each takes 100 us in which nobody else gets in, whichever stream it is on; behind them all others, 5 us each."""
    streams = tuple(ops.Stream(f"s{i}", kind) for i in range(threads))
    each = [launches(f"s{i}", 2) for i in range(threads)]
    assert total(*each, profile=PROFILE, streams=streams) == pytest.approx((threads * 105 + 1) * US)


def test_a_thread_that_is_kept_alive_has_launched_before():
    """Two threads of three launches each: all six calls one after the other."""
    threads = tuple(ops.HostThread(name, tuple(launches(name, 3)), warm=True) for name in "ab")
    program = ops.HostProgram("test", threads, tuple(ops.Stream(name, "non_blocking") for name in "ab"))
    assert simulate_host(program, PROFILE).total_s == pytest.approx((6 * 5 + 1) * US)


@pytest.mark.parametrize(("kind", "together"), [("per_thread", True), ("blocking", False)])
def test_a_default_stream_of_each_thread_is_declared_once(kind, together):
    """What two threads put into it runs side by side, as it does not in a stream of both."""
    kernel = ops.Work(ops.FixedCost(1000 * US))
    threads = tuple(ops.HostThread(name, (ops.Launch(kernel, "own"),), warm=True) for name in "ab")
    program = ops.HostProgram("test", threads, (ops.Stream("own", kind),))
    assert simulate_host(program, PROFILE).total_s == pytest.approx((1010 if together else 2005) * US)


@pytest.mark.parametrize(
    ("kinds", "together"), [(("per_thread", "per_thread"), False), (("per_thread", "blocking"), True)]
)
def test_a_thread_has_one_default_stream_under_whatever_names(kinds, together):
    """Two streams of that kind are one, as two legacy ones are: its work is in a row."""
    kernel = ops.Work(ops.FixedCost(1000 * US))
    thread = ops.HostThread("main", tuple(ops.Launch(kernel, name) for name in "ab"), warm=True)
    program = ops.HostProgram("test", (thread,), tuple(map(ops.Stream, "ab", kinds)))
    assert simulate_host(program, PROFILE).total_s == pytest.approx((1010 if together else 2005) * US)


def test_a_thread_whose_others_have_ended_begins_alone():
    """Nobody is kept out: 20 us more than the call takes."""
    late = [ops.HostWork(1000 * US), *launches("b", 2)]
    assert total(launches("a", 1), late, profile=PROFILE) == pytest.approx((1000 + 25 + 5 + 1) * US)


def test_copies_of_a_new_thread_do_not_take_longer():
    """What takes longer in a new thread is its first kernel, as the bench shows."""
    copies = [[ops.MemcpyAsync("h2d", MIB, stream)] for stream in "ab"]
    assert total(*copies, profile=PROFILE) == pytest.approx(2 * COPY_S)


@pytest.mark.parametrize(("api", "bench"), [("cupy", "calls"), ("cuda", "cpp")])
def test_calibration_reads_the_rows_of_new_threads(api, bench):
    """Of runs that have them; in each, threads together take longer than one after the other."""
    found = []
    for run in host_runs(RECORDED):
        quantities = measure_host_quantities(run, 0.0)
        try:
            rows = HostBenches(run).rows(bench, call="new_threads")
        except RecordingError:
            assert f"host.{api}.thread_first" not in quantities
            continue
        longer, kept_out = (quantities[f"host.{api}.{name}"].value for name in ("thread_first", "thread_first_lock"))
        assert kept_out == pytest.approx(1e6 * sum(row["median_s"] for row in rows) / 8)
        assert 0.0 < longer + quantities[f"host.{api}.launch"].value < kept_out
        found.append(kept_out)
    assert len(found) >= 2
    assert measure_host_quantities(RECORDED, 0.0)[f"host.{api}.thread_first_lock"].value in found
