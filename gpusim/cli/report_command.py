"""``report``: the model against every recording."""

from __future__ import annotations

from pathlib import Path

from gpusim.cli.output import console, print_json, print_table, progress_bar
from gpusim.errors import GpusimError
from gpusim.files import write_atomically
from gpusim.validation import accuracy, all_cases, write_predicted
from gpusim.validation.markdown import accuracy_page, accuracy_table, insert_between_markers, summary_cells

__all__ = ["report"]


def report(folder: Path, *, json: bool, write: bool) -> int:
    """Print the report and, on demand, write it into the docs and beside the recordings; the exit code."""
    # Before the minutes that the comparison takes.
    readme = folder / "README.md"
    if not folder.is_dir():
        raise GpusimError(f"--folder {folder}: no such folder (allowed: a checkout of this project)")
    if write:
        insert_between_markers(readme.read_text(encoding="utf-8"), "")
    with progress_bar("recordings") as progress:
        found = accuracy(all_cases(progress=progress))
    if write:
        text = insert_between_markers(readme.read_text(encoding="utf-8"), accuracy_table(found))
        write_atomically(folder / "docs" / "accuracy.md", accuracy_page(found))
        write_atomically(readme, text)
        write_predicted(found.cases)
    if json:
        print_json(found.as_dict())
    elif found.overall is None:
        console().print("There are no recordings; gpusim measure makes them on a machine with a GPU.")
    else:
        summaries = (*found.techniques, *found.devices, found.overall)
        rows = [(row.name, *summary_cells(row)) for row in summaries]
        head = (
            "technique",
            "recordings",
            "mean",
            "worst",
            f"within {found.band.worst:.1%}",
            "hidden, worst",
            "best stages",
        )
        print_table("predicted against measured", head, rows)
    return 0 if found.holds else 1
