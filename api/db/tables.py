"""The tables: integers, text and bytes only; times as records write them; nothing unrevealed in clear.

A change here needs a migration: a test holds the two together.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

LIVE_STATES: Final = ("open", "locked", "sealed")
ENDED_STATES: Final = ("revealed", "void")
_LIVE: Final = text("state IN ('open', 'locked', 'sealed')")
_PENDING: Final = text("state = 'pending'")
_DEAD: Final = text("state = 'dead'")
_OPEN_AUDIT: Final = text("state IN ('queued', 'running')")


class Base(DeclarativeBase):
    """The root of all rows; constraints have names, so that a migration can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {int: BigInteger, str: Text, bytes: LargeBinary}  # noqa: RUF012  # as SQLAlchemy declares it


class TableRow(Base):
    """A table and its rules (canonical JSON), which never change; `decks` and `shuffle` repeat them for SQL.

    `guests` is 1 where anyone may take a seat.
    """

    __tablename__ = "tables"

    id: Mapped[str] = mapped_column(primary_key=True)
    preset: Mapped[str | None]
    rules: Mapped[str]
    decks: Mapped[int]
    shuffle: Mapped[str]
    created: Mapped[str]
    guests: Mapped[int] = mapped_column(server_default="0")


class BookRow(Base):
    """A seed book: its master encrypted, its log index, and the next seed index to use."""

    __tablename__ = "books"
    __table_args__ = (
        CheckConstraint("state IN ('published', 'ended')", name="state"),
        CheckConstraint("next_index BETWEEN 0 AND size", name="next_index"),
    )

    root: Mapped[bytes] = mapped_column(primary_key=True)
    table_id: Mapped[str] = mapped_column(ForeignKey("tables.id"), index=True)
    size: Mapped[int]
    sealed_master: Mapped[bytes]
    log_index: Mapped[int] = mapped_column(unique=True)
    next_index: Mapped[int]
    state: Mapped[str]


class ShoeRow(Base):
    """A shoe and where it stands.

    `next_seq`, `last_hash` and `last_index` say where its chain of records goes on; `next_coup`, `position` and
    `cut_drawn` how far it is dealt. `in_row` counts voids in a row up to this one, 0 unless void.
    """

    __tablename__ = "shoes"
    __table_args__ = (
        CheckConstraint("state IN ('open', 'locked', 'sealed', 'revealed', 'void')", name="state"),
        UniqueConstraint("book_root", "seed_index"),
        Index("one_live_shoe", "table_id", unique=True, sqlite_where=_LIVE, postgresql_where=_LIVE),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    table_id: Mapped[str] = mapped_column(ForeignKey("tables.id"), index=True)
    book_root: Mapped[bytes] = mapped_column(ForeignKey("books.root"))
    seed_index: Mapped[int]
    commitment: Mapped[bytes]
    book_proof: Mapped[bytes]
    previous_shoe: Mapped[str | None] = mapped_column(ForeignKey("shoes.id"))
    opened: Mapped[str]
    open_index: Mapped[int] = mapped_column(unique=True)
    lock_by: Mapped[str]
    seal_by: Mapped[str]
    reveal_by: Mapped[str]
    beacon_round: Mapped[int | None]
    state: Mapped[str]
    seal: Mapped[bytes | None]
    next_seq: Mapped[int]
    last_hash: Mapped[bytes]
    last_index: Mapped[int]
    next_coup: Mapped[int]
    position: Mapped[int]
    cut_drawn: Mapped[int]
    in_row: Mapped[int]
    table: Mapped[TableRow] = relationship(lazy="joined", innerjoin=True, viewonly=True)


class ContributionRow(Base):
    """A player's contribution; `seed` is null until it is opened, and public from then on.

    `seat_id` is whose it is: null where it was made before there were seats.
    """

    __tablename__ = "contributions"
    __table_args__ = (UniqueConstraint("shoe_id", "client"), Index("one_a_seat", "shoe_id", "seat_id", unique=True))

    shoe_id: Mapped[str] = mapped_column(ForeignKey("shoes.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    client: Mapped[str]
    seed_commitment: Mapped[bytes | None]
    seed: Mapped[str | None]
    seat_id: Mapped[str | None]


class CoupRow(Base):
    """A coup as statistics count it.

    `judged` is 1 where it is among coups 1…K; `log_index` is null where a void shoe's coup was never dealt and is
    known only from the published seed.
    """

    __tablename__ = "coups"
    __table_args__ = (Index(None, "table_id", "time"),)

    shoe_id: Mapped[str] = mapped_column(ForeignKey("shoes.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    table_id: Mapped[str] = mapped_column(ForeignKey("tables.id"))
    log_index: Mapped[int | None] = mapped_column(unique=True)
    time: Mapped[str]
    rule: Mapped[str]
    outcome: Mapped[str]
    player_total: Mapped[int]
    banker_total: Mapped[int]
    cards_used: Mapped[int]
    judged: Mapped[int]


class CredentialRow(Base):
    """An API key or a seat's token: the SHA-256 of it, what it may do, and until when; never the token.

    `roles` are separated by spaces, `prefix` is the token's beginning. A seat is at the table `table_id`; `player` is
    who sits there, by the name that the game client gave, null where it gave none.
    """

    __tablename__ = "credentials"
    __table_args__ = (
        CheckConstraint("kind IN ('key', 'seat')", name="kind"),
        CheckConstraint("(kind = 'seat') = (table_id IS NOT NULL)", name="table"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    prefix: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    roles: Mapped[str]
    name: Mapped[str]
    table_id: Mapped[str | None] = mapped_column(ForeignKey("tables.id"))
    made_by: Mapped[str]
    created: Mapped[str]
    expires: Mapped[str | None]
    revoked: Mapped[str | None]
    player: Mapped[str | None] = mapped_column(index=True)


class PurseRow(Base):
    """A seat's money in minor units; what it has staked on the next coup is taken off already.

    `owed_minor` is what the house lent for play without a limit on losses; `preserve` is 1 where the seat's bets are
    laid again after every coup.
    """

    __tablename__ = "purses"
    __table_args__ = (
        CheckConstraint("balance_minor >= 0", name="balance"),
        CheckConstraint("preserve IN (0, 1)", name="preserve"),
        CheckConstraint("owed_minor >= 0", name="owed"),
    )

    seat_id: Mapped[str] = mapped_column(ForeignKey("credentials.id"), primary_key=True)
    balance_minor: Mapped[int]
    preserve: Mapped[int] = mapped_column(server_default="0")
    owed_minor: Mapped[int] = mapped_column(server_default="0")


class PurseMoveRow(Base):
    """Money that came into a purse from outside (above 0) or left it, and what the purse held afterwards."""

    __tablename__ = "purse_moves"
    __table_args__ = (
        CheckConstraint("amount_minor <> 0", name="amount"),
        CheckConstraint("balance_minor >= 0", name="balance"),
        Index(None, "seat_id", "id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    seat_id: Mapped[str] = mapped_column(ForeignKey("purses.seat_id"))
    amount_minor: Mapped[int]
    balance_minor: Mapped[int]
    time: Mapped[str]
    made_by: Mapped[str]
    note: Mapped[str]


class OwnLimitRow(Base):
    """The greatest stake that a player allows herself, and the slow hash of the PIN that confirms it.

    `holder` is the player, or the seat where it is nobody's by name; `table_id` is empty where it holds at all tables.
    """

    __tablename__ = "own_limits"
    __table_args__ = (CheckConstraint("maximum_minor > 0", name="maximum"),)

    holder: Mapped[str] = mapped_column(primary_key=True)
    table_id: Mapped[str] = mapped_column(primary_key=True)
    maximum_minor: Mapped[int | None]
    week: Mapped[str | None]
    pin: Mapped[str | None]
    wrong: Mapped[int]
    wrong_week: Mapped[str | None]


class BankRow(Base):
    """The money of a table's bank in minor units, where the bank can be broken; stakes count once they are lost."""

    __tablename__ = "banks"
    __table_args__ = (CheckConstraint("balance_minor >= 0", name="balance"),)

    table_id: Mapped[str] = mapped_column(ForeignKey("tables.id"), primary_key=True)
    balance_minor: Mapped[int]


class BetRow(Base):
    """A bet on a coup, in the order of acceptance: `position` counts the withdrawn ones too.

    `client` and `salt` stand in its line (protocol §8). `carried` is 1 where the stake stayed on the table after a tie.
    What the coup made of it is null until it is dealt.
    """

    __tablename__ = "bets"
    __table_args__ = (
        CheckConstraint("stake_minor > 0", name="stake"),
        CheckConstraint("state IN ('laid', 'withdrawn', 'void', 'won', 'lost', 'pushed')", name="state"),
        CheckConstraint("(state IN ('won', 'lost', 'pushed')) = (net_minor IS NOT NULL)", name="settled"),
        Index(None, "shoe_id", "seat_id", "number"),
    )

    shoe_id: Mapped[str] = mapped_column(ForeignKey("shoes.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seat_id: Mapped[str] = mapped_column(ForeignKey("credentials.id"))
    client: Mapped[str]
    bet: Mapped[str]
    stake_minor: Mapped[int]
    salt: Mapped[str]
    time: Mapped[str]
    carried: Mapped[int]
    state: Mapped[str]
    net_minor: Mapped[int | None]
    returned_minor: Mapped[int | None]
    commission_minor: Mapped[int | None]


class PassRow(Base):
    """That a seat sits a coup out, unless it took that back; or, by `choice`, that its bets are made."""

    __tablename__ = "passes"
    __table_args__ = (
        CheckConstraint("state IN ('stands', 'withdrawn')", name="state"),
        CheckConstraint("choice IN ('pass', 'deal')", name="choice"),
    )

    shoe_id: Mapped[str] = mapped_column(ForeignKey("shoes.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seat_id: Mapped[str] = mapped_column(ForeignKey("credentials.id"), primary_key=True)
    client: Mapped[str]
    time: Mapped[str]
    state: Mapped[str]
    choice: Mapped[str] = mapped_column(server_default="pass")


class QuotaRow(Base):
    """How many writes a caller has asked for in the minute that it asked in last, counted from the epoch."""

    __tablename__ = "quotas"

    caller: Mapped[str] = mapped_column(primary_key=True)
    minute: Mapped[int] = mapped_column(index=True)
    writes: Mapped[int]


class LeafRow(Base):
    """A record's bytes at its index in the log; triggers let nothing be changed, and only the next be added."""

    __tablename__ = "leaves"
    __table_args__ = (UniqueConstraint("shoe", "seq"),)

    log_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    record: Mapped[bytes]
    type: Mapped[str]
    shoe: Mapped[str | None]
    seq: Mapped[int | None]


class LogNodeRow(Base):
    """The hash of a perfect subtree of the log, under its integer key (`shoe.proof.merkle.Node.position`)."""

    __tablename__ = "log_nodes"

    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    hash: Mapped[bytes]


class LogHeadRow(Base):
    """The log's head, one row: writers lock it. `time` is the last record's; `frontier` is hashes end to end."""

    __tablename__ = "log_head"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    size: Mapped[int]
    frontier: Mapped[bytes]
    root: Mapped[bytes]
    time: Mapped[str]
    checkpoint: Mapped[str]


class CheckpointRow(Base):
    """A checkpoint that was signed, by the size it covers."""

    __tablename__ = "checkpoints"

    size: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str]


class CosignatureRow(Base):
    """A witness's line under a kept checkpoint, checked when it came; `time_s` is what the witness states."""

    __tablename__ = "cosignatures"

    size: Mapped[int] = mapped_column(ForeignKey("checkpoints.size"), primary_key=True, autoincrement=False)
    vkey: Mapped[str] = mapped_column(primary_key=True)
    time_s: Mapped[int]
    line: Mapped[str]


class SigningKeyRow(Base):
    """A key of the log: public half in clear, the seed of its private half encrypted.

    An active key signs every head; `log_index` is where the log added it, and gives the order of its line.
    """

    __tablename__ = "signing_keys"
    __table_args__ = (CheckConstraint("status IN ('active', 'retired', 'compromised')", name="status"),)

    vkey: Mapped[str] = mapped_column(primary_key=True)
    sealed_seed: Mapped[bytes]
    status: Mapped[str]
    log_index: Mapped[int] = mapped_column(unique=True)


class ClaimRow(Base):
    """An Idempotency-Key that was used: what was asked, by its digest, and the answer as it was first given."""

    __tablename__ = "claims"

    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[bytes]
    time: Mapped[str] = mapped_column(index=True)
    status: Mapped[int]
    answer: Mapped[bytes]


class WebhookRow(Base):
    """Somebody who is told of events by POST to `url`; both secrets are encrypted, and the former signs for a while.

    `events` are types of events, sorted, a space between; `table_id` null is every table. `reason` says why it is
    disabled: by the operator, or because the receiver said so.
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        CheckConstraint("state IN ('active', 'disabled')", name="state"),
        CheckConstraint("reason IN ('operator', 'gone')", name="reason"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    url: Mapped[str]
    events: Mapped[str]
    table_id: Mapped[str | None] = mapped_column(ForeignKey("tables.id"))
    created: Mapped[str]
    state: Mapped[str]
    reason: Mapped[str | None]
    sealed_secret: Mapped[bytes]
    sealed_former: Mapped[bytes | None]
    former_until: Mapped[str | None]


class DeliveryRow(Base):
    """One event on its way to one webhook; what it says is made from the leaf at `log_index`, null for a test.

    `due` is when it is to be tried next, `leased_until` how long whoever tries it now has it alone, `attempts` how
    often it was tried since it was queued last, `ended` when it arrived or was given up, `error` what went wrong last.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        CheckConstraint("state IN ('pending', 'delivered', 'dead')", name="state"),
        Index(None, "webhook_id", "id"),
        Index("pending_deliveries", "webhook_id", "due", sqlite_where=_PENDING, postgresql_where=_PENDING),
        Index("dead_deliveries", "webhook_id", "id", sqlite_where=_DEAD, postgresql_where=_DEAD),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id"))
    type: Mapped[str]
    log_index: Mapped[int | None] = mapped_column(ForeignKey("leaves.log_index"))
    queued: Mapped[str]
    due: Mapped[str]
    leased_until: Mapped[str | None]
    attempts: Mapped[int]
    state: Mapped[str]
    ended: Mapped[str | None] = mapped_column(index=True)
    error: Mapped[str | None]


class MonitorRow(Base):
    """A monitor of a table: the log index of the last record it went past, and its state as canonical JSON.

    `coups` are those it went past, `alarms` its alarms so far, `alarm_index` where the log holds the last one,
    `changed_after` the coup of this monitor after which a change was then thought to begin.
    """

    __tablename__ = "monitors"

    table_id: Mapped[str] = mapped_column(ForeignKey("tables.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    place: Mapped[int]
    coups: Mapped[int]
    alarms: Mapped[int]
    alarm_index: Mapped[int | None]
    changed_after: Mapped[int | None]
    state: Mapped[str]


class MonitorPointRow(Base):
    """A point of a monitor's path: the log of the e-value after so many coups, exactly, as hexadecimal."""

    __tablename__ = "monitor_points"
    __table_args__ = (ForeignKeyConstraint(["table_id", "name"], ["monitors.table_id", "monitors.name"]),)

    table_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    coups: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    log_e: Mapped[str]


class AuditRow(Base):
    """An audit of the service's own records: which, how far it is, and what came of it.

    It is of shoes opened at `table_id` (any, without one) from `since` on, before `until`. Whoever runs it has it
    alone until `claimed_until`. `done` of `total` shoes are looked at; `report_index` is where the log holds its
    report.
    """

    __tablename__ = "audits"
    __table_args__ = (
        CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name="state"),
        CheckConstraint("verdict IN ('pass', 'fail', 'not_judged')", name="verdict"),
        CheckConstraint("(state IN ('done', 'failed')) = (ended IS NOT NULL)", name="ended"),
        CheckConstraint("(state = 'done') = (verdict IS NOT NULL)", name="judged"),
        Index("open_audits", "id", sqlite_where=_OPEN_AUDIT, postgresql_where=_OPEN_AUDIT),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    made_by: Mapped[str]
    created: Mapped[str]
    table_id: Mapped[str | None] = mapped_column(ForeignKey("tables.id"))
    since: Mapped[str | None]
    until: Mapped[str | None]
    state: Mapped[str]
    claimed_until: Mapped[str | None]
    done: Mapped[int]
    total: Mapped[int | None]
    verdict: Mapped[str | None]
    report_index: Mapped[int | None]
    error: Mapped[str | None]
    ended: Mapped[str | None]


class AuditDocumentRow(Base):
    """A document of an audit, such as its findings or its report, by its file name."""

    __tablename__ = "audit_documents"

    audit_id: Mapped[str] = mapped_column(ForeignKey("audits.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[bytes]
