"""What a use case works with: the store, the log, the vault, the world; and the one way to write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from sqlalchemy.orm import Session

from api.batch import Writer
from api.claims import Answer, Claim
from api.commits import Commits, Job
from api.db.sessions import Store
from api.decks import Decks
from api.log import Log
from api.meters import timed
from api.permit import Permit
from api.quotas import Caller
from api.vault import Vault
from api.world import World
from api.writing import Step
from shoe.proof.beacon import CheckSignature

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service:
    """An open installation: all that the use cases need, and nothing of HTTP."""

    store: Store
    log: Log
    vault: Vault
    world: World
    check_signature: CheckSignature | None
    permit: Permit
    decks: Decks = field(default_factory=Decks, repr=False)
    commits: Commits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Open the queue of writers."""
        object.__setattr__(self, "commits", Commits(timed(Writer(self.store, self.log, self.world, self.permit).run)))

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read one snapshot."""
        with self.store.reading() as session:
            yield session

    def write(self, step: Step[T]) -> T:
        """Run a step in a transaction, alone or beside others; give its result once that is durable.

        Raises what the step raises, Refusal where nothing may be signed now, and OutcomeUnknown where the database
        fails while it commits.
        """
        return self.commits.submit(Job(step))

    def answer(
        self, step: Step[Answer], claim: Claim | None, shoe: str | None = None, caller: Caller | None = None
    ) -> Answer:
        """Run a step as `write` does, once for each claim: who claims the same again is given the first answer.

        `shoe` is the id of the shoe that the step works on, if it is one, and `caller` who asks: raises Refusal where
        that one's credential is good no more, or has no writes left in this minute.
        """
        return self.commits.submit(Job(step, claim, shoe, caller))
