"""``report``: the model against every recording."""

from __future__ import annotations

from pathlib import Path

from gpusim.cli.output import console, print_json, print_table, progress_bar
from gpusim.files import write_atomically
from gpusim.validation import accuracy, all_cases
from gpusim.validation.markdown import accuracy_page, accuracy_table, insert_between_markers

__all__ = ["report"]


def report(json: bool, write: bool, folder: Path) -> int:
    """Print the report and, on demand, write it into the docs; the exit code."""
    with progress_bar("recordings") as progress:
        found = accuracy(all_cases(progress=progress))
    if write:
        readme = folder / "README.md"
        text = insert_between_markers(readme.read_text(encoding="utf-8"), accuracy_table(found))
        write_atomically(folder / "docs" / "accuracy.md", accuracy_page(found))
        write_atomically(readme, text)
    if json:
        print_json(found.as_dict())
    elif found.overall is None:
        console().print("There are no recordings; gpusim measure makes them on a machine with a GPU.")
    else:
        rows = [
            (row.name, row.cases, f"{row.mean_abs:.1%}", f"{row.worst:+.1%}",
             "–" if row.hidden_worst is None else f"{row.hidden_worst:+.3f}",
             f"{row.choices_right} of {row.choices}" if row.choices else "–",
             "yes" if row.within(found.band) else "no")
            for row in (*found.techniques, *found.devices, found.overall)
        ]  # fmt: skip
        head = ("technique", "recordings", "mean", "worst", "hidden, worst", "best stages", "in band")
        print_table("predicted against measured", head, rows)
    return 0 if found.holds else 1
