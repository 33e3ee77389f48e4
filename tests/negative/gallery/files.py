"""What is no YAML, or none that a scenario is read from."""

from __future__ import annotations

from tests.negative.gallery.good import GOOD, HOST, wrong

FILES: dict[str, tuple[str | bytes, list[str]]] = {
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
