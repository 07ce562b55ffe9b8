"""Finds secrets in whatever spelling a file, a page, a log line or a dump may have them.

A spelling is as much of an encoding as the secret alone decides: of base64, say, the characters between a neighbour's
bits. So what stands beside a secret, and where it begins, makes no difference.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import numpy as np
import numpy.typing as npt

HEAD = 8
"""Bytes by which a spelling is looked for first; every spelling is longer."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - 22)


class Found(NamedTuple):
    """A secret, found in a place in a spelling."""

    place: str
    secret: str
    spelling: str


def spellings(secret: bytes) -> dict[str, bytes]:
    """Every way in which a secret is looked for, forwards and backwards."""
    backwards = {f"{name}, reversed": text for name, text in _one_way(secret[::-1]).items()}
    return _one_way(secret) | backwards


def _one_way(secret: bytes) -> dict[str, bytes]:
    numbers = list(map(str, secret))
    text = secret.decode("latin-1")
    return {
        "raw": secret,
        **_hex(secret),
        **{f"base64 +{skew}": _inside(base64.b64encode, 6, secret, skew) for skew in range(3)},
        **{f"base64url +{skew}": _inside(base64.urlsafe_b64encode, 6, secret, skew) for skew in range(3)},
        **{f"base32 +{skew}": _inside(base64.b32encode, 5, secret, skew) for skew in range(5)},
        "decimal": str(int.from_bytes(secret, "big")).encode(),
        "list": ", ".join(numbers).encode(),
        "tight list": ",".join(numbers).encode(),
        **_escaped("repr", repr(b"'" + secret + b'"')[4:-2]),
        **_escaped("repr of a text", repr(f"'{text}\"")[3:-2]),
        "JSON": json.dumps(text)[1:-1].encode(),
        "JSON of surrogates": json.dumps(secret.decode("ascii", "surrogateescape"))[1:-1].encode(),
        "UTF-8": text.encode(),
        "UTF-16": text.encode("utf-16-le"),
        "octal": "".join(f"\\{byte:03o}" for byte in secret).encode(),
        "URL": quote_from_bytes(secret).encode(),
        "URL, slashes": quote_from_bytes(secret, safe="").encode(),
        "URL of a form": quote_from_bytes(secret, safe=" ").replace(" ", "+").encode(),
        "URL, everything": "".join(f"%{byte:02X}" for byte in secret).encode(),
        "url, everything": "".join(f"%{byte:02x}" for byte in secret).encode(),
    }


def _escaped(name: str, text: str) -> dict[str, bytes]:
    """A text in which single quotes are escaped, and the same where they are not: Python does either."""
    return {name: text.replace("\\'", "'").encode(), f"{name}, quotes escaped": text.encode()}


def _hex(secret: bytes) -> dict[str, bytes]:
    spaced = {"hex": secret.hex(), "hex with colons": secret.hex(":"), "hex with blanks": secret.hex(" ")}
    spaced["hex with escapes"] = "".join(f"\\x{byte:02x}" for byte in secret)
    upper = {name.upper(): text.upper() for name, text in spaced.items()}
    return {name: text.encode() for name, text in (spaced | upper).items()}


def _inside(encode: object, bits: int, secret: bytes, skew: int) -> bytes:
    """The characters of an encoding, `bits` in each, that the secret alone decides where it begins `skew` bytes in."""
    encoded: bytes = encode(bytes(skew) + secret)  # type: ignore[operator]
    return encoded[-(-8 * skew // bits) : 8 * (skew + len(secret)) // bits]


class Search:
    """A search for secrets by their names, each in all its spellings, through megabytes at once."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        self._patterns = {
            pattern: (name, spelling)
            for name, secret in secrets.items()
            for spelling, pattern in spellings(secret).items()
        }
        shortest = min(map(len, self._patterns), default=HEAD + 1)
        assert shortest > HEAD, f"a spelling of {shortest} bytes would be found by chance"

    @cached_property
    def _heads(self) -> dict[int, list[bytes]]:
        heads: dict[int, list[bytes]] = {}
        for pattern in self._patterns:
            heads.setdefault(int.from_bytes(pattern[:HEAD], "little"), []).append(pattern)
        return heads

    @cached_property
    def _numbers(self) -> npt.NDArray[np.uint64]:
        return np.sort(np.array(list(self._heads), np.uint64))

    @cached_property
    def _sieve(self) -> npt.NDArray[np.bool_]:
        sieve = np.zeros(1 << 22, bool)
        sieve[self._numbers * _MIX >> _SHIFT] = True
        return sieve

    def through(self, places: Mapping[str, bytes]) -> list[Found]:
        """Search every place; each secret and spelling is told once for a place."""
        return [
            Found(place, *self._patterns[pattern]) for place, content in places.items() for pattern in self._in(content)
        ]

    def _in(self, content: bytes) -> list[bytes]:
        met: dict[bytes, None] = {}
        for start in range(min(HEAD, len(content) - HEAD + 1)):
            heads = np.frombuffer(content, "<u8", (len(content) - start) // HEAD, start)
            likely = np.flatnonzero(self._sieve[heads * _MIX >> _SHIFT])
            nearest = np.searchsorted(self._numbers, heads[likely]).clip(max=len(self._numbers) - 1)
            for at in likely[self._numbers[nearest] == heads[likely]]:
                place = start + HEAD * int(at)
                for pattern in self._heads[int(heads[at])]:
                    if content.startswith(pattern, place):
                        met[pattern] = None
        return list(met)


def found(secrets: Iterable[bytes], places: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Where secrets are found: each place, and the secret in hex."""
    named = {secret.hex(): secret for secret in secrets}
    return [(place, secret) for place, secret, _ in Search(named).through(places)]
