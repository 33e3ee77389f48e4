"""Questions of a draft (`gpusim count -o`) that still stand in a file, and what of an op answers them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpusim.program.sass import questions
from gpusim.scenario.yaml_source import Source

__all__ = ["lines_are", "open_questions"]

_ANSWERS: dict[str, tuple[str, ...]] = {
    questions.RING: ("ring",),
    questions.ROWS: ("row", "pitch", "align"),
    questions.PATTERN: ("stride", "scatter", "structure"),
    questions.COMPLETED: ("completed",),
    questions.PIECES: ("pieces",),
    questions.WAVEFRONTS: ("lds_wavefronts", "sts_wavefronts", "atoms_wavefronts", "bank_conflict"),
    questions.DISTINCT: ("distinct",),
    questions.ALWAYS_TAKEN: ("every", "skip_first", "skip_last"),
}
"""The fields of which one on the same line answers a question."""
_HITS = ("l2_hit", "l1_hit")
"""Of which one anywhere answers which loads find what."""
_MOST = 8
"""Lines that are named, further ones are counted."""


def open_questions(source: Source) -> Iterator[str]:
    """What is asked and not answered, in sentences; a question that has been deleted is answered, too."""
    said: dict[int, set[str | int]] = {}
    for path, (line, _) in source.marks.items():
        said.setdefault(line, set()).update(path[-1:])
    answered = not set().union(*said.values()).isdisjoint(_HITS)
    asked: dict[str, list[int]] = {}
    for line, comment in source.asking.items():
        for question, answers in _ANSWERS.items():
            if question in comment and said.get(line, set()).isdisjoint(answers):
                asked.setdefault(question, []).append(line)
        if questions.HITS in comment and not answered:
            yield (
                f"line {line} asks which loads find what in L2 or L1, and no op says {' or '.join(_HITS)}, so "
                "that all comes from DRAM: say it, or delete the question"
            )
    if asked:
        lines = sorted({line for found in asked.values() for line in found})
        told = ", ".join(map(repr, asked))
        where = lines_are(lines, "asks", "ask")
        yield f"{where} {told} still: say it there, or delete the question where what stands there is right"


def lines_are(numbers: Sequence[int], one: str = "is", several: str = "are") -> str:
    """Lines of a file as the subject of a sentence, with its verb."""
    *others, last = map(str, numbers)
    if len(others) > _MOST:
        others, last = others[:_MOST], f"{len(numbers) - _MOST} others"
    return f"lines {', '.join(others)} and {last} {several}" if others else f"line {last} {one}"
