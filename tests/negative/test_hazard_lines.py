"""A hazard points at the line of the op at which it was found."""

import pytest

from gpusim.errors import HazardError, ProgramError
from gpusim.scenario import loads, predict
from gpusim.timeline.vocabulary import KINDS

TMA = """question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    producer:
      warps: 1
      per_tile:
        - acquire: input
        - tma_load: input
    consumer:
      warps: 2
      per_tile:
        - wait: input
        - compute: {ffma: 400, lds: 4}
        - release: input
"""
COPIES = """question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 4 KiB}}
  roles:
    all:
      warps: 2
      per_tile:
        - cp_async: {ring: input, ahead: 1}
        - commit_group: {ahead: 1}
        - repeat:
            times: 2
            ops:
              - wait_group: 1
              - sync_threads
              - compute: {ffma: 400, lds: 4, reads: input}
        - sync_threads
"""
LOADS = """question: q
device: textbook
kernel:
  grid: 1
  tiles_per_cta: {total: 12}
  roles:
    all:
      warps: 2
      prologue: [{compute: {other: 4}}]
      per_tile:
        - compute: {ffma: 400}
        - load: {bytes: 4 KiB, wait: false}
"""


HOST = """question: q
device: textbook
host:
  streams: {s: {}}
  threads: {main: {prologue: [{launch: {kernel: k, stream: s}}]}}
"""


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


CASES = {
    "acquire left out": (
        changed(TMA, "        - acquire: input\n", ""),
        "16:11: kernel.roles.consumer.per_tile.1.compute: ",
    ),
    "release in front of the read": (
        changed(TMA, "        - wait: input\n", "        - wait: input\n        - release: input\n").replace(
            "lds: 4}\n        - release: input", "lds: 4}"
        ),
        "18:11: kernel.roles.consumer.per_tile.2.compute: ",
    ),
    "wait left out": (
        changed(TMA, "        - wait: input\n", "").replace("lds: 4", "lds: 4, reads: input"),
        "16:11: kernel.roles.consumer.per_tile.0.compute: ",
    ),
    "copied twice": (
        changed(TMA, "        - tma_load: input\n", "        - tma_load: input\n        - tma_load: input\n"),
        "13:11: kernel.roles.producer.per_tile.2.tma_load: ",
    ),
    "copied by the prologue and ahead of the loop": (
        changed(
            COPIES, "      per_tile:\n", "      prologue: [{cp_async: input}, commit_group]\n      per_tile:\n"
        ).replace("cp_async: {ring: input, ahead: 1}", "cp_async: {ring: input, ahead: 1, bytes: 2 KiB}"),
        "12:11: kernel.roles.all.per_tile.0.cp_async: ",
    ),
    "group that is spared, inside a loop": (
        changed(COPIES, "wait_group: 1", "wait_group: 2"),
        "18:17: kernel.roles.all.per_tile.2.repeat.ops.2.compute: ",
    ),
    "copies without a group": (
        changed(COPIES, "        - commit_group: {ahead: 1}\n", "        - compute: {other: 1}\n").replace(
            ", reads: input", ", reads: false"
        ),
        "11:11: kernel.roles.all.per_tile.0.cp_async: ",
    ),
    "load that nothing waits for": (LOADS, "12:11: kernel.roles.all.per_tile.1.load: "),
}


@pytest.mark.parametrize(("text", "place"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("exact", [True, False])
def test_place_is_that_of_the_op(text, place, exact):
    """File, line, column and field."""
    with pytest.raises(HazardError) as caught:
        predict(loads(text), exact=exact)
    assert place in str(caught.value)


def test_stamps_of_a_probe_are_no_ops_of_the_file():
    """The number of the op is that of the program without them."""
    text, place = CASES["wait left out"]
    with pytest.raises(HazardError) as caught:
        predict(loads(text), stamps=KINDS)
    assert place in str(caught.value)


def test_kernel_of_a_host_program():
    """Below the kernel's name."""
    kernel = CASES["copied twice"][0].partition("kernel:\n")[2].replace("\n", "\n    ")
    with pytest.raises(HazardError) as caught:
        predict(loads(f"{HOST}  kernels:\n    k:\n    {kernel}"))
    assert "host.kernels.k.roles.producer.per_tile.2.tma_load: " in str(caught.value)


def test_role_of_a_long_loop():
    """Of which the ops are not listed."""
    text = changed(CASES["acquire left out"][0], "tiles_per_cta: 12", "tiles_per_cta: 5000")
    with pytest.raises(HazardError) as caught:
        predict(loads(text), exact=True)
    assert CASES["acquire left out"][1] in str(caught.value)


@pytest.mark.parametrize("below", ["", "host"])
def test_op_that_makes_no_sense(below):
    """Found before anything runs, at the op as well."""
    kernel = LOADS.replace("bytes: 4 KiB, wait: false", "bytes: 4 MiB").partition("kernel:\n")[2]
    text = f"{HOST}  kernels:\n    k:\n    " + kernel.replace("\n", "\n    ")
    if not below:
        text = f"question: q\ndevice: textbook\nkernel:\n{kernel}"
    with pytest.raises(ProgramError) as caught:
        predict(loads(text))
    place = "16:15: host.kernels.k" if below else "12:11: kernel"
    assert f"{place}.roles.all.per_tile.1.load: kernel 'k" in str(caught.value)
    assert "4,194,304 bytes at once into the registers of 2 warps" in str(caught.value)
