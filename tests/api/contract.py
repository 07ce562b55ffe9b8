"""The contract: every answer that a test's application gives is compared with the OpenAPI document of it.

`watch` puts the comparison around an application. What does not keep the document raises where the answer is given, in
the test that asked. Schemas are compiled once a process; an answer of 2 kB costs some 50 µs beside the 1–5 ms that its
request takes, so that nothing is sampled but what is very long.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import jsonschema_rs
from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from api.openapi import make_document
from api.openapi.operations import RESPONSES
from api.routes.endpoint import endpoints_of

LONG = 2**17
LONG_ONES = 8
"""Of answers longer than that, so many of each operation are validated in a process."""

ON_ANY_ANSWER = frozenset(
    {
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-allow-origin",
        "access-control-expose-headers",
        "access-control-max-age",
        "allow",
        "connection",
        "content-length",
        "content-security-policy",
        "content-type",
        "cross-origin-resource-policy",
        "date",
        "referrer-policy",
        "server",
        "x-content-type-options",
        "x-frame-options",
    }
)
"""What HTTP itself and the browser's protection put on answers, which no operation speaks of."""

Problem = "application/problem+json"


class BrokenContract(AssertionError):
    """An answer that the document does not allow."""


class Contract:
    """A document made ready for comparing: its responses resolved, its schemas compiled when they are first met."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.components = document["components"]
        self.responses: dict[str, dict[str, Any]] = {}
        for operations in document["paths"].values():
            for operation in operations.values():
                self.responses[operation["operationId"]] = {
                    status: self._resolved(response) for status, response in operation["responses"].items()
                }
        self._headers = {
            name.lower(): (header.get("required", False), self.validator(header["schema"]))
            for name, header in self.components["headers"].items()
        }
        self._of_problems = self.validator({"$ref": "#/components/schemas/ProblemAnswer"})
        self._validators: dict[tuple[str, str, str], Any] = {}
        self._long: Counter[str] = Counter()

    def validator(self, schema: Mapping[str, Any]) -> Any:
        """Compile a schema of the document."""
        root = {**schema, "components": {"schemas": self.components["schemas"]}}
        return jsonschema_rs.validator_for(root, validate_formats=True)

    def check(self, operation: str | None, method: str, status: int, headers: Headers, body: bytes | None) -> None:
        """Compare an answer to an operation; None for an address that is none. `body` is None where nobody read it."""
        if operation is None:
            self._check_elsewhere(status, headers, body, method)
            return
        where = f"{method} {operation} {status}"
        response = self.responses[operation].get(str(status))
        if response is None:
            raise BrokenContract(f"{where}: the document does not know this status: {_shown(body)}")
        self._check_headers(where, response, headers)
        content, media = response.get("content", {}), headers.get("Content-Type", "").partition(";")[0]
        if method == "HEAD":
            return
        if not content:
            if body:
                raise BrokenContract(f"{where}: expected no body, got {_shown(body)}")
            return
        if media not in content:
            raise BrokenContract(f"{where}: expected {' or '.join(content)}, got {media or 'no media type'}")
        if media.endswith("json") and body is not None and self._looked_at(where, body):
            self._check_body(where, self._validator(operation, status, media, content[media]), body)

    def _resolved(self, response: Mapping[str, Any]) -> Any:
        name = response.get("$ref")
        return response if name is None else self.components["responses"][name.removeprefix(RESPONSES)]

    def _validator(self, operation: str, status: int, media: str, content: Mapping[str, Any]) -> Any:
        key = operation, str(status), media
        if key not in self._validators:
            self._validators[key] = self.validator(content["schema"])
        return self._validators[key]

    def _looked_at(self, where: str, body: bytes) -> bool:
        if len(body) <= LONG:
            return True
        self._long[where] += 1
        return self._long[where] <= LONG_ONES

    def _check_headers(self, where: str, response: Mapping[str, Any], headers: Headers) -> None:
        declared = {name.lower() for name in response["headers"]}
        given = {name.lower(): value for name, value in headers}
        strange = given.keys() - declared - ON_ANY_ANSWER
        if strange:
            raise BrokenContract(f"{where}: headers that the document does not know: {', '.join(sorted(strange))}")
        for name in declared:
            required, validator = self._headers[name]
            if name in given and not validator.is_valid(given[name]):
                raise BrokenContract(f"{where}: the header {name} is {given[name]!r}")
            if required and name not in given:
                raise BrokenContract(f"{where}: the header {name} is missing")

    def _check_elsewhere(self, status: int, headers: Headers, body: bytes | None, method: str) -> None:
        where = f"{method} elsewhere {status}"
        if headers.get("Content-Type") != Problem:
            raise BrokenContract(f"{where}: expected a problem, got {headers.get('Content-Type')}")
        if method != "HEAD" and body is not None:
            self._check_body(where, self._of_problems, body)

    @staticmethod
    def _check_body(where: str, validator: Any, body: bytes) -> None:
        value = json.loads(body)
        if validator.is_valid(value):
            return
        found = next(iter(validator.iter_errors(value)))
        path = "/".join(map(str, found.instance_path))
        raise BrokenContract(f"{where}: {path}: {found.message[:500]}")


_MADE: dict[tuple[str, ...], Contract] = {}


def contract_of(app: Flask) -> Contract:
    """The contract of an application, made once for all that have the same endpoints."""
    endpoints = endpoints_of(app)
    names = tuple(endpoints)
    if names not in _MADE:
        _MADE[names] = Contract(make_document(endpoints, "0"))
    return _MADE[names]


class Watch:
    """A WSGI application around another's, which compares what that answers before it passes it on."""

    def __init__(self, app: Flask, inner: WSGIApplication) -> None:
        self._app, self._inner, self._contract = app, inner, contract_of(app)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answered: list[tuple[str, Headers]] = []

        def put_down(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
            answered[:] = [(status, Headers(headers))]
            return start_response(status, headers, error)

        pieces = self._inner(environ, put_down)
        operation = self._operation(environ)
        status, headers = answered[0]
        body = None
        if "json" in headers.get("Content-Type", "") or "Content-Type" not in headers:
            body = b"".join(pieces)
            if hasattr(pieces, "close"):
                pieces.close()
            pieces = [body]
        if environ["REQUEST_METHOD"] != "OPTIONS" and operation != "":
            self._contract.check(operation, environ["REQUEST_METHOD"], int(status[:3]), headers, body)
        return pieces

    def _operation(self, environ: WSGIEnvironment) -> str | None:
        """The operation asked for: None where there is none, empty for a route that only a test has."""
        try:
            endpoint, _ = self._app.url_map.bind_to_environ(environ).match()
        except HTTPException:
            return None
        return endpoint if endpoint in self._contract.responses else ""


def watch(app: Flask) -> None:
    """Compare every answer of an application from now on."""
    app.wsgi_app = Watch(app, app.wsgi_app)  # type: ignore[method-assign]


def _shown(body: bytes | None) -> str:
    return (body or b"")[:300].decode(errors="replace")
