"""Levers of host programs: buffers that are waited for, memory, chunks."""

from gpusim.scenario import advise, loads

LAYERS = """
question: Do weights arrive while the layer before computes?
device: h200_sxm
host:
  streams: {weights: {}, main: {}}
  kernels: {layer: {duration: 400 us, blocks: 132, threads: 256, registers: 8}}
  threads:
    main:
      chunks: 8
      per_chunk:
        - wait_event: {event: "used#-1", stream: weights}
        - h2d: {bytes: 16 MiB, stream: weights}
        - record: {event: "here#", stream: weights}
        - wait_event: {event: "here#", stream: main}
        - launch: {kernel: layer, stream: main}
        - record: {event: "used#", stream: main}
"""


def changes(text: str) -> dict[str, float]:
    return {lever.change: lever.gain for lever in advise(loads(text)).levers}


def test_a_second_buffer_is_proposed_where_a_copy_waits_for_its_last_use():
    advice = advise(loads(LAYERS))
    assert advice.best.change == "buffers of main 1 → 2: wait for used#-2"
    assert advice.best.gain > 0.25


def test_a_kernel_that_waits_for_an_earlier_chunk_may_need_what_it_made():
    """Another distance would be another program."""
    text = LAYERS.replace("- h2d: {bytes: 16 MiB, stream: weights}", "- launch: {kernel: layer, stream: weights}")
    assert not [change for change in changes(text) if "buffers" in change]


def test_the_hosts_own_work_fills_a_buffer_once_its_copy_is_done():
    text = """
question: staging buffers
device: h200_sxm
host:
  kernels: {step: {duration: 100 us, blocks: 132, threads: 256, registers: 8}}
  threads:
    main:
      chunks: 12
      per_chunk:
        - sync_event: "copied#-1"
        - work: 100 us
        - h2d: 4 MiB
        - record: "copied#"
        - launch: step
"""
    assert "buffers of main 1 → 2: wait for copied#-2" in changes(text)


def test_page_locked_memory_is_proposed_where_calls_go_over_the_same_bytes():
    text = """
question: ordinary memory
device: h200_sxm
host:
  kernels: {step: {duration: 100 us, blocks: 132, threads: 256, registers: 8}}
  threads:
    main: {chunks: 6, per_chunk: [{h2d: {bytes: 4 MiB, pageable: true, over: 24 MiB}}, {launch: step}]}
"""
    assert changes(text)["host memory pageable → pinned"] > 0.2


def test_fewer_chunks_leave_as_much_to_host_functions():
    text = """
question: results are encoded by host functions
device: h200_sxm
host:
  streams: 2
  kernels: {step: {duration: 100 us, blocks: 132, threads: 256, registers: 8}}
  threads:
    main: {chunks: 8, per_chunk: [{h2d: 4 MiB}, {launch: step}, {d2h: 4 MiB}, {host_func: {seconds: 500 us}}]}
"""
    found = {lever.change: lever for lever in advise(loads(text)).levers}
    fewer = found["chunks of main 8 → 4"]
    assert fewer.overrides["host.threads.main.per_chunk.3"]["host_func"]["seconds"] == 1e-3
    assert fewer.gain < 0.05  # the functions run one after the other: 4 ms of 4.6
