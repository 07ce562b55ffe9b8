"""Who sends a test's requests: the installation's first key, and for players' steps a seat for each contribution."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse


@dataclass
class Tokens:
    """What tests of one installation hold: its first key, and the seats that they took."""

    key: str
    seats: dict[tuple[str, str | int], str] = field(default_factory=dict)
    last: str | None = None

    def remember(self, shoe: str, answer: Any, seat: str) -> None:
        self.seats[shoe, answer["client"]] = self.seats[shoe, answer["position"]] = seat


class Signing(FlaskClient):
    """A client that signs what bears no credential: as its installation's operator, client, or as a player's seat.

    `tokens` are set by the installation. A request that must carry an Idempotency-Key gets a new one. With
    ``Authorization: none`` a request stays anonymous.
    """

    MUST = ("shoes", "seal", "coups", "void", "bets", "withdraw", "rebet", "loop", "moves")
    """The last parts of the addresses whose POST must carry an Idempotency-Key."""

    tokens: Tokens | None = None

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        if self.tokens is None or not args or not isinstance(args[0], str) or "environ_base" in kwargs:
            return super().open(*args, **kwargs)
        headers = Headers(kwargs.pop("headers", None))
        method = str(kwargs.get("method", "GET")).upper()
        step = args[0].partition("?")[0].split("/")[1:]
        seat = None
        if headers.get("Authorization") == "none":
            del headers["Authorization"]
        elif "Authorization" not in headers:
            seat = self._seat(self.tokens, step, kwargs) if method == "POST" else None
            headers["Authorization"] = f"Bearer {seat or self.tokens.key}"
        if method == "POST" and "Idempotency-Key" not in headers and step[-1] in self.MUST:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        elif headers.get("Idempotency-Key") == "none":
            del headers["Idempotency-Key"]
        answer = super().open(*args, headers=headers, **kwargs)
        if seat is not None and step[-1] == "entropy" and answer.status_code == 201:
            self.tokens.remember(step[2], answer.json, seat)
        return answer

    def _seat(self, tokens: Tokens, step: list[str], asked: dict[str, Any]) -> str | None:
        """The seat for a player's step: a new one for each contribution, and its own to open the seed."""
        if step[:2] != ["v1", "shoes"] or step[-1] not in ("entropy", "seeds"):
            return None
        if step[-1] == "seeds":
            body = asked.get("json") or json.loads(asked.get("data") or "{}")
            for name in ("client", "position"):
                if isinstance(body, dict) and isinstance(body.get(name), str | int):
                    known = tokens.seats.get((step[2], body[name]))
                    if known:
                        return known
            if tokens.last:
                return tokens.last
        shoe = super().open(f"/v1/shoes/{step[2]}")
        tables = [shoe.json["table"]] if shoe.status_code == 200 else []
        tables += [table["id"] for table in super().open("/v1/tables").json["tables"]]
        if not tables:
            return tokens.last
        tokens.last = self.take_seat(tokens, tables[0])
        return tokens.last

    def take_seat(self, tokens: Tokens, table: str) -> str:
        headers = {"Authorization": f"Bearer {tokens.key}"}
        answer = super().open(f"/v1/tables/{table}/seats", method="POST", json={}, headers=headers)
        assert answer.status_code == 201, answer.text
        return str(answer.json["token"])
