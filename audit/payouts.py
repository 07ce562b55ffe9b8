"""The pay-out table: what every bet of a table would have given, one stake on each every coup.

Money is whole minor units, as the table rounds: the stake is the table's default one, which it always takes. The
columns are those of the NP house's page: in is what the croupier pushes to the bettor, out what the bettor pushes to
the board, and the stakes that ties give back are added last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from audit.gains import settled_gains, settled_laws
from audit.showings import showings
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import Shown
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import Bet

Result = Literal["won", "lost", "pushed"]


@dataclass(frozen=True, slots=True)
class Payout:
    """A line of the table: coups won, lost, and with the stake given back, and the money of all of them.

    `money_minor` is what was won beside the stakes, commission taken off; `returns_minor` the stakes of these wins;
    `out_minor` what was staked; `ties_minor` the stakes that went back, or stayed the bettor's, neither won nor lost.
    """

    label: str
    wins: int
    losses: int
    ties: int
    money_minor: int
    returns_minor: int
    out_minor: int
    ties_minor: int

    @property
    def games(self) -> int:
        """Count the coups, or in a sum of lines the bets."""
        return self.wins + self.losses + self.ties

    @property
    def in_minor(self) -> int:
        """Add up what was paid on wins: the money, and the stakes returned with it."""
        return self.money_minor + self.returns_minor

    @property
    def sum_minor(self) -> int:
        """Say what the bettor has before ties are looked at: in less out."""
        return self.in_minor - self.out_minor

    @property
    def total_minor(self) -> int:
        """Say what the bettor has in the end: the sum, and what ties gave back."""
        return self.sum_minor + self.ties_minor

    def to_json(self) -> dict[str, Any]:
        """List the columns under their names."""
        money = ("money_minor", "returns_minor", "in_minor", "out_minor", "sum_minor", "ties_minor", "total_minor")
        return {name: getattr(self, name) for name in ("label", "wins", *money, "ties", "losses", "games")}


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a line is expected to be, exactly, and how many standard errors its total lies above that."""

    wins: Fraction
    ties: Fraction
    total_minor: Fraction
    deviation: float

    def to_json(self) -> dict[str, str]:
        """List the fields under their names; fractions exactly, the total in decimals too."""
        return {
            "expected_wins": str(self.wins),
            "expected_ties": str(self.ties),
            "expected_total_minor": str(self.total_minor),
            "expected_total_decimal": f"{float(self.total_minor):.10g}",
            "deviation": f"{self.deviation:.10g}",
        }


def payouts(seen: Mapping[Shown, int], terms: Terms) -> tuple[Payout, ...]:
    """Lay the default stake on every bet at each of these coups, and settle."""
    return tuple(_payout(bet, seen, terms) for bet in terms.bets)


def added_up(lines: Iterable[Payout]) -> Payout:
    """Add lines up: all bets together."""
    rows = [
        (line.wins, line.losses, line.ties, line.money_minor, line.returns_minor, line.out_minor, line.ties_minor)
        for line in lines
    ]
    return Payout("all", *map(sum, zip(*rows, strict=True)))


def expectations(lines: Iterable[Payout], decks: int, terms: Terms, coups: int, pairs: int) -> tuple[Expectation, ...]:
    """Hold the lines of judged coups against their exact law; `pairs` as in `audit.tally.Tally`.

    Takes a second or two the first time for a table's terms. Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    stake, law = terms.money.default_stake_minor, showings(decks)
    found = []
    for line, bet, gain in zip(lines, terms.bets, settled_laws(decks, stake, terms), strict=True):
        counts: dict[Result, int] = dict.fromkeys(("won", "lost", "pushed"), 0)
        for shown in settled_gains(decks, bet, stake, terms):
            counts[settle_shown(bet, stake, shown, terms).result] += law.counts[shown]
        mean, error = coups * gain.mean, gain.error(coups, pairs)
        wins, ties = (coups * Fraction(counts[result], law.total) for result in ("won", "pushed"))
        found.append(Expectation(wins, ties, mean, float(line.total_minor - mean) / error if error else 0.0))
    return tuple(found)


def _payout(bet: Bet, seen: Mapping[Shown, int], terms: Terms) -> Payout:
    stake = terms.money.default_stake_minor
    counts: dict[Result, int] = dict.fromkeys(("won", "lost", "pushed"), 0)
    money = 0
    for shown, count in seen.items():
        settled = settle_shown(bet, stake, shown, terms)
        counts[settled.result] += count
        money += count * max(settled.net_minor, 0)
    wins, losses, ties = counts["won"], counts["lost"], counts["pushed"]
    return Payout(bet.name, wins, losses, ties, money, stake * wins, stake * (wins + losses + ties), stake * ties)
