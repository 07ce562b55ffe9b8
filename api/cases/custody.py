"""What only the house knows of a live shoe: derived when needed, never stored, logged or printed."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api.cases.books import open_master
from api.db.tables import BookRow, ShoeRow
from api.service import Service
from shoe.errors import ImpossibleError
from shoe.game.rules import Rules
from shoe.proof.openings import Deck
from shoe.proof.seeds import server_seed


def seed_of(service: Service, session: Session, shoe: ShoeRow) -> bytes:
    """Derive a shoe's server seed (32 bytes) from its book's master (protocol §3)."""
    book = session.get_one(BookRow, shoe.book_root)
    return server_seed(open_master(service, book), shoe.seed_index)


def _seal_of(shoe: ShoeRow) -> bytes:
    if shoe.seal is None:
        raise ImpossibleError(f"shoe {shoe.id} has no keys before its seal")
    return shoe.seal


def deck_of(
    service: Service, session: Session, shoe: ShoeRow, rules: Rules, *, hand: int = 0, seal: bytes | None = None
) -> Deck:
    """Give what a shoe deals as shuffle `hand` (protocol §5, §7): held from before, or shuffled anew.

    Shuffling takes a millisecond for eight decks. `seal` is the shoe's own without one; raises ImpossibleError where
    it has none.
    """
    return service.decks.get(lambda: seed_of(service, session, shoe), seal or _seal_of(shoe), rules, hand)
