"""What requests carry: one model a body or query; unknown keys, other types and numbers out of bounds are refused."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from shoe.errors import InputError, expected
from shoe.game.bets.record import MAX_BETS
from shoe.game.bets.schema import with_terms
from shoe.game.bets.settling import MAX_STAKE_MINOR
from shoe.game.houses import HOUSES
from shoe.game.rules import MAX_COUPS
from shoe.proof.forms import parse_time
from shoe.proof.note import parse_decimal
from shoe.proof.seal import RULES_SCHEMA
from shoe.proof.seeds import CLIENT_PATTERN, MAX_CONTRIBUTIONS, SEED_PATTERN

TABLE_PATTERN: Final = r"[a-z0-9][a-z0-9-]{0,63}"
MAX_BOOK_SIZE: Final = 2**16
MAX_DEADLINE_S: Final = 366 * 24 * 60 * 60
MAX_ROUND: Final = 2**31 - 1
MAX_PAGE: Final = 1000
MAX_PURSE: Final = 2**50
MAX_LOOP: Final = 100
MAX_CARRIED: Final = 100
BET_PATTERN: Final = "[a-z][a-z0-9_]{0,31}"
UUID_PATTERN: Final = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
PLAYER_PATTERN: Final = "[0-9A-Za-z._-]{1,64}"
MAX_RECEIPTS: Final = 100
MAX_RECEIPT: Final = 100_000
"""Receipts handed in with an audit, and characters in each."""

_LEAP_YEAR: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][48]|[13579][26]|[2468]0)00)"
_YEAR: Final = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DATE: Final = (
    rf"({_YEAR}-(((0[13-9]|1[0-2])-(0[1-9]|[12][0-9]|30))|((0[13578]|1[02])-31)|(02-(0[1-9]|1[0-9]|2[0-8])))"
    rf"|{_LEAP_YEAR}-02-29)"
)
REAL_TIME: Final = rf"^{_DATE}T([01][0-9]|2[0-3])(:[0-5][0-9]){{2}}\.[0-9]{{6}}Z$"
"""A real date and time, which no shorter pattern describes: `parse_time` takes the same."""


def _whole(pattern: str) -> StringConstraints:
    return StringConstraints(pattern=f"^(?:{pattern})$")


def _either(one: str, other: str) -> ConfigDict:
    """Say in JSON Schema what a model's validator says: one of two fields, and not both."""
    null: dict[str, JsonValue] = {"type": "null"}
    choices: list[JsonValue] = [
        {"required": [given], "properties": {given: {"not": null}, left: null}}
        for given, left in ((one, other), (other, one))
    ]
    return ConfigDict(json_schema_extra={"oneOf": choices})


def _number(value: object) -> object:
    # Numbers in an address are text; int() would also take signs, blanks, underscores and other scripts' digits.
    return parse_decimal(value, "number") if isinstance(value, str) else value


TableId = Annotated[str, _whole(TABLE_PATTERN)]
Seconds = Annotated[int, Field(ge=1, le=MAX_DEADLINE_S)]
Position = Annotated[int, Field(ge=0, lt=MAX_CONTRIBUTIONS)]
# Bounds stand before what reads the text, or JSON Schema would not know them.
Index = Annotated[int, Field(ge=0, lt=2**53), BeforeValidator(_number)]
Time = Annotated[str, BeforeValidator(parse_time), WithJsonSchema({"type": "string", "pattern": REAL_TIME})]
From = Annotated[Time | None, Field(alias="from", description="From this time on; from the beginning without it.")]
Until = Annotated[Time | None, Field(description="Before this time; to the end without it.")]
OfTable = Annotated[TableId | None, Field(description="Of this table; of all without it.")]
ClientSeed = Annotated[str, _whole(SEED_PATTERN)]
Name = Annotated[str, _whole("[!-~]{0,64}")]
Rules = Annotated[dict[str, Any], WithJsonSchema(with_terms(RULES_SCHEMA))]
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

    model_config = _either("preset", "rules")

    id: Annotated[TableId | None, Field(description="The table's id; a new UUID without one.")] = None
    guests: Annotated[bool, Field(description="Whether anyone may take a seat.")] = False
    preset: Annotated[
        str | None,
        Field(description="The preset that its rules are made from.", json_schema_extra={"enum": [*HOUSES, None]}),
        Field(max_length=64),
    ] = None
    rules: Annotated[Rules | None, Field(description="Its rules, whole.")] = None
    overrides: Annotated[dict[str, Any] | None, Field(description="Keys of the preset's rules to change.")] = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.preset is None) == (self.rules is None):
            raise InputError(expected("either preset or rules", "both or neither"))
        if self.rules is not None and self.overrides is not None:
            raise InputError(expected("overrides beside a preset only", "overrides beside rules"))
        return self


class NewBook(Payload):
    """A seed book: how many shoes it serves; in a sandbox also the master that all its seeds come from."""

    size: Annotated[int, Field(ge=1, le=MAX_BOOK_SIZE, description="How many shoes it serves.")]
    master: Annotated[
        Annotated[str, _whole("[0-9a-f]{64}")] | None,
        Field(repr=False, description="32 bytes as hex: what all its seeds are made from; in a sandbox alone."),
    ] = None


class NewShoe(Payload):
    """A shoe: its deadlines in seconds from now, and the beacon round it waits for (mode beacon; chosen without it)."""

    lock_in_s: Annotated[Seconds, Field(description="Until when contributions are taken, in seconds from now.")]
    seal_in_s: Annotated[Seconds, Field(description="Until when it may be sealed; not before lock_in_s.")]
    reveal_in_s: Annotated[Seconds, Field(description="Until when its seed must be shown; not before seal_in_s.")]
    beacon_round: Annotated[
        int | None, Field(ge=1, le=MAX_ROUND, description="The drand round it waits for (mode beacon).")
    ] = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.lock_in_s <= self.seal_in_s <= self.reveal_in_s:
            raise InputError(expected("lock_in_s ≤ seal_in_s ≤ reveal_in_s", "another order"))
        return self


class NewEntropy(Payload):
    """A player's contribution: a commitment (mode two_phase) or the seed itself (mode beacon)."""

    model_config = _either("seed_commitment", "seed")

    seed_commitment: Annotated[
        Annotated[str, _whole("[0-9a-f]{64}")] | None, Field(description="The commitment to a seed (mode two_phase).")
    ] = None
    seed: Annotated[ClientSeed | None, Field(repr=False, description="The seed itself (mode beacon).")] = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.seed_commitment is None) == (self.seed is None):
            raise InputError(expected("either seed_commitment or seed", "both or neither"))
        return self


class OpenedSeed(Payload):
    """A seed that opens the seat's commitment; its author's pseudonym or position may be named too."""

    model_config = _either("client", "position")

    client: Annotated[Annotated[str, _whole(CLIENT_PATTERN)] | None, Field(description="The author's pseudonym.")] = (
        None
    )
    position: Annotated[Position | None, Field(description="The contribution's position.")] = None
    seed: Annotated[ClientSeed, Field(repr=False, description="The seed that opens the commitment.")]

    @model_validator(mode="after")
    def _one_author(self) -> Self:
        if self.client is not None and self.position is not None:
            raise InputError(expected("at most one of client and position", "both"))
        return self

    @property
    def author(self) -> str | int | None:
        """Whose seed it is: the one of client and position that was given, if any."""
        return self.position if self.client is None else self.client


class NewSeat(Payload):
    """A seat; who sits there and what the purse begins with may be said by a game client alone."""

    player: Annotated[
        Annotated[str, _whole(PLAYER_PATTERN)] | None,
        Field(
            description="Who sits there, by a name of the game client's choosing that tells outsiders nothing: own "
            "limits and statistics of all time go by it."
        ),
    ] = None
    purse_minor: Annotated[
        int | None,
        Field(
            ge=0, le=MAX_PURSE, description="What its purse begins with, in minor units; what the house gives, else."
        ),
    ] = None


class NewLimit(Payload):
    """A player's own limit: the greatest stake that she allows herself, and the PIN that confirms it."""

    maximum_minor: Annotated[
        int, Field(ge=1, le=MAX_STAKE_MINOR, description="The greatest stake from now on, in minor units.")
    ]
    pin: Annotated[
        Annotated[str, _whole("[0-9]{4,12}")],
        Field(repr=False, description="4 to 12 digits: the first that a player confirms by is hers from then on."),
    ]


class NewMove(Payload):
    """Money into a purse from outside, or out of it."""

    amount_minor: Annotated[
        int,
        Field(
            ge=-MAX_PURSE,
            le=MAX_PURSE,
            description="How much goes in, in minor units; below 0, out.",
            json_schema_extra={"not": {"const": 0}},
        ),
    ]
    note: Annotated[str, _whole(r"[ -~]{0,128}"), Field(description="What the game client knows it by.")] = ""

    @field_validator("amount_minor")
    @classmethod
    def _something(cls, amount_minor: int) -> int:
        if not amount_minor:
            raise InputError(expected("a number other than 0", "0"))
        return amount_minor


BetName = Annotated[str, _whole(BET_PATTERN)]
Stake = Annotated[int, Field(ge=1, le=MAX_STAKE_MINOR)]
_NULL: Final[dict[str, JsonValue]] = {"type": "null"}
_GIVEN: Final[dict[str, JsonValue]] = {"not": {"type": "null"}}


class NewBet(Payload):
    """One bet: which, and how much."""

    bet: Annotated[BetName, Field(description="One of the table's bets, by its name in the rules.")]
    stake: Annotated[Stake, Field(description="The stake in minor units.")]


CoupMeant = Annotated[
    int | None,
    Field(
        ge=0,
        lt=MAX_COUPS,
        description="The coup that it is meant for: refused where another is the next by now; any without it.",
    ),
]


class ForCoup(Payload):
    """A choice for the next coup, or for the one of a number alone."""

    number: CoupMeant = None


class NewBets(Payload):
    """Bets on the next coup: one, or a list that is taken as a whole or not at all."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["bet", "stake"], "properties": {"bet": _GIVEN, "stake": _GIVEN, "bets": _NULL}},
                {"required": ["bets"], "properties": {"bet": _NULL, "stake": _NULL, "bets": _GIVEN}},
            ]
        }
    )

    bet: Annotated[BetName | None, Field(description="The bet, where it is one.")] = None
    stake: Annotated[Stake | None, Field(description="Its stake in minor units.")] = None
    bets: Annotated[
        Annotated[list[NewBet], Field(min_length=1, max_length=MAX_BETS)] | None, Field(description="Several bets.")
    ] = None
    number: CoupMeant = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        one = self.bet is not None and self.stake is not None
        if one == (self.bets is not None) or (self.bet is None) != (self.stake is None):
            raise InputError(expected("either bet and stake, or bets", "something else"))
        return self

    @property
    def asked(self) -> tuple[tuple[str, int], ...]:
        """The bets asked for, by name and stake, in their order."""
        if self.bet is not None and self.stake is not None:
            return ((self.bet, self.stake),)
        return tuple((each.bet, each.stake) for each in self.bets or ())


class SeatSettings(Payload):
    """What a seat sets for the coups to come."""

    preserve: Annotated[bool, Field(description="Whether its bets are laid again after every coup.")]


class NewLoop(Payload):
    """Coups to be played unattended: whose bets, which on each coup, and how many coups at most."""

    seat: Annotated[str, _whole(UUID_PATTERN), Field(description="The seat whose bets they are.")]
    bets: Annotated[
        list[NewBet], Field(min_length=1, max_length=MAX_BETS, description="Its bets on each of the coups.")
    ]
    coups: Annotated[int, Field(ge=1, le=MAX_LOOP, description="How many coups at most.")]


class CarriedBets(Payload):
    """Bets of one seat that come with the asking for the coup."""

    seat: Annotated[str, _whole(UUID_PATTERN), Field(description="The seat whose bets they are.")]
    bets: Annotated[list[NewBet], Field(min_length=1, max_length=MAX_BETS, description="Its bets on this coup.")]


class NewCoup(Payload):
    """The next coup, with bets that are laid before it is dealt: all of them, or the coup is not dealt."""

    bets: Annotated[
        list[CarriedBets],
        Field(max_length=MAX_CARRIED, description="Bets that the game client brings with it, by seat; each seat once."),
    ] = []

    @field_validator("bets")
    @classmethod
    def _each_seat_once(cls, bets: list[CarriedBets]) -> list[CarriedBets]:
        if len({each.seat for each in bets}) != len(bets):
            raise InputError(expected("each seat once", "one twice"))
        return bets

    @property
    def asked(self) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
        """The bets by seat, each by name and stake."""
        return tuple((each.seat, tuple((one.bet, one.stake) for one in each.bets)) for each in self.bets)


class NewKey(Payload):
    """An API key: its roles, a name to know it by, and after how many seconds it expires, never without a number."""

    roles: Annotated[
        list[Literal["client", "operator", "regulator"]],
        Field(
            min_length=1, max_length=3, description="What it may be used for.", json_schema_extra={"uniqueItems": True}
        ),
    ]
    name: Annotated[str, _whole(r"[ -~]{0,128}"), Field(description="A name to know it by.")] = ""
    expires_in_s: Annotated[
        int | None, Field(ge=1, le=10 * MAX_DEADLINE_S, description="After how many seconds it expires.")
    ] = None


class NewSeal(Payload):
    """The beacon round's signature (mode beacon)."""

    beacon_signature: Annotated[
        Annotated[str, _whole("[0-9a-f]{96}")] | None, Field(description="The round's signature as hex.")
    ] = None


class NewVoid(Payload):
    """Why a shoe is given up."""

    reason: Annotated[
        Literal["seed_missing", "beacon_missing", "deadline", "operator"],
        Field(description="Why: what a verifier finds true of the shoe, or operator."),
    ]


class Held(Payload):
    """An older checkpoint that the caller holds, and since when."""

    checkpoint: Annotated[Text, Field(description="The older checkpoint.")]
    since: Annotated[Time | None, Field(description="Since when it is held.")] = None


class VerifyRequest(Payload):
    """A bundle to verify, and what its holder knows from elsewhere; vkeys are this service's own without any."""

    bundle: Annotated[dict[str, Any], Field(description="The bundle.")]
    receipts: Annotated[list[Text], Field(max_length=1000, description="Receipts that its holder kept.")] = []
    vkeys: Annotated[
        Annotated[list[Text], Field(min_length=1, max_length=16)] | None,
        Field(description="The log's verifier keys; this service's own without any."),
    ] = None
    held: Annotated[Held | None, Field(description="An older checkpoint that its holder kept.")] = None
    witnesses: Annotated[list[Text], Field(max_length=16, description="Verifier keys of witnesses.")] = []
    now: Annotated[Time | None, Field(description="As of when to verify; now without it.")] = None


class PageQuery(Payload):
    """A page of a list: what comes after a cursor from the answer before, at most `limit` items."""

    after: Annotated[Name | None, Field(description="`next` of the page before.")] = None
    limit: Annotated[
        int, Field(ge=1, le=MAX_PAGE), BeforeValidator(_number), Field(description="How many items at most.")
    ] = MAX_PAGE


class NumberedQuery(PageQuery):
    """A page of a numbered list: what comes after a number, at most `limit` items."""

    after: Annotated[
        Annotated[str, _whole("0|[1-9][0-9]{0,17}")] | None, Field(description="`next` of the page before.")
    ] = None


class BundleQuery(Payload):
    """A bundle under the checkpoint of a size, the head's without one; it may show that this extends an older one's."""

    size: Annotated[Index | None, Field(description="The checkpoint's size; the head's without it.")] = None
    earlier: Annotated[Index | None, Field(description="The size of an older checkpoint that it extends.")] = None


class CheckpointQuery(Payload):
    """A checkpoint: of a size, or the newest that so many witnesses have cosigned; the head's without either."""

    size: Annotated[Index | None, Field(description="The checkpoint's size.")] = None
    cosigned: Annotated[
        Annotated[int, Field(ge=1, le=64), BeforeValidator(_number)] | None,
        Field(description="How many witnesses must have cosigned it; not beside size."),
    ] = None

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if self.size is not None and self.cosigned is not None:
            raise InputError(expected("either size or cosigned", "both"))
        return self


class InclusionQuery(Payload):
    """A leaf, and the size of the tree to show it in: the head's without one."""

    index: Annotated[Index, Field(description="The leaf's index, below the size.")]
    size: Annotated[Index | None, Field(description="The tree's size, at most the head's; the head's without it.")] = (
        None
    )


class ConsistencyQuery(Payload):
    """Two sizes of the log: `new` is the head's without one."""

    old: Annotated[Index, Field(description="The older size, at most the newer.")]
    new: Annotated[Index | None, Field(description="The newer size, at most the head's; the head's without it.")] = None


class StatisticsQuery(Payload):
    """Which coups to count: of a table, of a shoe, from a time on, before a time."""

    table: OfTable = None
    shoe: Annotated[Name | None, Field(description="Of this shoe; of all without it.")] = None
    from_: From = None
    to: Until = None


class CountersQuery(Payload):
    """Which bets to count: of this seat alone, or of all seats of the player who sits there."""

    scope: Annotated[
        Literal["session", "all_time"],
        Field(description="This seat alone, or all seats of its player: a seat without a name is its own."),
    ] = "session"


class ExportQuery(Payload):
    """Which records to export, and how: those of from ≤ time < to, under a checkpoint's size or the newest.

    `span` is the canonical archive that proves itself; `csv` and `parquet` have a row a record.
    """

    from_: From = None
    to: Until = None
    format: Annotated[
        Literal["span", "csv", "parquet"], Field(description="The canonical archive, or a table of a row a record.")
    ] = "span"
    size: Annotated[Index | None, Field(description="The checkpoint's size; the newest's without it.")] = None


class VoidsQuery(NumberedQuery):
    """Which shoes to count: opened at a table, from a time on, before a time; and a page of those that are void."""

    table: OfTable = None
    from_: From = None
    to: Until = None


class UnusedQuery(NumberedQuery):
    """Whose ended books to list, a table's or all; a page of them."""

    table: OfTable = None


class NewAudit(Payload):
    """Which shoes to audit: those opened at a table, from a time on, before a time; as far as they have ended."""

    table: OfTable = None
    from_: From = None
    to: Until = None
    receipts: Annotated[
        list[Annotated[str, Field(max_length=MAX_RECEIPT)]],
        Field(max_length=MAX_RECEIPTS, description="Receipts to hold against the log, each a text as it was given."),
    ] = []
