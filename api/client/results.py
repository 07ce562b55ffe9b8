"""What the service's answers say, typed and frozen; hashes are bytes, times as in records, secrets not in any repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoe.game.roads import Sums
from shoe.game.rules import Rules
from shoe.proof.tlog import Receipt


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its rules; anyone may take a seat where it is open to `guests`."""

    id: str
    preset: str | None
    rules: Rules
    created: str
    guests: bool


@dataclass(frozen=True, slots=True)
class TableShown:
    """A table with the ids of its live shoe and of the last it opened, None where there is none."""

    table: Table
    live_shoe: str | None
    last_shoe: str | None


@dataclass(frozen=True, slots=True)
class PublishedBook:
    """A seed book published: the receipt of its record, its root (32 bytes) and how many shoes it serves."""

    receipt: Receipt
    root: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Book:
    """A seed book as it stands: `index` is its record's in the log, `next_index` the seed its next shoe uses."""

    root: bytes
    size: int
    index: int
    next_index: int
    state: str


@dataclass(frozen=True, slots=True)
class OpenedShoe:
    """A shoe opened: its id and the receipt of `open`."""

    receipt: Receipt
    shoe: str


@dataclass(frozen=True, slots=True)
class Contributed:
    """A contribution taken: its receipt, and the pseudonym and position that the service gave."""

    receipt: Receipt
    client: str
    position: int


@dataclass(frozen=True, slots=True)
class SealedShoe:
    """A shoe sealed: its receipt, and the audit path of the burned card where one is shown."""

    receipt: Receipt
    burn_path: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class DealtCoup:
    """A coup: its receipt, each card's audit path, and the reveal's receipt where it came with it.

    `checked` says that each card was checked against the deck root, and the coup against its cards: the client knew
    the shoe's seal.
    """

    receipt: Receipt
    number: int
    paths: tuple[tuple[bytes, ...], ...]
    reveal: Receipt | None
    checked: bool


@dataclass(frozen=True, slots=True)
class Shoe:
    """A shoe summed up; `state` is open, locked, sealed, revealed or void, `beacon_round` of mode beacon only."""

    id: str
    table: str
    state: str
    opened: str
    book: bytes
    seed_index: int
    commitment: bytes
    lock_by: str
    seal_by: str
    reveal_by: str
    beacon_round: int | None
    contributions: int
    seal: bytes | None
    coups: int
    previous_shoe: str | None


@dataclass(frozen=True, slots=True)
class ShoeState:
    """Where a shoe stands, for a game client that resumes: what comes next, and its last record."""

    shoe: str
    state: str
    next_seq: int
    next_coup: int
    last_record: bytes
    last_index: int
    ended: bool


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record in its shoe's chain: its number there, its index in the log, and its bytes."""

    seq: int
    index: int
    record: bytes


@dataclass(frozen=True, slots=True)
class ListedCoup:
    """A coup in a list: what it made, and its record's bytes and index in the log."""

    number: int
    outcome: str
    rule: str
    player_total: int
    banker_total: int
    index: int
    record: bytes


@dataclass(frozen=True, slots=True)
class ShownRoads:
    """A shoe's outcomes as letters B, P, T, and its roads as `shoe.game.roads.Roads` has them."""

    shoe: str
    outcomes: str
    big_road: tuple[tuple[str, int], ...]
    big_road_cells: tuple[tuple[int, int, str, int], ...]
    bead_plate: tuple[tuple[int, int, str], ...]
    columns: tuple[str, ...]
    big_eye_boy: str
    small_road: str
    cockroach_pig: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class MadeSeat:
    """A new seat at a table, and its player's token, which is never shown again."""

    seat: str
    table: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RevokedSeat:
    """A seat that is good no more, and since when."""

    seat: str
    table: str
    created: str
    revoked: str | None


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new API key and its token, which is never shown again; `expires` is None for one that never does."""

    id: str
    prefix: str
    roles: tuple[str, ...]
    name: str
    expires: str | None
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Key:
    """An API key without its token."""

    id: str
    prefix: str
    roles: tuple[str, ...]
    name: str
    created: str
    expires: str | None
    revoked: str | None


@dataclass(frozen=True, slots=True)
class Me:
    """Who the client is to the service: a credential's id and kind, its roles, and a seat's table."""

    id: str
    kind: str | None
    roles: tuple[str, ...]
    table: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """One count; of judged coups its exact expectation as a fraction, and its deviation in standard errors, as text."""

    label: str
    observed: int
    expected: str | None
    deviation: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one kind of shoe, by its number of decks: of the judged coups, and of all that were dealt.

    `judged` and `dealt` are by what was counted: rules, merged_rules, or outcomes.
    """

    decks: int
    shuffles: int
    judged_coups: int
    dealt_coups: int
    judged: Mapping[str, tuple[Line, ...]]
    dealt: Mapping[str, tuple[Line, ...]]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts by number of decks, of the scope that the service says it counted."""

    scope: Mapping[str, Any]
    decks: tuple[Counts, ...]


@dataclass(frozen=True, slots=True)
class PayoutLine:
    """What one stake on a bet at every coup gave; of judged coups its sum's exact expectation and deviation, as text.

    `money_minor` was won beside the stakes, `returns_minor` are stakes that went back; both together are what was paid
    out, and less `in_minor`, what was staked, they are `sum_minor`.
    """

    label: str
    wins: int
    ties: int
    losses: int
    money_minor: int
    returns_minor: int
    in_minor: int
    sum_minor: int
    expected_sum_minor: str | None
    deviation: str | None


@dataclass(frozen=True, slots=True)
class Payouts:
    """The pay-out table of tables of one number of decks and the same terms; `dealt` ends with all bets together."""

    decks: int
    tables: int
    stake_minor: int
    judged_coups: int
    dealt_coups: int
    judged: tuple[PayoutLine, ...]
    dealt: tuple[PayoutLine, ...]


@dataclass(frozen=True, slots=True)
class ShownPath:
    """An audit path in the log: of the leaf `index`, or from the older size `index`, in the tree of `size` leaves."""

    index: int
    size: int
    path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """What the service is: program, version, the protocol it keeps, the log it writes."""

    name: str
    version: str
    protocol: str
    log: str
