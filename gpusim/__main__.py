"""``python -m gpusim``: the command without its script."""

from gpusim.cli import main

main()
