"""Independent pieces of work over processes, or over a Dask cluster, in chunks worth sending."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from gpusim.errors import GpusimError

__all__ = ["Progress", "run_parallel"]

Progress = Callable[[int, int], None]
"""``progress(done, all)``, called as results come."""

CHUNK_S = 0.05
"""A chunk runs at least this long; shorter ones would spend their time on being sent."""

SERIAL_S = 0.5
"""Work below this is done in place: starting processes would take as long."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_parallel(
    work: Callable[[Job], Result], jobs: Sequence[Job], *, workers: int | None = None, dask: str | None = None
) -> Iterator[Result]:
    """``work`` of every job, in the order in which they are done.

    The first jobs run here, to learn how long one takes; the rest goes to ``workers``
    processes (default: one per core) or to the Dask scheduler at address ``dask``.

    Raises GpusimError where Dask is not installed or not there.
    """
    if not jobs:
        return
    # A scheduler that is not there is told even where the work is done before it would be asked.
    cluster = _executor(workers or 1, dask) if dask else None
    with cluster or nullcontext():
        yield from _divided(work, jobs, workers or os.cpu_count() or 1, cluster)


def _divided(
    work: Callable[[Job], Result], jobs: Sequence[Job], count: int, cluster: Executor | None
) -> Iterator[Result]:
    started = time.perf_counter()
    each_s = 0.0
    pending = iter(jobs)
    for taken, job in enumerate(pending, start=1):
        with _left_alone():
            done = work(job)
        yield done
        each_s = (time.perf_counter() - started) / taken
        if (count > 1 or cluster) and each_s * (len(jobs) - taken) > SERIAL_S:
            break
    rest = list(pending)
    if not rest:
        return
    # Four chunks a worker even out jobs of different length.
    size = max(1, min(round(CHUNK_S / each_s), -(-len(rest) // (4 * count))))
    with nullcontext(cluster) if cluster else _executor(count) as executor:
        futures = [executor.submit(_run_chunk, work, rest[first : first + size]) for first in range(0, len(rest), size)]
        try:
            for future in as_completed(futures):
                yield from future.result()
        finally:
            for future in futures:
                future.cancel()


def _run_chunk(work: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
    with _left_alone():
        return [work(job) for job in jobs]


@contextmanager
def _left_alone() -> Iterator[None]:
    """The garbage collector does not look again and again at what is there already: modules, profiles, earlier results.

    That takes a twentieth of a prediction, and of a host program a tenth. What comes to be meanwhile is collected.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _executor(workers: int, dask: str | None = None) -> Executor:
    if dask is None:
        # A fork copies only the calling thread: beside others (a server) it could copy a held lock.
        alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if alone else "spawn")
        return ProcessPoolExecutor(workers, mp_context=context)
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        raise GpusimError("Dask is not installed; use: pip install 'gpusim[dask]'") from None
    try:
        return Client(dask, timeout="10s").get_executor()
    except (OSError, ValueError) as error:
        raise GpusimError(f"no Dask scheduler at {dask}: {error}") from None
