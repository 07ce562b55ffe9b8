"""What the calls of every resource share: paths, pages, receipts checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from api.client.faults import ServiceUnreachable
from api.client.fields import Fields, parse_fields
from api.client.receipts import KnownDecks, Receipts
from api.client.transport import Transport
from shoe.errors import InputError
from shoe.proof.records import Record
from shoe.proof.tlog import Receipt

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Calls:
    """A part of a client: requests go by its transport, and what comes back is held against what it believes."""

    _transport: Transport
    _receipts: Receipts
    _decks: KnownDecks

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> Fields:
        return parse_fields(self._transport.get(path, query))

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Fields:
        return parse_fields(self._transport.post(path, body))

    def _step(
        self, path: str, body: Mapping[str, Any] | None, kind: type[R], **wanted: object
    ) -> tuple[Fields, R | None]:
        """Ask for a step and check its receipt: its record is new, of a kind, and has the fields wanted."""
        since = self._receipts.size
        answer = self._post(path, body)
        return answer, self._receipts.check(answer.receipt(), kind, wanted, since)

    def _logged(self, path: str, body: Mapping[str, Any] | None, kind: type[R], **wanted: object) -> Receipt:
        return self._step(path, body, kind, **wanted)[0].receipt()

    def _pages(
        self, path: str, name: str, read: Callable[[Fields], T], query: Mapping[str, str] | None = None
    ) -> Iterator[T]:
        """Go through a list page by page, each fetched when it is needed."""
        after: str | None = None
        while True:
            answer = self._get(path, {**(query or {}), **({} if after is None else {"after": after})})
            items = answer.parts(name)
            yield from map(read, items)
            reached = answer.maybe("next", answer.text)
            if reached is None:
                return
            if reached == after or not items:
                raise ServiceUnreachable(f"GET {path}: the list does not come to an end")
            after = reached


def part(name: str) -> str:
    """Print a name as one part of a path, whatever is in it; raises InputError for an empty one."""
    if not name:
        raise InputError("expected an id, got an empty text")
    quoted = quote(name, safe="")
    # Parts of dots alone would be resolved on the way, and another address asked for.
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


def given(**values: object) -> dict[str, Any]:
    """List the values that were given: None stands for one that was not."""
    return {name: value for name, value in values.items() if value is not None}
