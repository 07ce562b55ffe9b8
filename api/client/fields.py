"""The fields of an answer, each read as the type it must have; further ones are passed over, for a service may grow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from api.client.faults import ServiceUnreachable
from shoe.errors import InputError, ProofError, expected
from shoe.proof.canonical import load_json
from shoe.proof.tlog import Receipt, parse_receipt

T = TypeVar("T")


def parse_fields(text: str) -> Fields:
    """Read an answer's strict JSON as an object; raises ServiceUnreachable for anything else."""
    try:
        return Fields(load_json(text))
    except InputError as error:
        raise ServiceUnreachable(f"the answer is not the service's: {error}") from None


class Fields:
    """An object of an answer; every method raises ServiceUnreachable, naming the place and showing no value."""

    def __init__(self, value: object, where: str = "answer") -> None:
        self._where = where
        self._value: Mapping[str, Any] = _as(dict, value, where)

    def plain(self) -> Mapping[str, Any]:
        """Give the object as it was read."""
        return self._value

    def text(self, name: str) -> str:
        """Read a text."""
        return _as(str, self._value.get(name), self._place(name))

    def number(self, name: str) -> int:
        """Read an integer."""
        return _as(int, self._value.get(name), self._place(name))

    def flag(self, name: str) -> bool:
        """Read true or false."""
        return _as(bool, self._value.get(name), self._place(name))

    def hash(self, name: str) -> bytes:
        """Read bytes printed as hex."""
        return _hex(self._value.get(name), self._place(name))

    def texts(self, name: str) -> tuple[str, ...]:
        """Read a list of texts."""
        return tuple(_as(str, item, self._place(name)) for item in self._items(name))

    def hashes(self, name: str) -> tuple[bytes, ...]:
        """Read a path: a list of hashes."""
        return tuple(_hex(item, self._place(name)) for item in self._items(name))

    def paths(self, name: str) -> tuple[tuple[bytes, ...], ...]:
        """Read a list of paths."""
        where = self._place(name)
        return tuple(tuple(_hex(found, where) for found in _as(list, path, where)) for path in self._items(name))

    def rows(self, name: str, *kinds: type) -> tuple[tuple[Any, ...], ...]:
        """Read a list of rows, each a list of values of these types."""
        where = self._place(name)
        rows = [_as(list, row, where) for row in self._items(name)]
        if any(len(row) != len(kinds) for row in rows):
            raise ServiceUnreachable(f"{where}: expected rows of {len(kinds)} values")
        return tuple(tuple(_as(kind, value, where) for kind, value in zip(kinds, row, strict=True)) for row in rows)

    def part(self, name: str) -> Fields:
        """Read an object."""
        return Fields(self._value.get(name), self._place(name))

    def parts(self, name: str) -> tuple[Fields, ...]:
        """Read a list of objects."""
        return tuple(Fields(item, f"{self._place(name)}[{at}]") for at, item in enumerate(self._items(name)))

    def maybe(self, name: str, read: Callable[[str], T]) -> T | None:
        """Read a field that may be null or absent: `read` is the method for what it is otherwise."""
        return None if self._value.get(name) is None else read(name)

    def parsed(self, name: str, parse: Callable[[Any], T]) -> T:
        """Read a field that has a parser of its own, which raises InputError."""
        try:
            return parse(self._value.get(name))
        except InputError as error:
            raise ServiceUnreachable(f"{self._place(name)}: {error}") from None

    def receipt(self) -> Receipt:
        """Read the receipt of a record; raises ProofError where record or index beside it are not the receipt's."""
        text = self.text("receipt")
        receipt = self.parsed("receipt", lambda _: parse_receipt(text))
        if (self.text("record").encode(), self.number("index")) != (receipt.record, receipt.proof.index):
            raise ProofError(f"{self._where}: record and index are not those of the receipt beside them")
        return receipt

    def _items(self, name: str) -> Sequence[object]:
        return _as(list, self._value.get(name), self._place(name))

    def _place(self, name: str) -> str:
        return f"{self._where}.{name}"


def _as(kind: type[T], value: object, where: str) -> T:
    # True is an int to isinstance, and no number.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ServiceUnreachable(expected(f"a value of type {kind.__name__}", type(value).__name__, where))
    return value


def _hex(value: object, where: str) -> bytes:
    text = _as(str, value, where)
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if found.hex() != text:
        raise ServiceUnreachable(f"{where}: expected lower-case hex")
    return found
