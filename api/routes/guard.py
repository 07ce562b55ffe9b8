"""What goes before every request, and on every answer: who asks, whether they may, how often, and the headers."""

from __future__ import annotations

import hmac
import re
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from flask import Flask, Response, current_app, g, request
from werkzeug.middleware.proxy_fix import ProxyFix

from api.access import ANONYMOUS, read_authorization, require
from api.credentials import Known
from api.quotas import WINDOW_S, Caller, Window, refuse, seconds_left
from api.refusals import KEY_MISSING, Refusal, no_such
from api.routes.endpoint import Endpoint, endpoints_of
from api.service import Service
from api.settings import Settings

GUARD: Final = "fairshoe guard"
VERIFY_PATH: Final = "/v1/verify"
_REQUEST_ID: Final = re.compile(r"[0-9A-Za-z._-]{1,64}")
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
}
_EXPOSED: Final = "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
_ALLOWED: Final = "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id"


@dataclass(slots=True)
class Guard:
    """Lets requests in, or refuses them; one an application.

    `spent` are the callers known to have no writes left in this minute: a flood is turned away without the database.
    `writes` counts what this process was asked for, so that what is refused before the database is asked counts too.
    """

    service: Service
    settings: Settings
    known: Known = field(init=False, repr=False)
    reads: Window = field(default_factory=Window, init=False, repr=False)
    writes: Window = field(default_factory=Window, init=False, repr=False)
    spent: Window = field(default_factory=Window, init=False, repr=False)

    def __post_init__(self) -> None:
        """Know no credential yet."""
        self.known = Known(self.service.store)

    def admit(self, endpoint: Endpoint | None) -> None:
        """Let the request in, and put down who it is by; raises Refusal otherwise."""
        if "\0" in request.path:
            # No database keeps such an id, and PostgreSQL would not even be asked for it.
            raise no_such("address", request.path)
        if request.path == VERIFY_PATH:
            request.max_content_length = self.settings.verify_limit
        g.token = read_authorization(request.headers.get("Authorization"))
        now = self.service.world.now()
        writes = endpoint is not None and endpoint.claimed is not None
        if g.token is not None:
            g.principal = self.known.find(g.token, now, writes=writes)
            g.principal_id = g.principal.id
        if endpoint is None:
            return
        if writes:
            self._admit_write(now)
        else:
            self._admit_read(now)
        require(g.principal, endpoint.access)
        _require_key(endpoint)

    def _admit_write(self, now: datetime) -> None:
        principal = g.principal
        limit = self.settings.writes_per_minute if principal.kind == "key" else self.settings.seat_writes_per_minute
        g.caller = Caller(principal.id or _address(), limit, principal.id)
        if limit and (self.writes.count(g.caller.id, now) > limit or self.spent.marked(g.caller.id, now)):
            g.caller.left = 0
            raise refuse(limit, now, "writes")

    def _admit_read(self, now: datetime) -> None:
        limit = self.settings.reads_per_minute
        if not limit:
            return
        caller = Caller(g.principal.id or _address(), limit)
        g.caller, seen = caller, self.reads.count(caller.id, now)
        caller.left = max(0, limit - seen)
        if seen > limit:
            raise refuse(limit, now, "reads")

    def say_limits(self, response: Response) -> None:
        """Tell a caller what is left of this minute (IETF draft RateLimit header fields for HTTP, 10)."""
        caller: Caller | None = g.get("caller")
        if caller is None or not caller.limit or caller.left is None:
            return
        now = self.service.world.now()
        if response.status_code == 429 and g.get("endpoint") is not None and g.endpoint.claimed is not None:
            self.spent.mark(caller.id, now)
        response.headers["RateLimit-Policy"] = f'"minute";q={caller.limit};w={WINDOW_S}'
        response.headers["RateLimit"] = f'"minute";r={caller.left};t={seconds_left(now)}'

    def share(self, response: Response) -> None:
        """Say which web pages may read the answer: by token, never by cookie, so that any may where all may."""
        origin, allowed = request.headers.get("Origin"), self.settings.cors
        if "*" in allowed:
            response.headers["Access-Control-Allow-Origin"] = "*"
        elif allowed:
            response.vary.add("Origin")
            if origin is None or not any(hmac.compare_digest(origin.encode(), each.encode()) for each in allowed):
                return
            response.headers["Access-Control-Allow-Origin"] = origin
        else:
            return
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            response.headers["Access-Control-Allow-Methods"] = response.headers.get("Allow", "")
            response.headers["Access-Control-Allow-Headers"] = _ALLOWED
            response.headers["Access-Control-Max-Age"] = "86400"


def _require_key(endpoint: Endpoint) -> None:
    if endpoint.claimed == "must" and "Idempotency-Key" not in request.headers:
        raise Refusal(KEY_MISSING, f"{request.method} {request.path} came without an Idempotency-Key.")


def _address() -> str:
    return f"address {request.remote_addr}"


def stand_guard(app: Flask, service: Service, settings: Settings) -> None:
    """Put the guard before every request, and its headers on every answer.

    Forwarded-for headers count only so far as `settings.proxies` says that there are proxies.
    """
    if settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=settings.proxies, x_proto=settings.proxies)  # type: ignore[method-assign]
    guard = Guard(service, settings)
    app.extensions[GUARD] = guard

    @app.before_request
    def admit() -> None:
        g.request_id = _request_id()
        g.principal, g.principal_id, g.token = ANONYMOUS, "", None
        # A browser asks by OPTIONS, without a credential, whether it may send what needs one.
        g.endpoint = None if request.method == "OPTIONS" else endpoints_of(current_app).get(request.endpoint or "")
        guard.admit(g.endpoint)

    @app.after_request
    def secure(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Request-Id"] = g.get("request_id") or _request_id()
        if response.status_code == 401 and g.get("token"):
            # Refused in the transaction of a write: the next one is refused without a transaction.
            guard.known.forget(g.token)
        guard.say_limits(response)
        guard.share(response)
        return response


def _request_id() -> str:
    given = request.headers.get("X-Request-Id", "")
    return given if _REQUEST_ID.fullmatch(given) else str(uuid.uuid4())
