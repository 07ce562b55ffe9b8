"""The log: checkpoint, keys, entries and proofs."""

from __future__ import annotations

from api.client.calls import Calls, given
from api.client.results import ShownPath
from api.client.transport import TEXT


class Log(Calls):
    """The calls at ``/v1/log``."""

    def checkpoint(self, *, size: int | None = None, cosigned: int | None = None) -> str:
        """Fetch the log's signed checkpoint: of its head, of an older size, or the newest with so many cosignatures.

        It is checked against the log's keys and what was seen of the log before, and the head's may not be smaller.
        """
        since = self._receipts.size if size is None and cosigned is None else 0
        query = {name: str(value) for name, value in given(size=size, cosigned=cosigned).items()}
        return self._receipts.check_head(self._transport.get("/v1/log/checkpoint", query, TEXT), since)

    def vkeys(self) -> tuple[str, ...]:
        """Fetch the log's verifier keys: to be compared with those from elsewhere, not to be believed alone."""
        return tuple(self._transport.get("/v1/log/key", None, TEXT).splitlines())

    def entry(self, index: int) -> bytes:
        """Fetch the bytes of the record at an index."""
        return self._transport.get(f"/v1/log/entries/{index}").encode()

    def inclusion(self, index: int, size: int | None = None) -> ShownPath:
        """Fetch the audit path of a leaf in the tree of a size, the head's without one; for `check_inclusion`."""
        query = {name: str(value) for name, value in given(index=index, size=size).items()}
        answer = self._get("/v1/log/proof/inclusion", query)
        return ShownPath(answer.number("index"), answer.number("size"), answer.hashes("path"))

    def consistency(self, old: int, new: int | None = None) -> ShownPath:
        """Fetch the path from an older size to a newer, the head's without one; for `check_consistency`."""
        query = {name: str(value) for name, value in given(old=old, new=new).items()}
        answer = self._get("/v1/log/proof/consistency", query)
        return ShownPath(answer.number("old"), answer.number("new"), answer.hashes("path"))
