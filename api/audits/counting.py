"""Counting the judged coups of ended shoes from the store's rows, some shoes a step, in flat memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.audits.dealt_again import dealt_again
from api.audits.planning import count_waiting, judged_a_shoe, kind_of, kinds_of, planned_shoes
from api.cases.payouts import NO_PAIRS, pairs_in, shown_of
from api.cases.tables import find_table, rules_of, terms_at
from api.db.tables import BetRow, CoupRow, LeafRow, ShoeRow
from api.log import read_records
from audit.records.battery import needs_cards
from audit.records.counts import Counts, Kind
from audit.records.findings import Ended
from audit.records.plan import Plan
from audit.tally import seen
from shoe.errors import BetError
from shoe.game.bets.shown import Shown, shown_by
from shoe.game.bets.terms import Terms
from shoe.game.rules import Rules
from shoe.game.tableau import Coup
from shoe.proof.openings import Deck, deal_deck
from shoe.proof.records import End, Void, parse_record
from shoe.proof.seal import derive_keys

SHOES_AT_ONCE: Final = 200
COUPS_AT_ONCE: Final = 5_000
"""A step counts so many shoes, or shoes of so many coups, whichever is less; one shoe at least."""

_SETTLED: Final = ("won", "lost", "pushed")


class _Table(NamedTuple):
    place: int | None
    rules: Rules
    terms: Terms | None
    judged: int
    by_cards: bool


class _Shoe(NamedTuple):
    id: str
    table: str
    opened: int
    state: str
    seal: bytes | None
    last: int
    in_row: int
    coups: int

    @property
    def void(self) -> bool:
        return self.state == "void"


@dataclass(slots=True)
class Counting:
    """The counts of a plan's shoes so far; what each table's last shoe showed is kept, and nothing else of any shoe."""

    plan: Plan
    counts: tuple[Counts, ...]
    ended: Ended
    _after: int
    _tables: dict[str, _Table]
    _before: dict[str, str]
    _places: dict[tuple[int, str, bytes], int]

    @classmethod
    def begin(cls, plan: Plan) -> Counting:
        """Begin with nothing counted."""
        return cls(plan, tuple(Counts() for _ in plan.strata), Ended(), -1, {}, {}, kinds_of(plan))

    def step(self, session: Session) -> bool:
        """Count the next shoes; say whether those were the last."""
        shoes = self._next(session)
        if not shoes:
            self._finish(session)
            return True
        for shoe in shoes:
            if shoe.table not in self._tables:
                self._tables[shoe.table] = self._look_up(session, shoe.table)
        self._count_states(session, shoes)
        sealed = [shoe for shoe in shoes if shoe.seal is not None and self._tables[shoe.table].place is not None]
        self._count_coups(session, sealed)
        self._count_bets(session, [shoe for shoe in sealed if self._tables[shoe.table].terms is not None])
        self._after = shoes[-1].opened
        return False

    def _finish(self, session: Session) -> None:
        self.ended.waiting = count_waiting(session, self.plan)
        for stratum, counts in zip(self.plan.strata, self.counts, strict=True):
            if stratum.terms is not None and not needs_cards(stratum.read_terms()):
                for (_, rule, cards, player, banker), count in (counts.revealed + counts.void).items():
                    counts.shown[shown_of(rule, cards, player, banker, NO_PAIRS)] += count

    def _next(self, session: Session) -> list[_Shoe]:
        columns = (
            *(ShoeRow.id, ShoeRow.table_id, ShoeRow.open_index, ShoeRow.state),
            *(ShoeRow.seal, ShoeRow.last_index, ShoeRow.in_row, ShoeRow.next_coup),
        )
        query = planned_shoes(self.plan, self._after).with_only_columns(*columns).limit(SHOES_AT_ONCE)
        found: list[_Shoe] = []
        coups = 0
        for row in session.execute(query):
            shoe = _Shoe._make(row)
            coups += shoe.coups
            if found and coups > COUPS_AT_ONCE:
                break
            found.append(shoe)
        return found

    def _look_up(self, session: Session, table_id: str) -> _Table:
        table = find_table(session, table_id)
        terms = terms_at(table)
        return _Table(
            self._places.get(kind_of(table)), rules_of(table), terms, judged_a_shoe(table), needs_cards(terms)
        )

    def _count_states(self, session: Session, shoes: Sequence[_Shoe]) -> None:
        void = [shoe for shoe in shoes if shoe.void]
        self.ended.states.update(shoe.state for shoe in shoes)
        self.ended.in_row = max([self.ended.in_row, *(shoe.in_row for shoe in void)])
        records = read_records(session, [shoe.last for shoe in void]) if void else {}
        for shoe in void:
            record = parse_record(records[shoe.last]) if shoe.last in records else None
            self.ended.reasons[record.reason if isinstance(record, Void) else "unknown"] += 1

    # --- coups -----------------------------------------------------------------------------------

    def _count_coups(self, session: Session, shoes: Sequence[_Shoe]) -> None:
        rows = _coups_of(session, [shoe.id for shoe in shoes]) if shoes else {}
        by_cards = [shoe for shoe in shoes if self._tables[shoe.table].by_cards]
        shown = _shown_of(session, [shoe.id for shoe in by_cards])
        for shoe in shoes:
            table = self._tables[shoe.table]
            fresh = table.rules.shuffle == "coup"
            coups = rows.get(shoe.id, [])
            coups = coups if fresh else coups[: table.judged]
            counts = self._counts(table)
            lacking: list[Coup] = []
            if shoe.void and (fresh or table.by_cards):
                lacking = list(_lacking(session, shoe, table.rules))
            if fresh:
                coups = [*coups, *map(seen, lacking)]
            self._before[shoe.table] = counts.add_shoe(
                coups, self._before.get(shoe.table, ""), void=shoe.void, fresh=fresh
            )
            if table.by_cards:
                counts.shown.update(shown[shoe.id][: table.judged])
                counts.shown.update(map(shown_by, lacking))

    def _counts(self, table: _Table) -> Counts:
        return self.counts[table.place or 0]

    # --- bets ------------------------------------------------------------------------------------

    def _count_bets(self, session: Session, shoes: Sequence[_Shoe]) -> None:
        tables = {shoe.id: self._tables[shoe.table] for shoe in shoes}
        for (shoe, name), coups in _bets_of(session, list(tables)).items():
            table = tables[shoe]
            if table.terms is None:
                continue
            try:
                bet = table.terms.bet(name)
            except BetError:
                continue  # what a table does not have is a fault of its bets, which are looked at one by one
            for laid in coups.values():
                self._counts(table).live.add_coup(
                    bet, laid.stakes, net=laid.net, commission=laid.commission, decks=table.rules.decks,
                    terms=table.terms,
                )  # fmt: skip


def _coups_of(session: Session, shoes: Sequence[str]) -> dict[str, list[Kind]]:
    """Read the judged coups of shoes, each shoe's in order: the loop that millions of coups go through."""
    # Columns of the table, not of the mapped class: the rows come as they are, in half the time.
    coups = CoupRow.__table__.c
    kind = coups.outcome, coups.rule, coups.cards_used, coups.player_total, coups.banker_total
    query = select(coups.shoe_id, *kind).where(coups.shoe_id.in_(shoes), coups.judged == 1)
    rows = session.execute(query.order_by(coups.shoe_id, coups.number)).all()
    return {shoe: [row[1:] for row in of_shoe] for shoe, of_shoe in groupby(rows, itemgetter(0))}


def _shown_of(session: Session, shoes: Sequence[str]) -> defaultdict[str, list[Shown]]:
    """Read what judged coups showed, pairs too, off their rows and records; what was not dealt has none."""
    found = defaultdict[str, list[Shown]](list)
    if not shoes:
        return found
    columns = CoupRow.rule, CoupRow.cards_used, CoupRow.player_total, CoupRow.banker_total
    query = (
        select(CoupRow.shoe_id, *columns, LeafRow.record)
        .join(LeafRow, LeafRow.log_index == CoupRow.log_index)
        .where(CoupRow.shoe_id.in_(shoes), CoupRow.judged == 1)
    )
    ordered = query.order_by(CoupRow.shoe_id, CoupRow.number)
    for shoe, rule, cards, player, banker, record in session.execute(ordered):
        found[shoe].append(shown_of(rule, cards, player, banker, pairs_in(record)))
    return found


def _lacking(session: Session, shoe: _Shoe, rules: Rules) -> Iterator[Coup]:
    """Deal again the judged coups that a void shoe did not deal."""
    record = read_records(session, [shoe.last]).get(shoe.last)
    end = None if record is None else parse_record(record)
    if not isinstance(end, End) or shoe.seal is None:
        return
    decks: partial[Deck] = partial(deal_deck, derive_keys(end.server_seed, shoe.seal), rules)
    for _, coup in dealt_again(rules, decks, shoe.coups):
        yield coup


@dataclass(slots=True)
class _Laid:
    """What lay on one bet of one coup."""

    stakes: Counter[int]
    net: int = 0
    commission: int = 0


def _bets_of(session: Session, shoes: Sequence[str]) -> dict[tuple[str, str], dict[int, _Laid]]:
    found: dict[tuple[str, str], dict[int, _Laid]] = defaultdict(dict)
    if not shoes:
        return found
    kinds = BetRow.shoe_id, BetRow.number, BetRow.bet, BetRow.stake_minor
    sums = func.count(), func.sum(BetRow.net_minor), func.sum(BetRow.commission_minor)
    query = select(*kinds, *sums).where(BetRow.shoe_id.in_(shoes), BetRow.state.in_(_SETTLED)).group_by(*kinds)
    for shoe, number, bet, stake, count, net, commission in session.execute(query):
        laid = found[shoe, bet].setdefault(number, _Laid(Counter()))
        laid.stakes[stake] += count
        laid.net += int(net or 0)
        laid.commission += int(commission or 0)
    return found
