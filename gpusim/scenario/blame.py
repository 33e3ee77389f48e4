"""Where in a scenario file the reason of an error stands that was found while its program ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpusim.deadlock import Deadlock, thread_lane
from gpusim.errors import DoesNotFit, GpusimError, HazardError, ProfileError, ProgramError
from gpusim.program.remedies import role_of
from gpusim.scenario.host.calls import calls_of_thread
from gpusim.scenario.host.schema import SpelledHost
from gpusim.scenario.kernel.op_place import op_place
from gpusim.scenario.kernel.schema import SpelledKernel
from gpusim.scenario.kernel.waiting_op import waiting_op
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
    if host is None:
        return "kernel", *_below(kernel, error)
    if isinstance(error, ProgramError) and not error.kernel:
        return "host", *error.about
    about = error.subject if isinstance(error, DoesNotFit) else error.kernel
    if about in host.kernels:
        return "host", "kernels", about, *_below(host.kernels[about], error)
    if isinstance(error, DoesNotFit) and (asked := _allocation(host, about)):
        return "host", *asked
    threads = [name for name in host.threads if isinstance(error, Deadlock) and thread_lane(name) == error.chief.lane]
    return ("host", "threads", threads[0]) if threads else ("host",)


def _allocation(host: SpelledHost, subject: str) -> Place:
    """The call that asks for the buffer which is the ``subject`` of an error; empty if there is none."""
    calls = (call for name in host.threads for call in calls_of_thread(host, name))
    asks = (call for call in calls if call.word.startswith("malloc") and subject == f"buffer {call.names['buffer']!r}")
    return next((call.path for call in asks), ())


def _below(kernel: Any, error: GpusimError) -> Place:
    """The place below ``kernel``: of the op that waits for ever, or at which a hazard was found."""
    if isinstance(kernel, SpelledKernel) and isinstance(error, Deadlock):
        return waiting_op(kernel, error.chief)
    at_op = isinstance(error, HazardError | ProgramError)
    if isinstance(kernel, SpelledKernel) and at_op and role_of(error.role) in kernel.roles:
        role = role_of(error.role)
        return (op_place(kernel, role, error.at) if error.at else ()) or ("roles", role)
    return ()
