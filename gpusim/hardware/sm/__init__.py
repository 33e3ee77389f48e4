"""A streaming multiprocessor: CTAs and their warps, schedulers, arithmetic, barriers, copies."""
