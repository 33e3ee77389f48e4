"""A draft of a role in the words of a scenario file, from the steps of a kernel's machine code.

What machine code does not say stands there as a comment: rings and their barriers, how often inner loops run, hits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from gpusim.cli.count_prefetch import AHEAD, with_ahead
from gpusim.program import WARP_SIZE
from gpusim.program.sass import NO_WAIT, Part, Stated, Step, steps_of

__all__ = ["draft"]

_INDENT = "  "
_WIDTH = re.compile(r"\(\w+: (\d+)")
_STRIDE = re.compile(r"(stride|structure): (\d+)")
_COPY_WAITS = ("wait_group", "wait, acquire or mbarrier_wait", "bulk_wait")
_WAITS = ("wait_loads", *_COPY_WAITS)
_COPIES = frozenset(("cp_async", "tma_load"))
_ALL = {"wait_loads": "", "wait_group": ": 0", "bulk_wait": ": 0"}
"""What words that wait have where nothing may be pending."""
_KIB = 1024
_LOCAL = ("LDL", "STL")
_JUMPED_OVER = "jumped over by a branch: every? skip_first? skip_last? warps?"
_SECTOR = 32
"""Bytes that are fetched for a few lanes."""


def draft(parts: Sequence[Part], warps: int, registers: str | None = None) -> str:
    """The role of ``warps`` warps that ``parts``, all of one kernel, are; ``registers`` per thread are told if known.

    The only outermost loop is over tiles if it moves data, or of several the only one that waits for copies; where
    there is none, one tile is all of it.
    """
    found = {part.name: (part, steps_of(part, parts)) for part in parts}
    rest = next((listed for part, listed in found.values() if not part.is_loop), [])
    loop = _over_tiles(found)
    lines, first = [f"{_INDENT}warps: {warps}"], False
    at = next((number for number, step in enumerate(rest) if step.word == loop), None)
    if loop is None or at is None:
        sections = {"per_tile": rest}
    else:
        before, turn = with_ahead(rest[:at], found[loop][1])
        sections = {"prologue": before, "per_tile": turn, "epilogue": rest[at + 1 :]}
        first = len(before) < at
    copied = {step.word for step in sections["per_tile"]} & _COPIES
    for key, listed in sections.items():
        if listed:
            lines += [f"{_INDENT}{key}:", *_listed(listed, found, warps, 2)]
        if key == "prologue" and any(step.word in copied for step in listed):
            lines.append(
                f"{_INDENT * 2}# copies in front of the loop that fill the ring: `ahead` on those in per_tile instead"
            )
        if key == "prologue" and first:
            lines.append(f"{_INDENT * 2}# left out: loads for the first tile, which `ahead: 1` in per_tile asks for")
    about = [f"# registers: {registers}"] if registers else []
    return "\n".join([*about, "all:", *lines])


def _over_tiles(found: Mapping[str, tuple[Part, list[Step]]]) -> str | None:
    """The loop over tiles among those ``found``, if it can be told."""
    outermost = [part for part, _ in found.values() if part.is_loop and part.inside is None and part.moves]
    others = [part for part, _ in found.values() if part.is_loop and part.inside is None and not part.moves]
    if others or len(outermost) > 1:
        for words in (_COPY_WAITS, _WAITS):
            waiting = [part for part in outermost if _waits(part.name, found, words)]
            if waiting:
                return waiting[0].name if len(waiting) == 1 else None
    return outermost[0].name if len(outermost) == 1 else None


def _waits(name: str, found: Mapping[str, tuple[Part, list[Step]]], words: Collection[str] = _WAITS) -> bool:
    """Whether the loop ``name``, or one inside it, waits for copies or loads by one of ``words``."""
    return any(
        step.word in words or (step.word in found and _waits(step.word, found, words)) for step in found[name][1]
    )


def _fills(name: str, found: Mapping[str, tuple[Part, list[Step]]]) -> bool:
    """Whether the loop ``name`` asks for copies and waits for none, as one that fills a ring."""
    words = {step.word for step in found[name][1]}
    return bool(words & _COPIES) and not _waits(name, found)


def _listed(
    listed: Sequence[Step],
    found: Mapping[str, tuple[Part, list[Step]]],
    warps: int,
    depth: int,
    around: Collection[int] = (),
) -> Iterator[str]:
    """The ops of steps, a line each, loops with their own; branches ``around`` jump over all of them."""
    space = _INDENT * depth
    jumping = [around, *(step.jumped_over for step in listed), around]
    for at, (step, before, behind) in enumerate(zip(listed, jumping, jumping[2:], strict=False)):
        lines = list(_lines(listed, at, found, warps))
        begun, ended = set(step.jumped_over).difference(before), set(step.jumped_over).difference(behind)
        if begun and lines:
            lines[0] += f"{'; ' if '#' in lines[0] else '  # '}{_JUMPED_OVER}"
        yield from (space + line for line in lines)
        if ended - begun:
            yield f"{space}# up to here"


def _lines(listed: Sequence[Step], at: int, found: Mapping[str, tuple[Part, list[Step]]], warps: int) -> Iterator[str]:
    """The lines of one step."""
    step = listed[at]
    if _of_a_copy(listed, at, warps):
        yield from (f"# {line[2:]}: addresses, within the cost of the copy" for line in _ops(step, 1))
    elif step.word in found:
        fills = " Or, if it fills the ring: `ahead` on the copies in per_tile." if _fills(step.word, found) else ""
        alone = _by_one_warp(step, warps)
        own = " By one warp; perhaps a role of its own" if alone else ""
        yield f"- repeat:  # {step.word}: how often?{fills}{own}"
        yield "    times: 1"
        yield "    ops:"
        yield from _listed(found[step.word][1], found, 1 if alone else warps, 3, step.jumped_over)
    else:
        yield from _ops(step, warps)


def _of_a_copy(listed: Sequence[Step], at: int, warps: int) -> bool:
    """Whether a step computes what a bulk copy needs.

    It stands between the announcement or another copy and that copy, or is what the one of ``warps`` warps that
    stores does before it.
    """
    if listed[at].word != "compute" or not 0 < at < len(listed) - 1:
        return False
    before, behind = listed[at - 1].word, listed[at + 1].word
    loads = before in ("expect_tx", "tma_load") and behind == "tma_load"
    stores = behind == "tma_store" and _by_one_warp(listed[at], warps)
    return (loads or stores) and not any(
        row.field.startswith(("ffma", "mufu", "lds", "sts")) for row in listed[at].rows
    )


def _by_one_warp(step: Step, warps: int) -> bool:
    """Whether of ``warps`` only the first executes a step."""
    return warps > 1 and step.threads is not None and step.threads <= WARP_SIZE


def _ops(step: Step, warps: int) -> Iterator[str]:
    word, numbers = step.word, {row.field: row.number for row in step.rows if not row.note and row.field}
    some = {"warps": 1} if _by_one_warp(step, warps) else {}
    if word in ("load", "store", "cp_async"):
        yield from _accesses(step, 1 if some else warps, some)
    elif word == "compute":
        yield from _computed(step.rows, some)
    elif word in _ALL:
        yield f"- {word}: {numbers['pending']:g}" if "pending" in numbers else f"- {word}{_ALL[word]}"
    elif word == "named_barrier" and "id" in numbers:
        arrives = {"wait": "false"} if numbers.pop(NO_WAIT, 0) else {}
        yield f"- named_barrier: {_flow(numbers | arrives)}"
    elif word in ("sync_threads", "commit_group"):
        yield f"- {word}"
    elif word == "expect_tx":
        yield "# - expect_tx: a part of tma_load"
    else:
        yield f"# - {word}"


def _accesses(step: Step, warps: int, some: Mapping[str, int]) -> Iterator[str]:
    """An op for each width, and for each distance between lanes, of ``warps`` warps; ``some``: if they are not all."""
    word = step.word
    masked = {row.field: row.number for row in step.rows if row.field == "masked"}
    ahead = {row.field: row.number for row in step.rows if row.field == AHEAD}
    for row in step.rows:
        if width := _WIDTH.search(row.field):
            wide, stride = int(width[1]), _STRIDE.search(row.field)
            lanes = min(step.threads or WARP_SIZE, WARP_SIZE)
            each = _fetched(lanes, wide, row.stride)
            about: dict[str, Any] = {"bytes": _bytes(row.number * each * warps), "width": wide, **masked, **some}
            if lanes < WARP_SIZE:
                about["other"] = row.number
            masked = {}
            if stride and lanes == WARP_SIZE:
                about[stride[1]] = int(stride[2])
            if word == "load":
                about |= {"wait": "false", **ahead}
            notes = ["its ring?"] if word == "cp_async" else []
            if lanes == 1:
                notes.append("one lane: a sector each")
            elif lanes < WARP_SIZE:
                apart = "32 bytes each if they are not side by side" if row.stride is None else "whole sectors"
                notes.append(f"{lanes} lanes: {apart}")
            elif "one address" in row.field:
                notes.append("one address for all lanes")
            if row.addresses > 1 and word != "store":
                notes.append(f"{row.addresses} addresses: pieces?")
            if row.predicated:
                notes.append(f"{row.predicated} of {row.number:g} predicated: count what takes part")
            yield f"- {word}: {_flow(about)}" + (f"  # {'; '.join(notes)}" if notes else "")


def _fetched(lanes: int, width: int, stride: int | None) -> int:
    """Bytes that one access brings: of all lanes what they want, of a few the sectors in which that lies.

    ``stride``: from one lane to the next; if nobody knows, they are taken to be side by side.
    """
    if lanes == WARP_SIZE:
        return lanes * width
    apart = min(width if stride is None else stride, _SECTOR)
    return -(-((lanes - 1) * apart + width) // _SECTOR) * _SECTOR


def _computed(rows: Sequence[Stated], some: Mapping[str, int]) -> Iterator[str]:
    """One op, and one for each further width of stores; ``some``: of which warps, if not of all."""
    numbers: dict[str, Any] = {}
    loads: list[tuple[float, int, float]] = []
    stores: list[dict[str, float]] = []
    shuffles = 0.0
    for row in rows:
        name = row.field.split(" ")[0]
        if row.note:
            continue
        if (width := _WIDTH.search(row.field)) and name == "lds":
            loads.append((row.number, int(width[1]), _wavefronts(int(width[1]), "one address" in row.field)))
            shuffles += row.number if "reads: false" in row.field else 0.0
        elif width and name == "sts":
            stores.append({"sts": row.number, "sts_bytes": int(width[1])})
        elif row.numbers:
            numbers[name] = f"[{', '.join(map(str, row.numbers))}]"
        else:
            numbers[name] = row.number
    if not numbers.get("ffma") and not loads and "other" in numbers:
        # Nothing is there to hide them.
        numbers["setup"] = numbers.pop("other")
    if loads:
        numbers |= _loaded(loads)
    if shuffles and shuffles == numbers["lds"]:
        numbers["reads"] = "false"
    if stores:
        numbers |= stores.pop(0)
    if numbers:
        notes = "; ".join(_notes(rows))
        yield f"- compute: {_flow(numbers | some)}" + (f"  # {notes}" if notes else "")
    for further in stores:
        yield f"- compute: {_flow(further | some)}"


def _notes(rows: Sequence[Stated]) -> Iterator[str]:
    """What the numbers of a compute op do not say."""
    spilled = sum(number for row in rows for opcode, number in row.opcodes.items() if opcode.startswith(_LOCAL))
    if spilled:
        yield f"{spilled} loads and stores of spilled registers are in it"
    missing = [f"{row.number:g} {row.field}" for row in rows if row.note]
    if missing:
        yield f"not in it, no model: {', '.join(missing)}"


def _loaded(found: Sequence[tuple[float, int, float]]) -> dict[str, float]:
    """Loads by number, width and wavefronts, of several widths perhaps, as one field with the narrowest width.

    How often they pass shared memory says the rest.
    """
    count, narrow = sum(number for number, _, _ in found), min(width for _, width, _ in found)
    stated: dict[str, float] = {"lds": count, "lds_bytes": narrow}
    wavefronts = sum(number * each for number, _, each in found) / count
    if wavefronts != _wavefronts(narrow):
        stated["lds_wavefronts"] = round(wavefronts, 2)
    return stated


def _wavefronts(width: int, one_address: bool = False) -> float:
    """Of a load of ``width`` bytes a lane, as if each lane had its own words, or of ``one_address`` for all."""
    return max(width / 8, 1.0) if one_address else width / 4


def _flow(numbers: Mapping[str, Any]) -> str:
    pairs = (f"{name}: {value if isinstance(value, str) else f'{value:g}'}" for name, value in numbers.items())
    return "{" + ", ".join(pairs) + "}"


def _bytes(count: float) -> str:
    """Exact, which a rounded quantity is not."""
    return f"{count / _KIB:g} KiB" if count % _KIB == 0 else f"{count:g}"
