"""What a client meets beside false evidence: a refusal, no answer, and a step that could not be proved to the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shoe.errors import FairshoeError
from shoe.proof.tlog import Receipt

_SHOWN: Final = 2000
"""Characters of each of a problem's texts that are kept: nobody logs a megabyte for a stranger."""


class ServiceProblem(FairshoeError):
    """The service refused a request: RFC 9457's type, status, title and detail, and what it says to do next.

    `retry_after_s` is how long it asks to be left alone, `request_id` what its own log calls the request; both None
    where it says nothing.
    """

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any],
        retry_after_s: float | None = None,
        request_id: str | None = None,
    ) -> None:
        self.status = status
        self.type = str(problem.get("type", "about:blank"))[:_SHOWN]
        self.title, self.detail, self.next = (str(problem.get(key, ""))[:_SHOWN] for key in ("title", "detail", "next"))
        self.retry_after_s = retry_after_s
        self.request_id = request_id
        super().__init__(f"{status} {self.title}: {self.detail}")


class ServiceUnreachable(FairshoeError):
    """No answer came, or one that is not the service's."""


class Unproven(ServiceUnreachable):
    """A step was taken, but the service did not come to show that its log only grew: not to be asked for again.

    `receipt` is the step's, its record and signature good; what follows from it can be read from where the shoe stands.
    """

    def __init__(self, receipt: Receipt, reason: FairshoeError) -> None:
        self.receipt = receipt
        super().__init__(f"the step was taken, and the log's growth not shown: {reason}")
