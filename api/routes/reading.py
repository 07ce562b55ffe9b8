"""What a request carries: its body and its query as models, and the numbers in its address."""

from __future__ import annotations

from typing import TypeVar

from flask import request
from gunicorn.http.errors import ParseException
from pydantic import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from api.payloads import Payload
from api.problems import BAD_REQUEST, INVALID, MALFORMED_JSON, MEDIA_TYPE_WRONG
from api.refusals import Refusal
from shoe.errors import CanonicalError, NoteError
from shoe.proof.canonical import load_json
from shoe.proof.note import parse_decimal

P = TypeVar("P", bound=Payload)


def read_body(model: type[P]) -> P:
    """Read the request's body as a model; no body at all is ``{}``.

    Raises Refusal: 400 for what isn't strict JSON or does not come whole, 415 for another media type, 422 for what the
    model refuses. No refusal shows a value of the body, which may be a player's seed.
    """
    try:
        text = request.get_data()
    except (OSError, ParseException):
        # So gunicorn says that the caller left, or sent chunks that are none.
        raise Refusal(BAD_REQUEST, "The body ended early, or its chunks are not in the form of HTTP.") from None
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
