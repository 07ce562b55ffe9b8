"""What a check finds wrong: sentences that each say what, where, and what was expected; the first of them kept."""

from __future__ import annotations

from typing import Final

from shoe.errors import expected

MOST: Final = 20


class Complaints:
    """The first complaints of a check, up to `most`, and the number of those that came after."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.listed: list[str] = []
        self.omitted = 0

    def add(self, complaint: str) -> None:
        """Take a complaint, said as one sentence, unless it is among those kept."""
        said = sentence(complaint)
        if len(self.listed) < self._most and said not in self.listed:
            self.listed.append(said)
        elif said not in self.listed:
            self.omitted += 1

    def differ(self, wanted: object, got: object, where: str) -> None:
        """Take a complaint where what is stored is not what was expected at a place."""
        if got != wanted:
            self.add(expected(_shown(wanted), got.hex() if isinstance(got, bytes) else got, where))

    def sentences(self) -> tuple[str, ...]:
        """List what is kept, and how many more there were."""
        return (*self.listed, f"And {self.omitted} more.") if self.omitted else tuple(self.listed)


def sentence(complaint: str) -> str:
    """Make a complaint one sentence on one line."""
    line = " ".join(complaint.split())
    return line if line.endswith((".", "?")) else f"{line}."


def _shown(wanted: object) -> str:
    return wanted.hex() if isinstance(wanted, bytes) else str(wanted)
