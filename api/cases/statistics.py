"""Statistics of what was dealt: judged coups beside their exact expectation, and all coups beside those.

Only coups 1…K of a shuffle, which are dealt whatever the cards, have the probabilities of a full shoe; and only a
shoe that has ended counts, a void one completed from its seed. Over whole shoes a correct engine deviates: the last
coup is longer than most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from api.cases.standing import find_shoe
from api.cases.tables import find_table
from api.db.tables import ENDED_STATES, CoupRow, ShoeRow, TableRow
from audit.checks.outcomes import outcomes, rule_lines
from audit.checks.result import LineItem
from audit.exact import exact_odds
from audit.tally import Seen, Tally
from shoe.game.tableau import Outcome


@dataclass(frozen=True, slots=True)
class Scope:
    """Which coups are counted: all, or those of a table, of a shoe, from a time on, before a time."""

    table: str | None = None
    shoe: str | None = None
    start: str | None = None
    end: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The scope as conditions on coups."""
        found: list[ColumnElement[bool]] = []
        if self.table is not None:
            found.append(CoupRow.table_id == self.table)
        if self.shoe is not None:
            found.append(CoupRow.shoe_id == self.shoe)
        if self.start is not None:
            found.append(CoupRow.time >= self.start)
        if self.end is not None:
            found.append(CoupRow.time < self.end)
        return found


@dataclass(slots=True)
class Counts:
    """What was counted in shoes of one number of decks."""

    decks: int
    judged: Counter[Seen] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    dealt: Counter[Seen] = field(default_factory=Counter)

    @property
    def tally(self) -> Tally:
        """The judged coups as the audit takes them; of sequences nothing is counted here."""
        return Tally(coups=self.judged, lengths=self.lengths)

    def rules(self, *, merged: bool = False) -> tuple[LineItem, ...]:
        """The use of the 15 rule classes, or of the 14 with one-sided naturals merged, beside the exact."""
        return rule_lines(self.tally, self.decks, merged=merged)

    def outcomes(self) -> tuple[LineItem, ...]:
        """Player, banker and tie beside the exact."""
        if not self.judged:
            return tuple(LineItem(outcome, 0, Fraction(0), 0.0) for outcome in exact_odds(self.decks).outcomes())
        return outcomes(self.tally, self.decks).items

    def all_dealt(self, key: Callable[[Seen], str]) -> Counter[str]:
        """All dealt coups of the scope by `key`, those of live shoes too: not to be judged."""
        found: Counter[str] = Counter()
        for coup, count in self.dealt.items():
            found[key(coup)] += count
        return found


def count_coups(session: Session, scope: Scope) -> list[Counts]:
    """Count a scope's coups, apart for each number of decks; a named table's decks are there even without coups.

    Raises Refusal for a table or shoe that isn't there.
    """
    by_decks: dict[int, Counts] = {}
    for decks in _named_decks(session, scope):
        by_decks[decks] = Counts(decks)
    conditions = scope.conditions()
    ended = [CoupRow.judged == 1, ShoeRow.state.in_(ENDED_STATES)]
    for decks, coup, count in _coups(session, [*conditions, *ended]):
        by_decks.setdefault(decks, Counts(decks)).judged[coup] += count
    for decks, length, shoes in _lengths(session, [*conditions, *ended]):
        by_decks[decks].lengths[length] += shoes
    for decks, coup, count in _coups(session, [*conditions, CoupRow.log_index.is_not(None)]):
        by_decks.setdefault(decks, Counts(decks)).dealt[coup] += count
    return [by_decks[decks] for decks in sorted(by_decks)]


def _named_decks(session: Session, scope: Scope) -> list[int]:
    tables = [] if scope.table is None else [scope.table]
    if scope.shoe is not None:
        tables.append(find_shoe(session, scope.shoe).table_id)
    return [find_table(session, table).decks for table in tables]


def _coups(session: Session, conditions: Iterable[ColumnElement[bool]]) -> list[tuple[int, Seen, int]]:
    kinds = (TableRow.decks, CoupRow.outcome, CoupRow.rule, CoupRow.cards_used, CoupRow.player_total)
    query = (
        select(*kinds, CoupRow.banker_total, func.count())
        .join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
        .join(TableRow, TableRow.id == CoupRow.table_id)
        .where(*conditions)
        .group_by(*kinds, CoupRow.banker_total)
    )
    return [
        (decks, Seen(cast(Outcome, outcome), rule, cards, player, banker), count)
        for decks, outcome, rule, cards, player, banker, count in session.execute(query)
    ]


def _lengths(session: Session, conditions: Iterable[ColumnElement[bool]]) -> list[tuple[int, int, int]]:
    """How many shoes have how many judged coups; where each coup is shuffled anew, each is a shoe of one."""
    per_shoe = (
        select(TableRow.decks, TableRow.shuffle, func.count().label("coups"))
        .select_from(CoupRow)
        .join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
        .join(TableRow, TableRow.id == CoupRow.table_id)
        .where(*conditions)
        .group_by(TableRow.decks, TableRow.shuffle, CoupRow.shoe_id)
        .subquery()
    )
    columns = per_shoe.c.decks, per_shoe.c.shuffle, per_shoe.c.coups
    shoes = session.execute(select(*columns, func.count()).group_by(*columns))
    found: defaultdict[tuple[int, int], int] = defaultdict(int)
    for decks, shuffle, coups, count in shoes:
        if shuffle == "coup":
            found[decks, 1] += coups * count
        else:
            found[decks, coups] += count
    return [(decks, length, count) for (decks, length), count in found.items()]
