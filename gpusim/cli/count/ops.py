"""The lines of a draft that one step of the machine code is, in the words of a scenario file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpusim.cli.count.prefetch import AHEAD
from gpusim.program import WARP_SIZE
from gpusim.program.sass import LOADS, NO_WAIT, Stated, Step, questions, warps_in

__all__ = [
    "OUTSIDE", "by_one_warp", "bytes_of", "in_words", "is_arithmetic_for_addresses", "is_for_addresses", "lines_of",
    "warps_of",
]  # fmt: skip

_WIDTH = re.compile(r"\(\w+: (\d+)")
_GROUP = re.compile(r"\((n: .*)\)")
_STRIDE = re.compile(r"(stride|structure|scatter): (\d+)")
_ATOMIC = re.compile(r"(returns|floating): (true)")
_SHARED = f"{questions.DISTINCT} bytes of the values that the grid updates again and again"
_IN_CLUSTER = ("load_cluster", "store_cluster")
_BY_LANE = ("atomic", *_IN_CLUSTER)
"""Accesses of which each lane's bytes count, not whole sectors."""
_ALL = {"wait_loads": "", "wait_group": ": 0", "bulk_wait": ": 0", "wgmma_wait": ": 0"}
"""What words that wait have where nothing may be pending."""
OUTSIDE = "reads: false"
"""Among the words of a ring: what is loaded from shared memory lies outside of it."""
_KIB = 1024
_LOCAL = ("LDL", "STL")
_WORK = ("ffma", "mufu", "lds", "sts", "atoms")
"""How fields of compute begin that are more than addresses."""
_BANKED = 4
"""Bytes a lane with which an access passes shared memory once if each lane has its own words."""
_SECTOR = 32
"""Bytes that are fetched for a few lanes."""


def is_arithmetic_for_addresses(listed: Sequence[Step], at: int, warps: int) -> bool:
    """Whether a step computes what a bulk copy needs.

    It stands between the announcement or another copy and that copy, or is what the one of ``warps`` warps that
    stores does before it.
    """
    if listed[at].word != "compute" or not 0 < at < len(listed) - 1:
        return False
    before, behind = listed[at - 1].word, listed[at + 1].word
    loads = before in ("expect_tx", "tma_load") and behind == "tma_load"
    stores = behind == "tma_store" and warps_of(listed[at], warps) == 1 < warps
    return (loads or stores) and is_for_addresses(listed[at])


def is_for_addresses(step: Step) -> bool:
    """Whether a step may compute addresses and nothing else."""
    return step.word == "compute" and not any(row.field.startswith(_WORK) for row in step.rows)


def warps_of(step: Step, warps: int) -> int:
    """How many of ``warps`` execute a step."""
    return warps if step.threads is None else min(len(warps_in(step.threads)), warps)


def by_one_warp(word: str) -> str:
    """The key of what ``word`` is to be written as where only one warp of several executes it."""
    return f"{word}, by one warp"


def lines_of(step: Step, warps: int, words: Mapping[str, str]) -> Iterator[str]:
    """The ops of a step of a role of ``warps`` warps; ``words``: ops of a ring, by what the machine code says."""
    word, numbers = step.word, {row.field: row.number for row in step.rows if not row.note and row.field}
    executing = warps_of(step, warps)
    some = {"warps": executing} if executing < warps else {}
    if word in ("load", "store", "cp_async", *_BY_LANE):
        yield from _accesses(step, executing, some, words.get(word, ""))
    elif word == "compute":
        yield from _computed(step.rows, some, OUTSIDE in words)
    elif word == "wgmma":
        yield from (f"- wgmma: {{{_GROUP.search(row.field)[1]}, count: {row.number:g}}}" for row in step.rows)
    elif word in _ALL:
        yield f"- {word}: {numbers['pending']:g}" if "pending" in numbers else f"- {word}{_ALL[word]}"
    elif word == "named_barrier" and "id" in numbers:
        arrives = {"wait": "false"} if numbers.pop(NO_WAIT, 0) else {}
        yield f"- named_barrier: {_flow(numbers | arrives)}"
    elif word == "set_max_nreg" and "registers" in numbers:
        yield f"- set_max_nreg: {numbers['registers']:g}"
    elif AHEAD in numbers:
        yield f"- {word}: {_flow({AHEAD: numbers[AHEAD]})}"
    elif word in ("sync_threads", "cluster_sync", "commit_group", "grid_dependency_wait", "launch_dependents"):
        yield f"- {word}"
    elif word in words:
        told = words.get(by_one_warp(word), words[word]) if executing == 1 < warps else words[word]
        if told:
            yield f"- {told}"
    elif word == "expect_tx":
        yield "# - expect_tx: a part of tma_load"
    else:
        yield f"# - {word}"


def bytes_of(step: Step, warps: int) -> float:
    """Bytes that the accesses of a step move altogether, of a role of ``warps`` warps."""
    return sum(_bytes_of(step, row, warps_of(step, warps)) for row in step.rows if _WIDTH.search(row.field))


def _bytes_of(step: Step, row: Stated, warps: int) -> float:
    lanes, taking = _lanes(step, row, warps)
    width = int(_WIDTH.search(row.field)[1])
    if step.word in _BY_LANE:
        return row.number * lanes * width * taking
    return row.number * _fetched(lanes, width, row) * taking


def _accesses(step: Step, warps: int, some: Mapping[str, int], ring: str) -> Iterator[str]:
    """An op for each width, and for each distance between lanes, of ``warps`` warps; ``some``: if they are not all."""
    masked = {row.field: row.number for row in step.rows if row.field == "masked"}
    ahead = {row.field: row.number for row in step.rows if row.field == AHEAD}
    for row in step.rows:
        if width := _WIDTH.search(row.field):
            lanes, taking = _lanes(step, row, warps)
            wide, stride = int(width[1]), _STRIDE.search(row.field)
            about: dict[str, Any] = {"ring": ring} if ring else {}
            about |= {"bytes": in_words(_bytes_of(step, row, warps)), "width": wide, **masked, **some}
            masked = {}
            if lanes < WARP_SIZE:
                about["other"] = row.number
            if taking < warps:
                about["warps"] = taking
            if stride and lanes == WARP_SIZE:
                about[stride[1]] = int(stride[2])
            if step.word == "atomic":
                about |= ({"scatter": wide} if lanes == 1 else {}) | dict(_ATOMIC.findall(row.field))
            about |= ({"wait": "false"} if step.word in LOADS else {}) | ahead
            notes = "; ".join(_about_lanes(step.word, row, lanes, ring))
            yield f"- {step.word}: {_flow(about)}" + (f"  # {notes}" if notes else "")


def _lanes(step: Step, row: Stated, warps: int) -> tuple[int, int]:
    """How many lanes of a warp execute the accesses of a row, on average, and of how many of ``warps`` warps."""
    threads = step.threads if row.taking is None else row.taking
    if threads is None:
        return WARP_SIZE, warps
    taking = min(len(warps_in(threads)), warps)
    return -(-threads.bit_count() // taking), taking


def _about_lanes(word: str, row: Stated, lanes: int, ring: str) -> Iterator[str]:
    """What an access does not say of its lanes, or leaves to be said."""
    if word == "cp_async" and not ring:
        yield questions.RING
    if word in _IN_CLUSTER:
        yield "less what is of its own CTA"
        return
    if word == "atomic":
        yield _SHARED
    if lanes == 1:
        yield "one lane" if word == "atomic" else "one lane: a sector each"
    elif lanes < WARP_SIZE and word != "atomic":
        known = row.places is not None or row.stride is not None
        yield f"{lanes} lanes: {'whole sectors' if known else '32 bytes each if they are not side by side'}"
    elif "one address" in row.field:
        yield "one address for all lanes"
    elif not _STRIDE.search(row.field) and row.places is None and row.stride is None:
        asked = questions.ROWS if word == "cp_async" else questions.PATTERN
        yield f"nobody knows where the lanes' addresses lie, taken as side by side: {asked}"
    elif "scatter" in row.field:
        yield questions.COMPLETED
    if row.addresses > 1 and word not in ("store", "atomic"):
        yield f"{row.addresses} addresses: {questions.PIECES}"
    if row.predicated:
        yield f"{row.predicated} of {row.number:g} predicated: count what takes part"


def _fetched(lanes: int, width: int, row: Stated) -> int:
    """Bytes that one access of a ``row`` brings: of all lanes what they want, of a few the sectors in which that lies.

    Where nobody knows how far they are from each other, a few are taken to be side by side.
    """
    if lanes == WARP_SIZE:
        return lanes * width
    if row.places is not None:
        in_a_row, count = row.places
        return count * -(-in_a_row // _SECTOR) * _SECTOR
    apart = min(width if row.stride is None else row.stride, _SECTOR)
    return -(-((lanes - 1) * apart + width) // _SECTOR) * _SECTOR


def _computed(rows: Sequence[Stated], some: Mapping[str, int], outside: bool) -> Iterator[str]:
    """One op, and one for each further width of stores.

    ``some``: of which warps, if not of all. ``outside``: what it loads from shared memory lies in no ring.
    """
    numbers: dict[str, Any] = {}
    loads: list[tuple[float, int, float]] = []
    stores: list[dict[str, float]] = []
    shuffles = 0.0
    for row in rows:
        name = row.field.split(" ")[0]
        if row.note:
            continue
        if (width := _WIDTH.search(row.field)) and name == "lds":
            loads.append((row.number, int(width[1]), row.wavefronts))
            shuffles += row.number if "reads: false" in row.field else 0.0
        elif width and name == "sts":
            stores.append(
                {"sts": row.number, "sts_bytes": int(width[1]), **_passes("sts", int(width[1]), row.wavefronts)}
            )
        elif row.numbers:
            numbers[name] = f"[{', '.join(map(str, row.numbers))}]"
        else:
            numbers[name] = row.number
            # What nobody knows is left for the answer.
            numbers |= {"atoms_wavefronts": round(row.wavefronts, 2)} if name == "atoms" and not row.guessed else {}
    if not numbers.get("ffma") and not loads and "other" in numbers:
        # Nothing is there to hide them.
        numbers["setup"] = numbers.pop("other")
    if loads:
        numbers |= _loaded(loads)
    if loads and (outside or shuffles == numbers["lds"]):
        numbers["reads"] = "false"
    if stores:
        numbers |= stores.pop(0)
    if line := _noted(f"- compute: {_flow(numbers | some)}" if numbers else "", "; ".join(_notes(rows))):
        yield line
    for further in stores:
        yield f"- compute: {_flow(further | some)}"


def _noted(op: str, notes: str) -> str:
    """A line of both, or of one of them."""
    return "  ".join(part for part in (op, notes and f"# {notes}") if part)


def _notes(rows: Sequence[Stated]) -> Iterator[str]:
    """What the numbers of a compute op do not say."""
    spilled = sum(number for row in rows for opcode, number in row.opcodes.items() if opcode.startswith(_LOCAL))
    if spilled:
        yield f"{spilled} loads and stores of spilled registers are in it"
    guessed = sum(row.guessed for row in rows)
    if guessed:
        yield f"of {guessed} accesses nobody knows which words lanes want: {questions.WAVEFRONTS}"
    missing = [f"{row.number:g} {row.field}" for row in rows if row.note]
    if missing:
        yield f"not in it, no model: {', '.join(missing)}"


def _loaded(found: Sequence[tuple[float, int, float]]) -> dict[str, float]:
    """Loads by number, width and wavefronts, of several widths perhaps, as one field with the narrowest width.

    How often they pass shared memory says the rest.
    """
    count, narrow = sum(number for number, _, _ in found), min(width for _, width, _ in found)
    stated: dict[str, float] = {"lds": count, "lds_bytes": narrow}
    return stated | _passes("lds", narrow, sum(number * each for number, _, each in found) / count)


def _passes(name: str, width: int, wavefronts: float) -> dict[str, float]:
    """How often accesses of ``width`` bytes a lane pass shared memory, if not as each lane with its own words does."""
    return {} if wavefronts == width / _BANKED else {f"{name}_wavefronts": round(wavefronts, 2)}


def _flow(numbers: Mapping[str, Any]) -> str:
    pairs = (f"{name}: {value if isinstance(value, str) else f'{value:g}'}" for name, value in numbers.items())
    return "{" + ", ".join(pairs) + "}"


def in_words(count: float) -> str:
    """Exact, which a rounded quantity is not."""
    return f"{count / _KIB:g} KiB" if count % _KIB == 0 else f"{count:g}"
