"""FIFO service inside a unit, and why fluid sharing there would be wrong."""

from __future__ import annotations

import pytest

from gpusim.engine import Capacity, FluidSystem, OvertakingServer, Simulation


def test_requests_are_served_in_order_and_delivered_after_the_latency():
    """Two requests of 4 at rate 2, latency 1: delivered at 2 + 1 and 4 + 1."""
    sim = Simulation()
    server = OvertakingServer(sim, FluidSystem(sim), 2.0)
    log = []

    def client(name):
        yield server.request(4.0, [], latency_s=1.0)
        log.append((name, sim.now))

    sim.process(client("a"))
    sim.process(client("b"))
    sim.run()
    assert log == [("a", pytest.approx(3.0)), ("b", pytest.approx(5.0))]


def test_the_first_request_is_finished_first_whatever_is_slow_behind_the_server():
    """Rate 2, but 1 behind it: two requests of 4 end at 4 and 8, not both at 8."""
    sim = Simulation()
    behind = Capacity("behind", 1.0)
    server = OvertakingServer(sim, FluidSystem(sim), 2.0)
    log = []
    for _ in range(2):
        server.request(4.0, [(behind, 1.0)]).callbacks.append(lambda _event: log.append(sim.now))
    sim.run()
    assert log == pytest.approx([4.0, 8.0])


@pytest.mark.parametrize("stages", [2, 3, 4, 8])
def test_a_deeper_pipeline_is_never_slower(stages):
    """Ring of S buffers, load 1, compute 1: with FIFO service the period stays max(L, C) = 1."""
    assert pipeline(stages, tiles=50) <= pipeline(stages - 1, tiles=50) + 1e-9
    assert pipeline(stages, tiles=50) == pytest.approx(51.0)


def pipeline(stages, tiles):
    """Time of a producer that loads ahead into ``stages`` buffers and a consumer."""
    sim = Simulation()
    server = OvertakingServer(sim, FluidSystem(sim), 1.0)
    full = [sim.event() for _ in range(tiles)]
    empty = [sim.event() for _ in range(tiles)]

    def producer():
        for tile in range(tiles):
            if tile >= stages:
                yield empty[tile - stages]
            server.request(1.0, []).callbacks.append(lambda _event, tile=tile: full[tile].succeed())

    def consumer():
        for tile in range(tiles):
            yield full[tile]
            yield sim.timeout(1.0)
            empty[tile].succeed()

    sim.process(producer())
    sim.process(consumer())
    return sim.run()


def test_symmetric_streams_overlap_on_fifo_engines():
    """Two streams of copy-in, kernel, copy-out (1 each) on three FIFO engines: 4, not the 6 of lock-step."""
    sim = Simulation()
    engines = [OvertakingServer(sim, FluidSystem(sim), 1.0) for _ in ("in", "kernel", "out")]

    def stream():
        for engine in engines:
            yield engine.request(1.0, [])

    sim.process(stream())
    sim.process(stream())
    assert sim.run() == pytest.approx(4.0)
