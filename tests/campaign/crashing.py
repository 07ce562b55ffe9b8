"""A campaign: clients that never pause, a server that is killed and started again, an audit after each kill."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Timer

from shoe.proof.note import parse_vkey
from tests.campaign.audit import Audit, check_tables, read_leaves
from tests.campaign.ledger import Answer, Draws, Ledger
from tests.campaign.load import PATIENCE_S, PLAYED, Client, Crowd, Player
from tests.campaign.serving import Server

CLIENTS = 18
TABLES = [f"{kind}-{number}" for number in range(3) for kind in PLAYED]
EARLIEST_S, LATEST_S = 0.02, 0.6
REPLAYED, VERIFIED = 400, 60
DATABASE_DOWN = frozenset({"store-unavailable", "outcome-unknown"})
"""What a client may be told, with status 503, while the database is down, and until the next kill but one."""


@dataclass
class Campaign:
    """A server under load, with what its clients were told and what the audit has seen so far."""

    server: Server
    seed: str
    ledger: Ledger = field(init=False, default_factory=Ledger)
    audit: Audit = field(init=False)
    starts_s: list[float] = field(init=False, default_factory=list)
    _held: int = field(init=False, default=0)
    _since_outage: int = field(init=False, default=2)

    def __post_init__(self) -> None:
        self._url = self.server.place.reading_url
        self._draws = Draws(self.seed, "kills")
        self._main = Client("main", self.server.port, self.ledger, Draws(self.seed, "main"), repeats=0)
        self._crowd = Crowd(self.ledger)

    def begin(self) -> None:
        """Start the server, make the tables, and let the clients loose."""
        self.start()
        _, key = self._main.ask("/log/key")
        self.audit = Audit(parse_vkey(key.decode().strip()))
        for number in range(CLIENTS):
            table = TABLES[number % len(TABLES)]
            draws = Draws(self.seed, f"c{number}")
            player = Player(Client(draws.name, self.server.port, self.ledger, draws), table)
            if number < len(TABLES):
                player.found()
            self._crowd.add(player)
        self._crowd.start()

    def start(self) -> None:
        self.starts_s.append(self.server.start())

    def strike(self, *blows: Callable[[], object]) -> None:
        """Audit what has been answered so far, and meanwhile, at a moment drawn from the seed, let the blows fall."""
        moment = time.monotonic() + self._draws.between(EARLIEST_S, LATEST_S)
        answers = self.ledger.answers[self._held :]
        leaves = read_leaves(self._url, len(self.audit.leaves))
        self._excuse(self.server.place.kill_database in blows)
        timer = Timer(max(0, moment - time.monotonic()), lambda: [blow() for blow in blows])
        timer.start()
        self.audit.take(leaves)
        self._hold(answers)
        timer.join()

    def finish(self) -> None:
        """Let every client have its answer, then hold everything against everything, from the first byte on."""
        self._crowd.stop()
        self._find_no_fault()
        self._play_on()
        seen = self.audit.leaves
        self.audit = Audit(self.audit.vkey)
        self.audit.take(read_leaves(self._url))
        assert self.audit.leaves[: len(seen)] == seen, "leaves that were read before have changed"
        self._held = 0
        self._hold(self.ledger.answers)
        self.audit.check_head(self._main.ask("/log/checkpoint")[1].decode())
        self.audit.check_all_asked_for()
        check_tables(self._url, self.audit)
        self._replay()
        self._verify()
        self._find_no_fault()

    def close(self) -> None:
        """Leave no client behind, however it ended."""
        self.ledger.abandoned.set()
        self._crowd.stop()
        self._main.close()

    def summary(self) -> str:
        retried = sum(answer.sendings > 1 for answer in self.ledger.made)
        slowest = max(self.starts_s[1:], default=0)
        return (
            f"{self.ledger.count('coups')} coups, {len(self.audit.leaves)} leaves, {len(self.audit.plays)} shoes, "
            f"{len(self.ledger.answers)} answers, {retried} after retries, {len(self.ledger.unavailable)} times 503, "
            f"starts {sum(self.starts_s) / len(self.starts_s):.3f} s on average, {slowest:.3f} s at most"
        )

    def _excuse(self, outage: bool) -> None:
        self._since_outage = 0 if outage else self._since_outage + 1
        if self.server.place.postgres is not None:
            self.ledger.excused = DATABASE_DOWN if self._since_outage <= 1 else frozenset()

    def _hold(self, answers: list[Answer]) -> None:
        for answer in answers:
            self.audit.check(answer)
        self._held += len(answers)
        self._find_no_fault()

    def _find_no_fault(self) -> None:
        halt = self.server.place.settings.halt
        assert not halt.exists(), f"the service signs nothing any more: {halt.read_text()}"
        assert not self.ledger.faults, "\n".join(self.ledger.faults[:5])

    def _play_on(self) -> None:
        """Take every shoe that is still live to its end: by its last coup, or by its deadline."""
        self.audit.take(read_leaves(self._url, len(self.audit.leaves)))
        latest = time.monotonic() + PATIENCE_S
        for shoe in self.audit.live():
            player = Player(self._main, self.audit.plays[shoe].opened["table"])
            while player.go_on(shoe):
                said = f"{self.ledger.answers[-1]}\n{self.server.said()[-2000:]}"
                assert time.monotonic() < latest, f"shoe {shoe} does not come to its end: {said}"

    def _replay(self) -> None:
        """Send requests of all the campaign again: those that needed more than one sending, and some of the rest."""
        made = self.ledger.made
        retried = [answer for answer in made if answer.sendings > 1]
        for answers in (retried, made):
            for answer in answers[:: 1 + len(answers) // REPLAYED]:
                self._main.repeat(answer)

    def _verify(self) -> None:
        """Verify shoes: some of all the campaign's, and each table's last."""
        shoes = list(self.audit.plays)
        for shoe in {*shoes[:: 1 + len(shoes) // VERIFIED], *shoes[-len(TABLES) :]}:
            self.audit.check_bundle(shoe, self._main.ask(f"/shoes/{shoe}/bundle")[1])
