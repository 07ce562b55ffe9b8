"""What all routes share: the guard before them, bodies and queries in, answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from flask import Flask, Response, current_app, request
from pydantic import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from api.claims import Answer, Claim, claim_of
from api.payloads import Payload
from api.problems import INVALID, MALFORMED_JSON, MEDIA_TYPE_WRONG
from api.refusals import Refusal, no_such
from api.service import Service
from api.settings import Settings
from api.writing import Finish, Step, Writing
from shoe.errors import CanonicalError, NoteError
from shoe.proof.canonical import load_json
from shoe.proof.note import parse_decimal
from shoe.proof.tlog import Receipt, print_receipt

SERVICE: Final = "fairshoe"
VERIFY_PATH: Final = "/v1/verify"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}

P = TypeVar("P", bound=Payload)
T = TypeVar("T")


def service() -> Service:
    """The installation that the running application serves."""
    return cast(Service, current_app.extensions[SERVICE])


def guard(app: Flask, settings: Settings) -> None:
    """Put what goes before every request, and on every answer, into its one place."""

    @app.before_request
    def admit() -> None:
        if "\0" in request.path:
            # No database keeps such an id, and PostgreSQL would not even be asked for it.
            raise no_such("address", request.path)
        if request.path == VERIFY_PATH:
            request.max_content_length = settings.verify_limit

    @app.after_request
    def secure(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


def read_body(model: type[P]) -> P:
    """Read the request's body as a model; no body at all is ``{}``.

    Raises Refusal: 400 for what isn't strict JSON, 415 for another media type, 422 for what the model refuses. No
    refusal shows a value of the body, which may be a player's seed.
    """
    text = request.get_data()
    # Werkzeug cuts a body without a declared length off at the limit, and would pass on a part of it.
    if request.content_length is None and len(text) == request.max_content_length:
        raise RequestEntityTooLarge
    if not text:
        return _validate(model, {})
    if request.mimetype != "application/json":
        raise Refusal(MEDIA_TYPE_WRONG, f"The body is declared as {request.mimetype[:80] or 'nothing'!r}.")
    try:
        value = load_json(text)
    except CanonicalError as error:
        raise Refusal(MALFORMED_JSON, f"body: {error}") from None
    return _validate(model, value)


def read_query(model: type[P]) -> P:
    """Read the query of the request's address as a model; raises Refusal for a key that is unknown or comes twice."""
    pairs = list(request.args.items(multi=True))
    if len(dict(pairs)) != len(pairs):
        raise Refusal(INVALID, "query: expected each key once, got one twice")
    if any("\0" in text for pair in pairs for text in pair):
        raise Refusal(INVALID, "query: expected text, got a character U+0000")
    return _validate(model, dict(pairs))


def _validate(model: type[P], value: object) -> P:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise Refusal(INVALID, "; ".join(f"{_place(each['loc'])}: {each['msg']}" for each in found[:10])) from None


def _place(path: tuple[int | str, ...]) -> str:
    return ".".join(map(str, path))[:80] or "the document"


def read_number(text: str) -> int | None:
    """Read a number in an address's path; None for what is no plain decimal number, which names nothing."""
    try:
        return parse_decimal(text, "number")
    except NoteError:
        return None


def read_cursor(after: str | None) -> int:
    """Read the cursor of a numbered list: the number of the last item seen, −1 before the first."""
    return -1 if after is None else parse_decimal(after, "after")


def page(name: str, items: list[dict[str, Any]], limit: int, key: str) -> dict[str, Any]:
    """Print a page of a list: its items, and in `next` the cursor for what follows, null where nothing can."""
    return {name: items, "next": str(items[-1][key]) if len(items) == limit else None}


def answer(value: Mapping[str, Any], status: int = 200, *, immutable: bool = False) -> Response:
    """Answer with JSON; `immutable` is for what can never change, and lets a caller keep it and ask again by ETag."""
    response = Response(json.dumps(value), status, content_type="application/json")
    return keep(response) if immutable else response


def answer_text(text: str | bytes, media_type: str = "text/plain") -> Response:
    """Answer with a text as it stands."""
    return Response(text, mimetype=media_type)


def keep(response: Response) -> Response:
    """Mark an answer as one that never changes."""
    response.headers["Cache-Control"] = _IMMUTABLE
    response.add_etag()
    response.make_conditional(request)
    return response


def commit(step: Step[T], show: Callable[[T], Mapping[str, Any]], shoe: str | None = None) -> Response:
    """Run a use case's step and answer 201 with what `show` makes of its result, once that is durable.

    A request with an Idempotency-Key that was used is answered as the first time: claim, effect and answer are one
    transaction. Raises what the step raises.
    """

    def answered(writing: Writing) -> Finish[Answer]:
        finish = step(writing)
        return lambda receipts: Answer(201, json.dumps(show(finish(receipts))).encode())

    made = service().answer(answered, _read_claim(), shoe)
    return Response(made.body, made.status, content_type="application/json")


def _read_claim() -> Claim | None:
    key = request.headers.get("Idempotency-Key")
    return None if key is None else claim_of(key, f"{request.method} {request.path}\n".encode() + request.get_data())


def print_logged(receipt: Receipt, **further: Any) -> dict[str, Any]:
    """Print what every write of a record answers: the record, its log index, its receipt, and what else there is."""
    return {
        "record": receipt.record.decode(),
        "index": receipt.proof.index,
        "receipt": print_receipt(receipt),
        **further,
    }


def print_hashes(hashes: tuple[bytes, ...]) -> list[str]:
    """Print hashes, such as a path's, as hex."""
    return [found.hex() for found in hashes]
