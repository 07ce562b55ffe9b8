"""What gunicorn says of itself, written into the journal."""

from __future__ import annotations

import logging
from typing import Any

from gunicorn.glogging import Logger

from api.journal import LEVELS, write


class _ToJournal(logging.Handler):
    """Turns what gunicorn says into lines of the journal."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the message; of an error its kind alone, and nothing of the request that was not understood."""
        failed = record.exc_info[0] if record.exc_info else None
        said = str(record.msg) if failed else record.getMessage()
        if said.startswith("Invalid request"):
            said = said.split(": ")[0]
        level = next((name for name in ("error", "warning", "info") if record.levelno >= LEVELS[name]), "debug")
        if failed is TimeoutError:
            level = "info"  # a caller that was too slow, and is no fault of the service
        write("server", level, said=said, **({"kind": failed.__name__} if failed else {}))


class ServerLog(Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's log, written into the journal."""

    def setup(self, cfg: Any) -> None:
        """Replace the handler that writes plain text."""
        super().setup(cfg)
        self.error_log.handlers = [_ToJournal()]
