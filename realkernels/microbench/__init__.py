"""Calibration kernels: the only source of measured numbers in a device profile.

``python -m realkernels.microbench --out DIR [--only a,b]`` runs them on the attached GPU and writes one
``DIR/<bench>.json`` each. A bench isolates one mechanism, so that its number can be put into the model as
that mechanism and no technique's own measurement has to be fitted. ``--list`` prints their names and what each tells.

Times inside a kernel are SM cycles (clock64); over several warps from the first start to the last stop.
The first repeat warms the instruction cache and is dropped. ``clock_hz`` in each file converts to seconds.
"""
