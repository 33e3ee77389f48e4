"""Questions of a draft (`gpusim count -o`) that still stand in a file, and what of an op answers them."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.scenario.yaml_source import Source

__all__ = ["QUESTIONS", "open_questions"]

QUESTIONS: dict[str, tuple[str, ...]] = {
    "its ring?": ("ring",),
    "row? pitch?": ("row", "pitch", "align"),
    "stride? scatter?": ("stride", "scatter", "structure"),
    "completed?": ("completed",),
    "pieces?": ("pieces",),
    "wavefronts?": ("lds_wavefronts", "sts_wavefronts", "atoms_wavefronts", "bank_conflict"),
    "distinct?": ("distinct",),
    "always taken?": ("every", "skip_first", "skip_last"),
}
"""By what a draft asks, the fields of which one on the same line answers it."""
_MOST = 8
"""Lines that are named, further ones are counted."""
_HITS, _FOUND = "find what in L2 or L1?", ("l2_hit", "l1_hit", "on_the_way")


def open_questions(source: Source) -> Iterator[str]:
    """What is asked and not answered, in sentences; a question that has been deleted is answered, too."""
    said: dict[int, set[str | int]] = {}
    for path, (line, _) in source.marks.items():
        said.setdefault(line, set()).update(path[-1:])
    asked: dict[str, list[int]] = {}
    for line, comment in source.asking.items():
        for question, answers in QUESTIONS.items():
            if question in comment and said.get(line, set()).isdisjoint(answers):
                asked.setdefault(question, []).append(line)
        if _HITS in comment and not any(path[-1:] and path[-1] in _FOUND for path in source.marks):
            yield (
                f"line {line} asks which loads find what in L2 or L1, and no op says {' or '.join(_FOUND[:2])}, so "
                "that all comes from DRAM: say it, or delete the question"
            )
    if asked:
        lines = sorted({line for found in asked.values() for line in found})
        questions = ", ".join(map(repr, asked))
        yield f"{_ask(lines)} {questions} still: say it there, or delete the question where what stands there is right"


def _ask(lines: list[int]) -> str:
    *others, last = map(str, lines)
    if len(others) > _MOST:
        return f"line {others[0]} and {len(others)} others ask"
    return f"lines {', '.join(others)} and {last} ask" if others else f"line {last} asks"
