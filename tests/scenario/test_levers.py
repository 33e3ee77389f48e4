"""Variants of a scenario: one lever each, the work the same."""

import dataclasses
from pathlib import Path

import pytest

from gpusim.scenario import from_data, load, loads, predict, with_overrides
from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import (
    LEVERS,
    Lever,
    enough,
    grid_with,
    grids_to_try,
    levers_of,
    values_to_try,
    whole,
)
from gpusim.scenario.levers.variants import MOST, Refused, Variant, variants
from gpusim.scenario.overrides import assignment, parse_assignments
from gpusim.scenario.technique import techniques
from gpusim.scenario.work import same_work, work_of

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
FUSING = {
    name
    for found in techniques().values()
    for name, lever in levers_of({field.name: field for field in dataclasses.fields(found.params)}).items()
    if lever.fuses
}
CHOSEN = Lever("how", plain={"slow": "the slow way is"})
HOST = """\
question: Is the copy the bottleneck?
device: h200_sxm
host:
  streams: 2
  kernels: {scale: {duration: 40 us, blocks: 264, threads: 1024}}
  slots: {ring: 4}
  threads:
    main: {chunks: 8, per_chunk: [{work: 10 us}, {h2d: {bytes: 2 MiB, pageable: true}}, {launch: scale}, {d2h: 2 MiB}]}
"""


def technique(name, **params):
    """A scenario of an installed technique on the H200."""
    return from_data({"question": "?", "device": "h200_sxm", "kernel": {"technique": name, "params": params}})


def changes(scenario):
    """Variants by what they change."""
    return {one.change: one for one in variants(scenario) if isinstance(one, Variant)}


def values(scenario, name):
    """What the variants that pull ``name`` set, in the order tried."""
    return [
        {path.rpartition(".")[2]: value for path, value in one.overrides.items()}
        for one in changes(scenario).values()
        if one.lever == name
    ]


def test_another_number_of_ctas_does_every_tile():
    """16384 rows, one of each CTA: whole waves would drop 16 of them, which is less than what rounding forgives."""
    text = """\
question: q
device: h200_sxm
kernel: {grid: 16384, tiles_per_cta: 1, ctas_per_sm: 6, roles: {all: {warps: 8, per_tile: [{load: 16 KiB}]}}}
"""
    found = [one.scenario.program() for one in changes(loads(text)).values()]
    assert found
    assert {program.grid * program.tiles_per_cta for program in found} == {16384}
    assert not {16368, 16500} & {program.grid for program in found}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_variant_of_a_shipped_scenario_does_the_same_work(path):
    """Bytes and FLOPs by the predicted timeline too; the device stays; few enough to be predicted."""
    own = load(path)
    found = changes(own)
    assert 1 <= len(found) <= MOST
    before = predict(own, trace=False).meta
    for one in found.values():
        equal = same_work(work_of(own.program()), work_of(one.scenario.program()))
        assert equal or one.lever in FUSING, one.change
        assert one.scenario.hash != own.hash
        assert one.scenario.model.device == own.model.device
    one = next(iter(found.values()))
    after = predict(one.scenario, trace=False).meta
    assert after.get("bytes_read", 0) == pytest.approx(before.get("bytes_read", 0), rel=0.001)
    # With the sum that every warp makes at its end, which is no work of the tiles: much for a kernel that only adds.
    assert after.get("flop", 0) == pytest.approx(before.get("flop", 0), rel=0.1)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_overrides_survive_the_command_line(path):
    """What is printed with --set makes the same scenario again."""
    own = load(path)
    for one in changes(own).values():
        given = parse_assignments(assignment(*pair) for pair in one.overrides.items())
        assert all(len(listed) == 1 for listed in given.values())
        again = with_overrides(own, {name: listed[0] for name, listed in given.items()})
        assert again.hash == one.scenario.hash


def test_larger_tiles_are_fewer():
    """And smaller ones more."""
    own = technique("tma_warp_specialized", tile_bytes=16384, tiles_per_cta=64)
    assert values(own, "tile_bytes") == [
        {"tile_bytes": 32768, "tiles_per_cta": 32}, {"tile_bytes": 8192, "tiles_per_cta": 128},
    ]  # fmt: skip


def test_tiles_that_do_not_come_out_even_are_left_out():
    """65 tiles cannot be 32.5; half the size still can be twice as many."""
    own = technique("tma_warp_specialized", tile_bytes=16384, tiles_per_cta=65)
    assert values(own, "tile_bytes") == [{"tile_bytes": 8192, "tiles_per_cta": 130}]


def test_tiles_of_a_persistent_grid_are_those_of_an_item():
    """Its items are given."""
    assert {"tile_bytes": 32768, "tiles_per_item": 4} in values(technique("persistent"), "tile_bytes")


def test_more_ctas_per_sm_are_a_larger_grid_of_the_same_waves():
    """264 CTAs on 132 SMs are one wave of two; three would need a third of the tiles."""
    own = technique("sync_tile", ctas_per_sm=2, grid=264, tiles_per_cta=64)
    found = values(own, "ctas_per_sm")
    assert {"ctas_per_sm": 4, "grid": 528, "tiles_per_cta": 32} in found
    assert {"ctas_per_sm": 1, "grid": 132, "tiles_per_cta": 128} in found
    assert not any(entry["ctas_per_sm"] == 3 for entry in found)
    assert {"ctas_per_sm": 3, "resident": 396} in values(technique("persistent"), "ctas_per_sm")


def test_a_grid_of_many_waves_stays():
    """2112 CTAs are whole waves of 4 and of 8 on each SM."""
    own = technique("occupancy_sweep", ctas_per_sm=4, grid=2112, warps=4)
    assert {"ctas_per_sm": 8} in values(own, "ctas_per_sm")


def test_more_loads_in_flight_are_fewer_turns():
    """A turn of that loop reads what its loads bring."""
    assert {"loads": 4, "tiles_per_cta": 32} in values(technique("occupancy_sweep", loads=2), "loads")


def test_limits_of_the_technique_hold():
    """Eight stages are the most, two the fewest that a persistent grid takes."""
    most = technique("tma_warp_specialized", stages=8, tile_bytes=4096)
    assert {entry["stages"] for entry in values(most, "stages")} == {7, 4}
    least = technique("persistent", stages=2)
    assert {entry["stages"] for entry in values(least, "stages")} == {3, 4}


def test_what_a_technique_refuses_is_told():
    """With its own words."""
    refused = [one for one in variants(technique("register_prefetch", tile_bytes=65536)) if isinstance(one, Refused)]
    assert any(one.change == "warps 8 → 4" and "registers" in one.why for one in refused)


def test_batches_take_their_share():
    """Twice as many are half as large and take half as long each."""
    own = technique("host_callback_pool", batches=32, bytes=4 << 20, fill_s=60e-6, kernel_s=80e-6)
    shared = {"batches": 64, "bytes": 2 << 20, "fill_s": 30e-6, "kernel_s": 40e-6}
    assert work_of(own.program())["h2d"] == 32 * (4 << 20)
    # Its results are copied once per stream, whatever a batch is, so that here the work would change.
    assert shared not in values(own, "batches")
    assert {"batches": 32, "bytes": 8 << 20, "kernel_s": 150e-6} in values(technique("allocators"), "batches")


def test_fusing_kernels_may_move_fewer_bytes():
    """The one exception from equal work, which says so."""
    pytest.importorskip("realkernels.fused_softmax_scale")
    assert "variant separate → fused (moves 0.33 × the bytes)" in changes(
        technique("fused_softmax_scale", variant="separate")
    )


def test_what_is_asked_for_is_no_lever():
    """Neither the arithmetic nor the direction of copies."""
    for name in ("tma_warp_specialized", "pageable_copies", "copy_engines", "default_streams"):
        pulled = {one.lever for one in changes(technique(name)).values()}
        assert not pulled & {"fma_per_element", "directions", "bytes", "kernel_s", "stray", "tasks"}


def test_rings_of_a_spelled_kernel(spelled):
    """Only the depth changes."""
    found = changes(loads(spelled))
    assert found["stages 3 → 4"].overrides == {"kernel.rings.input.stages": 4}
    assert "stages 3 → 2" in found


def test_tiles_of_a_spelled_kernel_take_their_instructions_along(spelled):
    """Overhead doubles with the tile and is not halved with it."""
    found = changes(loads(spelled))
    large, small = (
        next(one for change, one in found.items() if change.startswith(f"tile 16 KiB → {size}"))
        for size in ("32 KiB", "8 KiB")
    )
    mixes = [dict(one.overrides["kernel.roles.consumer.per_tile.1"]["compute"]) for one in (large, small)]
    assert [(mix["ffma"], mix["lds"], mix["other"]) for mix in mixes] == [(1024, 16, 48), (256, 4, 24)]
    assert [one.scenario.program().tiles_per_cta for one in (large, small)] == [6, 24]


def test_warps_of_a_register_blocked_product_are_as_many_as_they_are():
    """Half of them would need twice the accumulators each, which are half of their registers already."""
    product = load(next(path for path in SCENARIOS if path.stem == "own_sgemm"))
    assert "warps" not in {variant.lever for variant in variants(product)}


def test_what_belongs_to_instructions_goes_along_with_them(spelled):
    """Conflicts are FFMAs' own; slots beside them are overhead, which is not halved with the tile."""
    more = spelled.replace("ffma: 512,", "ffma: 512, register_conflicts: 64, interleaved: 10, masked: 2,")
    assert more != spelled
    found = changes(loads(more))
    mixes = [
        dict(one.overrides["kernel.roles.consumer.per_tile.1"]["compute"])
        for size in ("32 KiB", "8 KiB") for change, one in found.items() if change.startswith(f"tile 16 KiB → {size}")
    ]  # fmt: skip
    counts = [tuple(mix[name] for name in ("register_conflicts", "interleaved", "masked")) for mix in mixes]
    assert counts == [(128, 20, 4), (32, 10, 2)]


def test_a_warp_alone_takes_as_long_for_each_instruction_as_before(spelled):
    """Of 512 + 8 + 24 instructions all are doubled with the tile, and 256 + 4 + 24 are left of them with half of it."""
    found = changes(loads(spelled.replace("ffma: 512,", "ffma: 512, alone: 1088,")))
    cycles = [
        one.overrides["kernel.roles.consumer.per_tile.1"]["compute"]["alone"]
        for size in ("32 KiB", "8 KiB") for change, one in found.items() if change.startswith(f"tile 16 KiB → {size}")
    ]  # fmt: skip
    assert cycles == [2176, 568]


def test_copies_that_run_ahead_keep_to_the_depth_of_the_ring():
    """One stage more means one tile further ahead, and one group more in flight; no hazard comes of it."""
    own = load(SCENARIOS[0].parent / "software_pipelining.yaml")
    one = changes(own)["stages 3 → 4 (ahead 2 → 3, wait_group 2 → 3)"]
    assert one.overrides["kernel.roles.all.per_tile.0"] == {"cp_async": {"ring": "input", "ahead": 3}}
    assert one.overrides["kernel.roles.all.per_tile.2"] == {"wait_group": {"pending": 3}}
    predict(one.scenario, trace=False)


def test_copies_that_run_ahead_by_another_number_are_left_alone():
    """How far is the writer's business then."""
    text = (SCENARIOS[0].parent / "software_pipelining.yaml").read_text().partition("sweep:")[0]
    own = loads(text.replace("stages: 3", "stages: 5"))
    assert not [one for one in changes(own).values() if one.lever == "input.stages"]


def test_chunks_of_a_spelled_host_program_take_their_share():
    """Copies, kernels and the work of the host alike."""
    one = changes(loads(HOST))["chunks of main 8 → 16"]
    assert one.overrides["host.kernels.scale.duration"] == 20e-6
    assert one.overrides["host.threads.main.per_chunk.0"] == {"work": {"seconds": 5e-6}}
    assert one.overrides["host.threads.main.per_chunk.3"] == {"d2h": {"bytes": 1 << 20}}


ITERATIONS = (
    "{h2d: 64 KiB}, {launch: k}, {d2h: 4}, sync_stream",
    "{launch: k}",
    "{malloc: {buffer: 'b#', bytes: 1 MiB}}, {launch: k}, {free: 'b#'}",
    "{launch_graph: g}",
    "{d2d: 1 MiB}, {launch: k}",
)


@pytest.mark.parametrize("steps", ITERATIONS)
def test_what_is_no_slice_of_data_has_no_chunks_to_change(steps):
    """Iterations that read a result, chains of kernels, allocations, launches of graphs; nor is one stream made two."""
    text = (
        HOST.partition("host:")[0]
        + f"""\
host:
  streams: 1
  kernels: {{k: {{duration: 10 us}}}}
  graphs: {{g: {{ops: [{{launch: k}}]}}}}
  threads: {{main: {{chunks: 8, per_chunk: [{steps}]}}}}
"""
    )
    assert not [change for change in changes(loads(text)) if "chunks" in change or "streams" in change]


def test_allocations_in_chunks_may_come_from_a_pool():
    """All of the program's, from the default pool, which keeps what it has."""
    text = (
        HOST.partition("host:")[0]
        + """\
host:
  threads:
    main:
      prologue: [{malloc: {buffer: own, bytes: 1 MiB}}]
      chunks: 8
      per_chunk: [{malloc: {buffer: "data#", bytes: 16 MiB}}, {free: "data#"}]
      epilogue: [{free: own}]
"""
    )
    (change,) = changes(loads(text)).values()
    assert "cudaMallocAsync and cudaFreeAsync" in change.change
    assert change.overrides["host.pools.default.release_threshold"] == "1 TiB"
    calls = [type(op).__name__ for op in change.scenario.program().threads[0].ops]
    assert calls == ["MallocAsync", *8 * ["MallocAsync", "FreeAsync"], "FreeAsync"]
    assert "cudaMalloc" not in str(changes(loads(HOST)))


def test_levers_of_a_spelled_host_program():
    """Streams that are dealt in turn, slots, and memory; streams that an op names are not counted anew."""
    assert {"streams 2 → 3", "slots of ring 4 → 3", "host memory pageable → pinned"} <= set(changes(loads(HOST)))
    dealt = HOST.replace("{chunks: 8,", "{chunks: 8, deal: [s0, s1],")
    named = loads(dealt.replace("{d2h: 2 MiB}", "{d2h: {bytes: 2 MiB, stream: s1}}"))
    assert not [change for change in changes(named) if change.startswith("streams")]


def test_a_queue_that_begins_empty_is_no_lever():
    """One more in it would be a request that nobody has made."""
    found = changes(load(SCENARIOS[0].parent / "own_requests.yaml"))
    assert "slots of empty 3 → 4" in found
    assert not [change for change in found if change.startswith("slots of full")]


def test_a_technique_inside_a_host_program_has_its_levers():
    """Named by the kernel."""
    assert "tiles: stages 3 → 4" in changes(load(SCENARIOS[0].parent / "own_two_level.yaml"))


def test_work_of_a_graph_is_that_of_its_launches():
    """Twenty kernels, ten times."""
    graph, calls = (work_of(technique("cuda_graph", mode=mode).program()) for mode in ("graph", "stream"))
    assert same_work(graph, calls)
    assert graph["seconds of blocks"] > 0


def test_work_differs_by_more_than_rounding():
    """One thousandth is rounding."""
    assert same_work({"flop": 1000.0}, {"flop": 1000.9})
    assert not same_work({"flop": 1000.0}, {"flop": 1002.0})
    assert not same_work({"flop": 1000.0}, {"h2d": 1000.0})
    assert same_work({"flop": 0.0}, {})


@pytest.mark.parametrize(
    ("kind", "value", "limits", "expected"),
    [
        (Kind.STAGES, 1, {"ge": 1, "le": 8}, [2, 4]),
        (Kind.STAGES, 2, {"ge": 1, "le": 8}, [3, 1, 4]),
        (Kind.STAGES, 4, {"ge": 2, "le": 5}, [5, 3, 2]),
        (Kind.TILE, 16384, {"multiple_of": 16}, [32768, 8192]),
        (Kind.WARPS, 3, {}, [6]),
        (Kind.VECTOR, 8, {"choices": (4, 8, 16)}, [16, 4]),
        (None, "quick", {"choices": ("quick", "slow")}, ["slow"]),
        (None, False, {}, [True]),
    ],
)
def test_values_to_try(kind, value, limits, expected):
    """Within the limits, the nearest first."""
    assert list(values_to_try(LEVERS.get(kind, CHOSEN), value, limits)) == expected


def test_grids():
    """One wave is what the CTAs per SM make of it; a remainder can be rounded to whole waves."""
    assert grids_to_try(264, 264) == ()
    assert grids_to_try(300, 132) == (396, 264, 600, 150)
    assert grids_to_try(528, 264) == (1056, 264)
    assert grid_with(100, 2, 4, 132) == 100
    assert grid_with(264, 2, 4, 132) == 528
    assert grid_with(264 * 3, 2, 3, 132) == 264 * 3
    assert grid_with(132, 1, 2, 132) == 264


def test_words_for_what_is_enough():
    """Singular and plural; nothing for what is not simpler."""
    assert enough(LEVERS[Kind.STAGES], 3, 2) == "2 stages are"
    assert enough(LEVERS[Kind.STAGES], 3, 1) == "1 stage is"
    assert enough(LEVERS[Kind.BUFFERS], 2, 1, "slots of ring") == "1 slot of ring is"
    assert enough(LEVERS[Kind.BUFFERS], 3, 1, "slots of buffers") == "1 slot of buffers is"
    assert enough(LEVERS[Kind.INPUT_STAGES], 2, 1) == "1 input stage is"
    assert enough(LEVERS[Kind.LOADS], 2, 1) == "1 load in flight is"
    assert enough(CHOSEN, "quick", "slow") == "the slow way is"
    assert (
        enough(LEVERS[Kind.STAGES], 2, 3) == enough(LEVERS[Kind.TILE], 32, 16) == enough(CHOSEN, "slow", "quick") == ""
    )


def test_levers_of_a_technique_stand_in_its_parameters():
    """Of a kind that all know, or of its own; these come last, and every one has a scenario's words."""
    fields = {field.name: field for field in dataclasses.fields(techniques()["stream_pipeline"].params)}
    found = levers_of(fields)
    assert list(found)[:2] == ["streams", "chunks"]
    assert found["memory"].label == "host memory"
    assert "footprint" not in found


def test_shares_are_written_as_people_would():
    """Whole numbers, and no dust of a division."""
    assert repr(whole(2.0)) == "2"
    assert whole(0.1 + 0.2) == 0.3
