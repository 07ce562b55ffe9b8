"""The kinds of value that answers are made of, each with its pattern, bounds and meaning."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, WithJsonSchema

from api.payloads import BET_PATTERN, TABLE_PATTERN, UUID_PATTERN
from shoe.game.bets.settling import MAX_STAKE_MINOR
from shoe.game.rules import MAX_COUPS
from shoe.proof.canonical import MAX_INTEGER
from shoe.proof.forms import ORIGIN, TIME
from shoe.proof.seal import RULES_SCHEMA
from shoe.proof.seeds import CLIENT_PATTERN, MAX_CONTRIBUTIONS

SHOE_PATTERN: Final = UUID_PATTERN.replace("-7[", "-[78][")
MAX_RECORD: Final = 65_535
MAX_AMOUNT: Final = 2**63 - 1
_HASH: Final = "[0-9a-f]{64}"


def whole(pattern: str, description: str, **further: Any) -> Any:
    """Describe a text by the pattern that it keeps from end to end."""
    return Field(pattern=f"^(?:{pattern})$", description=description, **further)


def count(description: str, end: int = MAX_INTEGER) -> Any:
    """Describe a whole number from 0 to below an end."""
    return Field(ge=0, lt=end, description=description)


def amount(description: str, least: int | None = 0) -> Any:
    """Describe an amount of money in minor units, 0 or more unless `least` is None."""
    return Field(ge=least, le=MAX_AMOUNT, description=f"{description} In minor units.")


Hash = Annotated[str, whole(_HASH, "32 bytes as lower-case hex.")]
Uuid = Annotated[str, whole(UUID_PATTERN, "A UUID of version 7: ids sort by the time they were made.")]
ShoeId = Annotated[str, whole(SHOE_PATTERN, "The shoe's id, a UUID of version 7; in a sandbox of version 8.")]
TableId = Annotated[str, whole(TABLE_PATTERN, "The table's id.")]
Client = Annotated[str, whole(CLIENT_PATTERN, "The pseudonym under which the log names a player.")]
Origin = Annotated[str, Field(description="The log's name, its origin in checkpoints."), WithJsonSchema(ORIGIN.schema)]
Moment = Annotated[
    str,
    Field(pattern=str(TIME.schema["pattern"]), description="A time in UTC with six decimals."),
    Field(json_schema_extra={"format": "date-time"}),
]
Record = Annotated[
    str,
    Field(
        min_length=2, max_length=MAX_RECORD, description="The record's bytes, canonical JSON (protocol §8), as text."
    ),
]
Receipt = Annotated[
    str, Field(min_length=1, description="The record with its C2SP tlog-proof, to be kept and checked offline.")
]
Path = Annotated[list[Hash], Field(max_length=63, description="An audit path: hashes from the leaf's sibling upwards.")]
LogIndex = Annotated[int, count("Where the record lies in the log, from 0.")]
LogSize = Annotated[int, Field(ge=1, lt=MAX_INTEGER, description="How many records the log holds.")]
Position = Annotated[int, count("The contribution's place in the shoe's list, from 0.", MAX_CONTRIBUTIONS)]
CoupNumber = Annotated[int, count("The coup's number in its shoe, from 0.", MAX_COUPS)]
BetName = Annotated[str, whole(BET_PATTERN, "The bet, by its name in the table's rules.")]
StakeMinor = Annotated[int, Field(ge=1, le=MAX_STAKE_MINOR, description="The stake in minor units.")]
Total = Annotated[int, count("The points of a hand.", 10)]
Cursor = Annotated[
    str | None, Field(max_length=64, description="What to send as `after` for what follows; null where nothing can.")
]
Rules = Annotated[
    dict[str, Any], WithJsonSchema({**RULES_SCHEMA, "description": "The table's rules, whole (protocol §6)."})
]
