"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Device", "Exact", "Json", "Overrides", "ScenarioFile"]

ScenarioFile = Annotated[Path, typer.Argument(help="Scenario file (YAML).", metavar="SCENARIO")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override, as kernel.params.stages=4; may be repeated.", metavar="PATH=VALUE"),
]
Device = Annotated[str | None, typer.Option("--device", help="Device profile to use instead.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Exact = Annotated[bool, typer.Option("--exact", help="Simulate every tile; extrapolate nothing.")]
