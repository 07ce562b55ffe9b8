"""Whether the service may sign: what its start found, what an auditor found since, and the checkpoint it has pinned."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from api.pin import Pin
from api.refusals import READ_ONLY, Refusal


@dataclass(slots=True)
class Permit:
    """The permission to sign, refused while there is a reason against it.

    `faults` are what the start found. A file at `halt` stops every process of the installation at once, and starts
    to come; its text says why. Nothing is signed either while the last checkpoint can't be pinned.
    """

    pinned: Pin
    halt: Path
    faults: tuple[str, ...] = ()
    _unpinned: tuple[int, str] | None = field(default=None, repr=False)

    def require(self) -> None:
        """Raise Refusal with the reason where nothing may be signed."""
        reasons = self.reasons()
        if reasons:
            raise Refusal(READ_ONLY, " ".join(reasons))
        if self._unpinned is not None:
            self._pin(*self._unpinned)
            self._unpinned = None

    def reasons(self) -> list[str]:
        """List why nothing may be signed; nothing where it may."""
        return [*self.faults, *self._halted()]

    def pin(self, size: int, checkpoint: str) -> None:
        """Pin a checkpoint that is durable; where that fails, the next write tries again before anything else."""
        try:
            self.pinned.keep(size, checkpoint)
        except (OSError, ValueError):
            self._unpinned = size, checkpoint

    def _halted(self) -> list[str]:
        try:
            reason = self.halt.read_text(encoding="utf-8", errors="replace").strip()
            return [reason or f"The file {self.halt} is there."]
        except FileNotFoundError:
            return []
        except OSError as error:
            return [f"The file {self.halt} can't be read: {error.strerror}."]

    def _pin(self, size: int, checkpoint: str) -> None:
        try:
            self.pinned.keep(size, checkpoint)
        except (OSError, ValueError) as error:
            raise Refusal(READ_ONLY, f"The checkpoint can't be pinned at {self.pinned.path}: {error}.") from None
