"""Events that a bet can pay on, by name: each says of what a coup shows whether it happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from shoe.errors import RulesError, expected
from shoe.game.bets.shown import Shown


class Event(NamedTuple):
    """Something that a coup may show: in words, and as a test of it."""

    words: str
    holds: Callable[[Shown], bool]


def _margin(winner: str, margin: int) -> Event:
    return Event(
        f"{winner} wins by {margin}",
        lambda shown: shown.outcome == winner and abs(shown.player_total - shown.banker_total) == margin,
    )


_COUP: Final[dict[str, Event]] = {
    "player": Event("player wins", lambda shown: shown.outcome == "player"),
    "banker": Event("banker wins", lambda shown: shown.outcome == "banker"),
    "tie": Event("tie", lambda shown: shown.outcome == "tie"),
    "four_cards": Event("four cards in all", lambda shown: shown.player_cards + shown.banker_cards == 4),
    "five_or_six_cards": Event("five or six cards in all", lambda shown: shown.player_cards + shown.banker_cards > 4),
}
_TOTALS: Final[dict[str, Event]] = {
    "banker_6": Event("banker wins with 6", lambda shown: (shown.outcome, shown.banker_total) == ("banker", 6)),
    "banker_two_card_6": Event(
        "banker wins with 6 on two cards",
        lambda shown: (shown.outcome, shown.banker_total, shown.banker_cards) == ("banker", 6, 2),
    ),
    "banker_three_card_6": Event(
        "banker wins with 6 on three cards",
        lambda shown: (shown.outcome, shown.banker_total, shown.banker_cards) == ("banker", 6, 3),
    ),
    "banker_three_card_7": Event(
        "banker wins with 7 on three cards",
        lambda shown: (shown.outcome, shown.banker_total, shown.banker_cards) == ("banker", 7, 3),
    ),
    "player_three_card_8": Event(
        "player wins with 8 on three cards",
        lambda shown: (shown.outcome, shown.player_total, shown.player_cards) == ("player", 8, 3),
    ),
}
_NATURALS: Final[dict[str, Event]] = {
    "player_natural": Event("player has a natural", lambda shown: shown.player_natural),
    "banker_natural": Event("banker has a natural", lambda shown: shown.banker_natural),
    "player_natural_wins": Event(
        "player wins with a natural", lambda shown: shown.player_natural and shown.outcome == "player"
    ),
    "banker_natural_wins": Event(
        "banker wins with a natural", lambda shown: shown.banker_natural and shown.outcome == "banker"
    ),
    "natural_tie": Event("tie of two naturals", lambda shown: shown.player_natural and shown.outcome == "tie"),
}
_MARGINS: Final[dict[str, Event]] = {
    f"{winner}_by_{margin}": _margin(winner, margin) for winner in ("player", "banker") for margin in range(1, 10)
}
_PAIRS: Final[dict[str, Event]] = {
    "player_pair": Event("player's first two cards are a pair", lambda shown: shown.player_pair != "none"),
    "banker_pair": Event("banker's first two cards are a pair", lambda shown: shown.banker_pair != "none"),
    "either_pair": Event(
        "a pair on either side, or on both", lambda shown: (shown.player_pair, shown.banker_pair) != ("none", "none")
    ),
    "either_pure": Event(
        "a pair of one suit on either side, or on both", lambda shown: "pure" in (shown.player_pair, shown.banker_pair)
    ),
    "both_pure": Event(
        "pairs of one suit on both sides", lambda shown: shown.player_pair == shown.banker_pair == "pure"
    ),
    "player_pure": Event("player's pair is of one suit", lambda shown: shown.player_pair == "pure"),
    "player_coloured": Event("player's pair is of one colour", lambda shown: shown.player_pair == "coloured"),
    "player_mixed": Event("player's pair is of both colours", lambda shown: shown.player_pair == "mixed"),
    "banker_pure": Event("banker's pair is of one suit", lambda shown: shown.banker_pair == "pure"),
    "banker_coloured": Event("banker's pair is of one colour", lambda shown: shown.banker_pair == "coloured"),
    "banker_mixed": Event("banker's pair is of both colours", lambda shown: shown.banker_pair == "mixed"),
}

EVENTS: Final[Mapping[str, Event]] = MappingProxyType(_COUP | _TOTALS | _NATURALS | _MARGINS | _PAIRS)
"""Every event that a pay table may name."""


def check_event(name: object, where: str) -> str:
    """Give back the name of an event; raises RulesError naming those there are."""
    if not isinstance(name, str) or name not in EVENTS:
        raise RulesError(expected(f"one of the events {', '.join(EVENTS)}", name, where))
    return name
