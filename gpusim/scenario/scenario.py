"""A checked what-if: what was asked, on which device, with which kernel or host program."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from gpusim.hardware.occupancy import occupancy
from gpusim.hardware.profile import DeviceProfile, load_profile
from gpusim.program import KernelProgram, doubts
from gpusim.program.host import HostProgram
from gpusim.scenario.host.doubts import host_doubts
from gpusim.scenario.host.spec import build_host
from gpusim.scenario.kernel.remarks import draft_remarks, kernel_remarks
from gpusim.scenario.kernel.schema import SpelledKernel, TechniqueKernel
from gpusim.scenario.kernel.spec import build_kernel
from gpusim.scenario.schema import ScenarioModel
from gpusim.scenario.technique import Technique, technique
from gpusim.scenario.yaml_source import Source

__all__ = ["Scenario"]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A scenario whose names, units and limits have been checked.

    Made by `load`, `loads` and `from_data`. ``params`` is the technique's ``Params``, or
    None for a spelled-out kernel; ``data`` is the plain data it was read from.
    """

    model: ScenarioModel
    params: Any
    data: dict[str, Any]
    source: Source
    host_params: Mapping[str, Any] = field(default_factory=dict)
    """``Params`` of the techniques under ``host.kernels``, by name."""

    @property
    def question(self) -> str:
        """What the scenario is to answer."""
        return self.model.question

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.source.name).stem

    @property
    def device(self) -> str:
        """Name of the device profile."""
        return self.model.device.base

    @property
    def recorded_device(self) -> str:
        """Name of the device whose recordings it is compared with; another one if the profile is a file."""
        return load_profile(self.device).recordings

    @property
    def technique(self) -> Technique | None:
        """The technique, or None for a spelled-out kernel."""
        kernel = self.model.kernel
        return technique(kernel.technique) if isinstance(kernel, TechniqueKernel) else None

    @property
    def nothing_real(self) -> str:
        """Why there is nothing real to run and measure; nothing where there is, because it is a technique."""
        if self.technique is not None:
            return ""
        what, real = ("kernel", "kernel") if self.model.host is None else ("host program", "program")
        return f"a spelled-out {what} has no real {real} behind it"

    @property
    def host_api(self) -> Literal["cupy", "cuda"]:
        """Whose calls a host program makes: techniques are measured from Python."""
        return "cupy" if self.model.host is None else self.model.host.api

    def profile(self) -> DeviceProfile:
        """The device with the scenario's changes. Raises ProfileError."""
        return load_profile(self.device, self.model.device.set)

    def program(self) -> KernelProgram | HostProgram:
        """The kernel or host program as the model runs it. Raises DoesNotFit where not even one CTA fits."""
        if self.technique is not None:
            return self.technique.build(self.params)
        if self.model.host is not None:
            return build_host(self.model.host, self._host_kernel)
        return self._spelled(self.model.kernel)

    def doubts(self) -> tuple[str, ...]:
        """What is possible and seldom meant, in sentences; of host programs that are techniques nothing.

        What a kernel leaves to luck (`gpusim.program.doubts`), what it does not use and what of a draft is still a
        comment (`gpusim.scenario.kernel.remarks`), those that a host program spells out included, and what such a
        program leaves behind or does not use (`host_doubts`).
        """
        host = self.model.host
        if host is not None:
            own = {name: kernel for name, kernel in host.kernels.items() if isinstance(kernel, SpelledKernel)}
            of_kernels = (f"kernel {name!r}: {told}" for name in own for told in self._doubts_of(own[name]))
            return (*host_doubts(host), *of_kernels, *draft_remarks(self.source))
        if isinstance(self.model.kernel, SpelledKernel):
            return (*self._doubts_of(self.model.kernel), *draft_remarks(self.source))
        program = self.program()
        return tuple(doubts(program)) if isinstance(program, KernelProgram) else ()

    def _doubts_of(self, kernel: SpelledKernel) -> Iterator[str]:
        yield from doubts(self._spelled(kernel))
        yield from kernel_remarks(kernel)

    def _host_kernel(self, kernel: TechniqueKernel | SpelledKernel, place: tuple[str, ...]) -> KernelProgram:
        if isinstance(kernel, SpelledKernel):
            return self._spelled(kernel)
        found = technique(kernel.technique)
        program = found.build(self.host_params[place[-1]])
        if not isinstance(program, KernelProgram):
            problem = f"expected a kernel, got {found.name}, which is a host program"
            raise self.source.error(problem, ("host", *place, "technique"), given=found.name)
        return program

    def _spelled(self, kernel: SpelledKernel) -> KernelProgram:
        program = build_kernel(kernel)
        if kernel.ctas_per_sm is None:
            return program
        return _padded(program, self.profile(), kernel.ctas_per_sm)

    @property
    def ctas_per_sm(self) -> int | None:
        """How many CTAs are to share an SM at most, None where the scenario does not say."""
        return getattr(self.params or self.model.kernel, "ctas_per_sm", None)

    def limiter(self, fits: Mapping[str, Any]) -> str:
        """What keeps one more CTA from an SM, in words; ``fits`` is the ``occupancy`` of its timeline."""
        # Whoever asks for fewer than fit is given shared memory that it does not need.
        if fits["limiter"] == "shared_memory" and fits["ctas_per_sm"] == self.ctas_per_sm:
            return "the scenario's ctas_per_sm"
        return str(fits["limiter"]).replace("_", " ")

    def resolved(self) -> dict[str, Any]:
        """Plain data with every default filled in; `from_data` reads it back. Without the sweep."""
        data = self.model.model_dump(mode="json", exclude_none=True, exclude={"sweep"})
        if self.model.host is not None:
            # Steps are written as they are read: the one word that was chosen.
            data["host"] = self.model.host.model_dump(mode="json", exclude_none=True, exclude_unset=True)
        if self.params is not None:
            data["kernel"]["params"] = dataclasses.asdict(self.params)
        return data

    @cached_property
    def hash(self) -> str:
        """16 hexadecimal digits that depend on the device and the kernel, and on nothing else."""
        resolved = self.resolved()
        canonical = json.dumps(
            [resolved["device"], resolved.get("kernel", resolved.get("host"))], sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def identity(self) -> tuple[Any, ...]:
        """All that its prediction depends on: the hash, which has the device by name, and its numbers."""
        return self.hash, tuple((name, quantity.value) for name, quantity in self.profile().quantities.items())


def _padded(program: KernelProgram, profile: DeviceProfile, ctas_per_sm: int) -> KernelProgram:
    """The program with just enough unused shared memory that at most ``ctas_per_sm`` CTAs fit.

    Found by bisection, so that the allocation rules stay in one place. The largest CTA
    leaves no room for a second one, so there always is such a padding. Raises DoesNotFit.
    """
    fits = occupancy(program, profile).ctas_per_sm
    if fits <= ctas_per_sm:
        return program
    step = int(profile.value("sm.shared_allocation_unit"))
    low, high = program.shared_bytes // step, int(profile.value("cta.max_shared_memory")) // step
    while low + 1 < high:
        middle = (low + high) // 2
        padded = dataclasses.replace(program, shared_bytes=middle * step)
        low, high = (low, middle) if occupancy(padded, profile).ctas_per_sm <= ctas_per_sm else (middle, high)
    return dataclasses.replace(program, shared_bytes=high * step)
