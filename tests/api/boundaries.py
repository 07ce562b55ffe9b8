"""Death between any two steps that a process takes towards its files and its database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from api.db.sessions import Store


class Killed(BaseException):
    """Stands for SIGKILL: nothing that handles errors handles it."""


@contextmanager
def at_boundaries(act: Callable[[str], None], monkeypatch: Any, store: Store | None = None) -> Iterator[None]:
    """Act before and after each step: a flush, a new name, a lost one, and of a store each change and commit."""

    def framed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **further: Any) -> Any:
            act(f"before {name}")
            result = call(*args, **further)
            act(f"after {name}")
            return result

        return step

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", framed("fsync", os.fsync))
        for name in ("replace", "unlink"):
            patched.setattr(Path, name, framed(name, getattr(Path, name)))
        if store is not None:
            dialect = store.engine.dialect
            for name in ("do_commit", "do_executemany"):
                patched.setattr(dialect, name, framed(name, getattr(dialect, name)))
            patched.setattr(dialect, "do_execute", _unless_it_reads(framed("do_execute", dialect.do_execute), dialect))
        yield


def _unless_it_reads(framed: Callable[..., Any], dialect: Any) -> Callable[..., Any]:
    """A transaction that has changed nothing yet is no step."""
    plain = dialect.do_execute

    def execute(cursor: Any, statement: str, *further: Any) -> Any:
        return (plain if statement.startswith(("BEGIN", "SELECT")) else framed)(cursor, statement, *further)

    return execute


@contextmanager
def killed_at(at: int, monkeypatch: Any, store: Store | None = None) -> Iterator[None]:
    """Die at the `at`-th boundary, counted from 1."""
    met = 0

    def act(_: str) -> None:
        nonlocal met
        met += 1
        if met == at:
            raise Killed

    with at_boundaries(act, monkeypatch, store):
        yield
