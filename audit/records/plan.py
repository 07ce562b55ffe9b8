"""The plan of an audit of records: which records, which checks, at what level; fixed and hashed before any count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast

from audit.multiple import COLLECTIVE_LEVEL
from audit.records.battery import Sizes, checks_for
from shoe.errors import InputError, expected
from shoe.game.bets.record import parse_terms
from shoe.game.bets.terms import Terms
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import (
    HASH,
    INDEX,
    NAME,
    ORIGIN,
    TIME,
    integer,
    list_of,
    one_of,
    or_null,
    parsed,
    part,
    read_fields,
    text,
    write_fields,
)
from shoe.proof.notation import sha256

FORM: Final = "fairshoe/audit-plan/1"
MOST_BYTES: Final = 2**26
_MOST: Final = 2**20
_VKEY: Final = text(r"[\x20-\x7e]{1,512}", "a verifier key")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(expected("an object", value, where))
    return value


_OBJECT: Final = parsed(_mapping, dict, {"type": "object"})


@dataclass(frozen=True, slots=True)
class Held:
    """A checkpoint by its size and root (32 bytes), and who cosigned it, by their keys."""

    size: Annotated[int, INDEX]
    root: Annotated[bytes, HASH]
    witnesses: Annotated[tuple[str, ...], list_of(_VKEY, 0, _MOST)] = ()


@dataclass(frozen=True, slots=True)
class Stratum:
    """Tables of the same decks, way of shuffling and terms, and how much of them there is to judge.

    `terms` are the keys of their rules that speak of bets, None where there are none. `shoes` are sealed and ended;
    `coups` are their judged coups, a number that follows from shoes and rules: no card decides it.
    """

    decks: Annotated[int, integer(1, 16)]
    shuffle: Annotated[str, one_of("shoe", "coup")]
    terms: Annotated[Mapping[str, Any] | None, or_null(_OBJECT)]
    tables: Annotated[int, INDEX]
    shoes: Annotated[int, INDEX]
    coups: Annotated[int, INDEX]

    def read_terms(self) -> Terms | None:
        """Read the terms; raises RulesError for terms that don't fit together."""
        return None if self.terms is None else parse_terms(self.terms, self.decks)

    @property
    def sizes(self) -> Sizes:
        """What decides which checks can be named."""
        return Sizes(self.decks, cast(Literal["shoe", "coup"], self.shuffle), self.read_terms(), self.coups)


@dataclass(frozen=True, slots=True)
class Plan:
    """An audit of records, fixed: its findings are a function of the plan and of the records below `size`.

    The shoes are those opened at `table` (any, without one) from `since` on, before `until`, that had ended under the
    head of `size` records and root `root`; `vkeys` are the keys that sign it, `retired` those that did. `pinned` is the
    checkpoint kept outside of the database, `cosigned` the newest that witnesses signed. `receipts` are the SHA-256 of
    the texts that were handed in. `checks` are the m named checks; together they are judged by Holm's rule at `level`.
    Raises InputError for other checks than the sizes allow.
    """

    form: Annotated[str, one_of(FORM)]
    log: Annotated[str, ORIGIN]
    size: Annotated[int, INDEX]
    root: Annotated[bytes, HASH]
    vkeys: Annotated[tuple[str, ...], list_of(_VKEY, 0, _MOST)]
    retired: Annotated[tuple[str, ...], list_of(_VKEY, 0, _MOST)]
    pinned: Annotated[Held | None, or_null(part(Held))]
    cosigned: Annotated[Held | None, or_null(part(Held))]
    table: Annotated[str | None, or_null(NAME)]
    since: Annotated[str | None, or_null(TIME)]
    until: Annotated[str | None, or_null(TIME)]
    shoes: Annotated[int, INDEX]
    receipts: Annotated[tuple[bytes, ...], list_of(HASH, 0, _MOST)]
    strata: Annotated[tuple[Stratum, ...], list_of(part(Stratum), 0, _MOST)]
    checks: Annotated[tuple[str, ...], list_of(NAME, 0, _MOST)]
    level: Annotated[str, one_of(str(COLLECTIVE_LEVEL))]
    correction: Annotated[str, one_of("holm")]

    def __post_init__(self) -> None:
        """Refuse checks that were chosen otherwise than by the sizes."""
        wanted = checks_for([stratum.sizes for stratum in self.strata])
        if self.checks != wanted:
            raise InputError(expected(f"the checks that the sizes allow, {list(wanted)}", list(self.checks), "checks"))

    def to_bytes(self) -> bytes:
        """Print the plan as canonical JSON (protocol §8, but for its limit of 65,535 bytes)."""
        return print_canonical(write_fields(self), MOST_BYTES)

    @property
    def hash(self) -> bytes:
        """Hash the canonical bytes: SHA-256."""
        return sha256(self.to_bytes())


def make_plan(**fields: Any) -> Plan:
    """Plan an audit: the fields of `Plan` but those that follow from them."""
    checks = checks_for([stratum.sizes for stratum in fields["strata"]])
    return Plan(form=FORM, checks=checks, level=str(COLLECTIVE_LEVEL), correction="holm", **fields)


def parse_plan(data: bytes) -> Plan:
    """Read a plan from its canonical bytes; the inverse of `Plan.to_bytes`.

    Raises CanonicalError, RecordError, and InputError as `Plan` does.
    """
    return Plan(**read_fields(Plan, parse_object(data, MOST_BYTES)))
