"""Write the published JSON Schemas, `shoe/schemas/*.schema.json`, from the classes that read records and bundles.

python -m tests.write_schemas
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shoe.game.bets.schema import with_terms
from shoe.proof.bundle import bundle_schema
from shoe.proof.forms import schema_of
from shoe.proof.records import BetLine, record_schemas
from shoe.proof.seal import RULES_SCHEMA

FOLDER = Path(__file__).parents[1] / "shoe" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Every published schema by the stem of its file name."""
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        f"record-{name}": (f"fairshoe/1 record: {name}", schema) for name, schema in record_schemas().items()
    }
    bodies["bundle"] = ("fairshoe bundle, version 1", bundle_schema())
    bodies["bet-line"] = ("fairshoe/1 bet line, a leaf of bets_root", schema_of(BetLine))
    bodies["rules"] = ("fairshoe/1 rules of a table", RULES_SCHEMA)
    bodies["table-rules"] = ("rules of a table with its terms", with_terms(RULES_SCHEMA))
    return {
        stem: {"$schema": DIALECT, "$id": f"urn:fairshoe:schema:{stem.replace('record-', 'record:')}", "title": title}
        | body
        for stem, (title, body) in bodies.items()
    }


def printed() -> dict[str, str]:
    """The text of every file by its name."""
    return {f"{stem}.schema.json": json.dumps(schema, indent=1) + "\n" for stem, schema in schemas().items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in printed().items():
        (FOLDER / name).write_text(text)
