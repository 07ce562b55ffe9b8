"""What a void shoe would still have dealt: its judged coups, from the seed that its end published."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from api.cases.bundles import Decks
from shoe.game.dealing import deal_shoe
from shoe.game.rules import Rules
from shoe.game.tableau import Coup, play_coup


def dealt_again(rules: Rules, decks: Decks, dealt: int) -> Iterator[tuple[int, Coup]]:
    """Give number and coup of the judged coups from `dealt` on: to K, or to the last of as many shuffles.

    Takes a millisecond a shoe, and one a coup where each has a shuffle of its own.
    """
    if rules.shuffle == "coup":
        for number in range(dealt, rules.coups or 0):
            yield number, play_coup(decks(number).cards)
        return
    deck = decks(0)
    if deck.cut_position is None:
        return
    shoe = deal_shoe(rules, deck.cards, deck.cut_position)
    for each in islice(shoe, dealt, max(dealt, rules.judged_coups)):
        yield each.number, each.coup
