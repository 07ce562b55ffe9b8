"""The interface described: as an OpenAPI document for programs, as a page for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from flask import Response, current_app

from api.access import ANYONE
from api.answers import OpenApiAnswer
from api.openapi import make_document
from api.openapi.page import page_policy, print_page
from api.routes.endpoint import Resource, endpoints_of
from api.routes.exchange import keep

blueprint = Resource("documents")

_DOCUMENTS: Final = "fairshoe documents"
_ASK_AGAIN: Final = "no-cache"


@dataclass(frozen=True, slots=True)
class Documents:
    """What describes the interface, made once an application, at the first request for it."""

    openapi: str
    page: str
    policy: str


@blueprint.get("/openapi.json", access=ANYONE, answers={200: OpenApiAnswer}, kept=True)
def show_openapi() -> Response:
    """Give the OpenAPI 3.1 document of this interface."""
    return keep(Response(_documents().openapi, content_type="application/json"), _ASK_AGAIN)


@blueprint.get("/docs", access=ANYONE, answers={200: "text/html"}, kept=True)
def show_page() -> Response:
    """Give the same as a page to read: every operation, with real answers."""
    documents = _documents()
    response = Response(documents.page, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = documents.policy
    return keep(response, _ASK_AGAIN)


def _documents() -> Documents:
    kept: Documents | None = current_app.extensions.get(_DOCUMENTS)
    if kept is None:
        document = make_document(endpoints_of(current_app), version("fairshoe"))
        kept = Documents(json.dumps(document, ensure_ascii=False), print_page(document), page_policy())
        current_app.extensions[_DOCUMENTS] = kept
    return kept
