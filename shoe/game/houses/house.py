"""What a preset is: frozen rules that cite their source, and what their page leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from shoe.errors import ImpossibleError
from shoe.game.bets.record import print_terms, terms_of
from shoe.game.bets.terms import OwnLimit, Terms
from shoe.game.rules import Rules, parse_rules

MINOR_PER_UNIT: Final = 100
"""Minor units in the unit of money in which a house's page speaks."""

AMERICAN_CHIPS: Final = tuple(units * MINOR_PER_UNIT for units in (1, 5, 25, 100, 500))

WEEKLY_BY_PIN: Final = OwnLimit(
    confirmed_by="pin", once_a="week", day="friday", zone="America/New_York", holds_for="all_tables"
)
"""A limit that a player lowers by PIN at most once a week, the week turning Friday 00:00 US Eastern, at all tables."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a house's page says of its table's odds, in its own words, and the probability it names."""

    words: str
    percent: int


@dataclass(frozen=True, slots=True)
class House:
    """One house's table: its rules, where they come from, and what its page leaves open.

    `claim` is what the page says of the odds that its bank is broken, None where it says nothing.
    """

    name: str
    rules: Rules
    source: str
    settled: tuple[str, ...]
    claim: Claim | None = None

    @property
    def terms(self) -> Terms:
        """Read the table's terms from its rules."""
        terms = terms_of(self.rules)
        if terms is None:
            raise ImpossibleError(f"the preset {self.name} says nothing of bets")
        return terms


def with_terms(rules: Rules, terms: Terms) -> Rules:
    """Put terms into rules that say nothing of bets; raises RulesError for terms that don't fit together."""
    return parse_rules({**rules.to_json(), **print_terms(terms)})


def vary(rules: Rules, overrides: Mapping[str, Any]) -> Rules:
    """Make a table of its own from a preset's rules, some keys said otherwise.

    An object such as `limits` may be given in part, all else is replaced as a whole. Raises RulesError, naming the
    place, for rules that can't be played and terms that don't fit together.
    """
    given = rules.to_json()
    for key, value in overrides.items():
        old = given.get(key)
        given[key] = {**old, **value} if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    varied = parse_rules(given)
    terms_of(varied)
    return varied
