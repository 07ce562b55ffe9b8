"""Answers kept with their ETag: whoever polls is told "unchanged", and is given what came before."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

KEPT_BYTES: Final = 2**24
_PRINTABLE: Final = frozenset(map(chr, range(0x21, 0x7F)))
_LONGEST_TAG: Final = 200


class Kept(NamedTuple):
    """An answer's text, and the ETag that it came with."""

    etag: str
    text: str


class EtagCache:
    """The answers used last, by address, of at most `limit` characters together; any thread may use it."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, address: str) -> Kept | None:
        """Give what is kept of an address."""
        with self._lock:
            if address in self._kept:
                self._kept.move_to_end(address)
            return self._kept.get(address)

    def keep(self, address: str, etag: str | None, text: str) -> None:
        """Keep an answer that came with an ETag, and forget those not used for longest where there are too many."""
        with self._lock:
            self._forget(address)
            if etag and len(etag) <= _LONGEST_TAG and _PRINTABLE.issuperset(etag):
                self._kept[address] = Kept(etag, text)
                self._size += len(text)
            while self._size > self._limit:
                self._forget(next(iter(self._kept)))

    def _forget(self, address: str) -> None:
        kept = self._kept.pop(address, None)
        if kept is not None:
            self._size -= len(kept.text)
