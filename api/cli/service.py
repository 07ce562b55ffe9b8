"""The installation of this environment, opened as the servers open it, for commands that work beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import inspect

from api.cli.database import database
from api.cli.output import BadInput, EnvironmentFault
from api.db.sessions import OutcomeUnknown, Store
from api.db.tables import LogHeadRow
from api.healthy import watched
from api.refusals import NOT_FOUND, Refusal
from api.service import Service
from api.wiring import open_service
from api.world import real_world

_FROM_ITS_OWN_SIDE = 500


@contextmanager
def service_here() -> Iterator[Service]:
    """Give the service of this environment, which was started before; what it refuses is said in one line.

    Raises EnvironmentFault where there is none yet or it may not sign now, BadInput for what the caller can mend.
    """
    with database() as (settings, store):
        if not _was_started(store):
            raise EnvironmentFault(f"{store.name}: no service was started on it yet; run: fairshoe serve")
        service = open_service(settings, watched(real_world()))
        try:
            yield service
        except Refusal as error:
            fault = EnvironmentFault if error.kind.status >= _FROM_ITS_OWN_SIDE else BadInput
            advice = "Name one that is there." if error.kind is NOT_FOUND else error.kind.next
            raise fault(f"{error} {advice}") from None
        except OutcomeUnknown as error:
            raise EnvironmentFault(f"{error}; it may be stored or not: look before you try again") from None
        finally:
            service.store.engine.dispose()


def _was_started(store: Store) -> bool:
    with store.reading() as session:
        return inspect(session.connection()).has_table(LogHeadRow.__tablename__)
