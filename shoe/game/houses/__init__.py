"""Presets: what each house plays, as frozen rules that cite their source."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from shoe.errors import RulesError, expected
from shoe.game.houses.chance import CHANCE
from shoe.game.houses.doppelganger import DOPPELGANGER
from shoe.game.houses.house import House, vary
from shoe.game.houses.intercasino import INTERCASINO, INTERCASINO_AS_PRINTED
from shoe.game.houses.np import NP_PUNTO_BANCO, NP_PUNTO_BANCO_THREE
from shoe.game.houses.vip import VIP

__all__ = ["HOUSES", "NP_PUNTO_BANCO", "House", "house", "vary"]

HOUSES: Final[Mapping[str, House]] = MappingProxyType(
    {
        each.name: each
        for each in (
            NP_PUNTO_BANCO,
            NP_PUNTO_BANCO_THREE,
            CHANCE,
            INTERCASINO,
            INTERCASINO_AS_PRINTED,
            DOPPELGANGER,
            VIP,
        )
    }
)
"""Every preset, by name."""


def house(name: str) -> House:
    """Find a preset by its name; raises RulesError naming those there are."""
    try:
        return HOUSES[name]
    except KeyError:
        raise RulesError(expected("one of " + ", ".join(HOUSES), name, "preset")) from None
