"""Proofs and entries of the log."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from api.answers.terms import LogIndex, LogSize, Path
from api.payloads import Payload
from shoe.proof.canonical import MAX_INTEGER
from shoe.proof.records import record_schemas


class Inclusion(Payload):
    """The audit path of a leaf in the tree of a size (RFC 6962)."""

    index: LogIndex
    size: LogSize
    path: Path


class Consistency(Payload):
    """The path that shows the log of one size to begin with the log of an older (RFC 6962)."""

    old: Annotated[int, Field(ge=0, lt=MAX_INTEGER, description="The older size.")]
    new: Annotated[int, Field(ge=1, lt=MAX_INTEGER, description="The newer size.")]
    path: Annotated[Path, Field(description="The consistency path between the two.")]


class RecordAnswer(Payload):
    """One record's bytes as they lie in the log: one of the record types of protocol §8."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Give the published schemas of all record types (shoe/schemas)."""
        return {
            "title": "RecordAnswer",
            "description": (cls.__doc__ or "").strip(),
            "anyOf": [{"title": f"record {name}", **schema} for name, schema in record_schemas().items()],
        }
