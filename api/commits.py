"""Group commit: requests of one process that wait together share one transaction, and one checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import Any, Final, Generic, TypeVar, cast

from api.claims import Claim
from api.quotas import Caller
from api.writing import Step
from shoe.errors import ImpossibleError

MOST: Final = 128
"""Jobs in one transaction, at most."""

T = TypeVar("T")


class Job(Generic[T]):
    """A step that waits for its transaction: afterwards its result, or the error that it is to raise.

    `shoe` is the id of the shoe that the step works on, where it is one: a transaction reads those of all its jobs at
    once. `caller` is who asks for it, where that is somebody outside.
    """

    def __init__(
        self, step: Step[T], claim: Claim | None = None, shoe: str | None = None, caller: Caller | None = None
    ) -> None:
        self.step, self.claim, self.shoe, self.caller = step, claim, shoe, caller
        self.woken = Event()
        self.settled = False
        self._result: T | None = None
        self._error: BaseException | None = None

    def succeed(self, result: T) -> None:
        """Settle the job with its result; only once the transaction is durable."""
        self._result, self.settled = result, True

    def fail(self, error: BaseException) -> None:
        """Settle the job with an error."""
        self._error, self.settled = error, True

    def result(self) -> T:
        """Give the result, or raise the error."""
        if self._error is not None:
            raise self._error
        if not self.settled:
            raise ImpossibleError("a job was left without a result")
        return cast(T, self._result)


class Commits:
    """The queue of jobs in one process: the first to come leads, the others wait for it or for their turn to lead."""

    def __init__(self, run: Callable[[Sequence[Job[Any]]], None], most: int = MOST) -> None:
        """Run jobs by `run`, up to `most` in one call, which settles every job it is given."""
        self._run, self._most = run, most
        self._waiting: deque[Job[Any]] = deque()
        self._led = False
        self._lock = Lock()

    def submit(self, job: Job[T]) -> T:
        """Have a job run in a transaction, its own or one shared with others; raises what the job failed with."""
        with self._lock:
            self._waiting.append(job)
            leads, self._led = not self._led, True
        if not leads:
            job.woken.wait()
        if not job.settled:
            self._lead()
        return job.result()

    def _lead(self) -> None:
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            self._run(batch)
        except BaseException as error:
            for job in batch:
                if not job.settled:
                    job.fail(error)
            raise
        finally:
            for job in batch:
                job.woken.set()
            with self._lock:
                self._led = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].woken.set()
