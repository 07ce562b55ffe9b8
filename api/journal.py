"""The journal: what the service does, a JSON object a line on standard error; no secret passes through it.

A request is one line, without its address, its body or its token: who asked is told by an id, what was asked for by
the route. Outside of `serve` there is no journal, and what is said is said in plain words.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TextIO

import structlog
from flask import Flask, Response, g, request
from structlog.typing import EventDict, FilteringBoundLogger, WrappedLogger

from api.redaction import redact
from api.world import print_time

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_BEGUN: Final = "journal_begun"


class _Lines:
    """Writes lines on standard error; where nobody listens any more, to nobody."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        """Write a line at once, in one piece: processes share the stream."""
        with suppress(OSError, ValueError):
            stream = self._stream or sys.stderr
            stream.write(f"{line}\n")
            stream.flush()

    debug = info = warning = error = msg


def open_journal(level: str, now: Callable[[], datetime], stream: TextIO | None = None) -> None:
    """Write from now on, in this process and in those that it forks, what is at least as serious as `level`.

    `now` is the clock; `stream` is standard error, unless another is given.
    """

    def stamp(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return {"time": print_time(now()), "level": event.pop("level"), "event": event.pop("event"), **event}

    structlog.configure(
        processors=[structlog.processors.add_log_level, stamp, _redacted, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *_: _Lines(stream),
        cache_logger_on_first_use=False,
    )


def close_journal() -> None:
    """Write nothing any more: what is said is plain again."""
    structlog.reset_defaults()


def _redacted(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {redact(str(key)): redact(value, str(key)) for key, value in event.items()}


def _journal() -> FilteringBoundLogger:
    logger: FilteringBoundLogger = structlog.get_logger()
    return logger


def write(event: str, level: str = "info", **further: Any) -> None:
    """Write a line about an event, with further values; without a journal, nothing."""
    if structlog.is_configured():
        _journal().log(LEVELS[level], event, **further)


def say(line: str) -> None:
    """Say a line to the operator: a warning in the journal, plain on standard error where there is none."""
    if structlog.is_configured():
        write(line, "warning")
    else:
        _Lines(None).msg(line)


def write_request(app: Flask) -> None:
    """Have every request that the application answers write its line.

    `flask.g.request_id` and `flask.g.principal_id` are written where they are set.
    """

    def begin() -> None:
        setattr(g, _BEGUN, time.perf_counter())

    def end(response: Response) -> Response:
        begun = g.get(_BEGUN)
        write(
            "request",
            request_id=g.get("request_id"),
            method=request.method[:16],
            route=request.url_rule.rule if request.url_rule else None,
            status=response.status_code,
            ms=None if begun is None else round((time.perf_counter() - begun) * 1000, 3),
            principal=g.get("principal_id") or None,
            bytes=response.calculate_content_length() if response.is_sequence else None,
        )
        return response

    # Before any other, which may refuse the request; and after all others.
    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request_funcs.setdefault(None, []).insert(0, end)
