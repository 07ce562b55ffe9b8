"""What an endpoint may refuse: its own kinds of problem, and those that any endpoint of its sort has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from api.answers import ProblemAnswer
from api.openapi.places import headers_of
from api.openapi.schemas import reference, takes_body
from api.problems import (
    BAD_REQUEST,
    INTERNAL,
    INVALID,
    MALFORMED_JSON,
    MEDIA_TYPE,
    MEDIA_TYPE_WRONG,
    PROOF_FAILED,
    TOO_LARGE,
)
from api.refusals import (
    FORBIDDEN,
    KEY_MISSING,
    KEY_REUSED,
    NOT_FOUND,
    OUTCOME_UNKNOWN,
    RATE_LIMITED,
    READ_ONLY,
    STORE_UNAVAILABLE,
    UNAUTHENTICATED,
    Kind,
)
from api.routes.endpoint import Endpoint

_ANY: Final = (BAD_REQUEST, UNAUTHENTICATED, INVALID, RATE_LIMITED, INTERNAL, STORE_UNAVAILABLE, READ_ONLY)
_OF_BODIES: Final = (MALFORMED_JSON, TOO_LARGE, MEDIA_TYPE_WRONG)


def kinds_of(endpoint: Endpoint) -> dict[int, list[Kind]]:
    """Give every kind of problem that an endpoint can answer with, by status."""
    kinds = [*_ANY, *endpoint.refuses]
    if endpoint.access:
        kinds.append(FORBIDDEN)
    if "{" in endpoint.path:
        kinds.append(NOT_FOUND)
    if endpoint.method == "POST":
        kinds += _OF_BODIES
    if takes_body(endpoint.body):
        kinds.append(PROOF_FAILED)
    if endpoint.claimed is not None:
        kinds += (KEY_REUSED, OUTCOME_UNKNOWN)
    if endpoint.claimed == "must":
        kinds.append(KEY_MISSING)
    found: defaultdict[int, list[Kind]] = defaultdict(list)
    for kind in dict.fromkeys(kinds):
        found[kind.status].append(kind)
    return dict(sorted(found.items()))


def response_name(kinds: list[Kind]) -> str:
    """Name the refusal of one status: endpoints that refuse alike share its description."""
    return ".".join((str(kinds[0].status), *(kind.slug for kind in kinds)))


def problem_response(kinds: list[Kind], examples: dict[str, Any]) -> dict[str, Any]:
    """Describe a refusal of one status: which types it can have, and an example of each that there is one of."""
    status = kinds[0].status
    schema = {
        **reference(ProblemAnswer),
        "properties": {"type": {"enum": [kind.type for kind in kinds]}, "status": {"const": status}},
    }
    shown = {kind.slug: {"$ref": f"#/components/examples/{kind.slug}"} for kind in kinds if kind.slug in examples}
    return {
        "description": "; ".join(f"{kind.title} (`{kind.slug}`)" for kind in kinds) + ".",
        "headers": headers_of(status),
        "content": {MEDIA_TYPE: {"schema": schema, **({"examples": shown} if shown else {})}},
    }


def problem_examples(kinds: Iterable[Kind], examples: dict[str, Any]) -> dict[str, Any]:
    """Give an example of each kind that there is one of."""
    return {
        kind.slug: {"summary": kind.title, "value": examples[kind.slug]}
        for kind in sorted(kinds, key=lambda kind: kind.slug)
        if kind.slug in examples
    }
