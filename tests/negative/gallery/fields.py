"""Keys, units and numbers of any field; techniques, questions and sweeps."""

from __future__ import annotations

from tests.negative.gallery.good import GOOD, wrong

FIELDS: dict[str, tuple[str | bytes, list[str]]] = {
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
    "question that drives the terminal": (
        wrong("question: How many stages?", 'question: "\\e[31mred"'),
        ["scenario.yaml:1:1: question: has the control character '\\x1b'"],
    ),
    "name of a role in other letters": (
        wrong("    consumer:", "    r\u00f4le:"),
        ["expected a name, got 'r\u00f4le' (allowed: letters, digits and _, not a digit first)"],
    ),
    "no stages": (wrong("stages: 3", "stages: 0"), ["scenario.yaml:6:", "stages", "0 is not possible", "at least 1"]),
    "negative tile": (wrong("16 KiB", "-16 KiB"), ["kernel.rings.input.bytes", "is negative"]),
    "empty tile": (wrong("16 KiB", "0"), ["kernel.rings.input.bytes", "more than 0"]),
    "half a stage": (wrong("stages: 3", "stages: 2.5"), ["expected a whole number"]),
    "NaN": (wrong("ffma: 512", "ffma: .nan"), ["compute.ffma", "not a finite number"]),
    "infinity": (wrong("grid: 8", "grid: .inf"), ["kernel.grid", "whole number"]),
    "number too large": (wrong("ffma: 512", "ffma: 1e999"), ["compute.ffma", "not a finite number"]),
    "endless digits": (wrong("grid: 8", "grid: " + "9" * 5000), ["kernel.grid", "whole number"]),
    "grid beyond the hardware": (wrong("grid: 8", "grid: 1e12"), ["kernel.grid", "at most 2147483647"]),
    "word for a number": (wrong("grid: 8", "grid: many"), ["scenario.yaml:4:", "kernel.grid", "whole number"]),
    "true for a number": (wrong("grid: 8", "grid: true"), ["kernel.grid", "whole number"]),
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
    "question of blanks": (wrong("How many stages?", "'   '"), ["scenario.yaml:1:1: question: has nothing but blanks"]),
    "question of nothing": (wrong("How many stages?", "''"), ["scenario.yaml:1:1: question: is empty"]),
    "list of rings": (
        wrong("{input: {stages: 3, bytes: 16 KiB}}", "[input]"),
        ["rings: expected a mapping, got ['input']"],
    ),
    "sweep of nothing": (GOOD + "sweep: {}\n", ["scenario.yaml:17:1: sweep: is empty"]),
    "sweep without a list": (GOOD + "sweep: {kernel.grid: 4}\n", ["sweep", "kernel.grid: expected a list"]),
}
