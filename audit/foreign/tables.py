"""Logs in columns: CSV with a header, columns in any order, between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from audit.foreign.lines import BadLine, Report, quote
from audit.foreign.notation import parse_hand, parse_outcome
from audit.foreign.rows import LoggedCoup
from audit.foreign.settlement import parse_settled
from shoe.errors import CardError, InputError

SEPARATORS: Final = (",", ";", "\t")

COLUMN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "shoe": ("shoe", "shoe_id", "shoe_no", "shoe_number"),
    "coup": ("coup", "coup_no", "coup_number", "hand", "round", "game"),
    "player": ("player", "player_cards", "player_hand", "punto"),
    "banker": ("banker", "banker_cards", "banker_hand", "banco", "bank"),
    "outcome": ("outcome", "result", "winner"),
    "bet": ("bet",),
    "stake": ("stake",),
    "paid": ("paid", "payout"),
    "net": ("net",),
}
"""Each column, and what its header may be called, in any case, blanks and hyphens for underscores."""

BARE: Final = ("shoe", "coup", "player", "banker", "outcome")
"""The columns of a log without a header."""

_BETTING: Final = ("bet", "stake", "paid", "net")
_KNOWN: Final = {name: column for column, names in COLUMN_NAMES.items() for name in names}
_BLANKS: Final = re.compile(r"[\s-]+")


class Layout(NamedTuple):
    """How a log lays its columns out: the separator, and the place of each column that it has."""

    separator: str
    places: Mapping[str, int]
    width: int

    @property
    def shows_cards(self) -> bool:
        """Whether both hands are logged."""
        return "player" in self.places and "banker" in self.places

    def lacking(self) -> list[str]:
        """Name what must be there and is not: the shoe, and both hands or the outcome."""
        missing = [] if "shoe" in self.places else ["shoe"]
        hands = [name for name in ("player", "banker") if name in self.places]
        if len(hands) == 1 or not (hands or "outcome" in self.places):
            missing += [name for name in ("player", "banker") if name not in self.places]
        return missing


def layout_of(header: str) -> Layout | None:
    """Read a header line; None where no word of it is a column's, or none stands between separators."""
    separator = max(SEPARATORS, key=header.count)
    words = [_BLANKS.sub("_", word.strip().lower()) for word in split(header, separator)]
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        if word in _KNOWN:
            places.setdefault(_KNOWN[word], place)
    if separator not in header or not places or (len(places) < 2 and "shoe" not in places):
        return None
    return Layout(separator, places, len(words))


def bare_layout(line: str) -> Layout | None:
    """Take a line for one of a log without a header, with the five columns of `BARE`; None where it can't be."""
    for separator in SEPARATORS:
        fields = split(line, separator)
        if len(fields) == len(BARE):
            try:
                parse_hand(fields[2]), parse_hand(fields[3]), parse_outcome(fields[4])
            except InputError:
                continue
            return Layout(separator, {name: place for place, name in enumerate(BARE)}, len(BARE))
    return None


def split(line: str, separator: str) -> list[str]:
    """Split a line into its fields; a field may stand in double quotes, but not hold a newline."""
    if '"' not in line:
        return line.split(separator)
    return next(csv.reader([line], delimiter=separator), [])


def read_table(layout: Layout, lines: Iterable[tuple[int, str]], report: Report) -> Iterator[LoggedCoup]:
    """Read the coups of lines behind the header; what can't be read goes to `report`, before the next coup is given."""
    for number, line in lines:
        fields = [field.strip() for field in split(line, layout.separator)]
        try:
            if len(fields) < layout.width:
                raise _Missing(f"{layout.width} columns, as in the header, got {len(fields)}")
            if len(fields) > layout.width and any(fields[layout.width :]):
                raise _Missing(f"{layout.width} columns, as in the header, got {len(fields)}")
            yield _coup(layout, number, fields)
        except _Missing as error:
            report(BadLine(number, "columns", str(error), quote(line)))
        except CardError as error:
            report(BadLine(number, "bad_card", str(error).removeprefix("expected "), quote(line)))
        except InputError as error:
            report(BadLine(number, "bad_value", str(error).removeprefix("expected "), quote(line)))


class _Missing(InputError):
    """A field that must be there and is not."""


def _coup(layout: Layout, number: int, fields: list[str]) -> LoggedCoup:
    places = layout.places

    def field(name: str) -> str:
        return fields[places[name]] if name in places else ""

    shoe, outcome = field("shoe"), field("outcome")
    if not shoe:
        raise _Missing("the shoe's name, got an empty field")
    player, banker = map(parse_hand, map(field, ("player", "banker"))) if layout.shows_cards else (None, None)
    if not outcome and "outcome" in places:
        raise _Missing("an outcome, got an empty field")
    return LoggedCoup(
        number,
        shoe,
        field("coup") or None,
        player,
        banker,
        parse_outcome(outcome) if outcome else None,
        parse_settled(*map(field, _BETTING)) if "bet" in places else None,
    )
