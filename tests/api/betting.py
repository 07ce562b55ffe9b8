"""Tables of presets, seats at them, and what seats do: the steps that tests of bets share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.api.installation import Installation, problem_of

Bets = Mapping[str, int]


@dataclass(frozen=True)
class Seat:
    """A seat of an installation, which bets; each step must succeed unless the test asks otherwise."""

    house: Installation
    id: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def post(self, path: str, body: Any = None, status: int = 201, **headers: str) -> Any:
        answer = self.house.client.post(f"/v1{path}", json=body or {}, headers={**self.headers, **headers})
        assert answer.status_code == status, answer.text
        return answer.json

    def get(self, path: str) -> Any:
        answer = self.house.client.get(f"/v1{path}", headers=self.headers)
        assert answer.status_code == 200, answer.text
        return answer.json

    def bet(self, shoe: str, **stakes: int) -> Any:
        return self.post(f"/shoes/{shoe}/bets", {"bets": [{"bet": b, "stake": s} for b, s in stakes.items()]})

    def refused(self, path: str, body: Any, slug: str, status: int) -> str:
        """Post what must be refused so, and moves no money; give the detail."""
        before = self.purse()
        answer = self.house.client.post(f"/v1{path}", json=body, headers=self.headers)
        assert self.purse() == before
        return problem_of(answer, slug, status)

    def refuse_bet(self, shoe: str, slug: str, status: int, **stakes: int) -> str:
        bets = [{"bet": bet, "stake": stake} for bet, stake in stakes.items()]
        return self.refused(f"/shoes/{shoe}/bets", {"bets": bets}, slug, status)

    def withdraw(self, shoe: str) -> Any:
        return self.post(f"/shoes/{shoe}/bets/withdraw")

    def refuse(self, path: str, slug: str, status: int = 409, **body: Any) -> str:
        """Post what must be refused so, and moves no money; give the detail."""
        return self.refused(path, body, slug, status)

    def own(self, shoe: str) -> list[Any]:
        """Every bet of the seat in a shoe, in order, each with its coup's number."""
        coups = self.get(f"/shoes/{shoe}/bets")["coups"]
        return [{"number": coup["number"], **bet} for coup in coups for bet in coup["bets"]]

    def purse(self) -> tuple[int, int]:
        purse = self.get(f"/seats/{self.id}/purse")
        return purse["balance_minor"], purse["staked_minor"]


def table_of(house: Installation, preset: str, table: str = "t", **overrides: Any) -> str:
    """A table of a preset where nobody contributes, its first book published."""
    body = {"id": table, "preset": preset, "overrides": {"entropy": "house", **overrides}}
    house.post("/tables", body)
    house.post(f"/tables/{table}/books", {"size": 4})
    return table


def seat_at(house: Installation, table: str = "t", purse: int | None = None, player: str | None = None) -> Seat:
    made = house.post(f"/tables/{table}/seats", {"purse_minor": purse, "player": player})
    return Seat(house, made["seat"], made["token"])
