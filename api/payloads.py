"""What requests carry: one model a body or query; unknown keys, other types and numbers out of bounds are refused."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from shoe.errors import InputError, expected
from shoe.proof.forms import parse_time
from shoe.proof.note import parse_decimal
from shoe.proof.seeds import CLIENT_PATTERN, MAX_CONTRIBUTIONS, SEED_PATTERN

TABLE_PATTERN: Final = r"[a-z0-9][a-z0-9-]{0,63}"
MAX_BOOK_SIZE: Final = 2**16
MAX_DEADLINE_S: Final = 366 * 24 * 60 * 60
MAX_ROUND: Final = 2**31 - 1
MAX_PAGE: Final = 1000


def _whole(pattern: str) -> StringConstraints:
    return StringConstraints(pattern=f"^(?:{pattern})$")


def _number(value: object) -> object:
    # Numbers in an address are text; int() would also take signs, blanks, underscores and other scripts' digits.
    return parse_decimal(value, "number") if isinstance(value, str) else value


TableId = Annotated[str, _whole(TABLE_PATTERN)]
Seconds = Annotated[int, Field(ge=1, le=MAX_DEADLINE_S)]
Position = Annotated[int, Field(ge=0, lt=MAX_CONTRIBUTIONS)]
Index = Annotated[int, BeforeValidator(_number), Field(ge=0, lt=2**53)]
Time = Annotated[str, BeforeValidator(parse_time)]
ClientSeed = Annotated[str, _whole(SEED_PATTERN)]
Text = Annotated[str, Field(max_length=2**20)]


class Payload(BaseModel):
    """The root of all models: strict, closed, frozen; an error never shows what was sent."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class NoBody(Payload):
    """A step that takes nothing: ``{}`` or no body at all."""


class NoQuery(Payload):
    """An address that takes no query."""


class NewTable(Payload):
    """A table: a preset with overrides, or whole rules (protocol §6); open to guests if anyone may take a seat."""

    id: TableId | None = None
    guests: bool = False
    preset: Annotated[str, Field(max_length=64)] | None = None
    rules: dict[str, Any] | None = None
    overrides: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.preset is None) == (self.rules is None):
            raise InputError(expected("either preset or rules", "both or neither"))
        if self.rules is not None and self.overrides is not None:
            raise InputError(expected("overrides beside a preset only", "overrides beside rules"))
        return self


class NewBook(Payload):
    """A seed book: how many shoes it serves; in a sandbox also the master that all its seeds come from."""

    size: Annotated[int, Field(ge=1, le=MAX_BOOK_SIZE)]
    master: Annotated[Annotated[str, _whole("[0-9a-f]{64}")] | None, Field(repr=False)] = None


class NewShoe(Payload):
    """A shoe: its deadlines in seconds from now, and the beacon round it waits for (mode beacon; chosen without it)."""

    lock_in_s: Seconds
    seal_in_s: Seconds
    reveal_in_s: Seconds
    beacon_round: Annotated[int, Field(ge=1, le=MAX_ROUND)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.lock_in_s <= self.seal_in_s <= self.reveal_in_s:
            raise InputError(expected("lock_in_s ≤ seal_in_s ≤ reveal_in_s", "another order"))
        return self


class NewEntropy(Payload):
    """A player's contribution: a commitment (mode two_phase) or the seed itself (mode beacon)."""

    seed_commitment: Annotated[str, _whole("[0-9a-f]{64}")] | None = None
    seed: Annotated[ClientSeed | None, Field(repr=False)] = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.seed_commitment is None) == (self.seed is None):
            raise InputError(expected("either seed_commitment or seed", "both or neither"))
        return self


class OpenedSeed(Payload):
    """A seed that opens the seat's commitment; its author's pseudonym or position may be named too."""

    client: Annotated[str, _whole(CLIENT_PATTERN)] | None = None
    position: Position | None = None
    seed: Annotated[ClientSeed, Field(repr=False)]

    @model_validator(mode="after")
    def _one_author(self) -> Self:
        if self.client is not None and self.position is not None:
            raise InputError(expected("at most one of client and position", "both"))
        return self

    @property
    def author(self) -> str | int | None:
        """Whose seed it is: the one of client and position that was given, if any."""
        return self.position if self.client is None else self.client


class NewKey(Payload):
    """An API key: its roles, a name to know it by, and after how many seconds it expires, never without a number."""

    roles: Annotated[list[Literal["client", "operator", "regulator"]], Field(min_length=1, max_length=3)]
    name: Annotated[str, _whole(r"[ -~]{0,128}")] = ""
    expires_in_s: Annotated[int, Field(ge=1, le=10 * MAX_DEADLINE_S)] | None = None


class NewSeal(Payload):
    """The beacon round's signature (mode beacon)."""

    beacon_signature: Annotated[str, _whole("[0-9a-f]{96}")] | None = None


class NewVoid(Payload):
    """Why a shoe is given up."""

    reason: Literal["seed_missing", "beacon_missing", "deadline", "operator"]


class Held(Payload):
    """An older checkpoint that the caller holds, and since when."""

    checkpoint: Text
    since: Time | None = None


class VerifyRequest(Payload):
    """A bundle to verify, and what its holder knows from elsewhere; vkeys are this service's own without any."""

    bundle: dict[str, Any]
    receipts: Annotated[list[Text], Field(max_length=1000)] = []
    vkeys: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = None
    held: Held | None = None
    witnesses: Annotated[list[Text], Field(max_length=16)] = []
    now: Time | None = None


class PageQuery(Payload):
    """A page of a list: what comes after a cursor from the answer before, at most `limit` items."""

    after: Annotated[str, Field(max_length=64)] | None = None
    limit: Annotated[int, BeforeValidator(_number), Field(ge=1, le=MAX_PAGE)] = MAX_PAGE


class BundleQuery(Payload):
    """A bundle under the checkpoint of a size, the head's without one; it may show that this extends an older one's."""

    size: Index | None = None
    earlier: Index | None = None


class CheckpointQuery(Payload):
    """A checkpoint: of a size, or the newest that so many witnesses have cosigned; the head's without either."""

    size: Index | None = None
    cosigned: Annotated[int, BeforeValidator(_number), Field(ge=1, le=64)] | None = None

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.size is not None and self.cosigned is not None:
            raise InputError(expected("either size or cosigned", "both"))
        return self


class InclusionQuery(Payload):
    """A leaf, and the size of the tree to show it in: the head's without one."""

    index: Index
    size: Index | None = None


class ConsistencyQuery(Payload):
    """Two sizes of the log: `new` is the head's without one."""

    old: Index
    new: Index | None = None


class StatisticsQuery(Payload):
    """Which coups to count: of a table, of a shoe, from a time on, before a time."""

    table: TableId | None = None
    shoe: Annotated[str, Field(max_length=64)] | None = None
    from_: Annotated[Time | None, Field(alias="from")] = None
    to: Time | None = None


class ExportQuery(Payload):
    """Which records to export, and how: those of from ≤ time < to, under the checkpoint over `size` records or the newest.

    `span` is the canonical archive that proves itself; `csv` and `parquet` have a row a record.
    """

    from_: Annotated[Time | None, Field(alias="from")] = None
    to: Time | None = None
    format: Literal["span", "csv", "parquet"] = "span"
    size: Index | None = None


class VoidsQuery(PageQuery):
    """Which shoes to count: opened at a table, from a time on, before a time; and a page of those that are void."""

    table: TableId | None = None
    from_: Annotated[Time | None, Field(alias="from")] = None
    to: Time | None = None


class UnusedQuery(PageQuery):
    """Whose ended books to list, a table's or all; a page of them."""

    table: TableId | None = None
