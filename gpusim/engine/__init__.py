"""Discrete events on SimPy: fluid sharing, servers in order, barriers, deadlocks; not one GPU word."""

from gpusim.engine.barrier import CountingBarrier, PhasedBarrier
from gpusim.engine.flow import Capacity, Flow
from gpusim.engine.fluid import FluidSystem
from gpusim.engine.overtaking import OvertakingServer
from gpusim.engine.simulation import Event, Process, Simulation

__all__ = [
    "Capacity",
    "CountingBarrier",
    "Event",
    "Flow",
    "FluidSystem",
    "OvertakingServer",
    "PhasedBarrier",
    "Process",
    "Simulation",
]
