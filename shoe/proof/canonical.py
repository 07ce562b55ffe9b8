r"""Canonical JSON: one byte string for each value (protocol §8).

The profile is a subset of RFC 8785: keys ``[a-z][a-z0-9_]*``, sorted, no white space; strings of 0x20–0x7e with
only ``"`` and ``\`` escaped; integers below 2^53 in size; no floats.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias, cast

from shoe.errors import CanonicalError, expected

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"
Path: TypeAlias = "tuple[str | int, ...]"

MAX_BYTES: Final = 65_535
MAX_INTEGER: Final = 2**53
MAX_DEPTH: Final = 100
"""Lists and objects one inside another: fixed, so that no reader's stack decides which record is good."""

_TOO_DEEP: Final = f"nested too deeply: expected at most {MAX_DEPTH} lists and objects one inside another"
_NESTING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_KEY: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_OTHER_CHARACTER: Final = re.compile(r"[^\x20-\x7e]")
_OTHER_BYTE: Final = re.compile(rb"[^\x20-\x7e]")


def place(path: Path) -> str:
    """Print where in a document a value stands, such as ``rules.cut.from`` or ``cards[2].salt``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the document"


def print_canonical(value: Json, limit: int = MAX_BYTES) -> bytes:
    """Print a value as its canonical bytes.

    Raises CanonicalError, with the place, for a value the profile has no form for, for nesting over 100 deep, and for
    more than `limit` bytes: 65,535 for every record.
    Source: protocol §8.
    """
    if not _is_plain(value, 0):
        _check(value, ())
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=dict)
    if len(text) > limit:
        raise CanonicalError(expected(f"at most {limit} bytes", len(text), "canonical JSON"))
    return text.encode("ascii")


def parse_canonical(data: bytes, limit: int = MAX_BYTES) -> Json:
    """Read canonical bytes; the inverse of `print_canonical`.

    Raises CanonicalError for anything that does not print back to the same bytes: other white space, order or
    escapes, a duplicate key, a float, an integer of 2^53 or more, a byte outside 0x20–0x7e, and for more than `limit`
    bytes. Source: protocol §8.
    """
    if len(data) > limit:
        raise CanonicalError(expected(f"at most {limit} bytes", len(data), "canonical JSON"))
    if other := _OTHER_BYTE.search(data):
        raise CanonicalError(expected("bytes 0x20–0x7e", other[0], f"byte {other.start()}"))
    value = _load(data)
    printed = print_canonical(value, limit)
    if printed != data:
        raise _first_difference(printed, data)
    return value


def parse_object(data: bytes, limit: int = MAX_BYTES) -> Mapping[str, Json]:
    """Read canonical bytes that hold an object, as every record does.

    Raises CanonicalError as `parse_canonical`, and for any other value.
    """
    value = parse_canonical(data, limit)
    if not isinstance(value, dict):
        raise CanonicalError(expected("an object", value))
    return value


def load_json(text: str | bytes) -> Json:
    """Read ordinary JSON strictly: UTF-8 without a mark, no duplicate key, no float, no NaN; white space is free.

    For what travels around records (bundles, requests), where bytes need not be canonical. Raises CanonicalError.
    """
    return _load(text)


def _load(text: str | bytes) -> Json:
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        _check_nesting(decoded)
        return cast(
            Json,
            json.loads(
                decoded,
                object_pairs_hook=_unique,
                parse_float=_no_float,
                parse_constant=_no_float,
                parse_int=_integer,
            ),
        )
    except json.JSONDecodeError as error:
        raise CanonicalError(f"not JSON at character {error.pos}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise CanonicalError(expected("UTF-8", error.object[error.start], f"byte {error.start}")) from None


def _first_difference(printed: bytes, data: bytes) -> CanonicalError:
    # Only the one byte is shown: the text around it may be a player's seed.
    end = min(len(printed), len(data))
    at = next((i for i in range(end) if printed[i] != data[i]), end)
    wanted, got = printed[at : at + 1], data[at : at + 1]
    return CanonicalError(expected(f"the canonical form, here {wanted!r}", got, f"byte {at}"))


def _check_nesting(text: str) -> None:
    # Not left to RecursionError: a library that lifts the interpreter's limit would turn depth into a crash.
    depth = 0
    for token in _NESTING.finditer(text):
        first = token[0][0]
        depth += (first in "[{") - (first in "]}")
        if depth > MAX_DEPTH:
            raise CanonicalError(f"character {token.start()}: {_TOO_DEEP}")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise CanonicalError(expected("each key once", twice, "duplicate key"))
    return found


def _no_float(text: str) -> NoReturn:
    raise CanonicalError(expected("an integer", text, "number"))


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) >= MAX_INTEGER or text == "-0":
        raise CanonicalError(expected("an integer below 2^53 in size", text, "number"))
    return int(text)


def _is_plain(value: Any, depth: int) -> bool:
    """Whether a value has a form, by the types that records are made of: quick, and what it doubts `_check` decides."""
    kind = type(value)
    if kind is str:
        # Of ASCII, 0x20–0x7e is printable.
        return bool(value.isascii() and value.isprintable())
    if kind is int:
        return bool(-MAX_INTEGER < value < MAX_INTEGER)
    if kind is dict:
        if depth == MAX_DEPTH or not all(map(_is_key, value)):
            return False
        value = value.values()
    elif kind is list or kind is tuple:
        if depth == MAX_DEPTH:
            return False
    else:
        return value is None or kind is bool
    for inner in value:  # noqa: SIM110  # a generator for each of a record's objects takes half as long again
        if not _is_plain(inner, depth + 1):
            return False
    return True


@lru_cache(maxsize=1024)
def _is_key(key: object) -> bool:
    return type(key) is str and _KEY.match(key) is not None


def _check(value: Json, path: Path) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if abs(value) >= MAX_INTEGER:
            raise CanonicalError(expected("an integer below 2^53 in size", value, place(path)))
    elif isinstance(value, str):
        if other := _OTHER_CHARACTER.search(value):
            where = f"{place(path)}: character {other.start()}"
            raise CanonicalError(expected("characters 0x20–0x7e", other[0], where))
    elif isinstance(value, Mapping):
        _check_depth(path)
        for key, inner in value.items():
            if not isinstance(key, str) or not _KEY.match(key):
                raise CanonicalError(expected("a key [a-z][a-z0-9_]*", key, place(path)))
            _check(inner, (*path, key))
    elif isinstance(value, list | tuple):
        _check_depth(path)
        for index, inner in enumerate(value):
            _check(inner, (*path, index))
    else:
        raise CanonicalError(expected("a string, integer, bool, null, list or object", value, place(path)))


def _check_depth(path: Path) -> None:
    if len(path) >= MAX_DEPTH:
        raise CanonicalError(f"{place(path)}: {_TOO_DEEP}")
