"""Where in a scenario file the reason of an error stands that was found while its program ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpusim.deadlock import Deadlock
from gpusim.errors import DoesNotFit, GpusimError, HazardError, ProfileError, ProgramError
from gpusim.program.remedies import role_of
from gpusim.scenario.kernel.schema import SpelledKernel
from gpusim.scenario.scenario import Scenario
from gpusim.scenario.yaml_source import Place

__all__ = ["placed"]


@contextmanager
def placed(scenario: Scenario) -> Iterator[None]:
    """Errors of the program that ``scenario`` stands for say where in its file the reason is."""
    try:
        yield
    except (Deadlock, DoesNotFit, HazardError, ProfileError, ProgramError) as error:
        error.place = scenario.source.place(_path(error, scenario))
        raise


def _path(error: GpusimError, scenario: Scenario) -> Place:
    if isinstance(error, ProfileError):
        return ("device",)
    kernel, host = scenario.model.kernel, scenario.model.host
    if host is not None:
        if isinstance(error, ProgramError):
            return "host", *error.about
        if isinstance(error, DoesNotFit) and error.subject in host.kernels:
            return "host", "kernels", error.subject
        return ("host",)
    if isinstance(kernel, SpelledKernel) and isinstance(error, HazardError) and role_of(error.role) in kernel.roles:
        return "kernel", "roles", role_of(error.role)
    return ("kernel",)
