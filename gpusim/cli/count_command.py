"""``count``: what the ops of a kernel must state, from its disassembly."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gpusim.cli.output import console, print_json, print_table
from gpusim.errors import GpusimError
from gpusim.program import sass

__all__ = ["count"]


def count(file: Path, function: str | None, json: bool) -> None:
    """Instructions of every loop, or of a function without one, by the word and field that states them."""
    found = sass.functions(_text(file))
    if not found:
        raise GpusimError(f"{file}: holds no function; it must be what `cuobjdump -sass kernel.cubin` prints")
    if function is not None and function not in found:
        raise GpusimError(f"{file}: has no function {function}; there are {', '.join(found)}")
    chosen = {name: text for name, text in found.items() if function in (None, name)}
    data = {name: _parts(sass.parse(text)) for name, text in chosen.items()}
    if json:
        print_json({"functions": data})
        return
    for name, parts in data.items():
        for part in parts:
            rows = [(row["word"], row["field"], row["count"], row["opcodes"]) for row in part["words"]]
            title = f"{name}, {part['part']} from {part['first']} to {part['last']}"
            print_table(title, ("word", "field", "count", "SASS"), rows)
    console().print("Per warp and turn; a loop's count holds the loops inside it once. See docs/programs.md.")


def _parts(instructions: list[sass.Instruction]) -> list[dict[str, Any]]:
    """Every loop that does something, or the whole of a function without one."""
    loops = [_part("loop", loop) for loop in sass.loops(instructions) if not sass.only_waits(loop.counts)]
    return loops or ([_part("whole", sass.whole(instructions))] if instructions else [])


def _part(kind: str, loop: sass.Loop) -> dict[str, Any]:
    words = [
        {"word": word, "field": field, "count": sum(counts.values()), "opcodes": _listed(counts)}
        for (word, field), counts in sass.words(loop.counts).items()
    ]
    conflicts = {
        "word": "compute", "field": "register_conflicts", "count": loop.register_conflicts,
        "opcodes": "of the ffma, two registers of one bank",
    }  # fmt: skip
    rows = [*words, conflicts]
    if loop.interleaved is not None:
        rows.append({
            "word": "compute", "field": "interleaved", "count": loop.interleaved,
            "opcodes": "of the other, those that the next one does not wait for",
        })  # fmt: skip
    return {"part": kind, "first": f"{loop.first:#06x}", "last": f"{loop.last:#06x}", "words": rows}


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {opcode}" for opcode, number in counts.items())


def _text(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text, perhaps the cubin itself"
        raise GpusimError(f"{file}: {reason}; it must be what `cuobjdump -sass kernel.cubin` prints") from None
