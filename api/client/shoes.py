"""Shoes: each step of one, and all that can be read of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from api.client.bets import listed, read_settled
from api.client.calls import Calls, given, part
from api.client.fields import Fields
from api.client.results import (
    Contributed,
    DealtCoup,
    ListedCoup,
    SealedShoe,
    Shoe,
    ShoeState,
    ShownRecord,
    ShownRoads,
)
from shoe.errors import ProofError
from shoe.game.roads import Sums
from shoe.proof.records import Bets, CommittedEntropy, Coup, Lock, OpenEntropy, Reveal, Seal, Seed, ShoeRecord, Void
from shoe.proof.tlog import Receipt


class Shoes(Calls):
    """The calls at ``/v1/shoes``."""

    def contribute(self, shoe: str, seed_commitment: bytes) -> Contributed:
        """Commit to a seed (two_phase)."""
        body, wanted = {"seed_commitment": seed_commitment.hex()}, {"seed_commitment": seed_commitment}
        return self._contributed(f"{_at(shoe)}/entropy", body, CommittedEntropy, shoe=shoe, **wanted)

    def give_seed(self, shoe: str, seed: str) -> Contributed:
        """Contribute a seed openly (beacon)."""
        return self._contributed(f"{_at(shoe)}/entropy", {"seed": seed}, OpenEntropy, shoe=shoe, seed=seed)

    def lock(self, shoe: str) -> Receipt:
        """Close the list of contributions."""
        return self._logged(f"{_at(shoe)}/lock", None, Lock, shoe=shoe)

    def open_seed(self, shoe: str, author: str | int, seed: str) -> Contributed:
        """Open the seed that a client committed to; `author` is its pseudonym or its position."""
        by = "client" if isinstance(author, str) else "position"
        opened = self._contributed(f"{_at(shoe)}/seeds", {by: author, "seed": seed}, Seed, shoe=shoe, seed=seed)
        if self._receipts.verifies and getattr(opened, by) != author:
            raise ProofError(f"answer: it is of another {by} than was asked for")
        return opened

    def seal(self, shoe: str, beacon_signature: bytes | None = None) -> SealedShoe:
        """Seal a locked shoe whose seeds are all open; mode beacon needs the round's signature (48 bytes)."""
        body = given(beacon_signature=beacon_signature and beacon_signature.hex())
        answer, record = self._step(f"{_at(shoe)}/seal", body, Seal, shoe=shoe)
        if record is not None:
            beacon = record.transcript.beacon
            if beacon_signature is not None and (beacon is None or beacon.signature != beacon_signature):
                raise ProofError("receipt: its seal record has another beacon signature than was sent")
            self._decks.learn(record)
        return SealedShoe(answer.receipt(), answer.maybe("burn_path", answer.hashes))

    def know_seal(self, receipt: Receipt) -> None:
        """Learn the deck root of a shoe from its seal's receipt, had elsewhere: its coups are checked against it.

        Without the log's keys nothing is learned. Raises ProofError as a step does.
        """
        record = self._receipts.check(receipt, Seal, {})
        if record is not None:
            self._decks.learn(record)

    def deal(self, shoe: str, bets: Mapping[str, Mapping[str, int]] | None = None) -> DealtCoup:
        """Close the bets, deal the next coup, and settle them; with the last one comes the reveal.

        `bets` are laid before that, by seat: stakes in minor units by bet.
        """
        carried = [{"seat": seat, "bets": listed(stakes)} for seat, stakes in (bets or {}).items()]
        answer, coup = self._step(f"{_at(shoe)}/coups", {"bets": carried} if carried else None, Coup, shoe=shoe)
        revealed = answer.maybe("reveal", answer.part)
        reveal = None if revealed is None else revealed.receipt()
        index = answer.receipt().proof.index
        if reveal is not None:
            self._receipts.check(reveal, Reveal, {"shoe": shoe, "coups": answer.number("number") + 1}, index + 1)
        closed, settlement = self._closed(answer, shoe, index), tuple(map(read_settled, answer.parts("settlement")))
        messages = {told.text("seat"): told.text("message") for told in answer.parts("messages")}
        return replace(self._coup(answer, coup, reveal), bets=closed, settlement=settlement, messages=messages)

    def _closed(self, answer: Fields, shoe: str, coup_index: int) -> Receipt | None:
        """Check the receipt of what closed a coup's bets: it lies right before the coup, and counts those settled."""
        closed = answer.maybe("bets", answer.part)
        count = len(answer.parts("settlement"))
        if closed is None:
            if count:
                raise ProofError("answer: bets are settled that no record closed")
            return None
        receipt = closed.receipt()
        wanted = {"shoe": shoe, "number": answer.number("number"), "count": count}
        self._receipts.check(receipt, Bets, wanted, coup_index - 1)
        if receipt.proof.index != coup_index - 1:
            raise ProofError("receipt: its bets record does not lie right before the coup")
        return receipt

    def reveal(self, shoe: str) -> Receipt:
        """Fetch the reveal of a shoe that has ended."""
        receipt = self._post(f"{_at(shoe)}/reveal").receipt()
        self._receipts.check(receipt, Reveal, {"shoe": shoe})
        return receipt

    def void(self, shoe: str, reason: str) -> Receipt:
        """Give a shoe up, for seed_missing, beacon_missing, deadline or operator."""
        return self._logged(f"{_at(shoe)}/void", {"reason": reason}, Void, shoe=shoe, reason=reason)

    def shoe(self, shoe: str) -> Shoe:
        """Sum a shoe up."""
        return _shoe(self._get(_at(shoe)))

    def state(self, shoe: str) -> ShoeState:
        """Say where a shoe stands, for a game client that resumes."""
        answer = self._get(f"{_at(shoe)}/state")
        return ShoeState(
            answer.text("shoe"),
            answer.text("state"),
            answer.number("next_seq"),
            answer.number("next_coup"),
            answer.text("last_record").encode(),
            answer.number("last_index"),
            answer.flag("ended"),
        )

    def records(self, shoe: str) -> Iterator[ShownRecord]:
        """List a shoe's records so far, in order."""
        return self._pages(f"{_at(shoe)}/records", "records", _record)

    def coups(self, shoe: str) -> Iterator[ListedCoup]:
        """List a shoe's coups so far, in dealing order."""
        return self._pages(f"{_at(shoe)}/coups", "coups", _listed)

    def coup(self, shoe: str, number: int) -> DealtCoup:
        """Show a coup with its receipt and its cards' audit paths."""
        answer = self._get(f"{_at(shoe)}/coups/{number}")
        wanted = {"shoe": shoe, "number": number}
        return self._coup(answer, self._receipts.check(answer.receipt(), Coup, wanted), None)

    def roads(self, shoe: str) -> ShownRoads:
        """Draw the roads of a shoe's coups so far."""
        return _roads(self._get(f"{_at(shoe)}/roads"))

    def bundle(self, shoe: str, earlier: int | None = None, size: int | None = None) -> str:
        """Fetch a shoe's bundle as text, for `fairshoe verify`: the client itself judges nothing of it.

        It is under the checkpoint of a size, the head's without one; `earlier` asks for the consistency with an older
        checkpoint of that size.
        """
        query = {name: str(value) for name, value in given(earlier=earlier, size=size).items()}
        return self._transport.get(f"{_at(shoe)}/bundle", query)

    def _contributed(self, path: str, body: Mapping[str, Any], kind: type[ShoeRecord], **wanted: object) -> Contributed:
        answer, record = self._step(path, body, kind, **wanted)
        made = Contributed(answer.receipt(), answer.text("client"), answer.number("position"))
        for name in ("client", "position"):
            # A `seed` record names its author by position alone.
            if record is not None and getattr(record, name, getattr(made, name)) != getattr(made, name):
                raise ProofError(f"receipt: its {record.type} record has another {name} than the answer")
        return made

    def _coup(self, answer: Fields, coup: Coup | None, reveal: Receipt | None) -> DealtCoup:
        number, paths = answer.number("number"), answer.paths("paths")
        if coup is not None and coup.number != number:
            raise ProofError("receipt: its coup record has another number than the answer")
        checked = coup is not None and self._decks.check(coup, paths)
        return DealtCoup(answer.receipt(), number, paths, reveal, checked)


def _at(shoe: str) -> str:
    return f"/v1/shoes/{part(shoe)}"


def _shoe(answer: Fields) -> Shoe:
    beacon = answer.maybe("beacon", answer.part)
    return Shoe(
        id=answer.text("id"),
        table=answer.text("table"),
        state=answer.text("state"),
        opened=answer.text("opened"),
        book=answer.hash("book"),
        seed_index=answer.number("seed_index"),
        commitment=answer.hash("commitment"),
        lock_by=answer.text("lock_by"),
        seal_by=answer.text("seal_by"),
        reveal_by=answer.text("reveal_by"),
        beacon_round=None if beacon is None else beacon.number("round"),
        contributions=answer.number("contributions"),
        seal=answer.maybe("seal", answer.hash),
        coups=answer.number("coups"),
        previous_shoe=answer.maybe("previous_shoe", answer.text),
    )


def _record(answer: Fields) -> ShownRecord:
    return ShownRecord(answer.number("seq"), answer.number("index"), answer.text("record").encode())


def _listed(answer: Fields) -> ListedCoup:
    return ListedCoup(
        answer.number("number"),
        answer.text("outcome"),
        answer.text("rule"),
        answer.number("player_total"),
        answer.number("banker_total"),
        answer.number("index"),
        answer.text("record").encode(),
    )


def _roads(answer: Fields) -> ShownRoads:
    sums = answer.part("sums")
    return ShownRoads(
        shoe=answer.text("shoe"),
        outcomes=answer.text("outcomes"),
        big_road=answer.rows("big_road", str, int),
        big_road_cells=answer.rows("big_road_cells", int, int, str, int),
        bead_plate=answer.rows("bead_plate", int, int, str),
        columns=answer.texts("columns"),
        big_eye_boy=answer.text("big_eye_boy"),
        small_road=answer.text("small_road"),
        cockroach_pig=answer.text("cockroach_pig"),
        sums=Sums(*map(sums.number, Sums._fields)),
    )
