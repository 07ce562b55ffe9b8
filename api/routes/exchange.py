"""What all routes share: the service they ask, and answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from flask import Response, current_app, g, request

from api.access import Principal
from api.claims import Answer, Claim, claim_of
from api.problems import MEDIA_TYPE, problem
from api.refusals import Refusal
from api.service import Service
from api.writing import Finish, Step, Writing
from shoe.proof.note import parse_decimal
from shoe.proof.tlog import Receipt, print_receipt

SERVICE: Final = "fairshoe"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"

T = TypeVar("T")


def service() -> Service:
    """The installation that the running application serves."""
    return cast(Service, current_app.extensions[SERVICE])


def principal() -> Principal:
    """Who sent the request, as the guard found."""
    return cast(Principal, g.principal)


def read_cursor(after: str | None) -> int:
    """Read the cursor of a numbered list: the number of the last item seen, −1 before the first."""
    return -1 if after is None else parse_decimal(after, "after")


def page(name: str, items: list[dict[str, Any]], limit: int, key: str) -> dict[str, Any]:
    """Print a page of a list: its items, and in `next` the cursor for what follows, null where nothing can."""
    return {name: items, "next": str(items[-1][key]) if len(items) == limit else None}


def answer(value: Mapping[str, Any], *, immutable: bool = False) -> Response:
    """Answer with JSON that a caller may keep: for good where `immutable`, else to ask by ETag whether it changed."""
    response = Response(json.dumps(value), content_type="application/json")
    return keep(response, _IMMUTABLE if immutable else _ASK_AGAIN)


def answer_privately(value: Mapping[str, Any]) -> Response:
    """Answer with JSON that is for the caller alone: to be kept by nobody between, and not at all where posted for."""
    response = Response(json.dumps(value), content_type="application/json")
    return response if request.method == "POST" else keep(response, f"private, {_ASK_AGAIN}")


def answer_text(text: str | bytes, media_type: str = "text/plain") -> Response:
    """Answer with a text as it stands."""
    return Response(text, mimetype=media_type)


def keep(response: Response, control: str = _IMMUTABLE) -> Response:
    """Mark an answer as one that a caller may keep, and answer 304 to one that has it; without `control`, for good."""
    response.headers["Cache-Control"] = control
    response.add_etag()
    response.make_conditional(request)
    return response


def commit(step: Step[T | Refusal], show: Callable[[T], Mapping[str, Any]], shoe: str | None = None) -> Response:
    """Run a use case's step and answer 201 with what `show` makes of its result, once that is durable.

    A result that is a Refusal is answered as one: what the step did stays done, such as the count of a wrong PIN. A
    request with an Idempotency-Key that was used is answered as the first time: claim, effect and answer are one
    transaction. Raises what the step raises, which has done nothing then.
    """

    def answered(writing: Writing) -> Finish[Answer]:
        finish = step(writing)
        return lambda receipts: _print(finish(receipts), show)

    made = service().answer(answered, _read_claim(), shoe, g.caller)
    return Response(made.body, made.status, content_type="application/json" if made.status == 201 else MEDIA_TYPE)


def _print(result: T | Refusal, show: Callable[[T], Mapping[str, Any]]) -> Answer:
    if isinstance(result, Refusal):
        return Answer(result.kind.status, problem(result.kind, str(result)).get_data())
    return Answer(201, json.dumps(show(result)).encode())


def _read_claim() -> Claim | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    asked = f"{request.method} {request.path}\n".encode() + request.get_data()
    return claim_of(key, asked, caller=g.caller.id, token=g.token, secret=g.endpoint.secret)


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
