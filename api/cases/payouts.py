"""What coups showed to bets, for the pay-out table: counted from rows, or from cards where a bet looks at pairs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from api.cases.standing import find_shoe
from api.cases.statistics import Scope
from api.cases.tables import find_table, rules_of, terms_at
from api.db.tables import ENDED_STATES, CoupRow, LeafRow, ShoeRow, TableRow
from api.log import read_records
from audit.gains import sees_pairs
from audit.tally import Tally
from shoe.errors import ImpossibleError, expected
from shoe.game.bets.shown import Pair, Shown, pair_of, shown_by
from shoe.game.bets.terms import Terms
from shoe.game.cards import NAMES
from shoe.game.dealing import deal_shoe
from shoe.game.rules import Rules
from shoe.proof.records import End, parse_record
from shoe.proof.seal import derive_keys
from shoe.proof.shuffle import shuffle_hand

_AT_ONCE: Final = 2000
_CARDS: Final = re.compile(rb'"card":"(..)"')
NO_PAIRS: Final[tuple[Pair, Pair]] = ("none", "none")
"""What both hands show where nobody asks for pairs."""

_NO_DRAW: Final = ("player_natural", "banker_natural", "both_natural", "stood_draws", "stood_stands")
"""Rule classes in which the player has two cards."""


@dataclass(slots=True)
class Payable:
    """What was seen at tables of one number of decks and the same terms; `lengths` is of judged coups."""

    decks: int
    terms: Terms
    tables: int = 0
    judged: Counter[Shown] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    dealt: Counter[Shown] = field(default_factory=Counter)

    @property
    def pairs(self) -> int:
        """Count the ordered pairs of judged coups of one shoe."""
        return Tally(lengths=self.lengths).pairs


def count_payable(session: Session, scope: Scope) -> list[Payable]:
    """Count what coups showed, apart for each number of decks and terms; a named table is there even without coups.

    Tables whose rules say nothing of bets are left out. Raises Refusal for a table or shoe that isn't there.
    """
    found: dict[tuple[int, Terms], Payable] = {}
    for table in _tables(session, scope):
        terms = terms_at(table)
        if terms is None:
            continue
        payable = found.setdefault((table.decks, terms), Payable(table.decks, terms))
        payable.tables += 1
        conditions = [*scope.conditions(), CoupRow.table_id == table.id]
        count = _count_by_cards if any(map(sees_pairs, terms.bets)) else _count_by_rows
        count(session, table, conditions, payable)
        _count_lengths(session, table, conditions, payable)
    return [found[key] for key in sorted(found, key=lambda key: (key[0], str(key[1])))]


def _tables(session: Session, scope: Scope) -> list[TableRow]:
    """List the tables that are named or have coups in the scope, by id."""
    named = {scope.table} if scope.table is not None else set()
    if scope.shoe is not None:
        named.add(find_shoe(session, scope.shoe).table_id)
    seen = session.scalars(select(CoupRow.table_id).where(*scope.conditions()).distinct())
    return [find_table(session, table) for table in sorted({*named, *seen})]


def _ended() -> list[ColumnElement[bool]]:
    return [CoupRow.judged == 1, ShoeRow.state.in_(ENDED_STATES)]


def _count_by_rows(session: Session, _: TableRow, conditions: Sequence[ColumnElement[bool]], payable: Payable) -> None:
    kinds = CoupRow.rule, CoupRow.cards_used, CoupRow.player_total, CoupRow.banker_total
    for counts, further in ((payable.judged, _ended()), (payable.dealt, [CoupRow.log_index.is_not(None)])):
        query = select(*kinds, func.count()).join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
        for rule, cards, player, banker, count in session.execute(query.where(*conditions, *further).group_by(*kinds)):
            counts[shown_of(rule, cards, player, banker, NO_PAIRS)] += count


def _count_by_cards(
    session: Session, table: TableRow, conditions: Sequence[ColumnElement[bool]], payable: Payable
) -> None:
    """Read every coup's record, a few microseconds each, and deal again what a void shoe didn't deal."""
    kinds = CoupRow.rule, CoupRow.cards_used, CoupRow.player_total, CoupRow.banker_total
    query = (
        select(*kinds, CoupRow.judged, ShoeRow.state, LeafRow.record)
        .join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
        .join(LeafRow, LeafRow.log_index == CoupRow.log_index)
        .where(*conditions)
        .execution_options(yield_per=_AT_ONCE)
    )
    counts = Counter(
        (rule, cards, player, banker, judged, state, pairs_in(record))
        for rule, cards, player, banker, judged, state, record in session.execute(query)
    )
    for (rule, cards, player, banker, judged, state, pairs), count in counts.items():
        shown = shown_of(rule, cards, player, banker, pairs)
        payable.dealt[shown] += count
        payable.judged[shown] += count if judged and state in ENDED_STATES else 0
    for shown in _undealt(session, rules_of(table), conditions):
        payable.judged[shown] += 1


def _undealt(session: Session, rules: Rules, conditions: Sequence[ColumnElement[bool]]) -> Iterator[Shown]:
    """Deal again the judged coups that void shoes did not deal, from their published seeds: a millisecond a shoe."""
    query = select(CoupRow.shoe_id, CoupRow.number).join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
    numbers = defaultdict[str, list[int]](list)
    for shoe_id, number in session.execute(query.where(*conditions, *_ended(), CoupRow.log_index.is_(None))):
        numbers[shoe_id].append(number)
    for shoe_id, undealt in numbers.items():
        shoe = find_shoe(session, shoe_id)
        end = parse_record(read_records(session, [shoe.last_index])[shoe.last_index])
        if not isinstance(end, End) or shoe.seal is None:
            raise ImpossibleError(expected("the end of a sealed shoe", end.type, f"shoe {shoe_id}"))
        shuffled = shuffle_hand(derive_keys(end.server_seed, shoe.seal).shuffle_key, rules, 0)
        cut = len(shuffled.cards) - (shuffled.cards_behind_cut or 0)
        coups = [dealt.coup for dealt in deal_shoe(rules, shuffled.cards, cut)]
        yield from (shown_by(coups[number]) for number in undealt)


def _count_lengths(
    session: Session, table: TableRow, conditions: Iterable[ColumnElement[bool]], payable: Payable
) -> None:
    """Count shoes by their judged coups; where each coup is shuffled anew, each is a shoe of one."""
    query = select(func.count()).select_from(CoupRow).join(ShoeRow, ShoeRow.id == CoupRow.shoe_id)
    for coups in session.scalars(query.where(*conditions, *_ended()).group_by(CoupRow.shoe_id)):
        payable.lengths.update({1: coups} if table.shuffle == "coup" else {coups: 1})


def shown_of(rule: str, cards: int, player: int, banker: int, pairs: tuple[Pair, Pair]) -> Shown:
    """Say what a stored coup showed, by its columns and the pairs of both hands."""
    of_player = 2 if rule in _NO_DRAW else 3
    return Shown(player, banker, of_player, cards - of_player, *pairs)


def pairs_in(record: bytes) -> tuple[Pair, Pair]:
    """Read both hands' pairs off a coup's record, whose first four cards went to player, banker, player, banker."""
    player, banker, second, other = _CARDS.findall(record)[:4]
    return _PAIRS[player + second], _PAIRS[banker + other]


_PAIRS: Final[dict[bytes, Pair]] = {
    f"{one}{other}".encode(): pair_of((a, b)) for a, one in enumerate(NAMES) for b, other in enumerate(NAMES)
}
