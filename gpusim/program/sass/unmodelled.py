"""Instructions that take another time than any word of a scenario says."""

from __future__ import annotations

__all__ = ["KIND_OF", "UNMODELLED"]

UNMODELLED: dict[str, tuple[tuple[str, ...], str]] = {
    "atomics": (
        ("ATOM", "SUATOM", "SURED"),
        "as the address says: atomic on global memory, compute: atoms on shared memory",
    ),
    "conversions": (
        ("F2F", "FRND", "I2I"),
        "not measured here; other (a slot each) and mufu (an eighth of the rate, as I2F and F2I) are the two bounds",
    ),
    "tensor cores": (
        ("IMMA", "DMMA", "QMMA", "BMMA", "IGMMA", "BGMMA"),
        "of these types nothing is measured here: of integers of 8 bits as mma or wgmma of FP16 of half the depth",
    ),
    "warp reductions": (("REDUX", "MATCH"), "slower than other, how much is not measured here"),
    "calls": (("CALL",), "the code behind is counted nowhere: add what the function does"),
    "jumps by a table": (
        ("BRX", "JMX"),
        (
            "the code behind is counted nowhere, roles that begin there neither: add it, or ask for the roles in "
            "another order, as if (warp >= 2) before if (warp == 0), so that the compiler makes branches"
        ),
    ),
    "generic addresses": (("LD", "ST"), "as the address says: load, store, lds, sts; load_cluster, store_cluster"),
    "textures and surfaces": (("TEX", "TLD", "TLD4", "TXQ", "SULD", "SUST"), "a path of its own, not modelled"),
    "fences": (
        ("MEMBAR",),
        "only its slot is known: other; some 120 cycles for a fence.proxy.async of more than .shared::cta: alone",
    ),
}
"""Opcodes by kind that take another time than any word says, with what to do about them."""

KIND_OF = {opcode: kind for kind, (opcodes, _) in UNMODELLED.items() for opcode in opcodes}
"""The kind of each of these opcodes."""
