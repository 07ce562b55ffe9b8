"""A typed client of the service's HTTP interface, without Flask: it asks again where that is safe, and checks receipts.

    client = Client("https://fairshoe.example", token="fst_…", vkeys=[parse_vkey("fairshoe.example/log+…")])
    contributed = client.contribute(shoe, commit_seed(seed))

What a step answers is checked before it is given back: the record is in the log under a key that came from elsewhere,
it is the one asked for, and the log only grew. What a player does with it is for `api.player`.
"""

from __future__ import annotations

from collections.abc import Iterable

from api.client.accounts import Accounts
from api.client.audits import Audits
from api.client.bets import Bets
from api.client.counters import Counters
from api.client.faults import ServiceProblem, ServiceUnreachable, Unproven
from api.client.log import Log
from api.client.monitors import Monitors
from api.client.patience import Patience, Surroundings
from api.client.public import Public
from api.client.purses import Purses
from api.client.receipts import KnownDecks, Receipts
from api.client.results import Contributed, DealtCoup, OpenedShoe, PublishedBook, SealedShoe, Statistics
from api.client.shoes import Shoes
from api.client.tables import Tables
from api.client.transport import Transport
from api.client.webhooks import Webhooks
from shoe.proof.note import VerifierKey

__all__ = [
    "Client",
    "Contributed",
    "DealtCoup",
    "OpenedShoe",
    "Patience",
    "PublishedBook",
    "SealedShoe",
    "ServiceProblem",
    "ServiceUnreachable",
    "Statistics",
    "Surroundings",
    "Unproven",
]


class Client(Tables, Shoes, Log, Accounts, Bets, Purses, Counters, Webhooks, Monitors, Audits, Public):
    """The service at `url`, such as ``https://fairshoe.example``, as the holder of a token sees it; for any thread.

    `vkeys` are the log's keys, had from elsewhere: with them every receipt and checkpoint is checked, without them
    nothing is, and `verifies` is false. `held` is what an earlier client of this log held. Every method raises
    ServiceProblem for a refusal, ServiceUnreachable where no good answer comes, ProofError for evidence that does not
    hold, and Unproven for a step that was taken though its proof did not come; the last two are not to be repeated.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        vkeys: Iterable[VerifierKey] = (),
        held: str | None = None,
        patience: Patience | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._transport = Transport(url, token, patience, surroundings)
        self._receipts = Receipts(vkeys, lambda old, new: self.consistency(old, new).path, held)
        self._decks = KnownDecks()

    def __repr__(self) -> str:
        return f"Client({self._transport.url!r}, verifies={self.verifies})"

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._transport.close()

    @property
    def verifies(self) -> bool:
        """Whether receipts and checkpoints are checked: whether the client was given the log's keys."""
        return self._receipts.verifies

    @property
    def held(self) -> str | None:
        """The largest checkpoint that was checked, signed: to be kept, and handed to the next client of this log."""
        return self._receipts.held
