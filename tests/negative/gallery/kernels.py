"""What a spelled-out kernel cannot be: its ops, roles, rings and sizes, and how it ends."""

from __future__ import annotations

from tests.negative.gallery.good import GOOD, wrong

KERNELS: dict[str, tuple[str | bytes, list[str]]] = {
    "tile that no bulk copy can move": (
        wrong("16 KiB", "1000"),
        ["scenario.yaml:10:", "tma_load", "a bulk copy of 1000 B", "a multiple of 16"],
    ),
    "grid that no clusters make up": (
        wrong("grid: 8", "grid: 10\n  cluster: 4"),
        ["scenario.yaml:4:", "kernel.grid", "expected whole clusters of 4 CTAs, got 10", "a multiple of 4"],
    ),
    "cluster of a size that there is not": (
        wrong("grid: 8", "grid: 9\n  cluster: 3"),
        ["kernel.cluster", "3", "1, 2, 4 or 8"],
    ),
    "tiles that not all CTAs of a cluster have": (
        wrong("grid: 8", "grid: 8\n  cluster: 2")
        .replace("tiles_per_cta: 12", "tiles_per_cta: {total: 9}")
        .replace("tma_load: input", "tma_load: {ring: input, multicast: true}"),
        ["expected as many tiles for all CTAs of a cluster", "got 2, 1 in cluster 0"],
    ),
    "multicast without a cluster": (
        wrong("tma_load: input", "tma_load: {ring: input, multicast: true}"),
        ["tma_load.multicast", "reaches the CTAs of a cluster", "cluster: 2, 4 or 8"],
    ),
    "multicast in parts that no bulk copy can move": (
        wrong("grid: 8", "grid: 8\n  cluster: 8")
        .replace("16 KiB", "1000")
        .replace("tma_load: input", "tma_load: {ring: input, multicast: true}"),
        ["8 bulk copies of 1000 B together", "a multiple of 128"],
    ),
    "more bytes than a stage": (
        wrong("tma_load: input", "tma_load: {ring: input, bytes: 32 KiB}"),
        ["tma_load.bytes", "32768 B do not fit a stage of 16384 B", "at most 16384"],
    ),
    "ring that is not there": (
        wrong("wait: input", "wait: inputs"),
        ["scenario.yaml:14:", "there is no ring 'inputs'", "allowed: input", "Did you mean 'input'"],
    ),
    "phase that no barrier has": (
        wrong("- release: input", "- mbarrier_wait: {barrier: done, phase: -1}"),
        ["mbarrier_wait.phase: -1 is not possible (allowed: at least 0)"],
    ),
    "barrier that is not there": (
        wrong("- release: input", "- arrive: done"),
        ["there is no barrier 'done'", "declare it under barriers"],
    ),
    "tile counts for another grid": (
        wrong("tiles_per_cta: 12", "tiles_per_cta: [1, 2]"),
        ["kernel.tiles_per_cta", "lists 2 CTAs, but grid is 8"],
    ),
    "too much shared memory": (
        wrong("stages: 3", "stages: 40"),
        ["shared memory per CTA", "KiB", "textbook allows", "fewer stages"],
    ),
    "too many registers": (
        wrong("tiles_per_cta: 12", "tiles_per_cta: 12\n  registers: 300"),
        ["needs 300 registers", "textbook allows 255"],
    ),
    "too many warps": (wrong("warps: 4", "warps: 32"), ["needs 1,056 threads", "allows 1,024"]),
    "tensor cores": (
        wrong("- wait: input", "- wmma: 4"),
        ["scenario.yaml:14:", "per_tile.0.wmma: unknown key; mma.sync is `compute: {mma: n}`"],
    ),
    "threads of a role": (
        wrong("      warps: 4\n", "      threads: 128\n"),
        ["scenario.yaml:12:", "roles.consumer.threads", "32 threads are a warp", "Did you mean 'warps'?"],
    ),
    "too many CTAs in y": (wrong("grid: 8", "grid: [16, 70000]"), ["has 70000 CTAs in y", "at most 65,535 in y and z"]),
    "no list of ops": (
        wrong("[{acquire: input}, {tma_load: input}]", ""),
        ["scenario.yaml:10:", "per_tile: expected a list, got nothing"],
    ),
    "more loads under way than there are": (
        wrong("{ffma: 512, lds: 8}", "{ffma: 512, lds: 8, loads_in_flight: 9}"),
        ["scenario.yaml:15:", "compute.loads_in_flight: 9 of 8 loads (lds) are under way", "at most 8"],
    ),
    "more of half rate than there are": (
        wrong("{ffma: 512, lds: 8}", "{other: 4, half_rate: 100}"),
        ["scenario.yaml:15:", "compute.half_rate: 100 of 4 instructions are of half rate", "at most 4"],
    ),
    "fewer cycles than instructions": (
        wrong("{ffma: 512, lds: 8}", "{ffma: 512, lds: 8, alone: 500}"),
        ["scenario.yaml:15:", "compute.alone: 500 cycles for 520 instructions", "at least 520"],
    ),
    "other loads for a product than are counted": (
        wrong("{ffma: 512, lds: 8}", "{mma: 32, lds: 8, fragments: [[3, 4, 1], [1, 4, 0]]}"),
        ["scenario.yaml:15:", "compute.fragments: 4 loads for 8 products, and 8 lds for 32 mma", "as many loads"],
    ),
    "runs that are no list": (
        wrong("{ffma: 512, lds: 8}", "{mma: 32, lds: 8, fragments: 5}"),
        ["scenario.yaml:15:", "compute.fragments: expected a list of numbers, or of such lists, got 5"],
    ),
    "runs of a whole kernel": (
        wrong("{ffma: 512, lds: 8}", "{mma: 4096, lds: 8, fragments: [[8, 4096, 0]]}"),
        ["scenario.yaml:15:", "compute.fragments: 4104 loads and products", "at most 2048"],
    ),
    "runs without products": (
        wrong("{ffma: 512, lds: 8}", "{mma: 32, lds: 8, fragments: [[3, 0, 1]]}"),
        ["scenario.yaml:15:", "compute.fragments: 3 loads and 0 products", "some of both"],
    ),
    "barrier that one role misses": (
        wrong("- release: input", "- release: input\n        - sync_threads"),
        [
            "kernel.roles.consumer.per_tile.3.sync_threads: consumer at tile 0: sync_threads is for all warps",
            "role 'producer' (1 warp) does not come to it; put sync_threads in role 'producer' (1 warp) as well",
            "or let role 'consumer' (4 warps) meet at named_barrier: {id: 1, warps: 4}",
        ],
    ),
    "deadlock": (wrong("- release: input", ""), ["waits at tile"]),
    "deadlock of two roles": (
        wrong("rings: {input", "rings: {back: {stages: 2, bytes: 16}, input")
        .replace(
            "[{acquire: input}, {tma_load: input}]",
            "[{wait: back}, {acquire: input}, {tma_load: input}, {release: back}]",
        )
        .replace("- release: input", "- release: input\n        - producer_commit: back"),
        [
            "producer waits at tile 0 for sm[0].cta[0].back[0] full barrier",
            "phase 0 has 0 of 4 arrivals",
            "cycle: sm[0].cta[0].",
            "has to do its part before it waits",
        ],
    ),
    "role without ops": (
        GOOD + "    lazy: {warps: 2, per_tile: []}\n",
        ["scenario.yaml:17:22", "kernel.roles.lazy.per_tile", "never does anything", "idle_warps"],
    ),
    "no tile for anybody": (
        wrong("tiles_per_cta: 12", "tiles_per_cta: 0"),
        ["kernel.tiles_per_cta", "no role ever runs"],
    ),
    "turn beyond its end": (
        wrong("      warps: 4\n", "      warps: 4\n      every: 2\n      offset: 2\n"),
        ["scenario.yaml:14:", "kernel.roles.consumer.offset", "is 2 with every 2", "at most 1"],
    ),
    "op of some tiles beyond its end": (
        wrong("{ffma: 512, lds: 8}", "{ffma: 512, lds: 8, every: 4, offset: 4}"),
        ["scenario.yaml:15:", "per_tile.1.compute.offset", "is 4 with every 4", "at most 3"],
    ),
    "ops that never come together": (
        wrong("{ffma: 512, lds: 8}", "{ffma: 512, lds: 8, every: 1000}\n        - compute: {other: 1, every: 999}"),
        ["kernel.roles", "only after 999,000 tiles", "at most 1,024"],
    ),
    "stage of some tiles": (
        wrong("- release: input", "- release: {ring: input, every: 2}"),
        ["scenario.yaml:16:", "per_tile.2.release.every", "release belongs to every tile of its ring", "of the role"],
    ),
    "op of some tiles that runs once": (
        wrong("- release: input", "- release: input\n      prologue: [{compute: {other: 4, every: 2}}]"),
        ["kernel.roles.consumer.prologue.0.compute.every", "means nothing in prologue"],
    ),
    "tiles that nobody waits for": (
        wrong("      warps: 4\n", "      warps: 4\n      every: 2\n"),
        ["kernel.rings.input", "number 1 is waited for by no warps", "see every and offset"],
    ),
    "registers from nowhere": (
        wrong("- release: input", "- release: input\n      prologue: [{set_max_nreg: 232}]"),
        ["setmaxnreg (consumer 232)", "asks for", "registers per CTA", "wait forever", "launch with more registers"],
    ),
    "copies ahead of their groups": (
        wrong(
            "        - release: input\n",
            "        - release: input\n    own: {warps: 1, per_tile: "
            "[{cp_async: {ring: input, ahead: 2}}, commit_group, {wait_group: 2}]}\n",
        ),
        ["own.per_tile.1.commit_group", "its copies run ahead (2), the group does not", "commit_group: {ahead: 2}"],
    ),
    "alignment that is none": (
        wrong("{tma_load: input}", "{tma_load: {ring: input, align: 24}}"),
        ["tma_load.align", "a power of two"],
    ),
}
