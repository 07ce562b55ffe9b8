"""Problems: every refusal as RFC 9457 ``application/problem+json``, with a stable type and what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from flask import Flask, Response
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from api.db.sessions import OutcomeUnknown, out_of_reach
from api.refusals import NOT_FOUND, OUTCOME_UNKNOWN, READ_ONLY, RETRY_AFTER_S, STORE_UNAVAILABLE, Kind, Refusal
from api.settings import SetupError
from shoe.errors import InputError, ProofError

MEDIA_TYPE: Final = "application/problem+json"
_KEPT_HEADERS: Final = ("Allow", "Retry-After")
_WORTH_WAITING: Final = (429, 503)
_MEND: Final = "Correct what the detail names and send the request again."

MALFORMED_JSON: Final = Kind("malformed-json", 400, "The body is not JSON as this service reads it", _MEND)
BAD_REQUEST: Final = Kind("bad-request", 400, "The request can't be read", _MEND)
METHOD_NOT_ALLOWED: Final = Kind(
    "method-not-allowed", 405, "The address does not take this method", "Use a method that the header Allow names."
)
TOO_LARGE: Final = Kind("too-large", 413, "The body is too large", "Send a smaller body.")
MEDIA_TYPE_WRONG: Final = Kind(
    "unsupported-media-type", 415, "The body is not declared as JSON", "Send Content-Type: application/json."
)
INVALID: Final = Kind("invalid", 422, "The request is well formed, but a value in it is not allowed", _MEND)
PROOF_FAILED: Final = Kind("proof-failed", 422, "What was handed in proves something else than claimed", _MEND)
INTERNAL: Final = Kind(
    "internal",
    500,
    "The service failed",
    "Read where things stand before trying again; the operator finds the cause in the service's own log.",
)
_BY_STATUS: Final = {
    kind.status: kind for kind in (BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, TOO_LARGE, MEDIA_TYPE_WRONG)
}


def register_problems(app: Flask) -> None:
    """Let every error that leaves a route be answered as a problem; an unforeseen one is logged, never shown."""
    app.register_error_handler(Refusal, lambda error: problem(error.kind, str(error), error.retry_after_s))
    app.register_error_handler(InputError, lambda error: problem(INVALID, str(error)))
    app.register_error_handler(ProofError, lambda error: problem(PROOF_FAILED, str(error)))
    app.register_error_handler(SetupError, _unfit(app))
    app.register_error_handler(OutcomeUnknown, _unavailable(app, OUTCOME_UNKNOWN))
    app.register_error_handler(PoolTimeout, _unavailable(app, STORE_UNAVAILABLE))
    app.register_error_handler(DBAPIError, _failed_store(app))
    app.register_error_handler(HTTPException, _answer_http)
    app.register_error_handler(Exception, _unforeseen(app))


def problem(kind: Kind, detail: str, retry_after_s: int = RETRY_AFTER_S) -> Response:
    """Print a problem; where waiting may help, with the seconds to wait."""
    body = {"type": kind.type, "title": kind.title, "status": kind.status, "detail": detail, "next": kind.next}
    headers = {"Retry-After": str(retry_after_s)} if kind.status in _WORTH_WAITING else {}
    if kind.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="fairshoe"'
    return Response(json.dumps(body), kind.status, headers, content_type=MEDIA_TYPE)


def _answer_http(error: HTTPException) -> Response:
    status = error.code or INTERNAL.status
    unnamed = Kind(f"http-{status}", status, error.name, _MEND)
    response = problem(_BY_STATUS.get(status, unnamed), f"{status} {error.name}.")
    for name, value in error.get_headers():
        if name in _KEPT_HEADERS:
            response.headers[name] = value
    return response


def _failed_store(app: Flask) -> Callable[[DBAPIError], Response]:
    unavailable, unforeseen = _unavailable(app, STORE_UNAVAILABLE), _unforeseen(app)
    return lambda error: unavailable(error) if out_of_reach(error) else unforeseen(error)


def _unfit(app: Flask) -> Callable[[SetupError], Response]:
    def answer(error: SetupError) -> Response:
        app.logger.error("%s", error)
        return problem(READ_ONLY, f"{error}.")

    return answer


def _unavailable(app: Flask, kind: Kind) -> Callable[[Exception], Response]:
    def answer(error: Exception) -> Response:
        app.logger.error("%s: %s", kind.title, error)
        return problem(kind, f"{kind.title}.")

    return answer


def _unforeseen(app: Flask) -> Callable[[Exception], Response]:
    def answer(error: Exception) -> Response:
        app.logger.error("a request failed", exc_info=error)
        return problem(INTERNAL, "An error that was not foreseen.")

    return answer
