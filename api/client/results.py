"""What the service's answers say, typed and frozen; hashes are bytes, times as in records, secrets not in any repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shoe.game.roads import Sums
from shoe.game.rules import Rules
from shoe.proof.bundle import HeldLine
from shoe.proof.records import BetLine
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
class Choice:
    """What a seat chose for a shoe's next coup: the lines of the bets accepted, or taken back; and its purse then.

    A line is to be kept: with its salt it proves the bet under the root that closes the coup's bets.
    """

    shoe: str
    number: int
    client: str
    lines: tuple[BetLine, ...]
    balance_minor: int


@dataclass(frozen=True, slots=True)
class HeldBet:
    """A bet of a seat, and what became of it: laid, withdrawn, void, won, lost or pushed.

    `bets_index` is where the log holds the record that closed the coup's bets, `proof` the line's place and path under
    its root; None before, as the amounts are, in minor units. `carried` is a stake that stayed after a tie.
    """

    line: BetLine
    state: str
    carried: bool
    bets_index: int | None
    proof: HeldLine | None
    net_minor: int | None
    returned_minor: int | None
    commission_minor: int | None


@dataclass(frozen=True, slots=True)
class OwnLimit:
    """What a seat may stake on a bet at most, None for any; `why_not` is what stands against lowering it, if anything.

    `turns` is when the week turns, None at a table whose players set no limits.
    """

    seat: str
    table: str
    table_maximum_minor: int | None
    own_maximum_minor: int | None
    maximum_minor: int | None
    why_not: str | None
    turns: str | None


@dataclass(frozen=True, slots=True)
class Move:
    """Money that came into a purse from outside, or left it where the amount is below 0, and what it held then."""

    id: str
    seat: str
    amount_minor: int
    balance_minor: int
    time: str
    made_by: str
    note: str


@dataclass(frozen=True, slots=True)
class Purse:
    """A seat's money in minor units: what it may stake, what it has on the table, what the house lent it for loops.

    `preserve` says whether its bets are laid again after every coup.
    """

    seat: str
    table: str
    balance_minor: int
    staked_minor: int
    owed_minor: int
    preserve: bool


@dataclass(frozen=True, slots=True)
class SeatChoice:
    """What a seat chose for a shoe's next coup: waiting, bets, ready, passed or joined_late; its stakes by bet.

    The coup waits for it where it is `missing`.
    """

    seat: str
    player: str | None
    state: str
    missing: bool
    stakes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Choices:
    """What everyone at a table chose for its shoe's next coup; the betting's times are None where none are kept."""

    shoe: str
    number: int
    began: str | None
    closes: str | None
    may_deal: bool
    seats: tuple[SeatChoice, ...]


@dataclass(frozen=True, slots=True)
class LoopedCoup:
    """One coup of a loop: where the log holds it, who won, what the seat staked and won or lost, in minor units."""

    number: int
    index: int
    outcome: str
    staked_minor: int
    net_minor: int


@dataclass(frozen=True, slots=True)
class Looped:
    """What a loop played, and why it ended: by its `coups`, with the `shoe`, or for the `bank`; without receipts."""

    shoe: str
    seat: str
    client: str
    coups: tuple[LoopedCoup, ...]
    reason: str
    staked_minor: int
    net_minor: int
    balance_minor: int
    owed_minor: int


@dataclass(frozen=True, slots=True)
class SettledBet:
    """What a coup made of one bet, for the game client: amounts in minor units.

    `returned_minor` went to the purse, `left_minor` stays on the table for the next coup, and `balance_minor` is what
    the purse held then.
    """

    seat: str
    client: str
    bet: str
    stake: int
    result: str
    net_minor: int
    commission_minor: int
    returned_minor: int
    left_minor: int
    balance_minor: int


@dataclass(frozen=True, slots=True)
class DealtCoup:
    """A coup: its receipt, each card's audit path, and the reveal's receipt where it came with it.

    `bets` is the receipt of the record that closed the coup's bets where there were any, `settlement` what it made of
    them, `messages` what to tell each seat that won: all only in the answer that dealt it.
    `checked` says that each card was checked against the deck root, and the coup against its cards: the client knew
    the shoe's seal.
    """

    receipt: Receipt
    number: int
    paths: tuple[tuple[bytes, ...], ...]
    reveal: Receipt | None
    checked: bool
    bets: Receipt | None = None
    settlement: tuple[SettledBet, ...] = ()
    messages: Mapping[str, str] = field(default_factory=dict)


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
    """A new seat at a table, its player's token, which is never shown again, and what its purse begins with."""

    seat: str
    table: str
    token: str = field(repr=False)
    purse_minor: int | None = None


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
    """What one stake on a bet at every coup gave; of judged coups its total's exact expectation and deviation, as text.

    `money_minor` was won beside the stakes, `returns_minor` are the stakes of these wins; both together less
    `out_minor`, what was staked, and `ties_minor`, which ties gave back, are `total_minor`.
    """

    label: str
    wins: int
    ties: int
    losses: int
    money_minor: int
    returns_minor: int
    out_minor: int
    ties_minor: int
    total_minor: int
    expected_total_minor: str | None
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


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook: where it sends what, of which table alone, and why it is disabled, if it is."""

    id: str
    url: str
    events: tuple[str, ...]
    table: str | None
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class MadeWebhook:
    """A webhook and its new secret, which is never shown again."""

    webhook: Webhook
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event to a webhook: the record's log index, None for a test; where it stands, and what went wrong last."""

    id: str
    type: str
    index: int | None
    state: str
    attempts: int
    error: str | None


@dataclass(frozen=True, slots=True)
class TableMonitor:
    """A monitor of a table: evidence, threshold and p-value as decimal texts; its alarms, and where the last is logged.

    `changed_after` is after how many coups a change seems to have begun.
    """

    name: str
    coups: int
    evidence: str
    threshold: str
    p_value: str | None
    alarms: int
    alarm_index: int | None
    changed_after: int | None


@dataclass(frozen=True, slots=True)
class MonitorPoint:
    """A point of a monitor's path: after so many coups the evidence, and its logarithm to base 10, as decimal texts."""

    coups: int
    evidence: str
    log10: str


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit of the service's own records: how many shoes of how many are looked at, and its verdict at the end."""

    id: str
    state: str
    done: int
    total: int | None
    verdict: str | None
