"""Bundles: all that a verifier of one shoe needs, under one checkpoint (protocol §10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.cases.custody import deck_of
from api.cases.holding import held_lines
from api.cases.standing import find_shoe, rules_at
from api.cases.witnessing import cosigned_checkpoint
from api.db.tables import BookRow, LeafRow, ShoeRow
from api.log import prove_all, prove_extension, read_head, read_records
from api.service import Service
from shoe.errors import ImpossibleError, InputError, expected
from shoe.game.rules import Rules
from shoe.proof.bundle import Bundle, Earlier, OpeningPaths, Placed
from shoe.proof.merkle import HASH_BYTES
from shoe.proof.openings import Deck, deal_deck
from shoe.proof.records import Coup, End, parse_as
from shoe.proof.seal import derive_keys

Paths = tuple[tuple[bytes, ...], ...]
Decks = Callable[[int], Deck]
"""Gives the deck of a shuffle of one shoe, by its number."""


def make_bundle(
    service: Service,
    session: Session,
    shoe_id: str,
    earlier: int | None = None,
    size: int | None = None,
    *,
    holder: str | None = None,
) -> Bundle:
    """Bundle a shoe as it stands, under the checkpoint of `size` records, the head's without one.

    `earlier` is the size of an older checkpoint; `holder` is the seat whose bet lines it shows. Witnesses'
    cosignatures of both checkpoints are in it. Reads O(log n) nodes a record, and shuffles anew what was dealt. Raises
    Refusal for no such shoe or checkpoint, and InputError where the checkpoint does not cover all of the shoe's
    records, or is older than the earlier one.
    """
    shoe = find_shoe(session, shoe_id)
    rules = rules_at(shoe)
    bundle = _put_together(session, shoe, size, lambda hand: deck_of(service, session, shoe, rules, hand=hand))
    return replace(
        bundle,
        earlier=None if earlier is None else _earlier(session, earlier, _size_of(session, size)),
        bets=None if holder is None else held_lines(session, shoe, holder),
    )


def make_ended_bundle(session: Session, shoe: ShoeRow, end: End, size: int) -> tuple[Bundle, Decks]:
    """Bundle an ended shoe under the checkpoint of `size` records, all of it from what is public; and give its decks.

    Needs no secret of the house: the decks follow from the seed that the shoe's `end` publishes. Reads and raises as
    `make_bundle`.
    """
    rules, seal = rules_at(shoe), shoe.seal

    @cache
    def deck(hand: int) -> Deck:
        if seal is None:
            raise ImpossibleError(f"shoe {shoe.id} has no keys before its seal")
        return deal_deck(derive_keys(end.server_seed, seal), rules, hand)

    return _put_together(session, shoe, size, deck), deck


def _put_together(session: Session, shoe: ShoeRow, size: int | None, deck: Decks) -> Bundle:
    leaves = session.scalars(select(LeafRow).where(LeafRow.shoe == shoe.id).order_by(LeafRow.seq)).all()
    indices = [leaf.log_index for leaf in leaves]
    size = _size_of(session, size)
    checkpoint = cosigned_checkpoint(session, size)
    if size <= shoe.last_index:
        raise InputError(expected(f"{shoe.last_index + 1} or more, to cover all of the shoe's records", size, "size"))
    paths = prove_all(session, indices, size)
    previous = None if shoe.previous_shoe is None else session.get_one(ShoeRow, shoe.previous_shoe)
    book_index = session.get_one(BookRow, shoe.book_root).log_index
    return Bundle(
        records=tuple(leaf.record for leaf in leaves),
        log_indices=tuple(indices),
        inclusion=tuple(paths),
        checkpoint=checkpoint,
        book_record=_placed(session, book_index, size),
        previous_shoe=None if previous is None else _placed(session, previous.last_index, size),
        book_proof=_hashes(shoe.book_proof),
        openings=_openings(shoe, deck, [leaf.record for leaf in leaves if leaf.type == Coup.type]),
        earlier=None,
        bets=None,
    )


def _size_of(session: Session, size: int | None) -> int:
    return read_head(session).size if size is None else size


def coup_paths(service: Service, session: Session, shoe: ShoeRow, rules: Rules, coups: Sequence[bytes]) -> list[Paths]:
    """List the audit paths of the cards that coup records open, in dealing order (protocol §7)."""
    return _paths(lambda hand: deck_of(service, session, shoe, rules, hand=hand), coups)


def _paths(deck: Decks, coups: Sequence[bytes]) -> list[Paths]:
    records = [parse_as(Coup, data) for data in coups]
    return [tuple(deck(coup.hand).tree.inclusion(card.position) for card in coup.cards) for coup in records]


def _openings(shoe: ShoeRow, deck: Decks, coups: Sequence[bytes]) -> OpeningPaths:
    if shoe.seal is None:
        return OpeningPaths(None, ())
    burn = deck(0).tree.inclusion(0) if rules_at(shoe).burn == "first_card" else None
    return OpeningPaths(burn, tuple(_paths(deck, coups)))


def _placed(session: Session, index: int, size: int) -> Placed:
    return Placed(read_records(session, [index])[index], index, prove_all(session, [index], size)[0])


def _earlier(session: Session, old: int, size: int) -> Earlier:
    return Earlier(cosigned_checkpoint(session, old), prove_extension(session, old, size))


def _hashes(joined: bytes) -> tuple[bytes, ...]:
    return tuple(joined[start : start + HASH_BYTES] for start in range(0, len(joined), HASH_BYTES))
