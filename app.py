"""Start the dashboard: ``python app.py [--scenarios FOLDER] [--port N] [--no-browser]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpusim.dashboard import PORT, serve
from gpusim.errors import GpusimError

SCENARIOS = Path(__file__).resolve().parent / "scenarios"


def main(arguments: list[str] | None = None) -> int:
    """Serve a folder of scenarios on this machine only; 2 for a folder or port that cannot be used."""
    parser = argparse.ArgumentParser(description="Predicted above measured GPU pipeline timelines, in a browser.")
    parser.add_argument("--scenarios", type=Path, default=SCENARIOS, help="folder with scenario files (*.yaml)")
    parser.add_argument("--port", type=int, default=PORT, help="port on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    options = parser.parse_args(arguments)
    try:
        serve(options.scenarios, port=options.port, browser=not options.no_browser)
    except GpusimError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
