"""What docs/host.md gives people to copy, run without a GPU."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "host.md").read_text(encoding="utf-8")


def test_rounds_of_threads_that_are_kept_alive():
    """Each body once a round, in a thread of its own; the last one's synchronisation is in the time."""
    (source,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "timed_rounds" in block)
    space: dict = {}
    exec(source, space)
    ran: list[int] = []

    def body() -> None:
        ran.append(threading.get_ident())
        time.sleep(2e-3)

    seconds = space["timed_rounds"]([body, body, lambda: None], lambda: time.sleep(3e-3), rounds=4)
    assert len(seconds) == 4
    assert min(seconds) > 4.9e-3
    assert len(ran) == 8
    assert len(set(ran)) == 2
