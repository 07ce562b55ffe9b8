"""Every write made to fail, both ways: not stored, and stored but reported as failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from api.pin import Pin
from api.service import Service

When = Literal["before", "after"]


def failure(what: str) -> OperationalError:
    return OperationalError(what, {}, OSError("sabotage"))


@dataclass
class Sabotage:
    """Lets the `at`-th thing that a service does to its store fail, before or after it is done; the rest goes well.

    Counted are statements, commits, and the writing of the pin, in the order they come.
    """

    at: int
    when: When
    done: list[str] = field(default_factory=list)

    def step(self, what: str, when: When) -> bool:
        """Count a step where it begins; say whether it is now that it fails."""
        if when == "before":
            self.done.append(what)
        return len(self.done) == self.at and when == self.when


@contextmanager
def sabotaged(service: Service, sabotage: Sabotage, monkeypatch: Any) -> Iterator[None]:
    """Work on a store that fails where it is told to."""
    engine = service.store.engine
    commit, keep = engine.dialect.do_commit, Pin.keep

    def before(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if sabotage.step(statement, "before"):
            raise failure(statement)

    def after(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if sabotage.step(statement, "after"):
            raise failure(statement)

    def do_commit(connection: Any) -> None:
        if sabotage.step("COMMIT", "before"):
            raise drivers_error(engine)
        commit(connection)
        if sabotage.step("COMMIT", "after"):
            raise drivers_error(engine)

    def do_keep(pin: Pin, size: int, checkpoint: str) -> None:
        if sabotage.step("pin", "before"):
            raise OSError(28, "No space left on device")
        keep(pin, size, checkpoint)
        if sabotage.step("pin", "after"):
            raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(engine.dialect, "do_commit", do_commit)
        patched.setattr(Pin, "keep", do_keep)
        event.listen(engine, "before_cursor_execute", before)
        event.listen(engine, "after_cursor_execute", after)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", before)
            event.remove(engine, "after_cursor_execute", after)


def drivers_error(engine: Any) -> Exception:
    """The driver's own error, which SQLAlchemy wraps as it does a real one."""
    made: Exception = engine.dialect.dbapi.OperationalError("sabotage")
    return made
