"""The forms of values in records: how each is read from JSON, printed back and described (protocol §8).

A field of a record or part is declared as ``name: Annotated[type, FORM]``; `read_fields`, `write_fields` and
`schema_of` walk such a class, so that parsing, printing and the published schema can't drift apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar, get_type_hints

from shoe.errors import InputError, RecordError, expected
from shoe.game.cards import NAMES, card_name, parse_card
from shoe.proof.canonical import MAX_INTEGER, Path, place

T = TypeVar("T")
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """One way of writing a value: `read` raises InputError, `write` inverts it, `schema` is its JSON Schema."""

    read: Callable[[Any, Path], Any]
    write: Callable[[Any], Any]
    schema: Schema


def text(pattern: str, what: str) -> Form:
    """A string that wholly matches `pattern`."""
    matcher = re.compile(pattern)

    def read(value: Any, path: Path) -> str:
        if not isinstance(value, str) or not matcher.fullmatch(value):
            raise RecordError(expected(what, value, place(path)))
        return value

    return Form(read, _same, {"type": "string", "pattern": f"^(?:{pattern})$"})


def secret_text(parse: Callable[[str], str], pattern: str) -> Form:
    """A string whose refusal must not show it."""

    def read(value: Any, path: Path) -> str:
        try:
            return parse(value)
        except InputError as error:
            raise RecordError(f"{place(path)}: {error}") from None

    return Form(read, _same, {"type": "string", "pattern": f"^(?:{pattern})$"})


def one_of(*choices: str) -> Form:
    """One of a few fixed strings."""

    def read(value: Any, path: Path) -> str:
        if not isinstance(value, str) or value not in choices:
            raise RecordError(expected(" or ".join(choices), value, place(path)))
        return value

    return Form(read, _same, {"enum": list(choices)})


def integer(low: int, high: int) -> Form:
    """An integer from `low` to `high`, both included."""

    def read(value: Any, path: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RecordError(expected(f"an integer {low}…{high}", value, place(path)))
        return value

    return Form(read, _same, {"type": "integer", "minimum": low, "maximum": high})


def hexadecimal(size: int) -> Form:
    """`size` bytes as lower-case hex."""
    pattern = rf"[0-9a-f]{{{2 * size}}}"
    matcher = re.compile(pattern)

    def read(value: Any, path: Path) -> bytes:
        if not isinstance(value, str) or not matcher.fullmatch(value):
            raise RecordError(expected(f"{2 * size} characters of lower-case hex", value, place(path)))
        return bytes.fromhex(value)

    return Form(read, bytes.hex, {"type": "string", "pattern": f"^(?:{pattern})$"})


def or_null(form: Form) -> Form:
    """The form, or null for None."""

    def read(value: Any, path: Path) -> Any:
        return None if value is None else form.read(value, path)

    def write(value: Any) -> Any:
        return None if value is None else form.write(value)

    return Form(read, write, {"anyOf": [{"type": "null"}, form.schema]})


def list_of(form: Form, low: int, high: int) -> Form:
    """A list of `low` to `high` values of one form, kept as a tuple."""

    def read(value: Any, path: Path) -> tuple[Any, ...]:
        if not isinstance(value, list) or not low <= len(value) <= high:
            got = f"{len(value)} items" if isinstance(value, list) else value
            raise RecordError(expected(f"a list of {low}…{high} items", got, place(path)))
        return tuple(form.read(item, (*path, index)) for index, item in enumerate(value))

    def write(value: Sequence[Any]) -> list[Any]:
        return [form.write(item) for item in value]

    return Form(read, write, {"type": "array", "items": form.schema, "minItems": low, "maxItems": high})


def part(cls: type) -> Form:
    """An object with exactly the declared fields of `cls`."""

    def read(value: Any, path: Path) -> Any:
        return cls(**read_fields(cls, value, path))

    return Form(read, write_fields, schema_of(cls))


def parsed(parse: Callable[[Any, str], Any], write: Callable[[Any], Any], schema: Schema) -> Form:
    """A value that has its own parser, called with the value and its place."""

    def read(value: Any, path: Path) -> Any:
        return parse(value, place(path))

    return Form(read, write, schema)


def _same(value: Any) -> Any:
    return value


def _read_card(value: Any, path: Path) -> int:
    try:
        return parse_card(value)
    except InputError as error:
        raise RecordError(f"{place(path)}: {error}") from None


_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3])(:[0-5][0-9]){2}\.[0-9]{6}Z")


def parse_time(value: Any, where: str = "time") -> str:
    """Give back a time such as ``2026-01-31T09:30:00.123456Z``: UTC, six decimals, a real date.

    Times of this form sort as text. Raises RecordError. Source: protocol §8.
    """
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise RecordError(expected("a time such as 2026-01-31T09:30:00.123456Z", value, where))
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise RecordError(expected("a real date and time", value, where)) from None
    return value


NAME: Final = text(r"[\x20-\x7e]{1,128}", "1–128 characters 0x20–0x7e")
ORIGIN: Final = text(r"[!-*,-~]{1,128}", "a log's origin: 1–128 printable characters, no space or plus")
TIME: Final = parsed(parse_time, _same, {"type": "string", "pattern": f"^(?:{_TIME.pattern})$"})
HASH: Final = hexadecimal(32)
SALT: Final = hexadecimal(16)
CARD: Final = Form(_read_card, card_name, {"enum": list(NAMES)})
INDEX: Final = integer(0, MAX_INTEGER - 1)

_FIELDS: Final[dict[type, Mapping[str, Form]]] = {}


def fields_of(cls: type) -> Mapping[str, Form]:
    """The declared fields of a class, in order, each with its form."""
    if cls not in _FIELDS:
        _FIELDS[cls] = _declared(cls)
    return _FIELDS[cls]


def _declared(cls: type) -> dict[str, Form]:
    hints = get_type_hints(cls, include_extras=True)
    return {
        name: form
        for name, hint in hints.items()
        for form in getattr(hint, "__metadata__", ())
        if isinstance(form, Form)
    }


def read_fields(cls: type, value: Any, path: Path = (), beside: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Read the declared fields of `cls` from an object with exactly those keys, and those named in `beside`.

    Raises RecordError, naming the place, for a missing or further key and for a value of the wrong form.
    """
    forms = fields_of(cls)
    if not isinstance(value, Mapping):
        raise RecordError(expected("an object", value, place(path)))
    for key in sorted(forms.keys() - value.keys()):
        raise RecordError(expected(f"the key {key}", "no such key", place(path)))
    for key in sorted(value.keys() - forms.keys() - beside):
        raise RecordError(expected(f"only the keys {', '.join(sorted(forms.keys() | beside))}", key, place(path)))
    return {name: form.read(value[name], (*path, name)) for name, form in forms.items()}


def write_fields(value: Any) -> dict[str, Any]:
    """Print the declared fields of an instance as an object."""
    return {name: form.write(getattr(value, name)) for name, form in fields_of(type(value)).items()}


def schema_of(cls: type, fixed: Mapping[str, str] | None = None) -> Schema:
    """Describe `cls` as JSON Schema; `fixed` are further keys that hold one constant each."""
    constants = {key: {"const": constant} for key, constant in (fixed or {}).items()}
    properties = {**constants, **{name: form.schema for name, form in fields_of(cls).items()}}
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }
