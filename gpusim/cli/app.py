"""The commands and their arguments; the work is in the modules beside, imported when needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpusim.cli.options import Axes, Device, Exact, Json, Overrides, ScenarioFile
from gpusim.dashboard.ports import LAST_PORT, PORT
from gpusim.version import __version__

__all__ = ["app"]

app = typer.Typer(
    name="gpusim",
    help="Predict, measure and show when everything happens on a GPU pipeline.",
    epilog="Exit codes: 0 fine; 1 outside its band (compare, report) or not current (schema --check); 2 wrong input.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpusim {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Predict, measure and show when everything happens on a GPU pipeline."""


@app.command(short_help="Predict a scenario and advise on it.")
def run(
    scenario: ScenarioFile,
    set_: Overrides = None,
    device: Device = None,
    json: Json = False,
    exact: Exact = False,
    advice: Annotated[
        bool, typer.Option("--advice/--no-advice", help="Say what to change: a dozen further predictions.")
    ] = True,
) -> None:
    """Predict a scenario, say what would make it faster and, where a recording matches, show the error."""
    from gpusim.cli import scenario_commands

    scenario_commands.run(scenario, set_, device, json=json, exact=exact, advice=advice)


@app.command(short_help="Compare a prediction with a measurement.")
def compare(
    scenario: ScenarioFile,
    set_: Overrides = None,
    device: Device = None,
    json: Json = False,
    exact: Exact = False,
    measured: Annotated[
        Path | None, typer.Option("--measured", help="Timeline of your own: of the probe (docs/probe.md), or a trace.")
    ] = None,
    timeline: Annotated[
        str | None, typer.Option("--timeline", help="Which timeline of --measured, if it holds several.")
    ] = None,
    total: Annotated[str | None, typer.Option("--total", help="What you measured in all, as 3.82ms.")] = None,
) -> None:
    """Compare a scenario with its recording, --measured or --total; exit 1 if it is outside the band aimed at."""
    from gpusim.cli import scenario_commands

    given = scenario_commands.Measured(measured, timeline, total)
    raise typer.Exit(scenario_commands.compare(scenario, set_, device, given, json=json, exact=exact))


@app.command(short_help="Check scenario files for errors and hazards.")
def check(
    scenarios: Annotated[
        list[Path], typer.Argument(help="Scenario files (YAML), or folders of them.", metavar="SCENARIO...")
    ],
    calls: Annotated[
        bool, typer.Option("--calls", help="Also print the calls of host programs, in the order of each thread.")
    ] = False,
    json: Json = False,
) -> None:
    """Check scenario files and the points of their sweeps for errors, deadlocks and hazards; exit 2 on any.

    Points are run for a few tiles each; of more than 48 every value has its turn, and it is told how many ran.
    """
    from gpusim.cli import check_command

    raise typer.Exit(check_command.check(scenarios, json=json, calls=calls))


@app.command(short_help="Predict every point of a sweep, ranked.")
def sweep(
    scenario: ScenarioFile,
    set_: Axes = None,
    device: Device = None,
    json: Json = False,
    exact: Exact = False,
    overlap: Annotated[bool, typer.Option("--overlap", help="Also compute hidden fractions (slower).")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON lines; resumed if it exists.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, max=1024, help="Processes.")] = None,
    dask: Annotated[str | None, typer.Option("--dask", help="Scheduler address, tcp://host:port.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Rows to print.")] = 20,
) -> None:
    """Predict all points of a sweep, ranked; where axes change the work, the best of the others for each amount."""
    from gpusim.cli import sweep_command

    sweep_command.sweep(
        scenario, set_, device,
        json=json, exact=exact, overlap=overlap, output=output, workers=workers, dask=dask, top=top,
    )  # fmt: skip


@app.command(short_help="Write timelines for other tools.")
def export(
    scenario: ScenarioFile,
    output: Annotated[Path, typer.Argument(help="trace.pftrace (Perfetto), .json (Chrome), .csv or .html.")],
    set_: Overrides = None,
    device: Device = None,
    json: Json = False,
    exact: Exact = False,
) -> None:
    """Write the predicted (and, where recorded, the measured) timeline for other tools."""
    from gpusim.cli import export_command

    export_command.export(scenario, output, set_, device, json=json, exact=exact)


@app.command("import", short_help="Say what a trace of another tool shows.")
def import_(
    trace: Annotated[
        Path, typer.Argument(help="Chrome JSON (PyTorch, Proton, gpusim), Nsight Systems (.sqlite), or of the probe.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it as .pftrace (Perfetto), .json (Chrome) or .csv.")
    ] = None,
    timeline: Annotated[str | None, typer.Option("--timeline", help="Which timeline, if it holds several.")] = None,
    clock: Annotated[
        str | None, typer.Option("--clock", help="Clock of the SMs, as 1.98GHz, for times in cycles (Proton).")
    ] = None,
    json: Json = False,
) -> None:
    """Say how well copies are hidden, what is busy and what waits in a trace; compare it by `compare --measured`."""
    from gpusim.cli import import_command

    import_command.import_trace(trace, output, timeline, clock, json=json)


@app.command(short_help="Run a scenario's real kernel on this GPU.")
def measure(
    scenario: ScenarioFile,
    set_: Axes = None,
    json: Json = False,
    sweep: Annotated[bool, typer.Option("--sweep", help="Measure every point of the scenario's sweep.")] = False,
    timeline: Annotated[
        bool, typer.Option("--timeline/--no-timeline", help="Also record what happens inside the kernel.")
    ] = True,
    record: Annotated[bool, typer.Option("--record/--no-record", help="Keep what was measured.")] = True,
) -> None:
    """Run the real kernel of a scenario on the attached GPU and record it."""
    from gpusim.cli import gpu_commands

    gpu_commands.measure(scenario, set_, json=json, sweep=sweep, timeline=timeline, record=record)


@app.command(short_help="Measure this GPU and write a device profile.")
def calibrate(
    name: Annotated[str, typer.Argument(help="Name of the profile to write.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Profile file to write.")] = None,
    host_of: Annotated[
        str | None,
        typer.Option("--host-of", help="Measure only calls, copies and streams; take the GPU from this profile."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure the attached GPU and its host with microbenchmarks and write a device profile.

    A scenario then says ``device: NAME.yaml``. What calls cost differs more between hosts than anything else: with
    --host-of h200_sxm it takes half a minute to measure yours.
    """
    from gpusim.cli import gpu_commands

    gpu_commands.calibrate(name, output, host_of, json=json)


@app.command(short_help="Compare all recordings with predictions.")
def report(
    json: Json = False,
    write: Annotated[
        bool, typer.Option("--write", help="Rewrite docs/accuracy.md, the README table and the dashboard's numbers.")
    ] = False,
    folder: Annotated[Path, typer.Option("--folder", help="Checkout to write to.")] = Path(),
) -> None:
    """Compare every recording with its prediction; exit 1 if one is outside its band, known gaps left out."""
    from gpusim.cli import report_command

    raise typer.Exit(report_command.report(folder, json=json, write=write))


@app.command(short_help="Count the instructions of a kernel's loops.")
def count(
    file: Annotated[
        Path, typer.Argument(help="A cubin, or what cuobjdump -sass printed; - for standard input.", metavar="FILE")
    ],
    function: Annotated[
        str | None, typer.Option("--function", help="Only this function; a part of its name will do.")
    ] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Step by step: what is computed between one access and the next.")
    ] = False,
    draft: Annotated[
        int | None, typer.Option("--draft", min=1, max=32, help="The roles of a CTA of so many warps, to paste.")
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(
            "--block", help="Threads of a CTA in x and y (32x8), of kernels that use threadIdx.y.", metavar="XxY"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the draft as a scenario file, which must not exist.")
    ] = None,
    json: Json = False,
) -> None:
    """Count the instructions of a kernel's loops, by the words of a scenario."""
    from gpusim.cli.count import command

    command.count(file, function, in_order=in_order, warps=draft, block=block, output=output, json=json)


@app.command()
def techniques(json: Json = False) -> None:
    """List the installed techniques and their parameters."""
    from gpusim.cli import list_commands

    list_commands.techniques(json=json)


@app.command(short_help="List device profiles, or one with its sources.")
def devices(
    name: Annotated[str | None, typer.Argument(help="Show all quantities of this device.")] = None, json: Json = False
) -> None:
    """List the device profiles, or the quantities of one with their sources."""
    from gpusim.cli import list_commands

    list_commands.devices(name, json=json)


@app.command(short_help="Print or write the JSON Schema of scenarios.")
def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; a page (.md) that exists gets the ops as tables."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 if the file (-o, default scenarios/schema.json) is not current.")
    ] = False,
    json: Json = False,
) -> None:
    """Print or write the JSON Schema of scenario files (scenarios/schema.json)."""
    from gpusim.cli import list_commands

    raise typer.Exit(list_commands.schema(output, check=check, json=json))


@app.command()
def doctor(json: Json = False) -> None:
    """Say what this machine has, what is missing, and how to get it."""
    from gpusim.cli import doctor_command

    doctor_command.doctor(json=json)


@app.command(short_help="Serve the dashboard on this machine.")
def dashboard(
    scenarios: Annotated[Path, typer.Argument(help="Folder of scenario files.")] = Path("scenarios"),
    port: Annotated[
        int, typer.Option("--port", min=0, max=LAST_PORT, help="Port on 127.0.0.1; 0 for any free one.")
    ] = PORT,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Serve the dashboard on this machine; it draws predicted above measured."""
    from gpusim.cli import dashboard_command

    dashboard_command.dashboard(scenarios, port, browser=browser)
