"""The installation that a command works on, and the one line said where it isn't fit to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from api.cli.output import EnvironmentFault
from api.db.sessions import shown
from api.settings import Settings, settings_from


@contextmanager
def installation() -> Iterator[Settings]:
    """Give the settings of this environment; what goes wrong with folder or database raises EnvironmentFault."""
    settings = settings_from(os.environ)
    try:
        yield settings
    except OSError as error:
        where = error.filename or settings.folder
        raise EnvironmentFault(f"{where}: {error.strerror}; set FAIRSHOE_DATA to a folder of your own") from None
    except DBAPIError as error:
        raise EnvironmentFault(f"{shown(settings.database)}: {error.orig}") from None
    except CommandError as error:
        raise EnvironmentFault(f"{shown(settings.database)}: {error}; is it of a newer version?") from None
