"""Schemas of bodies, queries and answers, from the models that read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from api.payloads import NoBody, NoQuery, Payload

Schema = dict[str, Any]

PREFIX: Final = "#/components/schemas/"
_NULL: Final = {"type": "null"}


class _Plain(GenerateJsonSchema):
    """Leaves out titles that only repeat a field's name, and defaults that are null, which is absence."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def default_schema(self, schema: Any) -> Schema:
        found = super().default_schema(schema)
        if found.get("default", ...) is None:
            del found["default"]
        return found


def schemas_of(models: Iterable[type[Payload]]) -> dict[str, Schema]:
    """Give every model's schema, and those of the models inside, by name."""
    wanted = [(model, "validation") for model in models]
    _, found = models_json_schema(
        wanted,  # type: ignore[arg-type]
        ref_template=f"{PREFIX}{{model}}",
        schema_generator=_Plain,
    )
    return dict(sorted(found["$defs"].items()))


def reference(model: type[Payload]) -> Schema:
    """Refer to a model's schema."""
    return {"$ref": PREFIX + model.__name__}


def takes_body(model: type[Payload]) -> bool:
    """Say whether a step takes anything."""
    return model is not NoBody


def query_parameters(model: type[Payload]) -> list[Schema]:
    """List a query's parameters; what is null where it is absent has the schema of what it is where it is there."""
    if model is NoQuery:
        return []
    schema = model.model_json_schema(schema_generator=_Plain)
    required = schema.get("required", [])
    return [_query_parameter(name, found, name in required) for name, found in schema["properties"].items()]


def _query_parameter(name: str, schema: Schema, required: bool) -> Schema:
    description = schema.get("description", "")
    present = [each for each in schema.get("anyOf", ()) if each != _NULL]
    shown = present[0] if len(present) == 1 else schema
    shown = {key: value for key, value in shown.items() if key != "description"}
    return {"name": name, "in": "query", "required": required, "description": description, "schema": shown}
