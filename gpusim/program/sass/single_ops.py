"""Ops that are one instruction each: barriers, waits, bulk copies, and what their fields say."""

from __future__ import annotations

import re

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.words import Stated, stated

__all__ = ["COMMITS", "MULTICAST", "NO_WAIT", "op_of"]

NO_WAIT = "wait: false"
"""Field of a named barrier at which warps only arrive."""
MULTICAST = "multicast"
"""Field of bulk copies that reach all CTAs of a cluster."""
COMMITS = {"LDGDEPBAR": "wait_group", "UTMACMDFLUSH": "bulk_wait"}
"""What closes a group of copies, and the word that waits for such."""
_REGISTER = re.compile(r"\bU?R\d")


def op_of(word: str, one: Instruction, opened: bool) -> tuple[str, tuple[Stated, ...]]:
    """Word and fields of an op that is one instruction, as far as it has them as numbers.

    ``opened``: whether the last product before it belongs to a group that is not yet complete.
    """
    numbers = one.numbers
    if word in (*COMMITS.values(), "wgmma_wait") and numbers:
        # A wait for products counts complete groups.
        going_on = opened and word == "wgmma_wait"
        return word, (Stated(word, "pending", numbers[-1] + going_on, {}),)
    if word == "expect_tx" and one.announced:
        return word, (Stated(word, "announced", one.announced, {}),)
    if one.root == "USETMAXREG" and numbers:
        return word, (Stated(word, "registers", numbers[-1], {}),)
    if one.opcode.startswith(("BAR.SYNC", "BAR.ARV")) and not _REGISTER.search(one.text):
        if numbers == [0]:
            return "sync_threads", ()
        if len(numbers) == 2:
            fields = {"id": numbers[0], "warps": numbers[1] // 32}
            # Who only arrives goes on.
            fields |= {NO_WAIT: 1} if one.opcode.startswith("BAR.ARV") else {}
            return "named_barrier", tuple(Stated(word, field, number, {}) for field, number in fields.items())
    to_all = (Stated(word, MULTICAST, 1.0, {}),) if one.opcode.endswith(MULTICAST.upper()) else ()
    return word, to_all or tuple(stated([one]))
