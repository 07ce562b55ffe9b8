"""What a report is made of: sections of paragraphs, facts, tables, figures and listings, in ASCII (protocol §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shoe.errors import InputError, expected

Kind = Literal["text", "number", "code", "status"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of prose; `strong` for a sentence that must not be overlooked."""

    text: str
    strong: bool = False

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"block": "paragraph", "text": self.text, "strong": self.strong}


@dataclass(frozen=True, slots=True)
class Points:
    """A list of sentences."""

    items: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"block": "points", "items": list(self.items)}


@dataclass(frozen=True, slots=True)
class Listing:
    """What is typed or read as it stands, a line each."""

    lines: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"block": "listing", "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class Fact:
    """One name and its value; `kind` says how the value is set."""

    name: str
    value: str
    kind: Kind = "text"

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"name": self.name, "value": self.value, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, in order."""

    facts: tuple[Fact, ...]

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"block": "facts", "facts": [fact.to_json() for fact in self.facts]}


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading, what its cells are, and its share of the width beside the others'."""

    heading: str
    kind: Kind = "text"
    width: int = 10

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"heading": self.heading, "kind": self.kind, "width": self.width}


@dataclass(frozen=True, slots=True)
class Table:
    """A captioned table; the first cell of each row is its heading.

    `folds` is into how many columns side by side a printed page lays the rows. Raises InputError for a row of another
    length than there are columns.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    folds: int = 1

    def __post_init__(self) -> None:
        """Refuse ragged rows."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(expected(f"{len(self.columns)} cells", list(row), self.caption))

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {
            "block": "table",
            "caption": self.caption,
            "columns": [column.to_json() for column in self.columns],
            "rows": [list(row) for row in self.rows],
            "folds": self.folds,
        }


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: its name in the document, title, what it shows in words, the drawing, and its numbers as a table.

    The drawing is no part of the JSON: the table holds what it is made of.
    """

    name: str
    title: str
    description: str
    svg: str
    table: Table

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, without the drawing."""
        return {
            "block": "figure",
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "table": self.table.to_json(),
        }


Block = Paragraph | Points | Listing | Facts | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered part of the report; `name` is its anchor."""

    name: str
    title: str
    blocks: tuple[Block, ...]

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"name": self.name, "title": self.title, "blocks": [block.to_json() for block in self.blocks]}


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report: titles, the verdict in one word and in a sentence, sections in order, and what every page names.

    `foot` is the digest or the like that stands at the foot.
    """

    title: str
    subtitle: str
    verdict: str
    words: str
    sections: tuple[Section, ...]
    foot: Fact

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {
            "title": self.title,
            "subtitle": self.subtitle,
            "verdict": self.verdict,
            "words": self.words,
            "sections": [section.to_json() for section in self.sections],
            "foot": self.foot.to_json(),
        }


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], folds: int = 1) -> Table:
    """Make a table of any sequences."""
    return Table(caption, tuple(columns), tuple(tuple(row) for row in rows), folds)
