"""Tables, their seed books, seats, and the opening of their shoes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from api.client.calls import Calls, given, part
from api.client.fields import Fields
from api.client.results import Book, MadeSeat, OpenedShoe, PublishedBook, RevokedSeat, Table, TableShown
from shoe.errors import ProofError
from shoe.game.rules import Rules, parse_rules
from shoe.proof.records import Book as BookRecord
from shoe.proof.records import BookEnd, Open
from shoe.proof.tlog import Receipt


class Tables(Calls):
    """The calls at ``/v1/tables`` and ``/v1/seats``."""

    def make_table(
        self,
        preset: str | None = None,
        table: str | None = None,
        *,
        rules: Rules | None = None,
        overrides: Mapping[str, Any] | None = None,
        guests: bool | None = None,
    ) -> Table:
        """Make a table of a preset with overrides, or of whole rules; the service chooses its id without one."""
        whole = None if rules is None else rules.to_json()
        body = given(id=table, preset=preset, rules=whole, overrides=overrides, guests=guests)
        return _table(self._post("/v1/tables", body))

    def tables(self) -> Iterator[Table]:
        """List the tables by id."""
        return self._pages("/v1/tables", "tables", _table)

    def table(self, table: str) -> TableShown:
        """Show a table with its live shoe and its last."""
        answer = self._get(f"/v1/tables/{part(table)}")
        live, last = (answer.maybe(name, answer.text) for name in ("live_shoe", "last_shoe"))
        return TableShown(_table(answer), live, last)

    def publish_book(self, table: str, size: int) -> PublishedBook:
        """Publish a seed book of `size` seeds for a table."""
        path = f"/v1/tables/{part(table)}/books"
        answer, record = self._step(path, {"size": size}, BookRecord, table=table, size=size)
        root = answer.hash("root")
        if record is not None and record.root != root:
            raise ProofError("receipt: its book record has another root than the answer")
        return PublishedBook(answer.receipt(), root, size)

    def books(self, table: str) -> Iterator[Book]:
        """List a table's seed books in the order they are used."""
        return self._pages(f"/v1/tables/{part(table)}/books", "books", _book)

    def end_book(self, table: str, root: bytes) -> Receipt:
        """End a seed book, whose master becomes public."""
        return self._logged(f"/v1/tables/{part(table)}/books/{root.hex()}/end", None, BookEnd, table=table, root=root)

    def open_shoe(
        self, table: str, *, lock_in_s: int, seal_in_s: int, reveal_in_s: int, beacon_round: int | None = None
    ) -> OpenedShoe:
        """Open the table's next shoe, its deadlines in seconds from now."""
        deadlines = {"lock": lock_in_s, "seal": seal_in_s, "reveal": reveal_in_s}
        body = {f"{name}_in_s": seconds for name, seconds in deadlines.items()} | given(beacon_round=beacon_round)
        answer, record = self._step(f"/v1/tables/{part(table)}/shoes", body, Open, table=table)
        shoe = answer.text("shoe")
        if record is not None:
            _check_opened(record, shoe, deadlines, beacon_round)
        return OpenedShoe(answer.receipt(), shoe)

    def make_seat(self, table: str, purse_minor: int | None = None, player: str | None = None) -> MadeSeat:
        """Make a seat at a table: as its game client, or as anyone where the table is open to guests.

        Its purse begins with what a game client says, in minor units, or with what the house gives; a game client may
        name the player too.
        """
        answer = self._post(f"/v1/tables/{part(table)}/seats", given(purse_minor=purse_minor, player=player))
        purse = answer.maybe("purse_minor", answer.number)
        return MadeSeat(answer.text("seat"), answer.text("table"), answer.text("token"), purse)

    def revoke_seat(self, seat: str) -> RevokedSeat:
        """Revoke a seat: its token is good no more."""
        answer = self._post(f"/v1/seats/{part(seat)}/revoke")
        revoked = answer.maybe("revoked", answer.text)
        return RevokedSeat(answer.text("seat"), answer.text("table"), answer.text("created"), revoked)


def _check_opened(record: Open, shoe: str, deadlines: Mapping[str, int], beacon_round: int | None) -> None:
    if record.shoe != shoe:
        raise ProofError("receipt: its open record is of another shoe than the answer")
    opened = datetime.fromisoformat(record.time)
    for name, seconds in deadlines.items():
        if (datetime.fromisoformat(getattr(record, f"{name}_by")) - opened).total_seconds() != seconds:
            raise ProofError(f"receipt: its open record has another {name}_by than was asked for")
    if beacon_round is not None and (record.beacon is None or record.beacon.round != beacon_round):
        raise ProofError("receipt: its open record has another beacon than was asked for")


def _table(answer: Fields) -> Table:
    return Table(
        answer.text("id"),
        answer.maybe("preset", answer.text),
        answer.parsed("rules", parse_rules),
        answer.text("created"),
        bool(answer.maybe("guests", answer.flag)),
    )


def _book(answer: Fields) -> Book:
    size, index, next_index = (answer.number(name) for name in ("size", "index", "next_index"))
    return Book(answer.hash("root"), size, index, next_index, answer.text("state"))
