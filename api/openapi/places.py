"""What stands in the addresses' paths, and in the headers of requests and answers."""

from __future__ import annotations

import re
from typing import Any, Final

from api.answers.terms import SHOE_PATTERN
from api.cases.audits import DOCUMENTS
from api.payloads import PLAYER_PATTERN, TABLE_PATTERN, UUID_PATTERN
from audit.monitor import MONITORS
from shoe.errors import ImpossibleError, expected
from shoe.game.rules import MAX_COUPS
from shoe.proof.canonical import MAX_INTEGER

Schema = dict[str, Any]


def _text(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _number(end: int) -> Schema:
    return {"type": "integer", "minimum": 0, "maximum": end - 1}


_UUID: Final = _text(UUID_PATTERN)
_TILE: Final = (
    r"([0-9]|[1-5][0-9]|6[0-3]|entries)/(x[0-9]{3}/){0,2}[0-9]{3}(\.p/([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5]))?"
)
_PATH: Final[dict[str, tuple[str, Schema]]] = {
    "table_id": ("The table's id.", _text(TABLE_PATTERN)),
    "shoe_id": ("The shoe's id.", _text(SHOE_PATTERN)),
    "key_id": ("The API key's id, not its token.", _UUID),
    "seat_id": ("The seat's id, not its token.", _UUID),
    "player": ("The player's name, as the game client gave it.", _text(PLAYER_PATTERN)),
    "webhook_id": ("The webhook's id.", _UUID),
    "delivery_id": ("The delivery's id.", _UUID),
    "audit_id": ("The audit's id.", _UUID),
    "document": ("The document, by the name of its file.", {"type": "string", "enum": list(DOCUMENTS)}),
    "root": ("The root of the seed book, as hex.", _text("[0-9a-f]{64}")),
    "number": ("The coup's number in its shoe, from 0.", _number(MAX_COUPS)),
    "index": ("Where the record lies in the log, from 0.", _number(MAX_INTEGER)),
    "monitor": ("The monitor's name.", {"type": "string", "enum": [*MONITORS]}),
    "place": ("The rest of a tile's path, as C2SP tlog-tiles writes it.", _text(_TILE)),
}

IDEMPOTENCY_KEY: Final[Schema] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A new one for each new request: who repeats a request with its key gets the first answer again.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    "example": "5f0c5d0e-6f0a-4e5b-9f6e-2f3a7c1d8b4a",
}
IF_NONE_MATCH: Final[Schema] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of the answer that the caller holds: answered 304 where nothing has changed.",
    "schema": {"type": "string"},
}
_HEADERS: Final[dict[str, Schema]] = {
    "X-Request-Id": {
        "description": "The request's id, the caller's own where it sent one: the operator finds the request by it.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9A-Za-z._-]{1,64}$"},
    },
    "Cache-Control": {
        "description": "Whether it may be kept: no-store, no-cache (ask by ETag; private: no proxy) or immutable.",
        "required": True,
        "schema": {
            "type": "string",
            "enum": ["no-store", "no-cache", "private, no-cache", "public, max-age=31536000, immutable"],
        },
    },
    "ETag": {
        "description": "The answer's tag, for If-None-Match.",
        "schema": {"type": "string", "pattern": '^(W/)?"[!-~]+"$'},
    },
    "RateLimit": {
        "description": 'What is left of this minute, such as `"minute";r=59;t=12`: requests, and seconds.',
        "schema": {"type": "string", "pattern": '^"minute";r=[0-9]+;t=[0-9]+$'},
    },
    "RateLimit-Policy": {
        "description": 'How many requests a minute are allowed, such as `"minute";q=60;w=60`.',
        "schema": {"type": "string", "pattern": '^"minute";q=[0-9]+;w=60$'},
    },
    "Retry-After": {
        "description": "After how many seconds to ask again.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "WWW-Authenticate": {
        "description": "How to show who sends the request.",
        "required": True,
        "schema": {"type": "string", "pattern": "^Bearer"},
    },
    "Content-Encoding": {
        "description": "gzip, where the request accepts it.",
        "schema": {"type": "string", "enum": ["gzip"]},
    },
    "Content-Disposition": {
        "description": "The name of the file, where the answer is one.",
        "schema": {"type": "string", "pattern": "^attachment; filename="},
    },
    "Vary": {"description": "What of the request the answer depends on.", "schema": {"type": "string"}},
}

_ALWAYS: Final = ("X-Request-Id", "Cache-Control", "RateLimit", "RateLimit-Policy", "Vary")
_OF_STATUS: Final = {
    200: ("ETag", "Content-Encoding", "Content-Disposition"),
    304: ("ETag",),
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def path_parameters(path: str) -> list[Schema]:
    """List the parameters in a path; raises ImpossibleError for one that is not described here."""
    return [_path_parameter(name) for name in re.findall(r"\{(\w+)\}", path)]


def _path_parameter(name: str) -> Schema:
    if name not in _PATH:
        raise ImpossibleError(expected("a path's parameter that is described", name, "api.openapi.places"))
    description, schema = _PATH[name]
    return {"name": name, "in": "path", "required": True, "description": description, "schema": dict(schema)}


def header_components() -> dict[str, Schema]:
    """Give every header of an answer, described once."""
    return {name: dict(header) for name, header in _HEADERS.items()}


def headers_of(status: int) -> dict[str, Schema]:
    """Refer to the headers that an answer of a status can have."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*_ALWAYS, *_OF_STATUS.get(status, ()))}
