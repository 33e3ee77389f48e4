"""By which words of a scenario each instruction is stated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass import atomics
from gpusim.program.sass.alone import gaps_alone, short_gaps
from gpusim.program.sass.dispatch import dispatch_stalls
from gpusim.program.sass.families import FP32, SPECIAL
from gpusim.program.sass.float_chains import float_chains
from gpusim.program.sass.fragments import fragment_runs
from gpusim.program.sass.listing import MATRICES, Instruction, count
from gpusim.program.sass.products import ASYNCHRONOUS, field_of_group, share
from gpusim.program.sass.products import chains as product_chains
from gpusim.program.sass.shared_loads import loads_ahead
from gpusim.program.sass.unmodelled import KIND_OF, UNMODELLED

__all__ = [
    "AROUND",
    "LEFT_TO_WRITE",
    "LOADS",
    "NO_MODEL",
    "Stated",
    "field_of",
    "sets_up_mbarrier",
    "stated",
    "word_of",
]

_Value = TypeVar("_Value")

NO_MODEL = "no model"
LINE_BYTES = 128
"""Parts of a line that are wanted in a row, and no more of it, are told."""
_OTHER = ("compute", "other (setup where nothing hides it)")
_INTERLEAVED = ("compute", "interleaved")
AROUND = (_OTHER[1], _INTERLEAVED[1])
"""Fields of instructions that are neither arithmetic of floats nor accesses: addresses, mostly."""
_SHARED, _LOCAL = ("LDS", "STS"), ("LDL", "STL")
LOADS = ("load", "load_cluster")
"""Words of loads into registers."""
_BY_LANES = (*LOADS, "store", "store_cluster", "atomic", "cp_async")
_BANKED = 4
"""Bytes of a bank's word: an access of as many per lane passes shared memory once."""
_NO_WAIT = 2
"""Cycles up to which the next instruction is none that waits for the result."""

_NARROW = {", stride: 1": {"U8", "S8"}, ", stride: 2": {"U16", "S16"}}
"""Accesses of one and of two bytes a lane."""
ONE_ADDRESS = ", stride: 1, one address"
"""The nearest to lanes that all want the same word."""
_ONE_ADDRESS = re.compile(r"\[UR\d+(\+-?0x[0-9a-f]+)?\]")
"""Of a uniform register, so that all lanes want the same words."""

_WORDS = {
    **dict.fromkeys(FP32, ("compute", "ffma")),
    "LDS": ("compute", "lds (lds_bytes: {})"), "LDS.U": ("compute", "lds (lds_bytes: {}, one address)"),
    "SHFL": ("compute", "lds (lds_bytes: 4, reads: false)"),
    "LDL": ("compute", "lds (lds_bytes: {}, reads: false)"),
    "LDSM": ("compute", "lds (lds_bytes: {})"), "STSM": ("compute", "sts (sts_bytes: {})"),
    atomics.SHARED_ATOMIC: ("compute", "atoms"),
    "STS": ("compute", "sts (sts_bytes: {})"), "STL": ("compute", "sts (sts_bytes: {})"),
    **dict.fromkeys(SPECIAL, ("compute", "mufu")),
    "HMMA": ("compute", "mma"), **dict.fromkeys(ASYNCHRONOUS, ("wgmma", "count")),
    "WARPGROUP.DEPBAR": ("wgmma_wait", "pending"),
    "LDG": ("load", "bytes (width: {}{})"), "STG": ("store", "bytes (width: {}{})"),
    **dict.fromkeys(atomics.ATOMICS, ("atomic", "bytes")),
    "LD.CLUSTER": ("load_cluster", "bytes (width: {})"), "ST.CLUSTER": ("store_cluster", "bytes (width: {})"),
    "LDGSTS": ("cp_async", "bytes (width: {})"), "LDGDEPBAR": ("commit_group", ""), "DEPBAR": ("wait_group", "pending"),
    "@!PT": ("cp_async", "masked"),
    "BAR.ARV": ("named_barrier", "id, warps, wait: false"),
    "ARRIVES": ("producer_commit", "asynchronous: true"),
    "UBLKCP": ("tma_load or tma_store", ""), "UBLKCP.S": ("tma_load", ""), "UBLKCP.G": ("tma_store", ""),
    "UTMALDG": ("tma_load", "bytes of the box"),
    "UTMASTG": ("tma_store", "bytes of the box"), "BAR": ("sync_threads or named_barrier", "id, warps"),
    "SYNCS": ("wait, acquire or mbarrier_wait", ""), "SYNCS.ARRIVE": ("release, producer_commit or arrive", ""),
    "SYNCS.EXPECT": ("expect_tx", "bytes"), "UCGABAR_WAIT": ("cluster_sync", ""),
    "USETMAXREG": ("set_max_nreg", "registers"),
    "ACQBULK": ("grid_dependency_wait", ""), "PREEXIT": ("launch_dependents", ""),
}  # fmt: skip
"""Word and field of a scenario that state an opcode; {} is the width of its access."""

LEFT_TO_WRITE = frozenset(
    _WORDS[opcode][0]
    for opcode in (
        "SYNCS", "SYNCS.ARRIVE", "ARRIVES", "BAR", "UBLKCP", "UBLKCP.S", "UBLKCP.G", "UTMALDG", "UTMASTG", "USETMAXREG",
    )
)  # fmt: skip
"""Words of ops of which the machine code does not tell the ring, the barrier or the number; drafts have comments."""


@dataclass(frozen=True)
class Stated:
    """Opcodes with their numbers that one field of a word states. ``note``: what to do where the model has none."""

    word: str
    field: str
    number: float
    opcodes: dict[str, int]
    note: str = ""
    predicated: int = 0
    """How many of them only some lanes or turns execute."""
    addresses: int = 1
    """Places in global memory from which they count their addresses."""
    stride: int | None = None
    """Bytes from one lane's address in global memory to the next one's, if known and the same for all of them."""
    wavefronts: float = 0.0
    """How often each of them passes shared memory on average; 0 for what does not."""
    guessed: int = 0
    """Of how many that is not known, and taken as if each lane had its own words."""
    places: tuple[int, int] | None = None
    """Bytes in a row that a warp wants of global memory, and in how many places, if known and the same for all."""
    taking: int | None = None
    """Threads that execute accesses to global memory, where a predicate keeps others from it that come to it."""
    numbers: tuple[int, ...] | tuple[list[int], ...] = ()
    """What the field states where that are several numbers, or lists of them; ``number`` is how many things they
    count."""


def stated(body: Sequence[Instruction], *, loop: bool = False, behind: Sequence[Instruction] = ()) -> list[Stated]:
    """Everything in ``body``, a loop or not, by word and field; each instruction is in one row, but for LDC.

    ``behind``: what the warp does after it.
    """
    order = dict.fromkeys([*(word for word, _ in _WORDS.values()), NO_MODEL])
    found: dict[tuple[str, str, int | None], list[Instruction]] = {}
    for instruction in body:
        if instruction.opcode != "NOP":
            word, field = _place(instruction)
            taking = instruction.taking if word in _BY_LANES else None
            found.setdefault((word, field, taking), []).append(instruction)
    fields = list(dict.fromkeys(field for _, field in (*_WORDS.values(), _OTHER, _INTERLEAVED)))
    rows = [
        Stated(
            word,
            field,
            sum(share(one) if one.root == "HMMA" else 1 for one in those),
            count(those),
            UNMODELLED[field][1] if word == NO_MODEL else "",
            sum(one.predicated and taking is None for one in those),
            len({one.base for one in those}),
            _common_stride(those),
            sum(map(_wavefronts, those)) / len(those),
            sum(_guessed(one) for one in those),
            _same(one.places for one in those),
            taking,
        )
        for (word, field, taking), those in found.items()
    ]
    rank, stems = list(order), [field.split("{")[0] for field in fields]
    rows.sort(key=lambda row: (rank.index(row.word), _rank(row.field, stems), row.field))
    return _with_stalls(rows, body, loop, behind)


def _common_stride(those: Sequence[Instruction]) -> int | None:
    return _same(0 if one.one_address else one.stride for one in those)


def _same(values: Iterable[_Value | None]) -> _Value | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _guessed(one: Instruction) -> bool:
    """Whether nobody knows which words of shared memory the lanes of an access want."""
    if one.root == atomics.SHARED_ATOMIC:
        return atomics.shared_turns(one) is None
    return one.root in _SHARED and one.wavefronts is None and not one.one_address


def _wavefronts(one: Instruction) -> float:
    """How often an access passes shared memory; as if each lane had its own words where nobody knows."""
    if one.root == atomics.SHARED_ATOMIC:
        return atomics.shared_turns(one) or 1.0
    if one.root not in (*_SHARED, *_LOCAL, *MATRICES, "SHFL"):
        return 0.0
    if one.wavefronts is not None:
        return one.wavefronts
    whole = one.width / _BANKED if one.root != "SHFL" else 1.0
    return max(whole / 2.0, 1.0) if one.one_address or _ONE_ADDRESS.search(one.text) else whole


def _with_stalls(
    rows: list[Stated], body: Sequence[Instruction], loop: bool, behind: Sequence[Instruction]
) -> list[Stated]:
    """``rows`` and, behind those of ``compute``, what belongs to no single instruction or to part of a row."""
    stalls, loads = dispatch_stalls(body), loads_ahead(body, loop=loop, behind=behind)
    chains, gaps = float_chains(body, loop=loop), gaps_alone(body, loop=loop, behind=behind)
    runs = fragment_runs(body, loop=loop)
    computes = any(row.word == "compute" for row in rows)
    constants = sum(instruction.root == "LDC" for instruction in body)
    further = [
        Stated("compute", field, number, {})
        for field, number in (
            ("ilp", round(chains or 0, 1)),
            ("mma_ilp", product_chains(body)),
            ("atoms_waits", sum(one.root == atomics.SHARED_ATOMIC and atomics.waited_for(one) for one in body)),
            ("loads_in_flight", round(loads.in_flight, 1) if loads and not runs else 0),
            ("load_to_use", round(loads.to_use, 1) if loads and not runs else 0),
            ("register_conflicts", round(stalls.register_conflicts)),
            ("pipe_stalls", round(stalls.pipe_stalls, 1)),
            ("half_rate", stalls.half_rate),
            ("alone", sum(gaps) if computes else 0),
            ("ldc", constants),
        )
        if number
    ]
    if runs:
        further.append(Stated("compute", "fragments", len(runs), {}, numbers=tuple(map(list, runs))))
    elif computes and len(gaps) > 1:
        short = short_gaps(gaps)
        further.append(Stated("compute", "gaps", sum(short), {}, numbers=short))
    last = max((index for index, row in enumerate(rows) if row.word == "compute"), default=-1)
    return rows[: last + 1] + further + rows[last + 1 :]


def _rank(field: str, stems: Sequence[str]) -> int:
    return next((index for index, stem in enumerate(stems) if stem and field.startswith(stem)), len(stems))


def word_of(instruction: Instruction) -> str:
    """The op that states an instruction, or that there is no model of it."""
    return _place(instruction)[0]


def field_of(instruction: Instruction) -> str:
    """The field of that op which counts it."""
    return _place(instruction)[1]


def _place(instruction: Instruction) -> tuple[str, str]:
    """Word and field of one instruction."""
    root, *modifiers = instruction.opcode.split(".")
    if root == "BAR" and "ARV" in modifiers:
        root = "BAR.ARV"
    elif root == "LDS" and (instruction.one_address or _ONE_ADDRESS.search(instruction.text)):
        root = "LDS.U"
    elif root in ASYNCHRONOUS:
        return "wgmma", field_of_group(instruction)
    elif instruction.in_cluster:
        root = f"{root}.CLUSTER"
    elif root in atomics.ATOMICS:
        return "atomic", atomics.stated_as(instruction)
    elif root == "WARPGROUP" and "DEPBAR" in modifiers:
        root = "WARPGROUP.DEPBAR"
    elif root == "UBLKCP" and modifiers:
        root = f"UBLKCP.{modifiers[0]}"  # S.G: to shared memory
    elif root == "SYNCS" and "PHASECHK" not in modifiers:
        # What only sets a barrier up, or ends its life, is an instruction like others.
        arrival = "SYNCS.EXPECT" if _announces(instruction) else "SYNCS.ARRIVE"
        root = arrival if "ARRIVE" in modifiers else "SYNCS.EXCH"
    if root in _WORDS:
        word, field = _WORDS[root]
        return word, field.format(instruction.width, *_stride(instruction, modifiers))
    if root in KIND_OF:
        return NO_MODEL, KIND_OF[root]
    # Without machine code nobody knows what waits.
    apart = instruction.stall is not None and instruction.stall <= _NO_WAIT
    return _INTERLEAVED if apart else _OTHER


def sets_up_mbarrier(instruction: Instruction) -> bool:
    """Whether it is what `mbarrier.init` becomes."""
    told = {"ARRIVE", "PHASECHK", "CCTL"}  # CCTL.IV ends the life of one
    return instruction.root == "SYNCS" and not told.intersection(instruction.opcode.split("."))


def _announces(instruction: Instruction) -> bool:
    """Whether an arrival says how many bytes are to come: in its last operand."""
    return "A1T0" not in instruction.opcode and not instruction.text.rstrip(" ;").endswith("RZ")


def _stride(instruction: Instruction, modifiers: Sequence[str]) -> tuple[str]:
    """What a field says of lanes nearer to each other than their accesses are wide, or all at one address."""
    narrow = next((stride for stride, names in _NARROW.items() if names.intersection(modifiers)), "")
    if not narrow and (instruction.stride or 0) > instruction.width:
        narrow = f", {'structure' if instruction.whole else 'stride'}: {instruction.stride}"
    return (ONE_ADDRESS if instruction.one_address else narrow or _in_places(instruction),)


def _in_places(instruction: Instruction) -> str:
    """What a field says of a warp whose lanes lie in several places, or want the same as others."""
    if instruction.places is None or instruction.threads or instruction.taking:
        return ""
    row, count = instruction.places
    if count > 1:
        return f", scatter: {row}" if row < LINE_BYTES else ""
    if row <= instruction.width:
        return ONE_ADDRESS
    each = max(row // WARP_SIZE, 1)
    return f", stride: {each}" if each < instruction.width else ""
