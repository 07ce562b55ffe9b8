"""The document: all operations, the schemas that they refer to, and who may use them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from api.answers import ProblemAnswer
from api.openapi.examples import Examples, read_examples
from api.openapi.operations import describe
from api.openapi.places import header_components
from api.openapi.problems import kinds_of, problem_examples, problem_response, response_name
from api.openapi.schemas import schemas_of
from api.payloads import Payload
from api.refusals import Kind
from api.routes.endpoint import Endpoint

OPENAPI: Final = "3.1.1"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TITLE: Final = "fairshoe"
_ABOUT: Final = """\
Shoes of baccarat that anyone can check: what was fixed before the bets, and that each card came as it was fixed.

Reading needs no credential. An API key or a seat's token goes into `Authorization: Bearer`. Every write that puts a
record into the log answers with a receipt, to be kept and checked offline. Every refusal is a problem as RFC 9457 has
it, with a stable `type`, and in `next` what to do about it. Ids are strings that sort by time, times are UTC, reals
are decimal text. A list's `next` goes into `after` for its next page."""
_SECURITY: Final = {
    "key": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "fsk_…",
        "description": "An API key, made by POST /v1/keys with the roles it has: client, operator, regulator.",
    },
    "seat": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "fst_…",
        "description": "A seat's token, made by POST /v1/tables/{table_id}/seats: the role player at one table.",
    },
}


def make_document(endpoints: Mapping[str, Endpoint], version: str, examples: Examples | None = None) -> dict[str, Any]:
    """Describe endpoints by their names as OpenAPI 3.1; `examples` are the program's own without others."""
    shown = read_examples() if examples is None else examples
    paths: dict[str, dict[str, Any]] = {}
    for name, endpoint in endpoints.items():
        operation = describe(name, endpoint, shown, endpoints)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    refusals = _refusals(endpoints.values())
    return {
        "openapi": OPENAPI,
        "jsonSchemaDialect": DIALECT,
        "info": {
            "title": _TITLE,
            "version": version,
            "summary": "Provably fair shoes of baccarat, over HTTP.",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The service that serves this document."}],
        "tags": _tags(endpoints.values()),
        "paths": paths,
        "components": {
            "schemas": schemas_of(_models(endpoints.values())),
            "headers": header_components(),
            "securitySchemes": _SECURITY,
            "responses": {name: problem_response(kinds, shown.problems) for name, kinds in refusals.items()},
            "examples": problem_examples({kind for kinds in refusals.values() for kind in kinds}, shown.problems),
        },
    }


def _tags(endpoints: Iterable[Endpoint]) -> list[dict[str, str]]:
    """Say of each tag what the module of its routes says of itself."""
    modules = {endpoint.tag: endpoint.view.__module__ for endpoint in endpoints}
    return [
        {"name": tag, "description": (sys.modules[module].__doc__ or "").strip()} for tag, module in modules.items()
    ]


def _models(endpoints: Iterable[Endpoint]) -> list[type[Payload]]:
    found: dict[type[Payload], None] = {ProblemAnswer: None}
    for endpoint in endpoints:
        if endpoint.method == "POST":
            found[endpoint.body] = None
        found |= {answer: None for answer in endpoint.answers.values() if isinstance(answer, type)}
    return list(found)


def _refusals(endpoints: Iterable[Endpoint]) -> dict[str, list[Kind]]:
    found = [kinds for endpoint in endpoints for kinds in kinds_of(endpoint).values()]
    return dict(sorted({response_name(kinds): kinds for kinds in found}.items()))
