"""An installation with something of everything that an audit looks at, copied for each test; and audits of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select

from api.audits.planning import make_audit_plan
from api.audits.running import Audits
from api.audits.work import Work
from api.cases.regulating import Opened
from api.db.tables import ShoeRow
from audit.records.findings import Findings
from shoe.proof.tlog import Receipt
from tests.api.betting import seat_at, table_of
from tests.api.installation import SMALL, Installation
from tests.api.postgres import Postgres
from tests.api.tampering import Originals

ALL = Opened()


class Audited:
    """What the original holds: the shoes by what became of them, and a receipt that a client kept."""

    def __init__(self, folder: Path, server: Callable[[], Postgres]) -> None:
        self.shoes: dict[str, str] = {}
        self.receipts: list[str] = []
        self._originals = Originals(folder, server, self._play)

    @contextmanager
    def copy(self, database: str, folder: Path) -> Iterator[Installation]:
        """A running installation of its own, past the eleven records of the small log."""
        with self._originals.copy(database, folder) as house:
            yield house

    def _play(self, house: Installation) -> None:
        """One deck with bets: a shoe played out, one given up behind two coups, one before its seal, one in play.

        The book of table s ends with a seed to spare, and table c, which deals each coup from a full shoe, has a void.
        """
        table_of(house, "np_punto_banco", "s", decks=1)
        ann = seat_at(house, "s", 100_000)
        played = house.sealed("s")
        dealt: Any = {"ended": False, "record": ""}
        while not dealt["ended"]:
            if '"outcome":"tie"' not in dealt["record"]:  # a tie leaves the stake on the table
                ann.bet(played, banker=500)
            dealt = house.post(f"/shoes/{played}/coups")
            self.receipts.append(dealt["receipt"])
        given_up = house.sealed("s")
        ann.bet(given_up, player=300)
        house.post(f"/shoes/{given_up}/coups")
        house.post(f"/shoes/{given_up}/coups")
        ann.bet(given_up, player=400)
        house.post(f"/shoes/{given_up}/void", {"reason": "operator"})
        unsealed = house.open("s")
        house.post(f"/shoes/{unsealed}/void", {"reason": "operator"})
        house.post("/tables/s/books", {"size": 2})
        root = house.get("/tables/s/books")["books"][0]["root"]
        house.post(f"/tables/s/books/{root}/end")
        house.table("c", **{**SMALL, "shuffle": "coup", "cut": None, "coups": 4})
        fresh = house.sealed("c")
        house.post(f"/shoes/{fresh}/coups")
        house.post(f"/shoes/{fresh}/void", {"reason": "operator"})
        in_play = house.sealed("c")
        house.post(f"/shoes/{in_play}/coups")
        names = {"played": played, "given_up": given_up, "unsealed": unsealed, "fresh": fresh, "in_play": in_play}
        self.shoes |= {"alone": shoes_at(house, "t")[0], **names}


def shoes_at(house: Installation, table: str) -> list[str]:
    with house.service.reading() as session:
        return list(session.scalars(select(ShoeRow.id).where(ShoeRow.table_id == table).order_by(ShoeRow.open_index)))


def audit_now(house: Installation, scope: Opened = ALL, receipts: Sequence[Receipt] = ()) -> Findings:
    """Audit without a keeper, as the command does."""
    pinned = house.service.permit.pinned.read()
    with house.service.reading() as session:
        plan = make_audit_plan(session, scope, pinned, receipts)
    work = Work(plan, house.service.check_signature, receipts)
    while not work.ended:
        with house.service.reading() as session:
            work.step(session)
    return work.find()


def run_audits(house: Installation) -> None:
    """Do what the keeper does until no audit waits."""
    audits = Audits(house.service)
    while audits.turn():
        pass


def faults_of(findings: Findings) -> list[tuple[str, Any, Any, Any, str]]:
    """Every fault that is quoted: check, shoe, coup, log index, detail."""
    return [
        (check, fault["shoe"], fault["coup"], fault["index"], fault["detail"])
        for check, faults in findings.looked.quoted.items()
        for fault in faults
    ]
