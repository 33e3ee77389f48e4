"""The CUDA runtime as a model: host threads, streams, copy engines, block scheduler, allocators."""

from gpusim.host.simulate import simulate_host

__all__ = ["simulate_host"]
