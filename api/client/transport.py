"""HTTP: requests out and answers in, sent again where that is safe, and nothing believed that is not the service's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn
from urllib.parse import urlencode, urlsplit

import urllib3

from api.client.cache import EtagCache, Kept
from api.client.faults import ServiceProblem, ServiceUnreachable
from api.client.fields import parse_fields
from api.client.patience import Patience, Surroundings, parse_retry_after
from api.refusals import URN
from shoe.errors import FairshoeError, InputError, expected

JSON: Final = "application/json"
TEXT: Final = "text/plain"
DRAWING: Final = "image/svg+xml"
PROBLEM: Final = "application/problem+json"

_KEY_BYTES: Final = 16
_PART_BYTES: Final = 2**16
_CONNECTIONS: Final = 8
_NOT_MODIFIED: Final = 304
_PASSING: Final = frozenset({429, 502, 503, 504})
_KEY_IN_USE: Final = URN + "idempotency-key-in-use"
_PRINTABLE: Final = frozenset(map(chr, range(0x21, 0x7F)))
_REQUEST_ID: Final = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class _Request:
    """One call: it stays the same, and so does its Idempotency-Key, however often it is sent."""

    method: str
    address: str
    media_type: str
    headers: Mapping[str, str]
    body: bytes | None = None

    @property
    def name(self) -> str:
        return f"{self.method} {self.address}"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class _Passing(Exception):
    """What may be otherwise at the next attempt: the error to end with, and the least wait before it, in seconds."""

    def __init__(self, error: FairshoeError, after_s: float = 0.0) -> None:
        self.error, self.after_s = error, after_s


class Transport:
    """Sends the requests of one client to the service at `url`, with a token's authority where there is one.

    Each POST carries an Idempotency-Key of its own, the same at each attempt: the service takes it once. Sent again
    are requests that got no whole answer, and those answered 429, 502, 503, 504 or that the key is in use; after
    `Retry-After` and a drawn wait, within `patience`. No redirect is followed. The token goes into the one header
    only: over a network it needs https. Raises InputError for a URL or token of the wrong form.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        patience: Patience | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.url = _check_url(url)
        self._token = _check_token(token)
        self._patience = patience or Patience()
        self._surroundings = surroundings or Surroundings()
        self._cache = EtagCache()
        self._pool = urllib3.PoolManager(maxsize=_CONNECTIONS, retries=False)

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._pool.clear()

    def get(self, path: str, query: Mapping[str, str] | None = None, media_type: str = JSON) -> str:
        """Fetch a text of a media type; what is kept of it comes back where the service says that it still holds.

        Raises ServiceProblem and ServiceUnreachable, as `post` does.
        """
        address = f"{path}?{urlencode(query)}" if query else path
        kept = self._cache.get(address)
        known = {} if kept is None else {"If-None-Match": kept.etag}
        request = _Request("GET", address, media_type, self._headers(media_type, known))
        answer = self._send(request)
        if answer.status == _NOT_MODIFIED:
            return _still(kept, request)
        text = _text(answer, request)
        self._cache.keep(address, answer.headers.get("etag"), text)
        return text

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> str:
        """Ask for a step; `body` is printed as JSON, none is ``{}``."""
        key = {"Idempotency-Key": self._surroundings.chance(_KEY_BYTES).hex(), "Content-Type": JSON}
        content = json.dumps({} if body is None else body).encode()
        request = _Request("POST", path, JSON, self._headers(JSON, key), content)
        answer = self._send(request)
        if answer.status == _NOT_MODIFIED:
            return _still(None, request)
        return _text(answer, request)

    def _headers(self, media_type: str, further: Mapping[str, str]) -> dict[str, str]:
        authority = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {"Accept": f"{media_type}, {PROBLEM}", **authority, **further}

    def _send(self, request: _Request) -> _Answer:
        latest = self._surroundings.clock() + self._patience.total_s
        waits = self._patience.waits(self._surroundings.chance)
        while True:
            try:
                return self._judge(request, self._ask(request, latest))
            except _Passing as passing:
                wait = next(waits, None)
                ends = wait is None or self._surroundings.clock() + passing.after_s + wait >= latest
                if wait is None or ends:
                    raise passing.error from None
                self._surroundings.sleep(passing.after_s + wait)

    def _ask(self, request: _Request, latest: float) -> _Answer:
        left = max(latest - self._surroundings.clock(), 1e-3)
        patience = self._patience
        timeout = urllib3.Timeout(connect=min(patience.connect_s, left), read=min(patience.silence_s, left))
        try:
            response = self._pool.request(
                request.method,
                self.url + request.address,
                body=request.body,
                headers=request.headers,
                timeout=timeout,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            content = self._read(request, response, latest)
        except urllib3.exceptions.HTTPError as error:
            raise _Passing(ServiceUnreachable(f"{request.name}: {type(error).__name__}")) from None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _Answer(response.status, headers, content)

    def _read(self, request: _Request, response: urllib3.BaseHTTPResponse, latest: float) -> bytes:
        try:
            content = bytearray()
            while part := response.read1(_PART_BYTES):
                content += part
                if len(content) > self._patience.answer_bytes:
                    raise ServiceUnreachable(f"{request.name}: the answer is over {self._patience.answer_bytes} bytes")
                if self._surroundings.clock() > latest:
                    raise ServiceUnreachable(f"{request.name}: no whole answer in {self._patience.total_s:g} s")
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return bytes(content)

    def _judge(self, request: _Request, answer: _Answer) -> _Answer:
        """Give back an answer that is no refusal; raises _Passing for one that may not be the last word."""
        if 200 <= answer.status < 300 or answer.status == _NOT_MODIFIED:
            return answer
        error = self._refusal(request, answer)
        asked_s = error.retry_after_s if isinstance(error, ServiceProblem) else _retry_after(answer)
        in_use = isinstance(error, ServiceProblem) and error.type == _KEY_IN_USE
        if answer.status in _PASSING or in_use:
            raise _Passing(error, asked_s or 0.0)
        raise error

    def _refusal(self, request: _Request, answer: _Answer) -> ServiceProblem | ServiceUnreachable:
        if answer.status < 400 or answer.media_type != PROBLEM:
            what = f"{answer.status} of type {answer.media_type[:80]!r}, which is no answer of the service"
            return ServiceUnreachable(f"{request.name}: {what}")
        text = answer.content.decode("utf-8", "replace")
        # A service that hands the token back must not bring it into a log.
        text = text if self._token is None else text.replace(self._token, "(the token)")
        try:
            problem = parse_fields(text).plain()
        except ServiceUnreachable as error:
            return ServiceUnreachable(f"{request.name}: {answer.status}: {error}")
        called = answer.headers.get("x-request-id", "")
        return ServiceProblem(
            answer.status, problem, _retry_after(answer), called if _REQUEST_ID.fullmatch(called) else None
        )


def _retry_after(answer: _Answer) -> float | None:
    return parse_retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))


def _still(kept: Kept | None, request: _Request) -> str:
    if kept is None:
        raise ServiceUnreachable(f"{request.name}: 304 for what was never had")
    return kept.text


def _text(answer: _Answer, request: _Request) -> str:
    if answer.media_type != request.media_type:
        _unlike(request, expected(request.media_type, answer.media_type, "content type"))
    try:
        return answer.content.decode("utf-8")
    except UnicodeDecodeError:
        _unlike(request, "the answer is not UTF-8")


def _unlike(request: _Request, reason: str) -> NoReturn:
    raise ServiceUnreachable(f"{request.name}: {reason}")


def _check_url(text: str) -> str:
    wanted = "a URL http://… or https://… without user, query and fragment"
    try:
        parts = urlsplit(text)
        # Out of 0…65535 it raises only when it is asked for.
        good = parts.port is None or parts.port > 0
    except ValueError:
        raise InputError(f"url: expected {wanted}") from None
    good = good and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    if not good or set("?#") & set(text) or not _PRINTABLE.issuperset(text):
        # Not shown: it may hold a password.
        raise InputError(f"url: expected {wanted}")
    return text.rstrip("/")


def _check_token(token: str | None) -> str | None:
    if token is not None and (not token or not _PRINTABLE.issuperset(token)):
        raise InputError("token: expected printable ASCII characters without a space")
    return token
