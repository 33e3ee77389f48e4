"""Units of an SM that serve one request after another, whoever asks: for mbarriers, barriers and groups of cp.async."""

from __future__ import annotations

from gpusim.engine import Simulation

__all__ = ["InTurn"]


class InTurn:
    """A unit that does one thing after another."""

    def __init__(self, sim: Simulation) -> None:
        self._sim, self._free_s = sim, 0.0

    def served(self, seconds: float, earlier_s: float = 0.0) -> float:
        """Seconds from now until it has done what takes it ``seconds``, after all it was given before.

        The first of it came ``earlier_s`` ago.
        """
        now = self._sim.now
        self._free_s = max(self._free_s, now - earlier_s) + seconds
        return max(self._free_s - now, 0.0)
