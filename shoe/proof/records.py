"""The records: one frozen class a type, canonical bytes in and out (protocol §8).

The stored bytes are the record: they are hashed, logged and served as stored. `parse_record` refuses what would not
print back to the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, TypeVar

from shoe.errors import NoteError, RecordError, expected
from shoe.game.rules import MAX_COUPS, Rules
from shoe.game.tableau import MAX_CARDS, OUTCOMES
from shoe.game.tableau import RULES as RULE_CLASSES
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import (
    HASH,
    INDEX,
    NAME,
    ORIGIN,
    TIME,
    Form,
    Schema,
    integer,
    list_of,
    one_of,
    or_null,
    parsed,
    part,
    read_fields,
    schema_of,
    text,
    write_fields,
)
from shoe.proof.notation import sha256
from shoe.proof.note import ED25519, parse_vkey, require_type
from shoe.proof.openings import Opening
from shoe.proof.seal import CLIENT, PROTOCOL, RULES, SEED, BeaconPin, BookRef, Transcript
from shoe.proof.seeds import MAX_BOOK, MAX_CONTRIBUTIONS

FIRST: Final = bytes(32)
"""`previous` of the first record of a table's first shoe."""

_VKEY: Final = parsed(lambda value, _: _printed_vkey(value), str, {"type": "string"})
_DECIMAL: Final = text(r"(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[1-9][0-9]*)?", "a decimal string")
_CONTRIBUTION: Final = integer(0, MAX_CONTRIBUTIONS - 1)
_NUMBER: Final = integer(0, MAX_COUPS - 1)
_TOTAL: Final = integer(0, 9)
_BET_SALT: Final[Form] = text(r"[0-9a-f]{32}", "32 characters of lower-case hex")
VOID_REASONS: Final = ("seed_missing", "beacon_missing", "deadline", "operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every record has: the log's origin and the time it was written."""

    type: ClassVar[str]
    log: Annotated[str, ORIGIN]
    time: Annotated[str, TIME]

    def to_bytes(self) -> bytes:
        """Print the record's canonical bytes."""
        return print_canonical({"protocol": PROTOCOL, "type": self.type, **write_fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Record):
    """A signing key of the log is added, retired or compromised; for people, never for a verifier."""

    type: ClassVar[str] = "key"
    vkey: Annotated[str, _VKEY]
    status: Annotated[str, one_of("added", "retired", "compromised")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Book(Record):
    """A table's seed book is fixed: root and size."""

    type: ClassVar[str] = "book"
    table: Annotated[str, NAME]
    root: Annotated[bytes, HASH]
    size: Annotated[int, integer(1, MAX_BOOK)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BookEnd(Record):
    """A seed book is used up or given up, and its master published."""

    type: ClassVar[str] = "book_end"
    table: Annotated[str, NAME]
    root: Annotated[bytes, HASH]
    master: Annotated[bytes, HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Record):
    """An audit's plan and findings, by hash."""

    type: ClassVar[str] = "report"
    kind: Annotated[str, NAME]
    plan_hash: Annotated[bytes, HASH]
    findings_hash: Annotated[bytes, HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm(Record):
    """A monitor's evidence went over its threshold."""

    type: ClassVar[str] = "alarm"
    table: Annotated[str, NAME]
    monitor: Annotated[str, NAME]
    evidence: Annotated[str, _DECIMAL]
    threshold: Annotated[str, _DECIMAL]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeRecord(Record):
    """What every record in a shoe has: the shoe, its place 0… in it, and the hash of the record before."""

    shoe: Annotated[str, NAME]
    seq: Annotated[int, INDEX]
    previous: Annotated[bytes, HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Open(ShoeRecord):
    """A shoe is opened: its rules, its committed server seed, and its deadlines."""

    type: ClassVar[str] = "open"
    table: Annotated[str, NAME]
    rules: Annotated[Rules, RULES]
    book: Annotated[BookRef, part(BookRef)]
    index: Annotated[int, INDEX]
    commitment: Annotated[bytes, HASH]
    beacon: Annotated[BeaconPin | None, or_null(part(BeaconPin))]
    lock_by: Annotated[str, TIME]
    seal_by: Annotated[str, TIME]
    reveal_by: Annotated[str, TIME]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedEntropy(ShoeRecord):
    """A player commits to a seed (two_phase)."""

    type: ClassVar[str] = "entropy"
    position: Annotated[int, _CONTRIBUTION]
    client: Annotated[str, CLIENT]
    seed_commitment: Annotated[bytes, HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntropy(ShoeRecord):
    """A player gives a seed openly (beacon)."""

    type: ClassVar[str] = "entropy"
    position: Annotated[int, _CONTRIBUTION]
    client: Annotated[str, CLIENT]
    seed: Annotated[str, SEED] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock(ShoeRecord):
    """The list of contributions is closed at `count`."""

    type: ClassVar[str] = "lock"
    count: Annotated[int, integer(0, MAX_CONTRIBUTIONS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed(ShoeRecord):
    """A player opens the seed committed to at `position` (two_phase)."""

    type: ClassVar[str] = "seed"
    position: Annotated[int, _CONTRIBUTION]
    seed: Annotated[str, SEED] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal(ShoeRecord):
    """The shoe is fixed: transcript, seal, the deck root before the first bet, and the shown burned card."""

    type: ClassVar[str] = "seal"
    transcript: Annotated[Transcript, part(Transcript)]
    seal: Annotated[bytes, HASH]
    deck_root: Annotated[bytes, HASH]
    burn: Annotated[Opening | None, or_null(part(Opening))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bets(ShoeRecord):
    """The bets on coup `number` are closed: how many, and the root over their lines."""

    type: ClassVar[str] = "bets"
    number: Annotated[int, _NUMBER]
    count: Annotated[int, INDEX]
    bets_root: Annotated[bytes, HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coup(ShoeRecord):
    """A coup is dealt: its cards opened, and what they make."""

    type: ClassVar[str] = "coup"
    number: Annotated[int, _NUMBER]
    hand: Annotated[int, _NUMBER]
    cards: Annotated[tuple[Opening, ...], list_of(part(Opening), 4, MAX_CARDS)]
    player_total: Annotated[int, _TOTAL]
    banker_total: Annotated[int, _TOTAL]
    outcome: Annotated[str, one_of(*OUTCOMES)]
    rule: Annotated[str, one_of(*RULE_CLASSES)]
    next_deck_root: Annotated[bytes | None, or_null(HASH)]


@dataclass(frozen=True, slots=True, kw_only=True)
class End(ShoeRecord):
    """What both ends of a shoe publish: the server seed, and how many coups were dealt."""

    server_seed: Annotated[bytes, HASH]
    coups: Annotated[int, integer(0, MAX_COUPS)]
    book: Annotated[BookRef, part(BookRef)]
    index: Annotated[int, INDEX]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(End):
    """The shoe came to the end that its rules set."""

    type: ClassVar[str] = "reveal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Void(End):
    """The shoe was given up; `in_row` counts this void and those directly before it at the table."""

    type: ClassVar[str] = "void"
    reason: Annotated[str, one_of(*VOID_REASONS)]
    in_row: Annotated[int, integer(1, 2**53 - 1)]


@dataclass(frozen=True, slots=True)
class BetLine:
    """One accepted bet, as the leaf of its coup's `bets_root`; `stake` in minor units, shown to its holder only."""

    bet: Annotated[str, NAME]
    client: Annotated[str, CLIENT]
    number: Annotated[int, _NUMBER]
    salt: Annotated[str, _BET_SALT] = field(repr=False)
    shoe: Annotated[str, NAME]
    stake: Annotated[int, integer(1, 2**53 - 1)]

    def to_bytes(self) -> bytes:
        """Print the line's canonical bytes."""
        return print_canonical(write_fields(self))


CLASSES: Final[tuple[type[Record], ...]] = (
    Key, Book, BookEnd, Open, CommittedEntropy, OpenEntropy, Lock, Seed, Seal, Bets, Coup, Reveal, Void, Report, Alarm,
)  # fmt: skip
_FIXED: Final = frozenset({"protocol", "type"})

R = TypeVar("R", bound=Record)


def parse_record(data: bytes) -> Record:
    """Read a record from its canonical bytes; the inverse of `Record.to_bytes`.

    Raises CanonicalError for bytes that are not canonical, RecordError for an unknown type, another protocol, a
    missing or further key, or a value of the wrong form, and RulesError for rules that can't be played.
    Source: protocol §8.
    """
    value = parse_object(data)
    if value.get("protocol") != PROTOCOL:
        raise RecordError(expected(PROTOCOL, value.get("protocol"), "protocol"))
    classes = [cls for cls in CLASSES if cls.type == value.get("type")]
    if not classes:
        raise RecordError(expected("a known record type", value.get("type"), "type"))
    cls = classes[0] if "seed_commitment" in value else classes[-1]
    return cls(**read_fields(cls, value, beside=_FIXED))


def parse_as(cls: type[R], data: bytes) -> R:
    """Read a record that must be of one class; raises RecordError otherwise."""
    record = parse_record(data)
    if not isinstance(record, cls):
        raise RecordError(expected(f"a {cls.type} record", record.type, "type"))
    return record


def parse_bet_line(data: bytes) -> BetLine:
    """Read a bet line from its canonical bytes; the inverse of `BetLine.to_bytes`. Raises RecordError."""
    return BetLine(**read_fields(BetLine, parse_object(data)))


def record_hash(data: bytes) -> bytes:
    """Hash a record's bytes, as the next record's `previous` has it (32 bytes). Source: protocol §8."""
    return sha256(data)


def record_schemas() -> dict[str, Schema]:
    """Describe every record class as JSON Schema, by file name: its type, and the entropy mode where two share one."""
    names = {CommittedEntropy: "entropy-two-phase", OpenEntropy: "entropy-beacon"}
    return {
        names.get(cls, cls.type.replace("_", "-")): schema_of(cls, {"protocol": PROTOCOL, "type": cls.type})
        for cls in CLASSES
    }


def _printed_vkey(value: object) -> str:
    if not isinstance(value, str):
        raise RecordError(expected("a vkey", value, "vkey"))
    try:
        key = parse_vkey(value)
        require_type([key], ED25519)
    except NoteError as error:
        raise RecordError(f"vkey: {error}") from None
    return str(key)
