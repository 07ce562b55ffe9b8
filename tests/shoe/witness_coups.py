"""Coups made to order: one dealt hand of cards for everything that a coup can show."""

from __future__ import annotations

from functools import cache
from itertools import product

from shoe.game.bets.shown import Shown, shown_by
from shoe.game.cards import NAMES, parse_card
from shoe.game.tableau import Coup, play_coup
from tests.reference.bets_reference import total, twins

ORDER = (0, 2, 1, 3)


def deal(player: str, banker: str) -> Coup:
    """Deal the hands written down, such as "9s Kd" and "7h Tc 3d", in the order of the table: P B P B, thirds."""
    p, b = player.split(), banker.split()
    cards = [p[0], b[0], p[1], b[1], *p[2:], *b[2:]]
    spare = ["As"] * (6 - len(cards))
    coup = play_coup([parse_card(card) for card in (*cards, *spare)])
    assert [NAMES[card] for card in coup.cards] == cards, "the tableau deals these hands otherwise"
    return coup


def hands(coup: Coup) -> tuple[list[str], list[str]]:
    """Both sides' cards as texts."""
    return [NAMES[card] for card in coup.player_cards], [NAMES[card] for card in coup.banker_cards]


@cache
def witnesses() -> dict[Shown, Coup]:
    """A coup for everything that several decks can show."""
    starts = {(total([a, b]), twins([a, b])): (a, b) for a, b in product(NAMES, repeat=2)}
    found: dict[Shown, Coup] = {}
    for player, banker in product(starts.values(), repeat=2):
        for third, last in product(NAMES[:10], repeat=2):
            run = [player[0], banker[0], player[1], banker[1], third, last]
            coup = play_coup([parse_card(card) for card in run])
            found.setdefault(shown_by(coup), coup)
    return found
