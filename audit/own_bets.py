"""The bets that a table's own rules name, as a certification needs them: read once, and asked what they look at."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from audit.gains import sees_pairs, unit_gains
from shoe.game.bets.record import terms_of
from shoe.game.bets.wagers import MAIN, Bet
from shoe.game.rules import Rules, parse_rules
from shoe.proof.canonical import parse_object, print_canonical

_MOST_BYTES: Final = 2**16


def bets_of(rules: Rules) -> tuple[Bet, ...]:
    """Read a table's bets; none where its rules say nothing of bets. Raises RulesError like `terms_of`."""
    return _bets(print_canonical(rules.to_json(), _MOST_BYTES))


def looks_at_pairs(rules: Rules) -> bool:
    """Say whether any bet of the table is decided by pairs, so that these have to be counted."""
    return any(map(sees_pairs, bets_of(rules)))


def beyond_main(rules: Rules) -> bool:
    """Say whether any bet of the table pays otherwise than the three of `audit.edges.MAIN_BETS`."""
    main = [unit_gains(rules.decks, bet) for bet in MAIN]
    return any(unit_gains(rules.decks, bet) not in main for bet in bets_of(rules))


@lru_cache(maxsize=256)
def _bets(rules: bytes) -> tuple[Bet, ...]:
    terms = terms_of(parse_rules(parse_object(rules, _MOST_BYTES)))
    return () if terms is None else terms.bets
