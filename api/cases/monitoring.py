"""Monitors at work: every dealt coup is gone past once, behind the requests; what is found becomes a record.

Nothing is computed inside of the write transaction that keeps it: laws take milliseconds, and writers wait for the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from api.cases.tables import find_table
from api.db.tables import CoupRow, LeafRow, MonitorPointRow, MonitorRow, TableRow
from api.service import Service
from api.writing import Finish, Step, Writing
from audit.exact import multiplicities
from audit.monitor import (
    MONITORS,
    Laws,
    MonitorName,
    Raised,
    State,
    begin_monitor,
    go_past,
    keeps_point,
    laws_of,
    print_log,
    print_state,
    raised,
    read_state,
    stride,
    without,
)
from audit.sequential import Change
from shoe.proof.records import Alarm, Coup, Seal, parse_as, parse_record

AT_ONCE: Final = 32
"""Coups of one round: some half a second of work."""

_BEGINNING: Final = -1


@dataclass(frozen=True, slots=True)
class Told:
    """An alarm that was logged: table, monitor, evidence and threshold in words, and its place in the log."""

    table: str
    monitor: MonitorName
    evidence: str
    threshold: str
    index: int


@dataclass(frozen=True, slots=True)
class Watched:
    """A round's work: how many coups were gone past, and the alarms that were logged."""

    coups: int
    alarms: tuple[Told, ...] = ()


@dataclass(slots=True)
class Monitor:
    """A monitor of a table, as far as it is; `points` and `raised` are of this round, begun after `began` coups."""

    table: str
    name: MonitorName
    state: State
    place: int = _BEGINNING
    coups: int = 0
    alarms: int = 0
    alarm_index: int | None = None
    changed_after: int | None = None
    began: int = 0
    points: dict[int, float] = field(default_factory=dict)
    raised: list[Raised] = field(default_factory=list)

    def go_past(self, coup: Coup, laws: Laws, index: int, *, decks: int, tables: int) -> None:
        """Go past a coup of the table's, which the log holds at an index, dealt under these laws."""
        self.state = go_past(self.name, self.state, (coup.outcome, coup.rule), laws)
        self.place, self.coups = index, self.coups + 1
        if keeps_point(self.coups):
            self.points[self.coups] = self.state.log_e
        alarm = raised(self.name, self.state, self.alarms, tables)
        if alarm is not None:
            self.alarms += 1
            self.raised.append(alarm)
            if isinstance(self.state, Change) and alarm.changed_after is not None:
                self.changed_after = self.coups - self.state.n + alarm.changed_after
                self.state = begin_monitor(self.name, decks)


@dataclass(frozen=True, slots=True)
class _Round:
    """What was read for a round: where it begins, the coups to be gone past, the monitors of their tables."""

    cursor: int
    coups: tuple[tuple[int, TableRow, Coup], ...]
    unseen: dict[str, tuple[int, ...]]
    monitors: dict[str, list[Monitor]]
    tables: int


def watch_coups(service: Service, most: int = AT_ONCE) -> Watched:
    """Take the monitors past the next coups that were dealt, in the log's order, and log what they find.

    Where another process went past them meanwhile, nothing is done.
    """
    with service.reading() as session:
        work = _read_round(session, most)
    if not work.coups:
        return Watched(0)
    _go_past_all(work)
    return service.write(_keep(work))


def read_monitors(session: Session, table_id: str) -> list[Monitor]:
    """Give a table's monitors as they stand; raises Refusal where there is no such table."""
    return _monitors_of(session, find_table(session, table_id))


def read_path(session: Session, table_id: str, name: MonitorName) -> list[tuple[int, float]]:
    """List a monitor's path: after how many coups the log of the e-value was what."""
    query = select(MonitorPointRow.coups, MonitorPointRow.log_e).where(
        MonitorPointRow.table_id == table_id, MonitorPointRow.name == name
    )
    return [(coups, float.fromhex(log_e)) for coups, log_e in session.execute(query.order_by(MonitorPointRow.coups))]


def count_monitored(session: Session) -> int:
    """Count the tables that have monitors which went past a coup."""
    return session.scalar(select(func.count(MonitorRow.table_id.distinct()))) or 0


def _read_round(session: Session, most: int) -> _Round:
    cursor = _cursor(session)
    query = (
        select(LeafRow.log_index, TableRow, LeafRow.record)
        .select_from(CoupRow)
        .join(TableRow, TableRow.id == CoupRow.table_id)
        .join(LeafRow, LeafRow.log_index == CoupRow.log_index)
        .where(CoupRow.log_index > cursor)
        .order_by(CoupRow.log_index)
        .limit(most)
    )
    coups = tuple((index, table, parse_as(Coup, record)) for index, table, record in session.execute(query))
    unseen: dict[str, tuple[int, ...]] = {}
    for index, table, coup in coups:
        if coup.shoe not in unseen:
            unseen[coup.shoe] = _unseen_before(session, table, coup.shoe, index)
    tables = {table.id: table for _, table, _ in coups}
    monitors = {table.id: _monitors_of(session, table) for table in tables.values()}
    new = sum(each[0].place == _BEGINNING for each in monitors.values())
    return _Round(cursor, coups, unseen, monitors, count_monitored(session) + new)


def _cursor(session: Session) -> int:
    """Find the last record that monitors went past: they go in the log's order, whatever the table."""
    place = session.scalar(select(func.max(MonitorRow.place)))
    return _BEGINNING if place is None else place


def _unseen_before(session: Session, table: TableRow, shoe: str, index: int) -> tuple[int, ...]:
    """Count what of a shoe was not shown before a record of it: all but its shown burned card and its coups' cards."""
    query = select(LeafRow.record).where(
        LeafRow.shoe == shoe, LeafRow.type.in_((Seal.type, Coup.type)), LeafRow.log_index < index
    )
    return without(multiplicities(table.decks), [card for record in session.scalars(query) for card in _shown(record)])


def _shown(data: bytes) -> Iterator[int]:
    record = parse_record(data)
    if isinstance(record, Coup):
        yield from (opening.card for opening in record.cards)
    elif isinstance(record, Seal) and record.burn is not None:
        yield record.burn.card


def _monitors_of(session: Session, table: TableRow) -> list[Monitor]:
    query = select(MonitorRow).where(MonitorRow.table_id == table.id)
    rows = {row.name: row for row in session.scalars(query)}
    return [_read(rows[name]) if name in rows else _new(table, name) for name in MONITORS]


def _read(row: MonitorRow) -> Monitor:
    name: MonitorName = next(known for known in MONITORS if known == row.name)
    state = read_state(name, row.state)
    return Monitor(
        row.table_id, name, state, row.place, row.coups, row.alarms, row.alarm_index, row.changed_after, row.coups
    )


def _new(table: TableRow, name: MonitorName) -> Monitor:
    return Monitor(table.id, name, begin_monitor(name, table.decks))


def _go_past_all(work: _Round) -> None:
    for index, table, coup in work.coups:
        fresh = table.shuffle == "coup"
        unseen = multiplicities(table.decks) if fresh else work.unseen[coup.shoe]
        laws = laws_of(unseen)
        for monitor in work.monitors[table.id]:
            monitor.go_past(coup, laws, index, decks=table.decks, tables=work.tables)
        if not fresh:
            work.unseen[coup.shoe] = without(unseen, [opening.card for opening in coup.cards])


def _keep(work: _Round) -> Step[Watched]:
    def step(writing: Writing) -> Finish[Watched]:
        if _cursor(writing.session) != work.cursor:
            return lambda _: Watched(0)
        told: list[Told] = []
        monitors = [monitor for each in work.monitors.values() for monitor in each]
        for monitor in monitors:
            told += _log_alarms(writing, monitor)
            _store(writing, monitor)
        writing.session.flush()
        for monitor in monitors:
            _store_points(writing, monitor)
        done = Watched(len(work.coups), tuple(told))
        return lambda _: done

    return step


def _log_alarms(writing: Writing, monitor: Monitor) -> Sequence[Told]:
    told: list[Told] = []
    for alarm in monitor.raised:
        evidence, bar = print_log(alarm.log_e), print_log(alarm.log_threshold)
        record = Alarm(table=monitor.table, monitor=monitor.name, evidence=evidence, threshold=bar, **writing.stamp())
        monitor.alarm_index = writing.add(record)
        told.append(Told(monitor.table, monitor.name, evidence, bar, monitor.alarm_index))
    return told


def _store(writing: Writing, monitor: Monitor) -> None:
    row = writing.session.get(MonitorRow, (monitor.table, monitor.name))
    if row is None:
        row = MonitorRow(table_id=monitor.table, name=monitor.name)
    row.place, row.coups, row.alarms = monitor.place, monitor.coups, monitor.alarms
    row.alarm_index, row.changed_after = monitor.alarm_index, monitor.changed_after
    row.state = print_state(monitor.state)
    writing.insert(row)


def _store_points(writing: Writing, monitor: Monitor) -> None:
    apart = stride(monitor.coups)
    at = MonitorPointRow.table_id == monitor.table, MonitorPointRow.name == monitor.name
    if stride(monitor.began) != apart:
        writing.session.execute(delete(MonitorPointRow).where(*at, MonitorPointRow.coups % apart != 0))
    for coups, log_e in monitor.points.items():
        if coups % apart == 0:
            writing.insert(MonitorPointRow(table_id=monitor.table, name=monitor.name, coups=coups, log_e=log_e.hex()))
