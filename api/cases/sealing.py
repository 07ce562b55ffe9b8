"""Sealing a locked shoe: transcript, seal, and the deck root before the first bet (protocol §4, §7)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from api.cases.custody import deck_of
from api.cases.standing import contributions, find_shoe, require_before, rules_at, shoe_in
from api.db.tables import BookRow, ShoeRow
from api.refusals import NO_BEACON, SEEDS_MISSING, Refusal
from api.service import Service
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected
from shoe.game.dealing import begin
from shoe.game.rules import Rules
from shoe.proof.beacon import QUICKNET, check_round
from shoe.proof.notation import sha256
from shoe.proof.records import Seal
from shoe.proof.seal import PROTOCOL, BeaconPin, BeaconRound, BookRef, ClientSeed, Transcript, seal_transcript
from shoe.proof.tlog import Receipt


@dataclass(frozen=True, slots=True)
class Sealed:
    """A shoe sealed: the receipt, and the audit path of the burned card that the record shows, if any."""

    receipt: Receipt
    burn_path: tuple[bytes, ...] | None


def seal_shoe(service: Service, shoe_id: str, beacon_signature: bytes | None) -> Step[Sealed]:
    """Seal a locked shoe from its seeds, and in mode beacon from the round's signature (48 bytes).

    Raises Refusal in any other state, after seal_by and while seeds are missing, ProofError for a signature that
    isn't the pinned round's, InputError for one where there is none to give or none where there is.
    """
    # A signature takes a fifth of a second to check: too long to hold the log for, and the pin never changes.
    came = _check_beacon(service, shoe_id, beacon_signature)

    def step(writing: Writing) -> Finish[Sealed]:
        session = writing.session
        shoe = shoe_in(session, shoe_id, "locked")
        require_before(writing, shoe, "seal_by")
        rules = rules_at(shoe)
        transcript = _transcript(session, shoe, rules, writing.origin, came)
        seal = seal_transcript(transcript)
        deck = deck_of(service, session, shoe, rules, seal=seal)
        shown = rules.burn == "first_card"
        record = Seal(
            transcript=transcript,
            seal=seal,
            deck_root=deck.root,
            burn=deck.openings[0] if shown else None,
            **writing.link(shoe),
        )
        writing.add_to(shoe, record)
        shoe.seal, shoe.position, shoe.state = seal, begin(rules, deck.cards[0]).position, "sealed"
        burn_path = deck.tree.inclusion(0) if shown else None
        return lambda receipts: Sealed(receipts[0], burn_path)

    return step


def _check_beacon(service: Service, shoe_id: str, signature: bytes | None) -> BeaconRound | None:
    with service.reading() as session:
        pinned = find_shoe(session, shoe_id).beacon_round
    if pinned is None:
        if signature is not None:
            raise InputError(expected("no signature: this shoe waits for no beacon", "one", "beacon_signature"))
        return None
    if signature is None:
        raise InputError(expected(f"the signature of quicknet's round {pinned}", None, "beacon_signature"))
    if service.check_signature is None:
        raise Refusal(NO_BEACON, f"The shoe waits for round {pinned}, and the extra `beacon` is not installed.")
    came = BeaconRound(QUICKNET, pinned, sha256(signature), signature)
    check_round(came, BeaconPin(QUICKNET, pinned))
    service.check_signature(pinned, signature)
    return came


def _transcript(session: Session, shoe: ShoeRow, rules: Rules, log: str, came: BeaconRound | None) -> Transcript:
    book = session.get_one(BookRow, shoe.book_root)
    return Transcript(
        protocol=PROTOCOL,
        log=log,
        shoe=shoe.id,
        table=shoe.table_id,
        rules=rules,
        book=BookRef(book.root, book.size),
        index=shoe.seed_index,
        commitment=shoe.commitment,
        client_seeds=_client_seeds(session, shoe),
        beacon=came,
    )


def _client_seeds(session: Session, shoe: ShoeRow) -> tuple[ClientSeed, ...]:
    rows = contributions(session, shoe)
    missing = [f"{row.client} (position {row.position})" for row in rows if row.seed is None]
    if missing:
        raise Refusal(SEEDS_MISSING, f"The shoe {shoe.id} lacks the seeds of {', '.join(missing)}.")
    return tuple(ClientSeed(row.client, row.seed) for row in rows if row.seed is not None)
