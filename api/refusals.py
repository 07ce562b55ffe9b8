"""What the service refuses: every kind of refusal by a stable name, with what a caller can do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shoe.errors import FairshoeError

URN: Final = "urn:fairshoe:problem:"
RETRY_AFTER_S: Final = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem: the end of its type's URN, its HTTP status, its title, and what a caller can do."""

    slug: str
    status: int
    title: str
    next: str

    @property
    def type(self) -> str:
        """The type's URN; never changes."""
        return URN + self.slug


class Refusal(FairshoeError):
    """A request refused: the kind of refusal, in the message what was wrong and where, and when to ask again."""

    def __init__(self, kind: Kind, detail: str, retry_after_s: int = RETRY_AFTER_S) -> None:
        super().__init__(detail)
        self.kind = kind
        self.retry_after_s = retry_after_s


def no_such(what: str, name: str) -> Refusal:
    """Refuse a request for something that isn't there."""
    return Refusal(NOT_FOUND, f"There is no {what} {name[:80]!r}.")


_READ: Final = "Read GET /v1/shoes/{id}/state to see where the shoe stands."

NOT_FOUND: Final = Kind("not-found", 404, "There is no such thing", "Check the address and the ids in it.")
TABLE_EXISTS: Final = Kind("table-exists", 409, "There is a table of this id", "Choose another id, or leave it out.")
SHOE_LIVE: Final = Kind(
    "shoe-live", 409, "The table has a shoe that is not ended", "Deal it to its end, or void it, first."
)
NO_BOOK: Final = Kind(
    "no-book", 409, "The table has no seed book with an unused seed", "Publish one by POST /v1/tables/{id}/books."
)
BOOK_ENDED: Final = Kind("book-ended", 409, "The book is ended already", "Read GET /v1/tables/{id}/books.")
NO_NEXT_BOOK: Final = Kind(
    "no-next-book",
    409,
    "The next book must be published before this one ends",
    "Publish one by POST /v1/tables/{id}/books, then end this one.",
)
WRONG_STATE: Final = Kind("wrong-state", 409, "The shoe does not stand where this step is possible", _READ)
WRONG_MODE: Final = Kind(
    "wrong-mode", 409, "The table's mode of entropy has no such step", "Read the table's rules, key entropy."
)
DEADLINE_PASSED: Final = Kind(
    "deadline-passed", 409, "The step's deadline has passed", "Open another shoe: this one becomes void by itself."
)
CONTRIBUTIONS_FULL: Final = Kind(
    "contributions-full", 409, "The shoe has all the contributions it can take", "Contribute to the next shoe."
)
SEED_OPENED: Final = Kind("seed-opened", 409, "This seed is open already", _READ)
SEEDS_MISSING: Final = Kind(
    "seeds-missing",
    409,
    "Committed seeds are not opened yet",
    "Open them by POST /v1/shoes/{id}/seeds; after seal_by, void the shoe with reason seed_missing.",
)
NOT_ENDED: Final = Kind("not-ended", 409, "The shoe has not come to the end that its rules set", "Deal on.")
REASON_UNTRUE: Final = Kind(
    "reason-untrue", 409, "The reason is not true of this shoe now", "Give one that is, or operator."
)
UNAUTHENTICATED: Final = Kind(
    "unauthenticated",
    401,
    "The request does not show who sends it",
    "Send Authorization: Bearer and an API key's or a seat's token that is neither expired nor revoked.",
)
FORBIDDEN: Final = Kind(
    "forbidden", 403, "The credential does not allow this", "Use one with the role that the detail names."
)
RATE_LIMITED: Final = Kind(
    "rate-limited", 429, "Too many requests in a minute", "Wait for the seconds in Retry-After, then send it again."
)
KEY_MISSING: Final = Kind(
    "idempotency-key-missing",
    400,
    "This request must carry an Idempotency-Key",
    "Make a new one, such as a random UUID, for each new request, and repeat a request with its own key.",
)
SEAT_CONTRIBUTED: Final = Kind(
    "seat-contributed", 409, "The seat has contributed to this shoe", "Contribute to the next shoe."
)
SEED_WITHHELD: Final = Kind(
    "seed-withheld",
    409,
    "The seat did not open its seed for the table's last shoe",
    "Sit this shoe out; the seat may contribute to the one after it.",
)
CREDENTIAL_REVOKED: Final = Kind(
    "credential-revoked", 409, "The credential is revoked already", "Nothing is left to do."
)
NO_BETS: Final = Kind(
    "no-bets", 409, "The table takes no bets", "Make a table whose rules have the keys of bets, such as a preset's."
)
BET_LAID: Final = Kind(
    "bet-laid",
    409,
    "The seat has bets on the next coup that stand against this",
    "Withdraw by POST /v1/shoes/{id}/bets/withdraw, and lay all bets anew; or wait for the coup.",
)
COUP_PASSED: Final = Kind(
    "coup-passed",
    409,
    "The seat sits the next coup out",
    "Take the pass back by POST /v1/shoes/{id}/bets/withdraw, or wait for the coup after it.",
)
NOTHING_LAID: Final = Kind(
    "nothing-laid",
    409,
    "The seat has nothing on the next coup that this could be done with",
    "Read GET /v1/shoes/{id}/bets.",
)
BETS_LOCKED: Final = Kind(
    "bets-locked", 409, "The seat has chosen Deal: its bets on the next coup are made", "Wait for the coup after it."
)
BETTING_CLOSED: Final = Kind(
    "betting-closed",
    409,
    "The time to bet on the next coup is over",
    "Wait for the coup after it: the betting on it begins when the next is dealt.",
)
JOINED_LATE: Final = Kind(
    "joined-late",
    409,
    "The seat joined when the betting had begun",
    "Wait for the coup after it: the betting on it begins when the next is dealt.",
)
CHOICES_MISSING: Final = Kind(
    "choices-missing",
    409,
    "Not everyone at the table has chosen Deal or Pass, and there is time left",
    "Deal at the time that the detail names, or once GET /v1/shoes/{id}/choices says so; a seat that left is revoked.",
)
ANOTHER_COUP: Final = Kind(
    "another-coup",
    409,
    "Another coup is the next one by now",
    "Choose anew for the coup that the detail names, or leave `number` out to choose for whichever is the next.",
)
NOTHING_TO_REPEAT: Final = Kind(
    "nothing-to-repeat", 409, "No coup at this table was dealt with bets of the seat", "Lay bets by name and stake."
)
NOT_OFFERED: Final = Kind(
    "not-offered", 409, "The table's terms do not offer this", "Read the table's rules, key pace."
)
PURSE_TOO_SMALL: Final = Kind(
    "purse-too-small", 409, "The purse does not hold these stakes", "Stake less; read GET /v1/seats/{id}/purse."
)
BANK_TOO_SMALL: Final = Kind(
    "bank-too-small", 409, "The table's bank could not pay these bets", "Stake less, or wait for the next coup."
)
PURSE_OVERDRAWN: Final = Kind(
    "purse-overdrawn", 409, "The purse does not hold so much to take out", "Take less; read GET /v1/seats/{id}/purse."
)
PURSE_FULL: Final = Kind("purse-full", 409, "The purse would hold more than a purse can", "Put less in.")
NO_OWN_LIMITS: Final = Kind(
    "no-own-limits",
    409,
    "Players of this table set no limits of their own",
    "Make a table whose rules have the key own_limit, such as vip's; a limit set there holds here too.",
)
LIMIT_SET: Final = Kind(
    "limit-set", 409, "The limit was lowered in this week already", "Lower it again once the week has turned."
)
WRONG_PIN: Final = Kind(
    "wrong-pin", 403, "The PIN is another than the one that the first limit was set by", "Send that PIN."
)
WRONG_PINS: Final = Kind(
    "too-many-wrong-pins", 403, "Too many wrong PINs came in this week", "Come again once the week has turned."
)
NO_SANDBOX: Final = Kind(
    "no-sandbox", 409, "Only a sandbox takes a seed from outside", "Leave `master` out, or use a sandbox."
)
KEY_REUSED: Final = Kind(
    "idempotency-key-reused",
    422,
    "The Idempotency-Key was used for another request",
    "Use a new key for a new request; repeat a request with its own key, unchanged.",
)
READ_ONLY: Final = Kind(
    "read-only",
    503,
    "The service signs nothing at present",
    "Reading goes on; the operator finds what to mend in the detail, and by fairshoe log check.",
)
STORE_UNAVAILABLE: Final = Kind(
    "store-unavailable",
    503,
    "The database does not answer",
    "Nothing was stored; send the same request again, with the same Idempotency-Key.",
)
OUTCOME_UNKNOWN: Final = Kind(
    "outcome-unknown",
    503,
    "The database failed while it stored the request",
    "Send the same request again with the same Idempotency-Key: it is answered once, whether it was stored or not.",
)
NO_BEACON: Final = Kind(
    "beacon-not-installed",
    409,
    "This service can't check beacon signatures",
    "Install the extra: pip install 'fairshoe[beacon]', and start the service again.",
)
AUDITS_WAITING: Final = Kind(
    "audits-waiting", 409, "As many audits wait as may", "Ask again when one of them has ended: GET /v1/audits."
)
