"""Whatever a quantity of the device is, a prediction ends, or says what it may be."""

import pytest

from gpusim.errors import GpusimError
from gpusim.hardware import load_profile
from gpusim.scenario import loads, predict, with_overrides

KERNEL = """\
question: q
device: textbook
kernel:
  grid: 4
  tiles_per_cta: 2
  rings: {input: {stages: 2, bytes: 4 KiB}, other: {stages: 2, bytes: 2 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: {ring: input, align: 16}}]}
    consumer:
      warps: 4
      per_tile:
        - {cp_async: {ring: other, ahead: 1, align: 16}}
        - {commit_group: {ahead: 1}}
        - {wait_group: 1}
        - {named_barrier: {id: 1, warps: 4}}
        - {wait: input}
        - {compute: {ffma: 64, lds: 8, sts: 2, mufu: 4, other: 8, setup: 4, half_rate: 4, ldc: 2}}
        - {load: {bytes: 2 KiB, scatter: 4, align: 4}}
        - {store: 2 KiB}
        - {tma_store: {ring: input, bytes: 1 KiB}}
        - {bulk_wait: 0}
        - {release: input}
"""
HOST = """\
question: q
device: textbook
host:
  streams: {a: {}, b: {}}
  kernels: {k: {bytes: 1 MiB, flop: 1e6, blocks: 300}}
  pools: {p: {}}
  graphs: {g: {ops: [{launch: k}]}}
  threads:
    main:
      chunks: 3
      per_chunk:
        - {malloc_async: {buffer: "x#", bytes: 1 MiB, stream: a, pool: p}}
        - {h2d: {bytes: 1 MiB, stream: a, pageable: true}}
        - {launch: {kernel: k, stream: a}}
        - {launch_graph: {graph: g, stream: b}}
        - {d2h: {bytes: 1 MiB, stream: a}}
        - {host_func: {stream: a, seconds: 1 us}}
        - {free_async: {buffer: "x#", stream: a}}
      epilogue: [sync_device]
"""


@pytest.mark.parametrize("text", [KERNEL, HOST], ids=["kernel", "host"])
def test_it_ends_or_is_refused(text):
    """Nothing of it, half, far too much: no other exception than one that a user can act on."""
    scenario = loads(text)
    predict(scenario, trace=False)
    for key, quantity in load_profile("h200_sxm").quantities.items():
        unit = quantity.text.partition(" ")[2]
        for number in ("0", "0.5", "1e30", "-1"):
            given = f"{number} {unit}" if unit else float(number)
            try:
                assert predict(with_overrides(scenario, {f"device.set.{key}": given}), trace=False).total_s >= 0.0
            except GpusimError as error:
                assert str(error)  # noqa: PT017 - either outcome is right
