"""Ops of a role's list on the tensor cores that a warp does not wait for: wgmma."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gpusim.program.tensor_ops import Operand
from gpusim.scenario.fields import Count, Name
from gpusim.scenario.kernel.schedule_schema import Amount, Schedule

__all__ = ["PendingProducts", "Products"]


class Products(Schedule):
    """One group: wgmma.fence, wgmma.mma_async and wgmma.commit_group of every warpgroup of the role."""

    n: Annotated[Count, Field(ge=8, le=256, multiple_of=8)]
    """Columns of one wgmma, m64nNk16: a warpgroup multiplies 64 rows with them."""
    count: Annotated[Count, Field(ge=1, le=1024)] = 4
    """wgmma of the group. Each is 32 bytes deep, so that a tile of 64 numbers of FP16 takes 4."""
    k: Annotated[Count, Field(ge=8, le=32)] = 16
    """Numbers in these 32 bytes: 16 of FP16 or BF16, 8 of TF32, 32 of FP8. It only counts FLOP: all take as long."""
    a: Operand = "shared"
    """Where the first operand is, in shared memory or in registers; the second one is in shared memory."""
    other: Amount = 0.0
    """Instructions of one warp in front of them, of which each waits for the one before, as `setup` of compute. What
    the compiler puts between wgmma for their descriptors is not among them."""
    reads: Name | Literal[False] | None = None
    """Ring whose stage the operands are in, which is read until `wgmma_wait` has waited for the group. Default: the
    last one this role waited for. false: none, as where they stay in shared memory."""


class PendingProducts(Schedule):
    """Wait until at most `pending` newest groups are under way."""

    pending: Annotated[Count, Field(ge=0, le=8)] = 0
    """Newest groups that may still be under way: 1 keeps the tensor cores busy meanwhile, and the stage of the newest
    group must not be released yet."""
