"""Every way to get a scenario wrong: exit code 2 and one message with file, line, field, allowed."""

import pytest

GOOD = """\
question: How many stages?
device: textbook
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 16 KiB}}
  roles:
    producer:
      warps: 1
      per_tile: [{acquire: input}, {tma_load: input}]
    consumer:
      warps: 4
      per_tile:
        - wait: input
        - compute: {ffma: 512, lds: 8}
        - release: input
"""


HOST = """\
question: Does it end?
device: textbook
host:
  slots: {ring: 1}
  streams: {a: {}, b: {}}
  threads:
    main:
      chunks: 2
      per_chunk:
        - acquire: ring
        - h2d: {bytes: 1 MiB, stream: a}
"""


def wrong(old: str, new: str) -> str:
    """The good scenario with one thing changed."""
    assert old in GOOD
    return GOOD.replace(old, new)


def test_good_scenario_is_good(gpusim, tmp_path):
    """What all the others differ from."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    code, out, err = gpusim("run", path, "--json")
    assert (code, err) == (0, "")
    assert '"predicted"' in out


GALLERY = {
    "wrong key at the top": (
        wrong("question: How many", "qestion: How many"),
        ["scenario.yaml:1:1", "qestion", "unknown key", "allowed: question, device", "Did you mean 'question'"],
    ),
    "wrong key of a ring": (
        wrong("{stages: 3", "{stags: 3"),
        ["scenario.yaml:6:19", "kernel.rings.input.stags", "unknown key", "Did you mean 'stages'"],
    ),
    "wrong key of an op": (
        wrong("{ffma: 512", "{fma: 512"),
        ["scenario.yaml:15:", "per_tile.1.compute.fma", "Did you mean 'ffma'"],
    ),
    "unknown op": (
        wrong("- wait: input", "- wiat: input"),
        ["scenario.yaml:14:", "per_tile.0.wiat", "unknown key", "Did you mean 'wait'"],
    ),
    "unknown op as a word": (
        wrong("- release: input", "- sync_thread"),
        ["scenario.yaml:16:", "unknown op 'sync_thread'", "did you mean 'sync_threads'"],
    ),
    "two ops in one": (
        wrong("- release: input", "- {release: input, wait: input}"),
        ["scenario.yaml:16:", "expected one op"],
    ),
    "missing section": (wrong("  grid: 8\n", ""), ["scenario.yaml:3:1", "kernel.grid", "is missing"]),
    "wrong unit": (
        wrong("16 KiB", "16 KiBs"),
        ["scenario.yaml:6:", "kernel.rings.input.bytes", "KiBs", "allowed: B, kB, MB", "Did you mean 'KiB'"],
    ),
    "unit of another dimension": (wrong("16 KiB", "16 us"), ["'16 us' is a time, not a number of bytes"]),
    "no stages": (wrong("stages: 3", "stages: 0"), ["scenario.yaml:6:", "stages", "0 is not possible", "at least 1"]),
    "negative tile": (wrong("16 KiB", "-16 KiB"), ["kernel.rings.input.bytes", "is negative"]),
    "empty tile": (wrong("16 KiB", "0"), ["kernel.rings.input.bytes", "more than 0"]),
    "tile that no bulk copy can move": (
        wrong("16 KiB", "1000"),
        ["scenario.yaml:10:", "tma_load", "a bulk copy of 1000 B", "a multiple of 16"],
    ),
    "more bytes than a stage": (
        wrong("tma_load: input", "tma_load: {ring: input, bytes: 32 KiB}"),
        ["tma_load.bytes", "32768 B do not fit a stage of 16384 B", "at most 16384"],
    ),
    "half a stage": (wrong("stages: 3", "stages: 2.5"), ["expected a whole number"]),
    "NaN": (wrong("ffma: 512", "ffma: .nan"), ["compute.ffma", "not a finite number"]),
    "infinity": (wrong("grid: 8", "grid: .inf"), ["kernel.grid", "whole number"]),
    "number too large": (wrong("ffma: 512", "ffma: 1e999"), ["compute.ffma", "not a finite number"]),
    "endless digits": (wrong("grid: 8", "grid: " + "9" * 5000), ["kernel.grid", "whole number"]),
    "grid beyond the hardware": (wrong("grid: 8", "grid: 1e12"), ["kernel.grid", "at most 2147483647"]),
    "word for a number": (wrong("grid: 8", "grid: many"), ["scenario.yaml:4:", "kernel.grid", "whole number"]),
    "true for a number": (wrong("grid: 8", "grid: true"), ["kernel.grid", "whole number"]),
    "ring that is not there": (
        wrong("wait: input", "wait: inputs"),
        ["scenario.yaml:14:", "there is no ring 'inputs'", "allowed: input", "Did you mean 'input'"],
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
        ["shared memory per CTA", "KiB", "textbook allows", "use fewer stages"],
    ),
    "too many registers": (
        wrong("tiles_per_cta: 12", "tiles_per_cta: 12\n  registers: 300"),
        ["needs 300 registers", "textbook allows 255"],
    ),
    "too many warps": (wrong("warps: 4", "warps: 32"), ["needs 1,056 threads", "allows 1,024"]),
    "unknown device": (
        wrong("device: textbook", "device: txtbook"),
        ["scenario.yaml:2:1", "device", "unknown device 'txtbook'", "allowed:", "Did you mean 'textbook'"],
    ),
    "unknown quantity of a device": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clck: 1 GHz}}"),
        ["scenario.yaml:2:", "device.set.sm.clck", "sm.clock"],
    ),
    "quantity in another dimension": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: 1 GB/s}}"),
        ["device.set.sm.clock", "1 GB/s"],
    ),
    "quantity of nothing": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.count: 0}}"),
        ["scenario.yaml:2:", "device.set.sm.count", "0 must be a whole number, at least 1"],
    ),
    "quantity in a mapping of its own": (
        wrong("device: textbook", "device: {base: textbook, set: {hbm: {read_bandwidth: 8 TB/s}}}"),
        ["scenario.yaml:2:", "device.set.hbm: is a mapping", "one key with its dots, as hbm.read_bandwidth: 8 TB/s"],
    ),
    "list for a quantity": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: [1, 2]}}"),
        ["scenario.yaml:2:", "device.set.sm.clock: [1, 2] is no value (allowed: a number with its unit"],
    ),
    "NaN for a quantity": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: .nan}}"),
        ["scenario.yaml:2:", "device.set.sm.clock", "nan is not a finite number"],
    ),
    "profile that is not there": (
        wrong("device: textbook", "device: mine.yaml"),
        ["scenario.yaml:2:1", "device mine.yaml: no such file beside the scenario (", ") or in the current folder"],
    ),
    "fewer bytes than parts": (
        "question: q\ndevice: textbook\nkernel: {technique: stream_pipeline, params: {bytes: 4096, chunks: 4096}}\n",
        ["scenario.yaml:3:", "kernel.params.bytes", "cannot be cut into 4096 parts", "use 16384 at least"],
    ),
    "unknown technique": (
        "question: q\ndevice: textbook\nkernel: {technique: tma_wrap}\n",
        ["scenario.yaml:3:", "kernel.technique", "unknown technique 'tma_wrap'"],
    ),
    "misspelled technique": (
        "question: q\ndevice: textbook\nkernel: {tecnique: sync_tile, params: {warps: 4}}\n",
        ["scenario.yaml:3:", "kernel.tecnique: unknown key (allowed: technique, params). Did you mean 'technique'?"],
    ),
    "tensor cores": (
        wrong("- wait: input", "- wmma: 4"),
        ["scenario.yaml:14:", "per_tile.0.wmma: unknown key; tensor cores are not modelled"],
    ),
    "threads of a role": (
        wrong("      warps: 4\n", "      threads: 128\n"),
        ["scenario.yaml:12:", "roles.consumer.threads", "32 threads are a warp", "Did you mean 'warps'?"],
    ),
    "too many CTAs in y": (wrong("grid: 8", "grid: [16, 70000]"), ["has 70000 CTAs in y", "at most 65,535 in y and z"]),
    "question of blanks": (wrong("How many stages?", "'   '"), ["scenario.yaml:1:1: question: has nothing but blanks"]),
    "question of nothing": (wrong("How many stages?", "''"), ["scenario.yaml:1:1: question: is empty"]),
    "list of rings": (wrong("{input: {stages: 3, bytes: 16 KiB}}", "[input]"), ["rings: ['input'] is no mapping"]),
    "no list of ops": (
        wrong("[{acquire: input}, {tma_load: input}]", ""),
        ["scenario.yaml:10:", "per_tile: None is no list (allowed: a list, also of one)"],
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
    "host without threads": (GOOD + "host: {streams: 2}\n", ["scenario.yaml:17:1", "host.threads", "is missing"]),
    "kernel and host": (
        GOOD + "host: {threads: {main: {per_chunk: [{h2d: 4 MiB}]}}}\n",
        ["both kernel and host are given", "host.kernels"],
    ),
    "neither kernel nor host": ("question: q\ndevice: textbook\n", ["kernel is missing", "host"]),
    "sweep of nothing": (GOOD + "sweep: {}\n", ["scenario.yaml:17:1: sweep: is empty"]),
    "sweep without a list": (GOOD + "sweep: {kernel.grid: 4}\n", ["sweep", "kernel.grid: expected a list"]),
    "deadlock": (wrong("- release: input", "- sync_threads"), ["waits at tile"]),
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
    "deadlock of a host thread": (
        HOST,
        [
            "nothing can go on",
            "thread 'main' waits at chunk 1 for a free slot of 'ring' (none left, of 1 at the beginning",
            " and 0 given back); nobody ever satisfies it\n  add what is missing, or do not wait for it",
        ],
    ),
    "deadlock of two streams": (
        HOST
        + """\
        - host_func: {stream: a, syncs: b, releases: ring}
        - record: {event: done, stream: a}
        - wait_event: {event: done, stream: b}
        - h2d: {bytes: 4, stream: b}
""",
        [
            "host function of chunk 0 (#2) on stream 'a' waits for h2d of chunk 0 (#4) on stream 'b' (host sync)",
            "could be satisfied by host function of chunk 0 (#2) on stream 'a'",
            "cycle: ",
            "a host function may not wait for the device: let a thread do so, or a stream by an event",
        ],
    ),
    "deadlock of a thread with more chunks than another": (
        HOST.replace("slots: {ring: 1}", "slots: {full: 0}").replace("acquire: ring", "release: full")
        + "    other: {chunks: 3, per_chunk: [{acquire: full}]}\n",
        [
            "deadlock: nothing can go on\n",
            "thread 'other' waits at chunk 2 for a free slot of 'full' (none left, of 0 at the beginning",
            " and 2 given back); could be satisfied by thread 'main' of 2 chunks\n",
            "thread 'main' of 2 chunks ended before 'full' had enough: compare the counts",
        ],
    ),
    "event that nobody records": (
        HOST + "        - wait_event: {event: done, stream: b}\n",
        ["scenario.yaml:12:24", "per_chunk.2.wait_event.event", "event 'done' is waited for but never recorded"],
    ),
    "stream of a graph that did not fork": (
        HOST.replace("acquire: ring", "launch_graph: {graph: g, stream: a}")
        + "  kernels: {k: {duration: 1 us}}\n"
        + "  graphs: {g: {ops: [{launch: k}, {launch: {kernel: k, stream: b}}]}}\n",
        [
            "scenario.yaml:13:",
            "host.graphs.g.ops.1.launch: stream 'b' did not fork from 'a', the first one of graph 'g'",
        ],
    ),
    "graph of nothing but waits for earlier chunks": (
        HOST + '  graphs: {g: {ops: [{wait_event: "e#-1"}]}}\n',
        ["scenario.yaml:12:", "graphs.g.ops.0.wait_event.event", "has no chunks before it"],
    ),
    "buffer that another word frees": (
        HOST + '        - malloc: {buffer: "own#", bytes: 4}\n        - free_async: "own#"\n',
        ["scenario.yaml:13:", "buffer 'own0' is allocated by malloc, so free_async cannot free it", "allowed: free)"],
    ),
    "kernel that costs nothing": (
        HOST + "  kernels: {own: {blocks: 8}}\n",
        ["scenario.yaml:12:13", "host.kernels.own", "does not say what it costs; say duration, or bytes and flop"],
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
        ["setmaxnreg (consumer 232)", "asks for", "registers per CTA", "wait for ever", "launch with more registers"],
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
    "broken YAML": (
        wrong("grid: 8", "grid: [8"),
        ["scenario.yaml:5:16: not YAML", "(what opens at 4:9 is not closed before)"],
    ),
    "a key that is a list": (GOOD + "? [a, b]\n: 3\n", ["scenario.yaml:17:3: a key must be a name"]),
    "a key that is nothing": (GOOD + "~: 3\n", ["scenario.yaml:17:1: ~ is nothing in YAML"]),
    "tab": ("question: q\n\tdevice: x\n", ["scenario.yaml:2:", "not YAML"]),
    "duplicate key": (GOOD + "device: textbook\n", ["scenario.yaml:17:1", "device", "is given twice"]),
    "tag": (wrong("grid: 8", "grid: !!python/object/apply:os.system [ls]"), ["scenario.yaml:4:", "YAML tags"]),
    "merge key": (GOOD + "<<: {device: x}\n", ["merge keys are not supported"]),
    "a name that is nothing": (HOST.replace("{a: {}", "{a: {}, null: {}"), ["host.streams", "null is nothing in YAML"]),
    "two documents": (GOOD + "---\nquestion: again\n", ["not YAML: expected a single document", "but found another"]),
    "alias bomb": (
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
        ["expands to too many values"],
    ),
    "alias of itself": ("a: &a [*a]\n", ["nested too deeply"]),
    "deep nesting": ("a: " + "[" * 20_000, ["scenario.yaml"]),
    "empty file": ("", ["scenario.yaml", "is empty"]),
    "comment alone": ("# nothing\n", ["is empty"]),
    "a list": ("- a\n- b\n", ["is not a scenario", "a mapping"]),
    "a word": ("hello\n", ["is not a scenario"]),
    "binary file": (b"\x7fELF\x00\x01\xff\xfe" * 40, ["is not a text file"]),
    "zero bytes": (b"\x00" * 64, ["scenario.yaml", "not YAML"]),
    "too large": ("# " + "x" * 300_000, ["is too large", "256 KiB"]),
}


@pytest.mark.parametrize(("content", "expected"), GALLERY.values(), ids=GALLERY.keys())
def test_wrong_scenario_is_explained(refused, content, expected):
    """One message that names the place and what is allowed there."""
    message = refused(content)
    for part in expected:
        assert part in message


def test_streams_that_wait_for_each_other_have_not_ended(refused):
    """Nothing of them had too few arrivals: streams have none."""
    message = refused(GALLERY["deadlock of two streams"][0])
    assert "ended before" not in message
    assert "arrivals" not in message


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("kernel.gird=4", "--set kernel.gird"),
        ("kernel.grid=many", "whole number"),
        ("kernel.grid", "expected path=value"),
        ("kernel..grid=4", "has an empty part"),
        ("kernel.grid=[", "not YAML"),
        ("kernel.grid=4,8", "gpusim sweep takes lists"),
        ("device=nothing", "unknown device"),
    ],
)
def test_wrong_override_is_explained(refused, option, expected):
    """The message names the override, not a line of the file."""
    assert expected in refused(GOOD, "--set", option)


def test_folder_instead_of_a_file(gpusim, tmp_path):
    """Says that it is a folder."""
    code, _, err = gpusim("run", tmp_path)
    assert code == 2
    assert "is a folder, not a scenario file" in err


def test_missing_file_offers_the_nearest(gpusim, tmp_path):
    """By name, among the files beside it."""
    (tmp_path / "stages.yaml").write_text(GOOD)
    code, _, err = gpusim("run", tmp_path / "stage.yaml")
    assert code == 2
    assert "no such file. Did you mean 'stages.yaml'?" in err


def test_a_page_for_the_reference_has_to_be_there(gpusim, tmp_path):
    """It goes between two lines of one."""
    code, _, err = gpusim("schema", "-o", tmp_path / "new.md")
    assert code == 2
    assert "new.md: no such page; the tables go into one that exists, as docs/ops.md or docs/host.md" in err


def test_a_file_is_not_like_another_because_of_its_ending(gpusim, tmp_path):
    """All scenarios end in .yaml."""
    (tmp_path / "t.yaml").write_text(GOOD)
    assert gpusim("run", tmp_path / "nonexist.yaml")[2].endswith("no such file\n")


def test_terminal_is_safe_from_control_characters(gpusim, tmp_path):
    """A key with an escape sequence is printed harmlessly."""
    path = tmp_path / "scenario.yaml"
    path.write_text(GOOD + '"\\e[2Jkey": 1\n')
    code, _, err = gpusim("run", path)
    assert code == 2
    assert "\x1b" not in err


def test_overwritten_stage_is_explained(refused):
    """A producer that does not acquire overwrites what is being read: role, stage and remedy."""
    message = refused(wrong("[{acquire: input}, {tma_load: input}]", "[{tma_load: input}]"))
    for part in ("stage", "tile", "ring 'input'", "acquire"):
        assert part in message


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (wrong("16 KiB", "160 KiB"), "scenario.yaml:3:1: kernel: "),
        (wrong("        - release: input\n", ""), "scenario.yaml:3:1: kernel: deadlock"),
        (HOST, "scenario.yaml:3:1: host: deadlock"),
        (HOST.replace("acquire: ring", "launch: {kernel: k, stream: b}")
         + "  kernels: {k: {duration: 1 us, threads: 999, registers: 99}}\n", ": host.kernels.k: k needs"),
        (HOST.replace("acquire: ring", 'malloc_async: {buffer: "x#", bytes: 64 MiB, stream: b, pool: own}')
         + "  pools: {own: {limit: 32 MiB}}\n", ": host.pools.own: pool 'own' has no room for 'x0'"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_the_run_has_its_place_too(refused, content, place):
    """What does not fit, deadlocks, and calls that the runtime rejects, at file, line and field."""
    assert place in refused(content)
