"""Where in a spelled-out kernel the op stands at which a role waits for ever."""

from __future__ import annotations

import re

from gpusim.deadlock import Blocked
from gpusim.program.remedies import role_of
from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.kernel.schema import PARTS, SpelledKernel
from gpusim.scenario.yaml_source import Place

__all__ = ["waiting_op"]

_AWAITED = re.compile(r"sm\[\d+\]\.cta\[\d+\](?:\.(?P<name>\w+)(?:\[\d+\])?| )(?P<kind>.*)")
_WORDS = {
    " full barrier": "wait", " empty barrier": "acquire", "": "mbarrier_wait",
    "__syncthreads": "sync_threads", "cluster barrier": "cluster_sync",
}  # fmt: skip
"""The word that waits, by what stands behind CTA and name in the name of what is awaited."""
_NAMED = "named barrier "


def waiting_op(kernel: SpelledKernel, blocked: Blocked) -> Place:
    """The path below the kernel: of the op if only one of its role waits so, else of the role; empty if of neither."""
    role = role_of(blocked.lane)
    if role not in kernel.roles:
        return ()
    found = [
        (part, *path)
        for part in PARTS
        for path, word, spec in as_written(getattr(kernel.roles[role], part))
        if _waits_so(word, spec, blocked.waits_for)
    ]
    return ("roles", role, *(found[0] if len(found) == 1 else ()))


def _waits_so(word: str, spec: object, awaited: str) -> bool:
    if not (match := _AWAITED.fullmatch(awaited)):
        return False
    name, kind = match["name"], match["kind"]
    if kind.startswith(_NAMED):
        return word == "named_barrier" and getattr(spec, "id", None) == int(kind.removeprefix(_NAMED))
    return word == _WORDS.get(kind) and name in (None, getattr(spec, "ring", None), getattr(spec, "barrier", None))
