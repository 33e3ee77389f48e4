"""``count``: what the ops of a kernel must state, from its disassembly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpusim.cli.count.draft import Draft, draft
from gpusim.cli.count.scenario import Usage, file_of, pasted
from gpusim.cli.output import console, print_json, print_table
from gpusim.errors import GpusimError, listing
from gpusim.files import write_atomically
from gpusim.program import WARP_SIZE, sass
from gpusim.program.sass import MOST_THREADS, Part, Stated, Step, parts, stated, steps_of

__all__ = ["count"]

ELF = b"\x7fELF"
"""How a cubin begins."""
_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+).*? SHARED:(\d+)")
_RESERVED = 1024
_RESERVED_FROM = 90
"""Bytes of each CTA's shared memory that are the system's, and the architecture from which on they are counted in."""
_ARCHITECTURE = re.compile(r"code for sm_(\d+)")
_BLOCK = re.compile(r"(\d+)[x,](\d+)(?:[x,](\d+))?")
SETUP = " (setup where nothing hides it)"
_NOT_IN_ROWS = {
    "ilp": "FFMA, FADD and FMUL under way at once: chains, or what they come to with what stands between",
    "loads_in_flight": "LDS, or shuffles where there are none, for each time that the warp waits for some",
    "load_to_use": "others between these and the first that uses what they bring",
    "register_conflicts": "cycles: operands in one bank",
    "pipe_stalls": "cycles: a pipe of half rate is busy",
    "half_rate": "of the instructions above: those of the fullest pipe of half rate",
    "alone": "cycles of one warp, without waits for loads",
    "gaps": "of the instructions above: those that the next one follows after 1, 2, 3 and 4 cycles",
    "fragments": "runs of loads and of HMMA behind them: loads, HMMA, and the last loads that these do not need",
    "ldc": "of the instructions above: LDC",
}


def count(
    file: Path,
    function: str | None,
    *,
    in_order: bool,
    warps: int | None,
    block: str | None,
    output: Path | None,
    json: bool,
) -> None:
    """Instructions of every loop and of what stands outside, by the word and field that states them.

    With ``warps`` the roles of a CTA of so many, as a scenario file has them; to ``output`` the whole file. ``block``:
    its threads in x and y, or in x, y and z.
    """
    if output is not None and warps is None:
        raise GpusimError("--output is for a draft; say --draft and how many warps a CTA has, too")
    shape = _shape(block, warps)
    text = _text(file)
    found = sass.functions(text)
    if not found:
        raise GpusimError(f"{file}: holds no function; it must be what `cuobjdump -sass kernel.cubin` prints")
    chosen = _chosen(file, found, function)
    for name, listed in chosen.items():
        _check_whole(file, name, listed)
    if warps is not None:
        drafts = {name: draft(_parts(listed, shape), warps) for name, listed in chosen.items()}
        _drafted(file, drafts, _usage(file, text), output, json)
        return
    data = {name: _kernel(_parts(listed, shape), in_order) for name, listed in chosen.items()}
    if json:
        print_json({"functions": data})
        return
    for name, listed in data.items():
        for part in listed:
            if in_order:
                rows = [(step["word"], _fields(step["fields"])) for step in part["steps"]]
                print_table(_title(name, part), ("step", "states"), rows, words=("states",))
            else:
                rows = [(row["word"], row["field"], row["count"], row["opcodes"]) for row in part["words"]]
                print_table(_title(name, part), ("word", "field", "count", "SASS"), rows, words=("SASS",))
    out = console()
    out.print("Per warp and turn; the loops inside a loop are counted on their own. See docs/programs.md.")
    notes = {row["field"]: row["note"] for listed in data.values() for part in listed for row in part["words"]}
    for kind, note in notes.items():
        if note:
            out.print(f"no model: {kind}: {note}", soft_wrap=True)


def _chosen(file: Path, found: Mapping[str, str], function: str | None) -> dict[str, str]:
    """All functions, or the one that is called so or whose name alone has ``function`` in it. Raises GpusimError."""
    if function is None or function in found:
        return {name: text for name, text in found.items() if function in (None, name)}
    alike = {name: text for name, text in found.items() if function in name}
    if len(alike) != 1:
        told = f"{len(alike)} functions whose names have {function!r} in them" if alike else f"no function {function}"
        raise GpusimError(f"{file}: has {told}; there are {listing(alike or found)}")
    return alike


def _check_whole(file: Path, name: str, listed: str) -> None:
    """Raise GpusimError for a function without instructions, or of which the listing has not all."""
    instructions = sass.parse(listed)
    if not instructions:
        raise GpusimError(
            f"{file}: function {name} has no instructions; they look like /*0000*/ MOV R1, c[0x0][0x28] ;"
        )
    last = instructions[-1].address
    beyond = [i for i in instructions if i.root == "BRA" and i.numbers and i.numbers[-1] > last]
    if beyond:
        raise GpusimError(
            f"{file}: function {name} ends at {last:#06x} and branches to {beyond[0].numbers[-1]:#06x}: the listing is "
            "cut, print all of it"
        )


def _parts(text: str, shape: tuple[int, int, int] | None = None) -> list[Part]:
    told = sass.with_cluster_addresses(sass.with_bases(sass.in_place(sass.parse(text))))
    found = sass.with_threads(sass.with_addresses(told), shape)
    return sass.with_blocks(parts(sass.with_structures(found)))


def _shape(block: str | None, warps: int | None) -> tuple[int, int, int] | None:
    """Threads in x, y and z. Raises GpusimError if they cannot be, or are not ``warps`` warps."""
    if block is None:
        return None
    match = _BLOCK.fullmatch(block)
    x, y, z = (int(number or 1) for number in match.groups()) if match else (0, 0, 0)
    threads = x * y * z
    if not 0 < threads <= MOST_THREADS:
        raise GpusimError(f"--block {block}: expected the threads of a CTA in x and y, as 32x8, at most {MOST_THREADS}")
    if warps is not None and warps != -(-threads // WARP_SIZE):
        raise GpusimError(f"--block {block} are {threads} threads, {-(-threads // WARP_SIZE)} warps, and not {warps}")
    return x, y, z


def _drafted(
    file: Path, drafts: Mapping[str, Draft], usage: Mapping[str, Usage], output: Path | None, json: bool
) -> None:
    """Print drafts of what is in ``file``, or write the only one."""
    if output is not None:
        _write(output, file, drafts, usage)
        return
    texts = {name: pasted(each, usage.get(name, Usage())) for name, each in drafts.items()}
    if json:
        print_json({"functions": texts})
        return
    for name, text in texts.items():
        console().print(f"# {name}\n{text}", highlight=False, soft_wrap=True)


def _write(output: Path, file: Path, drafts: Mapping[str, Draft], usage: Mapping[str, Usage]) -> None:
    """The scenario of the only draft. Raises GpusimError if there are several, or the file is there already."""
    if len(drafts) > 1:
        raise GpusimError(f"{file}: has several functions; --function says which: {', '.join(drafts)}")
    if output.exists():
        raise GpusimError(f"{output}: already exists; drafts never overwrite a file")
    [(name, each)] = drafts.items()
    write_atomically(output, file_of(name, each, usage.get(name, Usage())))
    asks = f"its comments ask what is not known, and `gpusim check {output}` lists the numbers among that"
    console().print(f"{output}: written; {asks}")


def _kernel(found: list[Part], in_order: bool) -> list[dict[str, Any]]:
    return [
        _data(part) | ({"steps": [_step(step) for step in steps_of(part, found)]} if in_order else {}) for part in found
    ]


def _step(step: Step) -> dict[str, Any]:
    return {"word": step.word, "fields": {row.field: _number(row) for row in step.rows if row.field}}


def _number(row: Stated) -> float | list[int] | list[list[int]]:
    return list(row.numbers) or row.number


def _fields(fields: dict[str, float | list[int] | list[list[int]]]) -> str:
    return ", ".join(f"{number} {field.replace(SETUP, '')}" for field, number in fields.items())


def _data(part: Part) -> dict[str, Any]:
    return {
        "part": part.name,
        "inside": part.inside,
        "over_tiles": part.moves and part.inside is None,
        "first": f"{part.first:#06x}",
        "last": f"{part.last:#06x}",
        "words": [
            {"word": row.word, "field": row.field, "count": _number(row), "opcodes": _listed(row), "note": row.note}
            for row in stated(part.body, loop=part.is_loop)
        ],
    }


def _title(name: str, part: dict[str, Any]) -> str:
    if part["inside"]:
        about = f", in {part['inside']}: it runs several times a tile"
    else:
        about = ": moves data, so over tiles, or a repeat in a kernel of one tile a CTA" if part["over_tiles"] else ""
    return f"{name}, {part['part']} from {part['first']} to {part['last']}{about}"


def _listed(row: Stated) -> str:
    if row.field in _NOT_IN_ROWS:
        return _NOT_IN_ROWS[row.field]
    return ", ".join(f"{number} {opcode}" for opcode, number in row.opcodes.items())


def _text(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    if _is_cubin(file):
        return _dumped(file, "-sass")
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not a text file"
        raise GpusimError(f"{file}: {reason}; it must be what `cuobjdump -sass kernel.cubin` prints") from None


def _usage(file: Path, text: str) -> dict[str, Usage]:
    """What each function of a cubin, disassembled as ``text``, takes; nothing where only the disassembly is at hand."""
    if not _is_cubin(file):
        return {}
    newest = max(map(int, _ARCHITECTURE.findall(text)), default=0)
    reserved = _RESERVED if newest >= _RESERVED_FROM else 0
    return {
        name: Usage(int(registers), max(int(shared) - reserved, 0))
        for name, registers, shared in _USAGE.findall(_dumped(file, "-res-usage"))
    }


def _dumped(file: Path, what: str) -> str:
    """What cuobjdump says of a cubin. Raises GpusimError."""
    tool = shutil.which(os.environ.get("CUOBJDUMP") or "cuobjdump")
    if tool is None:
        where = "$CUOBJDUMP names no program" if os.environ.get("CUOBJDUMP") else "is not on the path"
        raise GpusimError(
            f"{file}: is a cubin, and cuobjdump of the CUDA toolkit, which reads it: {where}; give what "
            "`cuobjdump -sass` prints where it is, or install it (pip install nvidia-cuda-cuobjdump "
            "nvidia-cuda-nvdisasm, whose bin folder has to be on the path, or its file in CUOBJDUMP)"
        )
    found = subprocess.run([tool, what, str(file)], capture_output=True, text=True, check=False)
    if found.returncode:
        raise GpusimError(f"{file}: cuobjdump cannot read it: {(found.stderr or found.stdout).strip()}")
    return found.stdout


def _is_cubin(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(ELF)) == ELF
    except OSError:
        return False
