"""Settling: a coup's bets are closed before it, paid after it, in the transaction that deals it; no money is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from api.cases.betting import Whose, laid_on, line_of, new_bet
from api.cases.purses import credit, find_bank, purses_of
from api.cases.standing import rules_at
from api.cases.tables import terms_at
from api.db.tables import BankRow, BetRow, PurseRow, ShoeRow
from api.world import World
from api.writing import Writing
from shoe.errors import BetError, ImpossibleError
from shoe.game.bets.layout import bank_after, check_bank
from shoe.game.bets.settling import Settlement, settle
from shoe.game.bets.terms import Terms
from shoe.game.tableau import Coup
from shoe.proof.merkle import Tree
from shoe.proof.records import Bets


@dataclass(frozen=True, slots=True)
class Settled:
    """What a coup made of a bet: whose it was, what it won or lost, and where the money went.

    `returned_minor` went to the purse, `left_minor` stays on the table for the next coup.
    """

    seat: str
    client: str
    settlement: Settlement
    returned_minor: int
    left_minor: int
    balance_minor: int


@dataclass(frozen=True, slots=True)
class Wagers:
    """All that lies on a shoe's next coup, and whose money it is: read before anything is changed."""

    terms: Terms
    rows: list[BetRow]
    purses: dict[str, PurseRow]
    bank: BankRow | None

    @property
    def purses_minor(self) -> int:
        """What the purses hold together, less what the house lent."""
        return sum(purse.balance_minor - purse.owed_minor for purse in self.purses.values())


def wagers_on(session: Session, shoe: ShoeRow) -> Wagers | None:
    """Read the bets on a shoe's next coup; None where there are none."""
    terms = terms_at(shoe.table)
    rows = [] if terms is None else laid_on(session, shoe)
    if terms is None or not rows:
        return None
    return Wagers(terms, rows, purses_of(session, [row.seat_id for row in rows]), find_bank(session, shoe.table_id))


def close_bets(writing: Writing, shoe: ShoeRow, wagers: Wagers) -> None:
    """Close the bets on a shoe's next coup: put their number and root into the log (protocol §8)."""
    lines = [line_of(row).to_bytes() for row in wagers.rows]
    record = Bets(number=shoe.next_coup, count=len(lines), bets_root=Tree.of(lines).root, **writing.link(shoe))
    writing.add_to(shoe, record)


def settle_bets(
    world: World, writing: Writing, shoe: ShoeRow, wagers: Wagers, coup: Coup, *, ended: bool
) -> tuple[Settled, ...]:
    """Pay a coup's bets: results put down, purses and the bank changed, tied stakes carried to the next coup.

    What a tie leaves on the table goes back where the coup was the shoe's last, and where the bank could not pay it any
    more. Raises ImpossibleError where money came or went.
    """
    terms, rows, bank = wagers.terms, wagers.rows, wagers.bank
    settlements = [settle(terms.bet(row.bet), row.stake_minor, coup, terms) for row in rows]
    purses_before, bank_before = wagers.purses_minor, 0 if bank is None else bank.balance_minor
    after = bank_after(bank_before, settlements)
    if bank is not None:
        bank.balance_minor = after
    stays = [False] * len(rows) if ended else _staying(terms, rules_at(shoe).decks, bank, settlements)
    settled = []
    for row, settlement, stay in zip(rows, settlements, stays, strict=True):
        left = settlement.left_minor if stay else 0
        row.state, row.net_minor, row.commission_minor = (
            settlement.result, settlement.net_minor, settlement.commission_minor,
        )  # fmt: skip
        row.returned_minor = settlement.returned_minor + settlement.left_minor - left
        purse = wagers.purses[row.seat_id]
        credit(purse, row.returned_minor)
        settled.append(Settled(row.seat_id, row.client, settlement, row.returned_minor, left, purse.balance_minor))
    moved = wagers.purses_minor - purses_before + sum(each.left_minor for each in settled)
    require_conserved(moved - sum(row.stake_minor for row in rows), after - bank_before)
    _carry(world, writing, shoe, [row for row, stay in zip(rows, stays, strict=True) if stay])
    return tuple(settled)


def return_stakes(wagers: Wagers) -> None:
    """Give back what lies on a coup that is never dealt."""
    for row in wagers.rows:
        row.state = "void"
        credit(wagers.purses[row.seat_id], row.stake_minor)


def require_conserved(players_minor: int, bank_minor: int) -> None:
    """Raise ImpossibleError unless what the players won together is what the bank lost."""
    if players_minor != -bank_minor:
        raise ImpossibleError(f"the players won {players_minor} while the bank won {bank_minor}")


def _staying(terms: Terms, decks: int, bank: BankRow | None, settlements: Sequence[Settlement]) -> list[bool]:
    """Say of each bet whether its stake stays for the next coup: so long as the bank can pay all that do."""
    kept: list[dict[str, int]] = []
    stays = []
    for settlement in settlements:
        stake = {settlement.bet: settlement.left_minor}
        stay = settlement.left_minor > 0 and (bank is None or _payable(terms, bank, [*kept, stake], decks))
        kept += [stake] if stay else []
        stays.append(stay)
    return stays


def _payable(terms: Terms, bank: BankRow, stakes: Sequence[dict[str, int]], decks: int) -> bool:
    try:
        check_bank(terms, bank.balance_minor, stakes, decks)
    except BetError:
        return False
    return True


def _carry(world: World, writing: Writing, shoe: ShoeRow, rows: Sequence[BetRow]) -> None:
    """Lay the stakes that stay on the coup after this one, each on a line and with a salt of its own."""
    for position, row in enumerate(rows):
        place, whose = (row.number + 1, position), Whose(row.seat_id, row.client)
        bet = row.bet, row.stake_minor
        writing.insert(new_bet(world, shoe, place, whose, bet, time=writing.time, carried=1))
    if rows:
        # Who deals on in the same transaction asks for bets without a flush.
        writing.session.flush()
