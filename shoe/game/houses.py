"""Presets: what each house plays, as frozen rules that cite their source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from shoe.errors import RulesError, expected
from shoe.game.rules import CutRange, Rules


@dataclass(frozen=True, slots=True)
class House:
    """One house's table: its rules, where they come from, and what its page leaves open."""

    name: str
    rules: Rules
    source: str
    settled: tuple[str, ...]


NP_PUNTO_BANCO: Final = House(
    name="np_punto_banco",
    rules=Rules(
        burn="none",
        coups=None,
        cut=CutRange(7, 7),
        decks=8,
        entropy="two_phase",
        last_coup="drawn_in",
        shuffle="shoe",
    ),
    source="NP Baccarat, “Drawing Rules in Casino Baccarat, Punto Banco” and “Table Characteristics”",
    settled=(
        "The number of decks is not said: 8 is taken.",
        "Burning is not spoken of: none is taken.",
        "“The drawing of the cut-card indicates the last coup”: the coup that draws it is the last.",
    ),
)

HOUSES: Final[Mapping[str, House]] = MappingProxyType({NP_PUNTO_BANCO.name: NP_PUNTO_BANCO})


def house(name: str) -> House:
    """Find a preset by its name; raises RulesError naming those there are."""
    try:
        return HOUSES[name]
    except KeyError:
        raise RulesError(expected("one of " + ", ".join(HOUSES), name, "preset")) from None
