"""The document set in type: what both printers, of HTML and of PDF, are handed."""

from __future__ import annotations

from typing import Any

from audit.report.document import Document, Figure, Section, Table
from audit.report.words import typeset


def set_document(document: Document) -> dict[str, Any]:
    """List the document with its prose and numbers set in type, and its drawings; codes and listings as they stand."""
    return {
        "title": typeset(document.title),
        "subtitle": typeset(document.subtitle),
        "verdict": document.verdict,
        "words": typeset(document.words),
        "sections": [_section(number, section) for number, section in enumerate(document.sections, 1)],
        "foot": _fact(document.foot.to_json()),
    }


def _section(number: int, section: Section) -> dict[str, Any]:
    blocks = [_block(block) for block in section.blocks]
    return {"name": section.name, "number": str(number), "title": typeset(section.title), "blocks": blocks}


def _block(block: Any) -> dict[str, Any]:
    shown: dict[str, Any] = block.to_json()
    if isinstance(block, Table):
        return _table(shown)
    if isinstance(block, Figure):
        numbers = _table(shown["table"])
        return {**shown, **_typeset(shown, "title", "description"), "svg": block.svg, "table": numbers}
    if "facts" in shown:
        return {**shown, "facts": [_fact(fact) for fact in shown["facts"]]}
    if "items" in shown:
        return {**shown, "items": [typeset(item) for item in shown["items"]]}
    return {**shown, **_typeset(shown, "text")} if "text" in shown else shown


def _table(shown: dict[str, Any]) -> dict[str, Any]:
    columns = [{**column, **_typeset(column, "heading")} for column in shown["columns"]]
    kinds = [column["kind"] for column in columns]
    rows = [
        [cell if kind in ("code", "status") else typeset(cell) for kind, cell in zip(kinds, row, strict=True)]
        for row in shown["rows"]
    ]
    return {**shown, **_typeset(shown, "caption"), "columns": columns, "rows": rows}


def _fact(fact: dict[str, Any]) -> dict[str, Any]:
    value = fact["value"] if fact["kind"] in ("code", "status") else typeset(fact["value"])
    return {**fact, "name": typeset(fact["name"]), "value": value}


def _typeset(shown: dict[str, Any], *keys: str) -> dict[str, str]:
    return {key: typeset(shown[key]) for key in keys}
