"""Operations: one endpoint's entry in the document."""

from __future__ import annotations

from collections.abc import Container
from http import HTTPStatus
from typing import Any, Final

from pydantic import ValidationError

from api.access import Role
from api.openapi.examples import Example, Examples
from api.openapi.links import links_from
from api.openapi.places import IDEMPOTENCY_KEY, IF_NONE_MATCH, headers_of, path_parameters
from api.openapi.problems import kinds_of, response_name
from api.openapi.schemas import query_parameters, reference
from api.payloads import Payload
from api.refusals import UNAUTHENTICATED
from api.routes.endpoint import Endpoint

_SCHEMES: Final[dict[Role, str]] = {"player": "seat", "client": "key", "operator": "key", "regulator": "key"}
RESPONSES: Final = "#/components/responses/"
_OK: Final = {200: "What was asked for.", 201: "It is done, and durable."}


def describe(name: str, endpoint: Endpoint, examples: Examples, operations: Container[str]) -> dict[str, Any]:
    """Describe an endpoint by its name; `operations` are the names of all, for links."""
    example = examples.of(name)
    found: dict[str, Any] = {
        "operationId": name,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "description": _description(endpoint),
        "security": _security(endpoint),
        "parameters": _parameters(endpoint, example),
    }
    if endpoint.method == "POST":
        found["requestBody"] = _body(endpoint, example)
    found["responses"] = {str(status): response for status, response in _responses(name, endpoint, example, operations)}
    return found


def is_kept(endpoint: Endpoint) -> bool:
    """Say whether an endpoint's answer may be asked for again by its tag."""
    json = any(isinstance(answer, type) for answer in endpoint.answers.values())
    return endpoint.method == "GET" and (json or endpoint.kept)


def _description(endpoint: Endpoint) -> str:
    who = " or ".join(sorted(endpoint.access)) or "anyone"
    return f"{endpoint.description}\n\nAccess: {who}."


def _security(endpoint: Endpoint) -> list[dict[str, list[str]]]:
    if endpoint.access:
        return [{_SCHEMES[role]: [role]} for role in sorted(endpoint.access)]
    if UNAUTHENTICATED in endpoint.refuses:
        return [{}, {"key": []}, {"seat": []}]
    return []


def _parameters(endpoint: Endpoint, example: Example) -> list[dict[str, Any]]:
    found = [*path_parameters(endpoint.path), *query_parameters(endpoint.query)]
    for parameter in found:
        kept = (example.path if parameter["in"] == "path" else example.query).get(parameter["name"])
        if kept is not None:
            parameter["example"] = kept
    if endpoint.claimed is not None:
        found.append({**IDEMPOTENCY_KEY, "required": endpoint.claimed == "must"})
    if is_kept(endpoint):
        found.append(dict(IF_NONE_MATCH))
    return found


def _body(endpoint: Endpoint, example: Example) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": reference(endpoint.body)}
    if example.body is not None:
        content["example"] = example.body
    return {
        "description": (endpoint.body.__doc__ or "").strip(),
        "required": not _takes_nothing(endpoint.body),
        "content": {"application/json": content},
    }


def _takes_nothing(body: type[Payload]) -> bool:
    try:
        body.model_validate({})
    except ValidationError:
        return False
    return True


def _responses(
    name: str, endpoint: Endpoint, example: Example, operations: Container[str]
) -> list[tuple[int, dict[str, Any]]]:
    found: list[tuple[int, dict[str, Any]]] = []
    for status, answer in endpoint.answers.items():
        shown = example.answer if status == example.status else None
        links = links_from(name, operations)
        found.append(
            (
                status,
                {
                    "description": _OK.get(status, HTTPStatus(status).phrase),
                    "headers": headers_of(status),
                    "content": _content(answer, shown),
                    **({"links": links} if links else {}),
                },
            )
        )
    if is_kept(endpoint):
        found.append((304, {"description": "What the caller holds has not changed.", "headers": headers_of(304)}))
    refused = kinds_of(endpoint)
    found += [(status, {"$ref": RESPONSES + response_name(kinds)}) for status, kinds in refused.items()]
    return found


def _content(answer: type[Payload] | str | tuple[str, ...], example: Any) -> dict[str, Any]:
    shown = {} if example is None else {"example": example}
    if isinstance(answer, tuple) and len(answer) > 1:
        return {media: {**_form(media), **(shown if media == "application/json" else {})} for media in answer}
    if isinstance(answer, type):
        return {"application/json": {"schema": reference(answer), **shown}}
    media = answer if isinstance(answer, str) else answer[0]
    return {media: {**_form(media), **shown}}


def _form(media: str) -> dict[str, Any]:
    """Say what an answer by its media type alone is: a text, any object, or bytes."""
    if media.startswith("text/"):
        return {"schema": {"type": "string"}}
    return {"schema": {"type": "object"}} if media == "application/json" else {}
