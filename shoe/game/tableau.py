"""The tableau: one coup from a run of cards, and the rule class that it falls in (protocol §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from shoe.errors import InputError, expected
from shoe.game.cards import card_points

Outcome = Literal["player", "banker", "tie"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("player", "banker", "tie")

RULES: Final[tuple[str, ...]] = (
    "player_natural",
    "banker_natural",
    "both_natural",
    "stood_draws",
    "stood_stands",
    "t23_draws",
    "t23_stands",
    "t45_draws",
    "t45_stands",
    "t67_draws",
    "t67_stands",
    "t8_draws",
    "t8_stands",
    "t0_9a_draws",
    "t0_9a_stands",
)
"""The 15 rule classes; every coup falls in exactly one."""

MERGED_RULES: Final[tuple[str, ...]] = ("one_sided_natural", *RULES[2:])
"""The 14 classes of a house that counts the two one-sided naturals together."""

RULE_WORDS: Final[dict[str, str]] = {
    "player_natural": "Player alone has a natural 8 or 9: no more cards",
    "banker_natural": "Banker alone has a natural 8 or 9: no more cards",
    "one_sided_natural": "One side alone has a natural 8 or 9: no more cards",
    "both_natural": "Both sides have a natural 8 or 9: no more cards",
    "stood_draws": "Player stands on 6 or 7, banker draws on 0–5",
    "stood_stands": "Player stands on 6 or 7, banker stands on 6 or 7",
    "t23_draws": "Player drew 2 or 3, banker draws on 0–4",
    "t23_stands": "Player drew 2 or 3, banker stands on 5–7",
    "t45_draws": "Player drew 4 or 5, banker draws on 0–5",
    "t45_stands": "Player drew 4 or 5, banker stands on 6 or 7",
    "t67_draws": "Player drew 6 or 7, banker draws on 0–6",
    "t67_stands": "Player drew 6 or 7, banker stands on 7",
    "t8_draws": "Player drew 8, banker draws on 0–2",
    "t8_stands": "Player drew 8, banker stands on 3–7",
    "t0_9a_draws": "Player drew ace, 9, 10 or a face card, banker draws on 0–3",
    "t0_9a_stands": "Player drew ace, 9, 10 or a face card, banker stands on 4–7",
}

BANKER_DRAWS_UP_TO: Final[tuple[int, ...]] = (3, 3, 4, 4, 5, 5, 6, 6, 2, 3)
"""Indexed by the points 0…9 of the player's third card: the banker's highest drawing total."""

_GROUPS: Final = ("t0_9a", "t0_9a", "t23", "t23", "t45", "t45", "t67", "t67", "t8", "t0_9a")
_STAND_FROM: Final = 6
_NATURAL_FROM: Final = 8
MAX_CARDS: Final = 6


@dataclass(frozen=True, slots=True)
class Coup:
    """One coup: cards as handed in (numbers 0…51 in dealing order), totals 0…9, outcome and rule class."""

    cards: tuple[int, ...]
    player_cards: tuple[int, ...]
    banker_cards: tuple[int, ...]
    player_total: int
    banker_total: int
    outcome: Outcome
    rule: str


def player_draws(total: int) -> bool:
    """Say whether the player draws on a two-card total 0…7 (the other side having no natural)."""
    return total < _STAND_FROM


def banker_draws(total: int, third: int | None) -> bool:
    """Say whether the banker draws on a two-card total 0…7.

    `third` is the points 0…9 of the player's third card, or None where the player stood. Source: protocol §6.
    """
    return total < _STAND_FROM if third is None else total <= BANKER_DRAWS_UP_TO[third]


def outcome_of(player_total: int, banker_total: int) -> Outcome:
    """Name the side with the higher total 0…9, or tie."""
    if player_total == banker_total:
        return "tie"
    return "player" if player_total > banker_total else "banker"


def rule_of(player: int, banker: int, third: int | None) -> str:
    """Name the rule class of a coup.

    `player` and `banker` are the two-card totals 0…9; `third` is the points of the player's third card, or
    None.
    """
    if player >= _NATURAL_FROM or banker >= _NATURAL_FROM:
        if min(player, banker) >= _NATURAL_FROM:
            return "both_natural"
        return "player_natural" if player > banker else "banker_natural"
    group = "stood" if third is None else _GROUPS[third]
    return f"{group}_{'draws' if banker_draws(banker, third) else 'stands'}"


def merged_rule(rule: str) -> str:
    """Map a class of `RULES` to its class of `MERGED_RULES`."""
    return MERGED_RULES[0] if rule in RULES[:2] else rule


def play_coup(cards: Sequence[int]) -> Coup:
    """Deal one coup from a run of at least six card numbers, of which it uses the first four, five or six.

    The order is P1 B1 P2 B2, the player's third, the banker's third. A run that ends too early raises
    InputError only when a card is needed that is not there; a number that is no card raises CardError.
    Source: protocol §6.
    """
    try:
        player, banker = [cards[0], cards[2]], [cards[1], cards[3]]
        player_total, banker_total = _total(player), _total(banker)
        used, third = 4, None
        natural = max(player_total, banker_total) >= _NATURAL_FROM
        rule_totals = player_total, banker_total
        if not natural and player_draws(player_total):
            player.append(cards[used])
            third, used = card_points(cards[used]), used + 1
        if not natural and banker_draws(banker_total, third):
            banker.append(cards[used])
            used += 1
    except IndexError:
        raise InputError(expected("cards enough for one coup", len(cards), "cards of a coup")) from None
    player_total, banker_total = _total(player), _total(banker)
    return Coup(
        cards=tuple(cards[:used]),
        player_cards=tuple(player),
        banker_cards=tuple(banker),
        player_total=player_total,
        banker_total=banker_total,
        outcome=outcome_of(player_total, banker_total),
        rule=rule_of(*rule_totals, third),
    )


def _total(cards: Sequence[int]) -> int:
    return sum(card_points(card) for card in cards) % 10
