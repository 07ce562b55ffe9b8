"""Audits of the service's own records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from api.client.calls import Calls, given, part
from api.client.fields import Fields
from api.client.results import Audit


class Audits(Calls):
    """The calls at ``/v1/audits``."""

    def ask_audit(
        self,
        *,
        table: str | None = None,
        since: str | None = None,
        to: str | None = None,
        receipts: Iterable[str] = (),
    ) -> Audit:
        """Have ended shoes audited, those opened at a table, from a time on, before a time; and receipts, by text."""
        asked = given(table=table, to=to) | given(**{"from": since})
        return _audit(self._post("/v1/audits", {**asked, "receipts": list(receipts)}))

    def audits(self) -> Iterator[Audit]:
        """List the audits by age."""
        return self._pages("/v1/audits", "audits", _audit)

    def audit(self, audit: str) -> Audit:
        """Show how far an audit is."""
        return _audit(self._get(f"/v1/audits/{part(audit)}"))

    def audit_findings(self, audit: str) -> str:
        """Give what an audit found: the text whose hash the log holds."""
        return self._transport.get(f"/v1/audits/{part(audit)}/findings.json")


def _audit(answer: Fields) -> Audit:
    return Audit(
        answer.text("id"),
        answer.text("state"),
        answer.number("done"),
        answer.maybe("total", answer.number),
        answer.maybe("verdict", answer.text),
    )
