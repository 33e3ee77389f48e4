"""What a host program cannot be, and how it ends."""

from __future__ import annotations

from tests.negative.gallery.good import GOOD, HOST

HOSTS: dict[str, tuple[str | bytes, list[str]]] = {
    "technique of the host under host": (
        "question: q\ndevice: textbook\nhost:\n  technique: stream_pipeline\n",
        ["host.technique", "techniques stand under `kernel`, those of the host as well"],
    ),
    "host without threads": (GOOD + "host: {streams: 2}\n", ["scenario.yaml:17:1", "host.threads", "is missing"]),
    "host program for a kernel": (
        HOST.replace("acquire: ring", "launch: {kernel: k, stream: a}")
        + "  kernels: {k: {technique: stream_pipeline}}\n",
        ["host.kernels.k.technique: expected a kernel, got stream_pipeline, which is a host program"],
    ),
    "kernel and host": (
        GOOD + "host: {threads: {main: {per_chunk: [{h2d: 4 MiB}]}}}\n",
        ["both kernel and host are given", "host.kernels"],
    ),
    "neither kernel nor host": ("question: q\ndevice: textbook\n", ["kernel is missing", "host"]),
    "deadlock of a host thread": (
        HOST,
        [
            "nothing can go on",
            "thread 'main' waits at chunk 1 for a free slot of 'ring' (none left, of 1 at the beginning",
            " and 0 given back); nobody ever satisfies it\n  put release: ring in a thread, or releases: ring in a",
        ],
    ),
    "deadlock of a host thread before its own function": (
        HOST.replace("slots: {ring: 1}", "slots: {ring: 0}") + "        - host_func: {stream: a, releases: ring}\n",
        ["nobody ever satisfies it\n  the host_func that gives one back comes behind it: begin with more slots"],
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
    "poll in Python beside another thread": (
        HOST
        + """\
        - record: {event: done, stream: a}
        - sync_event: {event: done, poll: true}
    other: {per_chunk: [{h2d: {bytes: 4, stream: b}}]}
""",
        [
            "scenario.yaml:13:",
            "per_chunk.3.sync_event.poll: a loop in Python keeps other threads and host functions out",
            "allowed: poll in a program of one thread without host functions, or with api: cuda",
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
}
