"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Axes", "Device", "Exact", "Json", "Overrides", "ScenarioFile"]

ScenarioFile = Annotated[Path, typer.Argument(help="Scenario file (YAML).", metavar="SCENARIO")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override, as kernel.params.stages=4; may be repeated.", metavar="PATH=VALUE"),
]
Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override, as kernel.params.stages=4, which pins the axis if the sweep has it; with several values, as "
        "kernel.params.stages=1,2,4, an axis, in the place of the file's own or beside them. May be repeated.",
        metavar="PATH=VALUE[,VALUE…]",
    ),
]
Device = Annotated[str | None, typer.Option("--device", help="Device profile to use instead.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Exact = Annotated[bool, typer.Option("--exact", help="Simulate every tile; extrapolate nothing.")]
