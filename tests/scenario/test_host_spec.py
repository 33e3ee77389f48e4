"""``host:`` in a scenario file: built as written, wrong names explained, deadlocks named."""

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import ScenarioError
from gpusim.program import host as ops
from gpusim.scenario import from_data, predict, serial_baseline
from tests.scenario.host_programs import MIB, scenario

COPY_S = MIB / 32e9


PIPELINE = """\
  streams: 3
  kernels: {scale: {duration: 32.768 us, blocks: 264, threads: 1024}}
  threads:
    main: {chunks: 6, per_chunk: [{h2d: 1 MiB}, {launch: scale}, {d2h: 1 MiB}]}
"""


def test_chunks_are_dealt_to_the_streams():
    """Three ways at once: T = (6 + 2) L."""
    made = scenario(PIPELINE)
    assert [op.stream for op in made.program().threads[0].ops[::3]] == ["s0", "s1", "s2"] * 2
    assert predict(made).total_s == pytest.approx(8 * COPY_S)


def test_baseline_is_one_stream():
    assert predict(serial_baseline(scenario(PIPELINE))).total_s == pytest.approx(18 * COPY_S)


def test_baseline_launches_no_kernel_before_the_one_ahead_has_ended():
    """Three of 10 us whose prologues of 4 us lie beside the one ahead, and behind it in the baseline."""
    host = """\
  kernels: {k: {duration: 10 us, blocks: 132, threads: 128, prologue: 4 us, trigger: first}}
  threads: {main: {chunks: 3, per_chunk: [{launch: {kernel: k, programmatic: true}}], epilogue: [sync_device]}}
"""
    made = scenario(host)
    assert predict(serial_baseline(made)).total_s - predict(made).total_s == pytest.approx(2 * 4e-6, rel=0.01)


def test_resolved_scenario_reads_back():
    made = scenario(PIPELINE)
    again = from_data(made.resolved())
    assert again.hash == made.hash
    assert again.program() == made.program()


def test_names_with_a_number_sign_are_per_chunk():
    host = """\
  threads:
    main:
      chunks: 2
      per_chunk: [{malloc: {buffer: "data#", bytes: 1 MiB}}, {record: "done#"}, {sync_event: "done#"}, {free: "data#"}]
"""
    made = scenario(host).program().threads[0].ops
    assert [op.buffer for op in made if isinstance(op, ops.Malloc)] == ["data0", "data1"]
    assert [op.event for op in made if isinstance(op, ops.EventSync)] == ["done0", "done1"]


def test_memsets_go_to_streams_and_into_graphs():
    """1 MiB at 2 TB/s each: one in the graph, one behind it, one of a chunk of its own on the other stream."""
    host = """\
  streams: 2
  graphs: {g: {ops: [{memset: 1 MiB}]}}
  threads:
    main:
      chunks: 2
      prologue: [{launch_graph: g}]
      per_chunk: [{memset: 1 MiB}]
      epilogue: [{memset: {bytes: 2 KiB, stream: s1}}]
"""
    made = scenario(host)
    program = made.program()
    assert program.graphs[0].ops == (ops.MemsetAsync(MIB, "s0"),)
    expected = (("s0", MIB, 0), ("s1", MIB, 1), ("s1", 2048, -1))
    assert program.threads[0].ops[1:] == tuple(ops.MemsetAsync(size, stream, chunk=i) for stream, size, i in expected)
    assert from_data(made.resolved()).program() == program
    assert predict(made).total_s == pytest.approx((3 * MIB + 2048) / 2e12)


def test_kernels_may_be_techniques_or_spelled_out():
    host = """\
  kernels:
    tiles: {technique: tma_warp_specialized, params: {tiles_per_cta: 4, stages: 2}}
    own: {grid: 132, tiles_per_cta: 4, roles: {all: {warps: 4, per_tile: [{compute: {ffma: 64}}]}}}
  threads: {main: {per_chunk: [{launch: tiles}, {launch: own}]}}
"""
    timeline = predict(scenario(host), zoom=True)
    assert any(".kernel[" in lane for lane in timeline.lanes)


@pytest.mark.parametrize(
    ("host", "field", "parts"),
    [
        ("  threads: {main: {per_chunk: [{launch: scle}]}}\n  kernels: {scale: {duration: 1 us}}\n",
         "host.threads.main.per_chunk.0.launch.kernel", ["there is no kernel 'scle'", "scale"]),
        ("  streams: 2\n  threads: {main: {per_chunk: [{h2d: {bytes: 4, stream: s2}}]}}\n",
         "host.threads.main.per_chunk.0.h2d.stream", ["there is no stream 's2'", "s0, s1"]),
        ("  threads: {main: {per_chunk: [{h2d: -4}]}}\n", "host.threads.main.per_chunk.0.h2d.bytes", []),
        ("  threads: {main: {per_chunk: [{copy: 4}]}}\n", "host.threads.main.per_chunk.0", ["unknown key", "h2d"]),
        ("  threads: {main: {per_chunk: [syncdevice]}}\n", "host.threads.main.per_chunk.0",
         ["did you mean 'sync_device'"]),
        ("  threads: {main: {chunk: 3}}\n", "host.threads.main.chunk", ["unknown key", "chunks"]),
        ("  threads: {main: {chunks: 4096, per_chunk: [sync_device" + ", sync_device" * 39 + "]}}\n",
         "host.threads.main.chunks", ["at most 100,000"]),
        ("  graphs: {g: {ops: [sync_device]}}\n  threads: {main: {}}\n", "host.graphs.g.ops.0.sync_device",
         ["in a graph is not modelled"]),
        ("  kernels: {t: {technique: tma_warp_specialized, params: {stages: 99}}}\n  threads: {main: {}}\n",
         "host.kernels.t.params.stages", ["at most"]),
        ("  kernels: {t: {technique: tma_warp}}\n  threads: {main: {}}\n", "host.kernels.t.technique",
         ["unknown technique"]),
    ],
)  # fmt: skip
def test_mistakes_are_explained_at_their_place(host, field, parts):
    with pytest.raises(ScenarioError) as caught:
        scenario(host)
    message = str(caught.value)
    assert field in message
    assert "scenario:" in message
    for part in parts:
        assert part in message


def test_event_circle_across_streams_names_the_circle():
    """Each of two host functions waits for the other's stream."""
    host = """\
  streams: {a: {}, b: {}}
  threads:
    main:
      per_chunk:
        - host_func: {stream: a, syncs: b}
        - record: {event: done, stream: a}
        - wait_event: {event: done, stream: b}
        - h2d: {bytes: 4, stream: b}
"""
    with pytest.raises(Deadlock, match="cycle: ") as caught:
        predict(scenario(host.replace("- host_func", "- h2d: {bytes: 4, stream: b}\n        - host_func")
                         .replace("syncs: b", "syncs: a")))  # fmt: skip
    assert "host function of chunk 0 (#2) on stream 'a' waits for record" in str(caught.value)


def test_ring_without_a_free_slot_says_who_could_give_one_back():
    host = """\
  slots: {ring: 1}
  threads: {main: {chunks: 2, per_chunk: [{acquire: ring}, {h2d: 1 MiB}]}}
"""
    with pytest.raises(Deadlock, match="a free slot of 'ring'"):
        predict(scenario(host))


def test_circle_through_a_ring_is_named():
    """The function that gives the slot back is behind a kernel that waits for what the thread does later."""
    host = """\
  slots: {ring: 1}
  streams: {a: {}, b: {}}
  threads:
    main:
      per_chunk:
        - {acquire: ring}
        - {host_func: {stream: a, releases: ring, syncs: a}}
        - {acquire: ring}
"""
    with pytest.raises(Deadlock, match="cycle: ") as caught:
        predict(scenario(host))
    assert "ring" in str(caught.value)
    assert "thread 'main'" in str(caught.value)


def test_threads_wake_each_other():
    """Each of 4 items: prepared for 10, then worked on for 10 by the other thread; two may be prepared ahead."""
    text = (
        "  slots: {full: 0, empty: 2}\n  threads:\n"
        "    loader: {chunks: 4, per_chunk: [{acquire: empty}, {work: 10 us}, {release: full}]}\n"
        "    main: {chunks: 4, per_chunk: [{acquire: full}, {work: 10 us}, {release: empty}]}\n"
    )
    assert predict(scenario(text)).total_s == pytest.approx(50e-6)
    assert predict(scenario(text.replace("empty: 2", "empty: 1"))).total_s == pytest.approx(80e-6)
    with pytest.raises(Deadlock) as stuck:
        predict(scenario(text.replace("{release: full}", "{work: 1 us}")))
    assert "nobody ever satisfies a free slot of 'full'" in str(stuck.value)
    with pytest.raises(Deadlock) as circle:
        predict(scenario(text.replace("empty: 2", "empty: 0")))
    assert (
        "thread 'main' waits at chunk 0 for a free slot of 'full' (none left, of 0 at the beginning and 0 given back)"
        in str(circle.value)
    )
