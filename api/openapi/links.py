"""Links: which step follows from an answer, and where in it stands what that step needs."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

_TABLE: Final = {"table_id": "$response.body#/id"}
_SAME_TABLE: Final = {"table_id": "$request.path.table_id"}
_SHOE: Final = {"shoe_id": "$response.body#/shoe"}
_SAME_SHOE: Final = {"shoe_id": "$request.path.shoe_id"}

_LINKS: Final[dict[str, dict[str, tuple[str, dict[str, str]]]]] = {
    "tables.create_table": {
        "publish its seed book": ("tables.publish", _TABLE),
        "take a seat": ("accounts.create_seat", _TABLE),
        "read it": ("tables.show_table", _TABLE),
    },
    "tables.publish": {
        "open a shoe": ("tables.open_next", _SAME_TABLE),
        "list the books": ("tables.show_books", _SAME_TABLE),
        "end the book": ("tables.end_early", {**_SAME_TABLE, "root": "$response.body#/root"}),
    },
    "tables.open_next": {
        "contribute": ("shoes.contribute_entropy", _SHOE),
        "lock it": ("shoes.lock", _SHOE),
        "void it": ("shoes.void", _SHOE),
        "sum it up": ("shoes.show_shoe", _SHOE),
    },
    "accounts.create_key": {
        "read it": ("accounts.show_key", {"key_id": "$response.body#/id"}),
        "revoke it": ("accounts.revoke_key", {"key_id": "$response.body#/id"}),
    },
    "accounts.create_seat": {
        "revoke it": ("accounts.revoke_seat", {"seat_id": "$response.body#/seat"}),
    },
    "shoes.lock": {
        "open a seed": ("shoes.open_seed_of_seat", _SAME_SHOE),
        "seal it": ("shoes.seal", _SAME_SHOE),
    },
    "shoes.seal": {
        "deal": ("shoes.deal", _SAME_SHOE),
        "resume": ("shoes.show_state", _SAME_SHOE),
    },
    "shoes.deal": {
        "deal on": ("shoes.deal", _SAME_SHOE),
        "read the coup again": ("shoes.show_coup", {**_SAME_SHOE, "number": "$response.body#/number"}),
        "read all coups": ("shoes.show_coups", _SAME_SHOE),
        "draw the roads": ("shoes.show_roads", _SAME_SHOE),
        "take the bundle": ("bundles.show_bundle", _SAME_SHOE),
        "reveal": ("shoes.reveal", _SAME_SHOE),
    },
    "shoes.void": {
        "read its records": ("shoes.show_records", _SAME_SHOE),
        "take the bundle": ("bundles.show_bundle", _SAME_SHOE),
    },
}


def links_from(operation: str, operations: Container[str]) -> dict[str, Any]:
    """Describe the links from an operation's answer to those operations that there are."""
    return {
        name.replace(" ", "_"): {
            "operationId": target,
            "parameters": dict(parameters),
            "description": f"{name.capitalize()}.",
        }
        for name, (target, parameters) in _LINKS.get(operation, {}).items()
        if target in operations
    }


def linked() -> set[str]:
    """Name every operation that a link begins or ends at."""
    return {*_LINKS, *(target for links in _LINKS.values() for target, _ in links.values())}
