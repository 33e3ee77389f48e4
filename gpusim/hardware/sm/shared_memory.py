"""What a warp's instructions take of shared memory: loads, shuffles, stores and atomics.

Models: the SM's path of 128 bytes a clock, which an access passes as often as its lanes want words of the fullest bank,
  an atomic once for each lane even of the same word, and the load-store unit, which takes 16 lanes of up to 16 bytes a
  clock; how long loads and old values of atomics are away, and how soon a warp can ask for the next one.
Omits: swaps of atomics that fail because another warp was quicker: the program counts turns.
Source: realkernels.microbench (lds, banks, words, shared_atomics).
"""

from __future__ import annotations

from typing import NamedTuple

from gpusim.hardware.memory.access import WIDEST
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE, Mix
from gpusim.program.banks import WORD

__all__ = ["SharedCost", "SharedMemoryModel"]


class SharedCost(NamedTuple):
    """What a warp's accesses to shared memory take; a batch is what it asks for at once."""

    data: float
    """Cycles of the SM's path of shared memory and L1."""
    requests: float
    """Cycles of the SM's load-store unit."""
    batches: float
    """Batches of loads and of atomics that are waited for, each of which waits for the one before."""
    stall: float
    """Cycles in which the warp waits for these."""
    more_loads: float
    """Cycles in which loads of a batch are issued while the first one is worked on."""
    stores: float
    """Cycles in which the warp issues stores and atomics."""
    latency: float
    """Cycles from a load to its use."""
    interval: float
    """Cycles from one load of a scheduler to its next one."""
    away: float
    """Cycles from when a batch of loads is served until the warp needs it."""
    burst: float
    """Cycles of the unit that serves a batch."""
    last: float
    """Cycles of the last instruction of a batch."""
    gaps: float
    """Cycles between the instructions of a batch that are free for other warps."""


class SharedMemoryModel:
    """Costs of accesses to shared memory on one device."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._load_latency = value("sm.lds_latency")
        self._load_latency_more = value("sm.lds_latency_per_extra_wavefront")
        self._load_interval = value("sm.lds_interval")
        self._load_interval_more = value("sm.lds_interval_per_wavefront")
        self._store_interval = value("sm.sts_interval")
        self._store_interval_more = value("sm.sts_interval_per_extra_wavefront")
        self._atomic_interval = value("sm.atoms_interval")
        self._atomic_interval_more = value("sm.atoms_interval_per_wavefront")
        self._atomic_latency = value("sm.atoms_latency")
        self._atomic_latency_more = value("sm.atoms_latency_per_extra_wavefront")
        self._line_interval = value("lsu.line_interval")
        self._request_bytes = value("lsu.request_bandwidth")
        self._bytes_per_cycle = value("sm.shared_bandwidth")

    def cost(self, mix: Mix, apart: float) -> SharedCost:
        """What ``mix`` takes of shared memory, where one instruction of the warp is ``apart`` cycles from the next."""
        turn = self.wavefronts(WORD)
        load, store, update = mix.load_turns * turn, mix.store_turns * turn, mix.atoms_wavefronts * turn
        load_requests, store_requests = self._load_requests(mix), self._requests(mix.sts_bytes)
        batches = mix.lds / max(mix.loads_in_flight, 1.0)
        latency = self._load_latency + self._load_latency_more * (load - 1.0)
        hidden = mix.load_to_use * apart
        interval = max(self._load_interval, self._load_interval_more * load)
        # Further loads of a batch are issued while the first ones are worked on.
        more_loads = (mix.lds - batches) * interval
        stored = self._store_interval + self._store_interval_more * (store - 1.0)
        updated = self.atomic_interval(mix)
        old_values = self._atomic_latency + self._atomic_latency_more * (update - 1.0) - updated
        burst = last = gaps = 0.0
        if mix.lds:
            last = max(load, load_requests)
            burst = last * mix.lds / batches
            gaps = max(more_loads / batches - (burst - last), 0.0)
        elif mix.sts:
            last = max(store, store_requests)
            burst = last * mix.sts
        elif mix.atoms:
            last = update
            burst = last * mix.atoms
            gaps = max((mix.atoms - 1.0) * updated - (burst - last), 0.0)
        return SharedCost(
            data=mix.shared_turns * turn,
            requests=mix.lds * load_requests + mix.sts * store_requests + mix.atoms * self._requests(WORD),
            batches=batches + mix.atoms_waits,
            stall=batches * max(latency - hidden, 0.0) + mix.atoms_waits * max(old_values, 0.0),
            more_loads=more_loads,
            stores=mix.sts * stored + mix.atoms * updated,
            latency=latency,
            interval=interval,
            away=latency - load - hidden,
            burst=burst,
            last=last,
            gaps=gaps,
        )

    def atomic_interval(self, mix: Mix) -> float:
        """Cycles from one atomic of a warp to its next one, which other instructions may fill."""
        return max(self._atomic_interval, self._atomic_interval_more * mix.atoms_wavefronts * self.wavefronts(WORD))

    def wavefronts(self, width: int) -> float:
        """Turns of the path of shared memory for an access of ``width`` bytes per lane without conflicts."""
        return WARP_SIZE * width / self._bytes_per_cycle

    def _load_requests(self, mix: Mix) -> float:
        """Cycles of the load-store unit for a load; some are wider than ``lds_bytes`` says if they pass more often."""
        return max(self._requests(mix.lds_bytes), min(mix.lds_wavefronts, self._requests(WIDEST)))

    def _requests(self, width: int) -> float:
        """Cycles of the load-store unit for an access of ``width`` bytes per lane."""
        return max(WARP_SIZE * width / self._request_bytes, self._line_interval)
