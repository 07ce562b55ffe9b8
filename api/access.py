"""Who may do what: roles, the tokens that prove them, and the mark that every endpoint carries."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from api.refusals import FORBIDDEN, UNAUTHENTICATED, Refusal
from shoe.errors import InputError, expected
from shoe.proof.notation import sha256

Role = Literal["player", "client", "operator", "regulator"]
Kind = Literal["key", "seat"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
KEY_ROLES: Final[tuple[Role, ...]] = ("client", "operator", "regulator")
"""What an API key may be made for; a player's token is a seat's."""

ANYONE: Final[frozenset[Role]] = frozenset()
"""The mark of an endpoint that asks for no credential."""

PLAYER: Final[frozenset[Role]] = frozenset({"player"})
CLIENT: Final[frozenset[Role]] = frozenset({"client"})
OPERATOR: Final[frozenset[Role]] = frozenset({"operator"})
REGULATOR: Final[frozenset[Role]] = frozenset({"regulator"})

TOKEN_BYTES: Final = 32
PREFIX_CHARACTERS: Final = 8
_MARKS: Final[dict[Kind, str]] = {"key": "fsk", "seat": "fst"}
_TOKEN: Final = re.compile(r"fs[kt]_[0-9A-Za-z_-]{43}")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request: a credential by its id, its roles, and a seat's table; all empty for anyone at all."""

    id: str = ""
    roles: frozenset[Role] = frozenset()
    kind: Kind | None = None
    table: str | None = None

    @property
    def seat(self) -> str | None:
        """The seat's id, where it is one."""
        return self.id if self.kind == "seat" else None


ANONYMOUS: Final = Principal()


def make_token(kind: Kind, random_bytes: Callable[[int], bytes]) -> str:
    """Make a token of 256 random bits: ``fsk_`` and base64url for an API key, ``fst_`` for a seat."""
    return f"{_MARKS[kind]}_{base64.urlsafe_b64encode(random_bytes(TOKEN_BYTES)).decode().rstrip('=')}"


def parse_key(text: str) -> str:
    """Read an API key; raises InputError for anything else, without showing it."""
    if not (_TOKEN.fullmatch(text) and text.startswith(_MARKS["key"])):
        raise InputError(expected("an API key, fsk_ and 43 characters", f"{len(text)} characters", "API key"))
    return text


def token_digest(token: str) -> bytes:
    """Compute what is kept of a token: its SHA-256. It has 256 random bits, so that no slow hash is called for."""
    return sha256(token.encode("ascii"))


def token_prefix(token: str) -> str:
    """Give the part of a token by which its owner recognises it: 8 characters, of which four are random."""
    return token[:PREFIX_CHARACTERS]


def read_authorization(header: str | None) -> str | None:
    """Read the token of an Authorization header; None without one.

    Raises Refusal for any other scheme, and for what no token of ours looks like; it does not show what came.
    """
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not _TOKEN.fullmatch(token):
        raise Refusal(UNAUTHENTICATED, "The header Authorization does not hold `Bearer` and a token of this service.")
    return token


def require(principal: Principal, access: frozenset[Role]) -> None:
    """Let a principal pass who has one of the roles that an endpoint is marked with; raises Refusal otherwise."""
    if not access or principal.roles & access:
        return
    wanted = " or ".join(sorted(access))
    if principal == ANONYMOUS:
        raise Refusal(UNAUTHENTICATED, f"This needs a credential with the role {wanted}; the request has none.")
    raise Refusal(
        FORBIDDEN, f"This needs the role {wanted}; the credential has {' and '.join(sorted(principal.roles))}."
    )


def require_table(principal: Principal, table_id: str) -> None:
    """Keep a seat at its own table; raises Refusal elsewhere. Whoever is no seat passes."""
    if principal.table is not None and principal.table != table_id:
        raise Refusal(FORBIDDEN, f"The seat is at table {principal.table!r}, this is of table {table_id!r}.")


def check_key_roles(roles: tuple[str, ...]) -> tuple[Role, ...]:
    """Give an API key's roles in their fixed order; raises InputError for none, one that comes twice, or another."""
    if not roles or len(set(roles)) < len(roles) or not set(roles) <= set(KEY_ROLES):
        raise InputError(expected(f"one or more of {', '.join(KEY_ROLES)}, each once", ", ".join(roles)[:80], "roles"))
    return tuple(role for role in KEY_ROLES if role in roles)
