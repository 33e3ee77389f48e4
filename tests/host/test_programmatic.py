"""Programmatic launches by hand on the textbook device, and against the bench `programmatic`."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import fmean

import pytest

from gpusim import from_data, predict
from gpusim.errors import ProgramError
from gpusim.hardware.profile import load_profile
from gpusim.host.simulate import simulate_host
from gpusim.program import Compute, GridDependencyWait, KernelProgram, LaunchDependents, Mix, Role, TmaLoad, WaitFull
from gpusim.program.host import (
    AT_BEGINNING,
    EventRecord,
    FixedCost,
    Graph,
    GraphLaunch,
    HostProgram,
    HostThread,
    Launch,
    MemsetAsync,
    Stream,
    Work,
)
from gpusim.program.kernel import Ring
from tests.bench_rows import RECORDED
from tests.host.profiles import textbook

US = 1e-6
KERNELS = 10


def chain(work: Work | KernelProgram, early: bool = True, between: tuple = (), graph: bool = False) -> HostProgram:
    ops = []
    for number in range(KERNELS):
        ops += [Launch(work, "s0", chunk=number, programmatic=early), *between]
    streams = (Stream("s0", "non_blocking"),)
    if graph:
        thread = HostThread("main", (GraphLaunch("g", "s0"),))
        return HostProgram("p", (thread,), streams, graphs=(Graph("g", tuple(ops)),))
    return HostProgram("p", (HostThread("main", tuple(ops)),), streams)


def total_us(program: HostProgram, **changes: float) -> float:
    return simulate_host(program, textbook(**changes), trace=False).total_s / US


def work(prologue_us: float, work_us: float, trigger: float = 0.0, **footprint: int) -> Work:
    return Work(FixedCost(work_us * US), prologue_s=prologue_us * US, trigger=trigger, **footprint)


@pytest.mark.parametrize("graph", [False, True])
def test_prologues_are_hidden_behind_the_kernels_ahead(graph):
    """All but the first; an ordinary launch hides none."""
    assert total_us(chain(work(3, 10), graph=graph)) == pytest.approx(3 + 10 * KERNELS)
    assert total_us(chain(work(3, 10), early=False, graph=graph)) == pytest.approx(13 * KERNELS)


def test_who_lets_the_next_kernel_begin_only_by_ending_hides_nothing():
    assert total_us(chain(work(3, 10, trigger=1.0))) == pytest.approx(13 * KERNELS)


def test_a_prologue_longer_than_the_work_is_what_takes_time():
    """Of 12 us 5 are hidden where the trigger is in the middle of 10; all where it comes first of all."""
    assert total_us(chain(work(12, 10, trigger=0.5))) == pytest.approx(22 + (12 - 5 + 10) * (KERNELS - 1))
    assert total_us(chain(work(12, 10, trigger=AT_BEGINNING))) == pytest.approx(12 + 10 * KERNELS)


def test_without_room_beside_the_kernel_ahead_nothing_is_hidden():
    full = {"grid": 132, "threads": 1024, "shared_bytes": 200 << 10}
    profile = {"sm__count": 132}
    alone = total_us(chain(work(3, 10, **full)), **profile)
    assert alone == pytest.approx(13 * KERNELS, rel=0.001)
    assert total_us(chain(work(3, 10, grid=132, threads=256)), **profile) == pytest.approx(3 + 10 * KERNELS, rel=0.001)


@pytest.mark.parametrize(("between", "hides"), [
    ((EventRecord("e", "s0"),), True), ((MemsetAsync(4, "s0"),), False),
])  # fmt: skip
def test_a_record_between_makes_no_difference_but_a_memset_does(between, hides):
    assert total_us(chain(work(3, 10), between=between)) == pytest.approx(3 + 10 * KERNELS if hides else 13 * KERNELS)


def test_what_begins_and_goes_on_later_takes_so_long():
    """A microsecond from the trigger to the next kernel, two from its end until that goes on."""
    changes = {"stream__programmatic_start": US, "stream__programmatic_wait": 2 * US}
    assert total_us(chain(work(3, 10)), **changes) == pytest.approx(13 + 12 * (KERNELS - 1))
    assert total_us(chain(work(3, 10, trigger=1.0)), **changes) == pytest.approx(13 + 14 * (KERNELS - 1))


def program(waits: bool = True, ahead: float = 4000.0, behind: float = 20000.0) -> KernelProgram:
    """A CTA that computes for so many cycles before and behind its wait."""

    def body(_tiles):
        yield LaunchDependents()
        yield Compute(Mix(setup=ahead))
        if waits:
            yield GridDependencyWait()
        yield Compute(Mix(setup=behind))

    return KernelProgram("k", 1, 1, (Role("all", 1, body),))


def test_a_kernel_program_waits_where_it_says_so():
    profile = textbook(sm__clock=1e9, sm__setup_latency=1.0)
    plain, early, never = (
        simulate_host(chain(kernel, early=early), profile, trace=False).total_s / US
        for kernel, early in ((program(), False), (program(), True), (program(waits=False), True))
    )
    assert plain == pytest.approx(24 * KERNELS, rel=0.001)
    assert early == pytest.approx(4 + 20 * KERNELS, rel=0.001)
    assert never == pytest.approx(24, rel=0.01)


@pytest.mark.parametrize("exact", [True, False])
def test_a_ring_that_is_filled_before_the_wait_is_there_behind_it(exact):
    """The copies, of more than a microsecond, take none of the time behind the wait."""

    def body(tiles):
        for tile in range(min(tiles, 4)):
            yield TmaLoad("ring", 16384, tile=tile)
        yield GridDependencyWait()
        for tile in range(tiles):
            yield WaitFull("ring", tile=tile)
            yield Compute(Mix(setup=500), tile=tile)

    kernel = KernelProgram("k", 132, 4, (Role("all", 1, body),), rings=(Ring("ring", 4, 16384),))
    device = load_profile("h200_sxm")
    plain, early = (
        simulate_host(chain(kernel, early, graph=True), device, trace=False, exact=exact).total_s
        for early in (False, True)
    )
    assert plain - early > (KERNELS - 1) * 0.03 * US
    early_trigger = replace(kernel, roles=(Role("all", 1, lambda tiles: iter([LaunchDependents(), *body(tiles)])),))
    hidden = simulate_host(chain(early_trigger, graph=True), device, trace=False, exact=exact).total_s
    assert early - hidden > (KERNELS - 1) * 1.0 * US


def test_older_devices_have_none():
    with pytest.raises(ProgramError, match=r"compute capability 9.0, .* has 8.0; leave programmatic out"):
        simulate_host(chain(work(1, 1)), load_profile("a100_sxm"))


def bench() -> list[dict]:
    (path,) = RECORDED.glob("programmatic/*/host_programmatic.json")
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if row["kind"] == "early" and not row["late"]]


def period_s(row: dict) -> float:
    """From one kernel's end to the next one's, of a chain as the bench has it."""
    trigger = row["before_s"] / (row["before_s"] + row["after_s"]) if row["who"] != "nobody" else 1
    kernel = {
        "duration": row["before_s"] + row["after_s"], "blocks": row["grid"], "threads": row["block"],
        "shared_bytes": row["shared_bytes"], "prologue": row["prologue_s"], "trigger": trigger,
    }  # fmt: skip
    launches = {"repeat": {"times": 20, "ops": [{"launch": {"kernel": "k", "programmatic": True}}]}}
    host = {"api": "cuda", "kernels": {"k": kernel}, "graphs": {"g": {"ops": [launches]}}}
    per_chunk = [{"launch_graph": "g"}] if row["graph"] else [launches]
    # Behind a kernel that lasts until all are queued.
    host["kernels"]["before"] = {"duration": "500 us", "blocks": 1, "threads": 32}
    host["threads"] = {"main": {"prologue": [{"launch": "before"}], "per_chunk": per_chunk}}
    timeline = predict(from_data({"question": "?", "device": "h200_sxm", "host": host}))
    ends = [interval.end_s for interval in timeline if interval.kind == "kernel"]
    return (ends[-1] - ends[5]) / (len(ends) - 6)


def test_periods_of_chains_are_those_measured():
    """66 chains: with room for two kernels and without, in a stream and a graph, prologues and triggers of all kinds.

    What the profile has of them are the times from the trigger and from the end of the kernel ahead, of 16 chains.
    """
    off = [period_s(row) / row["period_s"] - 1.0 for row in bench()]
    assert len(off) > 60
    assert fmean(map(abs, off)) < 0.03
    assert max(map(abs, off)) < 0.12
