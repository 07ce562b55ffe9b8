"""Logs made for tests: shoes by numpy's shuffles, dealt by the slow reference tableau, written in many ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from audit.foreign.audit import LogAudit, LogFindings
from audit.foreign.reading import Kind, LogFile
from shoe.proof.verify import Evidence

RANKS, SUITS = "A23456789TJQK", "cdhs"
DRAWS_UP_TO = (3, 3, 4, 4, 5, 5, 6, 6, 2, 3)


class Coup(NamedTuple):
    player: list[int]
    banker: list[int]
    outcome: str


def points(card: int) -> int:
    return min(card % 13 + 1, 10) % 10


def total(cards: Sequence[int]) -> int:
    return sum(map(points, cards)) % 10


def deal(cards: Sequence[int]) -> Coup:
    """One coup by the chart of the tables, apart from the code under test."""
    player, banker, rest = [cards[0], cards[2]], [cards[1], cards[3]], list(cards[4:])
    if max(total(player), total(banker)) < 8:
        third = None
        if total(player) <= 5:
            third = points(rest[0])
            player.append(rest.pop(0))
        if total(banker) <= (5 if third is None else DRAWS_UP_TO[third]):
            banker.append(rest[0])
    difference = total(player) - total(banker)
    return Coup(player, banker, "P" if difference > 0 else "B" if difference else "T")


def orders(decks: int, shoes: int, seed: int) -> Iterator[list[int]]:
    generator = np.random.default_rng(seed)
    for _ in range(shoes):
        yield generator.permutation(np.tile(np.arange(52), decks)).tolist()


def dealt(cards: Sequence[int], behind: int = 14) -> list[Coup]:
    """A shoe's coups up to the one that draws the cut card."""
    coups, at = [], 0
    while at <= len(cards) - behind:
        coups.append(deal(cards[at : at + 6]))
        at += len(coups[-1].player) + len(coups[-1].banker)
    return coups


def name(card: int) -> str:
    return RANKS[card % 13] + SUITS[card // 13]


def hand(cards: Sequence[int]) -> str:
    return " ".join(map(name, cards))


def row(shoe: object, number: int, coup: Coup) -> str:
    return f"{shoe},{number},{hand(coup.player)},{hand(coup.banker)},{coup.outcome}"


HEADER = "shoe,coup,player,banker,outcome"


def table(decks: int = 8, shoes: int = 2, seed: int = 1) -> list[str]:
    """The lines of a right log, its header first."""
    lines = [HEADER]
    for shoe, cards in enumerate(orders(decks, shoes, seed), 1):
        lines += [row(shoe, number, coup) for number, coup in enumerate(dealt(cards), 1)]
    return lines


def audited(*logs: str | bytes | Sequence[str], decks: int = 8, kind: Kind | None = None, keep: int = 3) -> LogFindings:
    """Audit logs given as text, bytes or lines, in pieces of seven bytes each."""
    audit = LogAudit(decks, Evidence(()), keep)
    for number, log in enumerate(logs):
        read(audit, f"log{number}", log, kind)
    return audit.judge()


def read(audit: LogAudit, named: str, log: str | bytes | Sequence[str], kind: Kind | None = None) -> LogFile:
    text = log if isinstance(log, str | bytes) else "".join(f"{line}\n" for line in log)
    data = text if isinstance(text, bytes) else text.encode()
    return audit.read(named, (data[at : at + 7] for at in range(0, len(data), 7)), kind)
