"""What a stake of one wins or loses on every ready-made bet, by looking at the cards; imports nothing of ours.

Cards are texts such as "Ts"; a hand is a list of two or three. Pay tables: Wizard of Odds, "Baccarat Side Bets"
(EZ Baccarat, Dragon Bonus, Lucky 6, Big and Small, Perfect Pairs); DoppelGanger as its house names the classes.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

WORTH = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0} | {str(n): n for n in range(2, 10)}
COLOUR = {"c": "black", "s": "black", "d": "red", "h": "red"}
LOST = Fraction(-1)


def total(hand: list[str]) -> int:
    return int(str(sum(WORTH[card[0]] for card in hand))[-1])


def twins(hand: list[str]) -> str:
    """The class of the first two cards: "", "mixed", "coloured" or "pure"."""
    (rank, suit), (other_rank, other_suit) = hand[0], hand[1]
    if rank != other_rank:
        return ""
    if suit == other_suit:
        return "pure"
    return "coloured" if COLOUR[suit] == COLOUR[other_suit] else "mixed"


def nets(player: list[str], banker: list[str]) -> dict[str, Fraction]:
    """Net of one unit on each bet, nothing rounded."""
    p, b = total(player), total(banker)
    winner = "player" if p > b else "banker" if b > p else "tie"
    player_natural = len(player) == 2 and p in (8, 9)
    banker_natural = len(banker) == 2 and b in (8, 9)
    even = {
        "player": {"player": 1, "banker": -1, "tie": 0},
        "banker": {"player": -1, "banker": 1, "tie": 0},
    }
    found = {name: Fraction(even[name][winner]) for name in even}
    found["ez_banker"] = found["no_commission_banker"] = found["banker"]
    for name in ("dragon_7", "panda_8", "super_6", "lucky_6", "player_pair", "banker_pair", "either_pair"):
        found[name] = LOST
    if winner == "banker":
        found["banker"] = Fraction(95, 100)
        if b == 7 and len(banker) == 3:
            found["ez_banker"], found["dragon_7"] = Fraction(0), Fraction(40)
        if b == 6:
            found["no_commission_banker"], found["super_6"] = Fraction(1, 2), Fraction(12)
            found["lucky_6"] = Fraction(12 if len(banker) == 2 else 20)
    if winner == "player" and p == 8 and len(player) == 3:
        found["panda_8"] = Fraction(25)
    found["tie"] = Fraction(8) if winner == "tie" else LOST
    found["tie_9"] = Fraction(9) if winner == "tie" else LOST
    found["big"] = Fraction("0.54") if len(player) + len(banker) >= 5 else LOST
    found["small"] = Fraction("1.5") if len(player) + len(banker) == 4 else LOST
    for side, hand, natural in (("player", player, player_natural), ("banker", banker, banker_natural)):
        found[f"{side}_natural"] = Fraction(4) if natural else LOST
        found[f"{side}_dragon_bonus"] = dragon(winner == side, natural, abs(p - b), player_natural and winner == "tie")
        found[f"{side}_doppelganger"] = {"": LOST, "mixed": Fraction(6), "coloured": Fraction(12)}.get(
            twins(hand), Fraction(25)
        )
        if twins(hand):
            found[f"{side}_pair"] = Fraction(11)
            found["either_pair"] = Fraction(5)
    perfect = [twins(player), twins(banker)].count("pure")
    found["perfect_pair"] = Fraction(25) if perfect else LOST
    found["perfect_pair_25_250"] = [LOST, Fraction(25), Fraction(250)][perfect]
    return found


def dragon(won: bool, natural: bool, margin: int, natural_tie: bool) -> Fraction:
    """Dragon Bonus: a natural win even money, a tie of naturals back, else by the margin from 4 up."""
    if natural_tie:
        return Fraction(0)
    if not won:
        return LOST
    if natural:
        return Fraction(1)
    return Fraction({4: 1, 5: 2, 6: 4, 7: 6, 8: 10, 9: 30}.get(margin, -1))


def banker_win(stake_minor: int, least_minor: int = 0) -> int:
    """What 1:1 less 5 % wins, commission to the nearest minor unit, a half up, and never more than the win."""
    part = (Decimal(stake_minor) * Decimal("0.05")).quantize(Decimal(1), ROUND_HALF_UP)
    return stake_minor - min(stake_minor, max(int(part), least_minor))


def keeps_the_half(net: Fraction, stake_minor: int) -> int:
    """A win in whole minor units: what the house keeps below the next whole ratio is rounded, a half up."""
    whole = -(-net.numerator // net.denominator)
    kept = Decimal(stake_minor) * (Decimal(whole) - Decimal(net.numerator) / Decimal(net.denominator))
    return stake_minor * whole - int(kept.quantize(Decimal(1), ROUND_HALF_UP))
