"""What one role leaves out of handing over a ring, where the counts come out and the run tells nothing."""

import pytest

from gpusim.scenario import loads

KERNEL = """
question: Who leaves what out?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 40
  rings: {input: {stages: 3, bytes: 16 KiB, empty_arrivals: 8}, out: {stages: 2, bytes: 16 KiB, empty_arrivals: 1}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    first: {warps: 4, per_tile: [{wait: input}, {compute: {lds: 8, ffma: 64, reads: input}}, {release: input}]}
    second:
      warps: 4
      per_tile:
        - {wait: input}
        - {acquire: out}
        - {compute: {lds: 8, ffma: 64, reads: input}}
        - {store_shared: out}
        - {release: input}
        - {producer_commit: out}
    storer: {warps: 1, per_tile: [{wait: out}, {tma_store: out}, {bulk_wait: 0}, {release: out}]}
"""


def doubts(old: str = "", new: str = "", **also: str) -> tuple[str, ...]:
    text = KERNEL
    for was, becomes in {old: new, **also}.items():
        assert was in text
        text = text.replace(was, becomes, 1) if was else text
    return loads(text).doubts()


def test_roles_that_do_all_of_it_are_without_doubt():
    assert doubts() == ()


def test_a_storer_that_does_not_wait_for_what_it_stores():
    (told,) = doubts("[{wait: out}, {tma", "[{compute: {other: 4000}}, {tma")
    assert told.startswith("role 'storer' stores ring 'out', which others fill, and never waits until it is full")
    assert "put wait: out in front" in told


def test_one_of_two_consumers_that_does_not_wait():
    (told,) = doubts(
        "first: {warps: 4, per_tile: [{wait: input}, ", "first: {warps: 4, per_tile: [{compute: {ffma: 3000}}, "
    )
    assert told.startswith("role 'first' reads ring 'input', which others fill, and never waits until it is full")


@pytest.mark.parametrize("arrivals", [8, 4])
def test_one_of_two_consumers_that_does_not_release(arrivals):
    """Whether the other one releases twice, or the count leaves the first out."""
    twice = "}}, {release: input}, {release: input}]}"
    if arrivals == 8:
        text = KERNEL.replace("        - {release: input}\n", "").replace("}}, {release: input}]}", twice)
    else:
        text = KERNEL.replace("        - {release: input}\n", "").replace("empty_arrivals: 8", "empty_arrivals: 4")
    (told,) = loads(text).doubts()
    assert told.startswith("role 'second' waits for ring 'input' and never releases it, as 'first' does")
    assert "count its warps in empty_arrivals" in told


def test_a_role_that_meets_the_others_may_leave_it_to_them():
    """One waits for all, and all meet behind its wait and in front of its release."""
    text = """
question: Who waits?
device: h200_sxm
kernel:
  grid: 132
  tiles_per_cta: 40
  rings: {input: {stages: 3, bytes: 16 KiB, empty_arrivals: 4}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    a:
      warps: 4
      per_tile:
        - {wait: input}
        - {named_barrier: {id: 1, warps: 8}}
        - {compute: {ffma: 64, reads: input}}
        - {named_barrier: {id: 2, warps: 8}}
        - {release: input}
    b:
      warps: 4
      per_tile:
        - {named_barrier: {id: 1, warps: 8}}
        - {compute: {ffma: 64, reads: input}}
        - {named_barrier: {id: 2, warps: 8}}
"""
    assert loads(text).doubts() == ()


def test_an_acquire_of_another_tile_than_the_copy():
    (told,) = doubts("{tma_load: input}", "{tma_load: {ring: input, ahead: 1}}")
    assert told.startswith("role 'producer' fills tile 3 of ring 'input' before it acquires it")


def test_a_stage_that_is_written_behind_its_release():
    (told,) = doubts("{release: input}]}", "{release: input}, {store_shared: {ring: input, bytes: 1 KiB}}]}")
    assert told.startswith("role 'first' fills tile 0 of ring 'input' behind its release")


def test_an_acquire_by_one_warp_of_what_all_fill():
    (told,) = doubts("{acquire: out}", "{acquire: {ring: out, warps: 1}}")
    assert "role 'second' fills ring 'out' by all its warps where warps: 1 of them acquire it" in told
    assert "named_barrier: {id: 1, warps: 4}" in told


def test_bulk_stores_that_nobody_waits_for_at_the_end():
    (told,) = doubts("{bulk_wait: 0}", "{bulk_wait: 1}", **{"{release: out}": "{release: {ring: out, lag: 1}}"})
    assert told.startswith("role 'storer' ends with bulk stores under way")


def test_a_named_barrier_at_which_nobody_waits():
    barrier = "{named_barrier: {id: 3, warps: 8, wait: false}}, "
    told = doubts("first: {warps: 4, per_tile: [", f"first: {{warps: 4, per_tile: [{barrier}",
                  **{"        - {wait: input}": f"        - {barrier[:-2]}\n        - {{wait: input}}"})  # fmt: skip
    assert len(told) == 1
    assert told[0].startswith("roles 'first', 'second' (8 warps) arrive at named barrier 3, and nobody waits there")
