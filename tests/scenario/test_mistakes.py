"""All mistakes of a file are told at once, each with its place and what was perhaps meant."""

from __future__ import annotations

import pickle

import pytest

from gpusim.errors import ScenarioError
from gpusim.scenario import from_data, load, loads

MANY = """\
question: typos
device: textbook
kernel:
  grid: 132
  tiles_per_cta: 20
  rings: {input: {stags: 2, bytes: 16 KiBs}}
  roles:
    producer: {warps: 1, per_tile: [{aquire: input}, {tma_load: input}]}
    consumer: {warps: 40, per_tile: [{wait: input}, {compute: {FFMA: 100}}, {release: input}]}
"""

SOUND = """\
question: sound
device: textbook
kernel:
  grid: 132
  tiles_per_cta: 20
  rings: {input: {stages: 2, bytes: 16 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 512}}, {release: input}]}
"""


def error_of(text: str) -> ScenarioError:
    """What reading it ends with."""
    with pytest.raises(ScenarioError) as caught:
        loads(text)
    return caught.value


def test_all_at_once_in_the_order_of_the_file():
    """A key that is missing because it is misspelled is one mistake, not two."""
    error = error_of(MANY)
    lines = str(error).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"scenario:{place}" for place in ("6:19", "6:29", "8:38", "9:16", "9:64")
    ]
    for line, name in zip(lines, ("stages", "KiB", "acquire", "at most 32", "ffma"), strict=True):
        assert name in line
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_names_that_refer_to_nothing_are_all_told_too():
    """What only the whole kernel shows comes when every value is right."""
    text = MANY.replace("stags", "stages").replace("KiBs", "KiB").replace("aquire", "acquire").replace("40", "4")
    text = (
        text.replace("FFMA", "ffma")
        .replace("tma_load: input", "tma_load: inptu")
        .replace("wait: input", "wait: in_put")
    )
    lines = str(error_of(text)).splitlines()
    assert len(lines) == 2
    assert all("Did you mean 'input'?" in line for line in lines)


def test_no_more_than_ten():
    """The rest is counted."""
    text = MANY.replace("{aquire: input}", ", ".join(["{aquire: input}"] * 12))
    lines = str(error_of(text)).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "… and 6 more"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{compute: {int: 20}}", "unknown key; integer instructions are `other`"),
        ("{compute: {exp: 2}}", "MUFU is `mufu`"),
        ("{atomicAdd: 4}", "unknown key; an atomic on global memory is the op `atomic`"),
        ("{red: 4}", "Did you mean 'atomic'?"),
        ("{atom: 4}", "Did you mean 'atomic'?"),
        ("{atoms: 4}", "`compute: {atoms: n}`"),
        ("{atomic: {bytes: 4, retruns: true}}", "Did you mean 'returns'?"),
        ("{load: 4, wait: x}", "not load, wait in one step"),
    ],
)
def test_what_has_another_name_here_is_said(step, message):
    """Or that it has none."""
    assert message in str(error_of(MANY.replace("{aquire: input}", step)))


def test_kernels_of_a_host_program_are_helped_as_well():
    """Their op lists stand deeper."""
    text = """\
question: q
device: textbook
host:
  threads: {main: {per_chunk: [{launch: k}]}}
  kernels:
    k: {grid: 4, tiles_per_cta: 1, roles: {all: {warps: 1, per_tile: [{compute: {ffmma: 4}}, {stor: 4}], wraps: 2}}}
"""
    lines = str(error_of(text)).splitlines()
    for line, name in zip(lines, ("ffma", "store", "warps"), strict=True):
        assert f"Did you mean {name!r}?" in line


@pytest.mark.parametrize(
    "section", ["kernel: no", "kernel: false", "host: 4", "host: {threads: {main: 3}, kernels: {k: x}}"]
)
def test_what_is_no_mapping_is_said_so(section):
    """Whatever stands there instead."""
    assert "expected a mapping, got" in str(error_of(f"question: q\ndevice: textbook\n{section}\n"))


def test_a_colon_in_a_text_wants_quotes():
    """YAML's own message does not say so."""
    error = error_of(MANY.replace("question: typos", "question: Why is it slow: two stages?"))
    assert error.line == 1
    assert error.allowed == (
        'a text that has a colon and a blank in quotes, as question: "Why is it slow: two stages?"'
    )


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ('question: Is "a": it\'s b?', "question: 'Is \"a\": it''s b?'"),
        ("question: all\n  of: it", 'question: "Two stages: enough?"'),
        ("question: q: r  # s: t", 'question: "Two stages: enough?"'),
        (f"question: q: {'r' * 200}", 'question: "Two stages: enough?"'),
    ],
)
def test_the_line_is_shown_with_its_quotes(line, remedy):
    """Those that it does not hold itself; where the line does not show what was meant, another one."""
    assert error_of(MANY.replace("question: typos", line)).allowed.endswith(f"in quotes, as {remedy}")


@pytest.mark.parametrize(("key", "meant"), [("regs", "registers"), ("smem", "shared_bytes"), ("ctas", "grid")])
def test_what_others_call_a_field_is_known(key, meant):
    """Where it looks like none, or like a wrong one."""
    assert f"Did you mean {meant!r}?" in str(error_of(MANY.replace("grid: 132", f"grid: 132\n  {key}: 4")))


HOST = """\
question: typos
device: textbook
host:
  streams: 2
  kernels: {k: {duration: DURATION}}
  threads: {main: {chunks: 3, per_chunk: [{launch: {kernel: k, stream: s0}}, STEP]}}
"""


def host(step: str = "sync_device", duration: str = "20 us") -> str:
    """A host program with a kernel that takes so long, and ``step`` behind its launch."""
    return HOST.replace("DURATION", duration).replace("STEP", step)


@pytest.mark.parametrize(
    ("duration", "step", "told"),
    [
        ("20", "{sync_stream: s0}", "a plain number is seconds, and 20 s is long: write 20 us, or 20 s"),
        ("0.02", "{sync_stream: s0}", "0.02 s is long"),
        ("20 us", '{sync_stream: "s#"}', "streams: `deal` sends chunks round them"),
        ("20 us", '{sync_event: "e#+1"}', "#-n for that of the one n before"),
        ("20 us", "sync", "unknown op 'sync'; did you mean 'sync_stream'?"),
        ("20 us", "{callback: s0}", "Did you mean 'host_func'?"),
        ("20 us", "{event_query: e}", "Did you mean 'sync_event'?"),
        (
            "20 us",
            "{host_func: 30 us}",
            "a time, and what stands alone names slots (allowed: host_func: {seconds: 30 us})",
        ),
        ("20 us", "{host_func: 3e-5}", "allowed: host_func: {seconds: 3e-05}"),
        ("20 us", "{host_func: 'a b'}", "expected a name, got 'a b'"),
        ("20 us", "{h2d: 1 MiB}", "h2d names no stream, so each chunk's goes to another of all 2"),
    ],
)
def test_what_is_easily_meant_otherwise_in_a_host_program(duration, step, told):
    """A unit that was left out, a stream that was, words and numbers that CUDA or English have and this has not."""
    assert told in str(error_of(host(step, duration)))


def test_streams_that_others_go_round_can_be_told():
    """With ``deal``; and seconds below the limit are a plain number."""
    text = host("{h2d: 1 MiB}", "2e-5")
    assert loads(text.replace("{chunks: 3", "{chunks: 3, deal: [s1]")).program().threads[0].ops


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("streams: 2", "streams: {s0, s1}", "host.streams.s0: nothing is said of s0 (allowed: s0: {} where all is"),
        (
            "streams: 2",
            "streams: {s0: blocking}",
            "expected a mapping, got 'blocking' (allowed: kind, priority, device)",
        ),
        ("streams: 2", "streams: 2\n  pools: {own}", "nothing is said of own (allowed: own: {}"),
        (
            "streams: 2",
            "streams: 2\n  api: c++",
            "'c++' is not possible (allowed: 'cupy' or 'cuda'). Did you mean 'cuda'?",
        ),
        ("streams: 2", "streams: 2\n  api: cpp", "Did you mean 'cuda'?"),
        ("streams: 2", "streams: 2\n  api: python", "Did you mean 'cupy'?"),
    ],
)
def test_what_is_written_instead(old, new, told):
    """Names alone where a mapping stands, and languages where their API does."""
    assert told in str(error_of(host().replace(old, new)))


def test_device_graphs_and_threads_are_told_together():
    """None of them hides another."""
    text = """\
question: typos
device: h200
host:
  streams: {a: {}, b: {}}
  kernels: {k: {duration: 5 us}, t: {technique: tma_wrap}}
  graphs:
    g: {ops: [{launch: {kernel: k, stream: a}}, {launch: {kernel: k, stream: b}}]}
    h: {ops: [{launch: {kernel: k, stream: b}}, {memset: {bytes: 4, stream: a}}]}
  threads:
    one: {prologue: [{launch: {kernel: kk, stream: a}}, {sync_event: e}]}
    two: {prologue: [{free: q}, {launch_graph: {graph: i, stream: a}}]}
"""
    lines = str(error_of(text)).splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "5", "7", "8", "10", "10", "11", "11"]
    assert "Did you mean 'h200_sxm'?" in lines[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "device: textbook",
            "device: [textbook]",
            "device: expected a name or a mapping, got ['textbook'] (allowed: the name",
        ),
        (
            "ffma: 512",
            "ffma: 8, ilp: 16",
            "ilp: 8 ffma are no 16 chains that are independent of each other (allowed: at most 8",
        ),
        ("ffma: 512", "mma: 8, mma_ilp: 9", "mma_ilp: 8 mma are no 9 chains"),
        (
            "ffma: 512",
            "ffma: 60, alone: 100, gaps: [10, 20, 30]",
            "gaps: these gaps are 140 cycles long, and a warp alone",
        ),
        (
            "{tma_load: input}",
            "{tma_load: {ring: input, shared_by: 19}}",
            "shared_by: 19 is not possible (allowed: at most 18",
        ),
        ("16 KiB", "0100000", "bytes: 0100000 begins with 0: read as octal, as some do, it is 32768 (allowed: 100000"),
    ],
)
def test_what_nobody_means_is_refused(old, new, told):
    """With what would be possible."""
    text = SOUND.replace(old, new)
    assert text != SOUND
    assert told in str(error_of(text))


def test_what_looks_odd_and_is_meant_is_not():
    """Zero itself, a fraction, fewer instructions than the chains that are there by default, text in quotes."""
    loads(
        SOUND.replace("ffma: 512", "ffma: 2, lds: 00, sts: 07, setup: 0.5").replace(
            "question: sound", "question: '007'"
        )
    )
    resolved = loads(SOUND.replace("ffma: 512", "ffma: 2")).resolved()
    assert from_data(resolved).resolved() == resolved


def test_no_stream_to_deal_chunks_to():
    """Leaving it out means all of them."""
    host = "{streams: {a: {}}, threads: {t: {deal: [], per_chunk: [{memset: {bytes: 4}}]}}}"
    text = f"question: q\ndevice: textbook\nhost: {host}"
    assert "host.threads.t.deal: expected at least 1 entry, got none" in str(error_of(text))


def test_a_link_to_nothing_says_where_it_leads(tmp_path):
    """Its own name would be the nearest."""
    link = tmp_path / "mine.yaml"
    link.symlink_to("elsewhere.yaml")
    with pytest.raises(ScenarioError) as caught:
        load(link)
    assert str(caught.value) == f"{link}: is a link to elsewhere.yaml, which is not there"
