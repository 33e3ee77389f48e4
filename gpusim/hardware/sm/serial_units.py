"""Units of an SM that serve one request after another, whoever asks: for barriers, groups of cp.async, other SMs."""

from __future__ import annotations

from gpusim.engine import Simulation
from gpusim.hardware.sm.costs import InstructionCosts

__all__ = ["SerialUnits"]


class _InTurn:
    """A unit that does one thing after another."""

    def __init__(self, sim: Simulation) -> None:
        self._sim, self._free_s, self.busy_s = sim, 0.0, 0.0

    def serve(self, seconds: float, earlier_s: float = 0.0) -> float:
        """Give it what takes it ``seconds``; seconds from now until it has done that, after all it was given before.

        The first of it came ``earlier_s`` ago.
        """
        now = self._sim.now
        self.busy_s += seconds
        self._free_s = max(self._free_s, now - earlier_s) + seconds
        return max(self._free_s - now, 0.0)


class SerialUnits:
    """One each for mbarriers, barriers of warps, commits of cp.async groups, and the way to other CTAs of a cluster."""

    def __init__(self, sim: Simulation, costs: InstructionCosts) -> None:
        self._costs = costs
        self._mbarriers, self._barriers, self._commits, self._network = (_InTurn(sim) for _ in range(4))

    @property
    def network_s(self) -> float:
        """For how long so far, in seconds, the way to other SMs of the cluster has been or will be busy."""
        return self._network.busy_s

    def synchronise(self, warps: int, interval_s: float) -> float:
        """Seconds until an operation on an mbarrier of each of ``warps`` warps is done, after all others."""
        return self._mbarriers.serve(warps * interval_s)

    def arrive_in_cluster(self, warps: int, ctas: int, apart_s: float) -> float:
        """Seconds until so many warps have each arrived in so many CTAs, one warp ``apart_s`` after the other.

        As many arrivals come here from there at the same time.
        """
        arrivals, earlier_s = warps * ctas, (warps - 1) * apart_s
        counted_s = self._mbarriers.serve(arrivals * self._costs.mbarrier_arrive_interval_s, earlier_s)
        return max(counted_s, self._network.serve(arrivals * self._costs.cluster_arrive_interval_s, earlier_s))

    def pass_network(self, seconds: float) -> float:
        """Seconds until what takes the way to other SMs of the cluster so long has passed, after all before it.

        Arrivals at barriers there take the same way.
        """
        return self._network.serve(seconds)

    def commit(self, warps: int) -> float:
        """Seconds until ``warps`` warps have each ended a group of cp.async, one after another."""
        return self._commits.serve(warps * self._costs.commit_s)

    def arrive(self, warps: int, apart_s: float) -> None:
        """So many warps have come to a barrier, one ``apart_s`` after the other."""
        self._barriers.serve(warps * self._costs.sync_arrive_s, (warps - 1) * apart_s)

    def let_go(self, warps: int) -> float:
        """Seconds until a barrier that so many warps have come to has let all of them go, after those of other CTAs."""
        return self._barriers.serve(warps * self._costs.sync_release_s)
