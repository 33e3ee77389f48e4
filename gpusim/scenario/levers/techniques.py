"""Levers of techniques: their own parameters, by what kind each is of."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpusim.scenario.kinds import Kind
from gpusim.scenario.lever_kinds import (
    LEVERS,
    Lever,
    Proposal,
    enough,
    grid_with,
    grids_to_try,
    label,
    levers_of,
    shown,
    values_to_try,
    whole,
)
from gpusim.scenario.technique import Technique

__all__ = ["of_technique"]

GRIDS = (Kind.GRID, Kind.RESIDENT)
"""What goes with the CTAs per SM."""


def of_technique(found: Technique, params: Any, place: str, sms: int, prefix: str = "") -> list[Iterator[Proposal]]:
    """Proposals by lever for the parameters of a technique below ``place``; ``prefix`` begins the words of a change."""
    given = _Given(found, params, place, sms, prefix)
    fields = {field.name: field for field in dataclasses.fields(found.params)}
    return [given.proposals(name, lever) for name, lever in levers_of(fields).items()]


@dataclass(frozen=True)
class _Given:
    """A technique's parameters as a scenario gives them below ``place``, for a device of ``sms`` SMs."""

    technique: Technique
    params: Any
    place: str
    sms: int
    prefix: str

    def proposals(self, name: str, lever: Lever) -> Iterator[Proposal]:
        """Other values of the parameter ``name``, each with what has to change for its sake."""
        metadata = self._metadata(name)
        kind, old = metadata.get("kind"), getattr(self.params, name)
        balance = {f"{self.place}.{loop}": value for loop, value in self._of(Kind.TURNS).items()}
        tried = values_to_try(lever, old, metadata)
        if kind is Kind.GRID:
            tried = grids_to_try(old, self.sms * next(iter(self._of(Kind.PER_SM).values()), 1))
        for order, new in enumerate(tried):
            along = self._along(kind, old, new)
            if along is None:
                continue
            overrides = {f"{self.place}.{key}": value for key, value in {name: new, **along}.items()}
            also = tuple(self._words(*pair) for pair in along.items())
            fuses = lever.fuses and bool({"fused", True} & {old, new})
            yield Proposal(
                name, self.prefix + self._words(name, new), overrides, also, balance, order, enough(lever, old, new),
                fuses, kind,
            )  # fmt: skip

    def _along(self, kind: Kind | None, old: Any, new: Any) -> dict[str, Any] | None:
        """What goes with the change of a parameter of this ``kind``; None where nothing whole does."""
        if kind is Kind.PER_SM:
            grids = {name: grid_with(count, old, new, self.sms) for name, count in self._of(*GRIDS).items()}
            return None if None in grids.values() else {
                name: count for name, count in grids.items() if count != getattr(self.params, name)
            }  # fmt: skip
        if kind is Kind.BATCHES:
            shares = self._of(Kind.SHARE)
            if any(isinstance(value, int) and value * old % new for value in shares.values()):
                return None
            # Bytes are told before seconds.
            ordered = sorted(shares, key=lambda name: self._metadata(name)["unit"] != "bytes")
            return {name: whole(shares[name] * old / new) for name in ordered}
        return {}

    def _of(self, *kinds: Kind) -> dict[str, Any]:
        return {name: getattr(self.params, name) for name in self.technique.named(*kinds)}

    def _words(self, name: str, new: Any) -> str:
        metadata = self._metadata(name)
        unit, lever = metadata.get("unit"), metadata.get("lever") or LEVERS.get(metadata.get("kind"))
        return f"{label(name, lever)} {shown(getattr(self.params, name), unit)} → {shown(new, unit)}"

    def _metadata(self, name: str) -> Mapping[str, Any]:
        return next(field.metadata for field in dataclasses.fields(self.params) if field.name == name)
