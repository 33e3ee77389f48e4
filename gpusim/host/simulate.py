"""A host program on a device: the predicted timeline of host threads, streams and copy engines."""

from __future__ import annotations

from collections.abc import Generator

from gpusim.deadlock import Deadlock, thread_lane
from gpusim.engine import Simulation
from gpusim.errors import ProgramError
from gpusim.hardware.capability import PROGRAMMATIC_FROM
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.assumptions import assumed_of
from gpusim.host.calls.shared import Shared
from gpusim.host.calls.thread import HostThreadModel
from gpusim.host.costs import HostApi, HostCosts
from gpusim.host.device.machine import Machine
from gpusim.program.host import DeviceSync, HostProgram, Launch, SetDevice
from gpusim.timeline import Timeline, TimelineBuilder

__all__ = ["simulate_host"]


def simulate_host(
    program: HostProgram, profile: DeviceProfile, *, host: HostApi = "cupy", exact: bool = False,
    trace: bool = True, zoom: bool = False,
) -> Timeline:  # fmt: skip
    """Predict one run of ``program``; times start with the first call on idle devices of one kind.

    ``host`` chooses the call costs. With ``zoom`` the lanes of every kernel program that ran are put in,
    below its stream's lane. The end is the return of a device synchronisation behind everything.

    Raises GpusimError for calls the runtime would reject, DoesNotFit, HazardError and Deadlock.
    """
    if not any(thread.ops for thread in program.threads):
        raise ProgramError("no thread of the host program calls anything; expected at least one call")
    _check_programmatic(program, profile)
    builder = TimelineBuilder() if trace else None
    record = builder.add if builder is not None else None
    sim = Simulation()
    costs = HostCosts(profile, host)
    machine = Machine(sim, program, profile, costs, record, exact)
    shared = Shared(sim, program, machine)
    threads = [HostThreadModel(shared, thread, i, record) for i, thread in enumerate(program.threads)]
    ended: list[float] = []
    sim.process(_all(sim, threads, program.devices, ended))
    try:
        sim.run()
    except Deadlock as error:
        if error.kernel:
            raise
        raise Deadlock(error.at_s, [entry.of_host(_names(program, error)) for entry in error.blocked]) from None
    meta = {
        "source": "predicted", "device": profile.recordings, "program": program.name, "host": host, "exact": exact,
        "total_s": ended[0], "assumed": assumed_of(program, profile, host),
        "waits_in_chunks": program.waits_in_chunks, "lane_names": _lane_names(program, machine),
        "kernel_names": dict(machine.drawing.kernel_names),
    }  # fmt: skip
    if builder is None:
        return TimelineBuilder().build(**meta)
    if zoom:
        for lane, start_s, end_s, timeline in (zoom for device in machine.devices for zoom in device.zooms):
            _embed(builder, lane, start_s, end_s, timeline())
    return builder.build(**meta)


def _check_programmatic(program: HostProgram, profile: DeviceProfile) -> None:
    """Raise ProgramError for a programmatic launch on a device that has none."""
    has = profile.value("sm.compute_capability")
    parts = (*program.threads, *program.graphs)
    early = next((op for part in parts for op in part.ops if isinstance(op, Launch) and op.programmatic), None)
    if early is not None and has < PROGRAMMATIC_FROM:
        raise ProgramError(
            f"kernel {early.kernel.name!r} is launched during the one ahead (programmatic), which takes compute "
            f"capability {PROGRAMMATIC_FROM}, {profile.name} has {has}; leave programmatic out, or use another device"
        )


def _all(sim: Simulation, threads: list[HostThreadModel], devices: int, ended: list[float]) -> Generator:
    processes = [sim.process(thread.run()) for thread in threads]
    yield from processes
    for device in range(devices):
        if devices > 1:
            yield from threads[0].call(SetDevice(device))
        yield from threads[0].call(DeviceSync())
    ended.append(sim.now)


def _lane_names(program: HostProgram, machine: Machine) -> dict[str, str]:
    """What the program calls its streams and, of several, its threads, by lane; nothing for names that only count."""
    named = {state.lane: state.spec.name for state in machine.streams.all}
    if len(program.threads) > 1:
        named |= {f"host[{number}]": thread.name for number, thread in enumerate(program.threads)}
    return {lane: name for lane, name in named.items() if name.strip("0123456789") != "s"}


def _names(program: HostProgram, error: Deadlock) -> dict[str, str]:
    """Threads by lane; of one that has ended how many chunks it had, which is what others may have too many of."""
    stuck = {entry.lane for entry in error.blocked}
    names = {}
    for number, thread in enumerate(program.threads):
        lane, chunks = f"host[{number}]", max((op.chunk for op in thread.ops), default=-1) + 1
        had = f" of {chunks} chunk{'s' if chunks > 1 else ''}" if chunks and lane not in stuck else ""
        names[lane] = f"{thread_lane(thread.name)}{had}"
    return names


def _embed(builder: TimelineBuilder, lane: str, start_s: float, end_s: float, timeline: Timeline) -> None:
    """The intervals of a kernel alone; of one that shared its SMs they are stretched to the time that it took."""
    offset, stretch = start_s, max((end_s - start_s) / timeline.total_s, 1.0)
    for interval in timeline:
        begin, end = (offset + stretch * at for at in (interval.start_s, interval.end_s))
        builder.add(
            f"{lane}.{interval.lane}", interval.kind, begin, end,
            interval.reason, interval.tile, interval.stage, interval.bytes,
        )  # fmt: skip
