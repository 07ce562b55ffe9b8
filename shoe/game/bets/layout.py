"""One coup's bets: which may lie together, for how much, and whether the bank could pay them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from shoe.errors import BetError, expected
from shoe.game.bets.settling import Settlement, check_whole_stake, settle, settle_shown
from shoe.game.bets.shown import Shown, reachable
from shoe.game.bets.terms import Terms
from shoe.game.tableau import Coup

Stakes = Mapping[str, int]
"""One player's stakes on one coup, in minor units, by the bet's name; a bet that is not laid is not named."""


def accept_stakes(terms: Terms, stakes: Stakes, own_limit_minor: int | None = None) -> dict[str, int]:
    """Take a player's bets on the next coup: give the stakes that count, a low one raised where the table does so.

    No bets at all are a pass. `own_limit_minor` is the greatest stake that the player allows herself. Raises BetError
    for a bet that the table hasn't, for bets that may not lie together, and for a stake outside the limits or not to
    be laid in the table's chips.
    """
    main = [name for name in stakes if not terms.bet(name).side]
    if terms.combine == "one" and len(main) > 1:
        raise BetError(expected("one bet on the outcome per coup", ", ".join(main), "bets"))
    if terms.side_bets == "with_main" and stakes and not main:
        raise BetError(expected("a bet on the outcome beside a side bet", ", ".join(stakes), "bets"))
    return {name: accept_stake(terms, name, stake, own_limit_minor) for name, stake in stakes.items()}


def accept_stake(terms: Terms, name: str, stake_minor: int, own_limit_minor: int | None = None) -> int:
    """Take one stake: give what counts, the table's least where a lower one is raised.

    Raises BetError like `accept_stakes`.
    """
    stake, limits = check_whole_stake(stake_minor, name), terms.limits
    if stake < limits.min_minor:
        if limits.below == "refuse":
            raise BetError(expected(f"a stake of at least {limits.min_minor}", stake, name))
        stake = limits.min_minor
    most = greatest_stake(terms, own_limit_minor)
    if most is not None and stake > most:
        whose = "the table's" if most == limits.max_minor else "the player's own"
        raise BetError(expected(f"a stake of at most {most}, {whose} limit", stake, name))
    if terms.chips_minor is not None and stake % terms.chips_minor[0]:
        raise BetError(expected(f"a multiple of the least chip, {terms.chips_minor[0]}", stake, name))
    return stake


def greatest_stake(terms: Terms, own_limit_minor: int | None = None) -> int | None:
    """Find the greatest stake that a player may lay: the table's, or her own lower one; None where there is none."""
    limits = [limit for limit in (terms.limits.max_minor, own_limit_minor) if limit is not None]
    return min(limits, default=None)


def lower_own_limit(terms: Terms, present_minor: int | None, asked_minor: int) -> int:
    """Take a player's new own limit: lower than her present one and the table's, not below the table's least stake.

    When it may be changed again is the service's business, which has the clock. Raises BetError.
    """
    if terms.own_limit is None:
        raise BetError(expected("a table that has own limits", "one that has none", "own limit"))
    now = greatest_stake(terms, present_minor)
    asked = check_whole_stake(asked_minor, "own limit")
    if asked < terms.limits.min_minor or (now is not None and asked >= now):
        below = "any" if now is None else f"below {now}"
        raise BetError(expected(f"a limit {below}, and at least {terms.limits.min_minor}", asked, "own limit"))
    return asked


def settle_stakes(terms: Terms, stakes: Stakes, coup: Coup) -> tuple[Settlement, ...]:
    """Settle all of a player's bets on a coup."""
    return tuple(settle(terms.bet(name), stake, coup, terms) for name, stake in stakes.items())


def bank_after(bank_minor: int, settlements: Iterable[Settlement]) -> int:
    """Count the bank's money after a coup: it pays what players win, commission taken off, and takes what they lose."""
    return bank_minor - sum(settlement.net_minor for settlement in settlements)


def worst_minor(terms: Terms, stakes: Iterable[Stakes], decks: int) -> int:
    """Compute the most that all players' bets on a coup together can cost the bank, over all that the coup can show."""
    laid = [(name, stake) for player in stakes for name, stake in player.items()]
    return max(
        sum(settle_shown(terms.bet(name), stake, shown, terms).net_minor for name, stake in laid)
        for shown in _kinds(terms, decks)
    )


def check_bank(terms: Terms, bank_minor: int, stakes: Iterable[Stakes], decks: int) -> None:
    """Raise BetError where a bank that can be broken could not pay these bets, laid by all players on one coup."""
    if terms.money.bank_minor is not None and (worst := worst_minor(terms, stakes, decks)) > bank_minor:
        raise BetError(expected(f"bets that a bank of {bank_minor} can pay", f"bets that may win {worst}", "bets"))


def is_broken(terms: Terms, bank_minor: int, decks: int) -> bool:
    """Say whether the bank is broken: it can't pay any bet of the table any more, even at the least stake."""
    if terms.money.bank_minor is None:
        return False
    least = terms.limits.min_minor
    return all(worst_minor(terms, [{bet.name: least}], decks) > bank_minor for bet in terms.bets)


@lru_cache(maxsize=256)
def _kinds(terms: Terms, decks: int) -> tuple[Shown, ...]:
    """Pick one coup of each kind that this table's bets tell apart."""
    kinds = {tuple(bet.pay_on(shown) for bet in terms.bets): shown for shown in sorted(reachable(decks))}
    return tuple(kinds.values())
