"""Who may do what: every endpoint with every kind of credential.

What is right is written down here by hand, role by role as the interface is promised to players, game clients,
operators and regulators; it is not taken from the endpoints' marks. An endpoint that is new fails until it stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask, Response
from werkzeug.routing import Rule

from api.access import ANYONE
from api.routes.endpoint import Endpoint, Resource, endpoints_of, register, require_marks
from api.settings import SetupError
from shoe.proof.seeds import commit_seed
from tests.api.installation import DEADLINES, HOUSE, Installation

EVERYONE = "anyone"
WRITTEN: Mapping[str, str] = {
    "GET /livez": EVERYONE,
    "GET /readyz": EVERYONE,
    "GET /version": EVERYONE,
    "GET /openapi.json": EVERYONE,
    "GET /docs": EVERYONE,
    "GET /checkpoint": EVERYONE,
    "GET /tile/{place}": EVERYONE,
    "GET /v1/me": EVERYONE,
    "GET /v1/tables": EVERYONE,
    "GET /v1/tables/{table_id}": EVERYONE,
    "GET /v1/tables/{table_id}/books": EVERYONE,
    "GET /v1/tables/{table_id}/monitors": EVERYONE,
    "GET /v1/tables/{table_id}/monitors/{monitor}": EVERYONE,
    "GET /v1/tables/{table_id}/monitors/{monitor}/plot": EVERYONE,
    "GET /v1/shoes/{shoe_id}": EVERYONE,
    "GET /v1/shoes/{shoe_id}/records": EVERYONE,
    "GET /v1/shoes/{shoe_id}/coups": EVERYONE,
    "GET /v1/shoes/{shoe_id}/coups/{number}": EVERYONE,
    "GET /v1/shoes/{shoe_id}/roads": EVERYONE,
    "GET /v1/shoes/{shoe_id}/bundle": EVERYONE,
    "GET /v1/statistics/rules": EVERYONE,
    "GET /v1/statistics/outcomes": EVERYONE,
    "GET /v1/statistics/payouts": EVERYONE,
    "GET /v1/log/checkpoint": EVERYONE,
    "GET /v1/log/key": EVERYONE,
    "GET /v1/log/entries/{index}": EVERYONE,
    "GET /v1/log/proof/inclusion": EVERYONE,
    "GET /v1/log/proof/consistency": EVERYONE,
    "POST /v1/verify": EVERYONE,
    "POST /v1/shoes/{shoe_id}/entropy": "player",
    "POST /v1/shoes/{shoe_id}/seeds": "player",
    "POST /v1/shoes/{shoe_id}/bets": "player",
    "POST /v1/shoes/{shoe_id}/bets/withdraw": "player",
    "POST /v1/shoes/{shoe_id}/passes": "player",
    "POST /v1/shoes/{shoe_id}/bets/rebet": "player",
    "POST /v1/shoes/{shoe_id}/ready": "player",
    "POST /v1/seats/{seat_id}/settings": "player",  # that one alone whose it is
    "GET /v1/shoes/{shoe_id}/choices": "client operator",
    "POST /v1/shoes/{shoe_id}/loop": "client",
    "GET /v1/shoes/{shoe_id}/bets": "player",
    "GET /v1/seats/{seat_id}/purse": "player client operator",  # of seats that one alone whose it is
    "GET /v1/seats/{seat_id}/limit": "player client operator",  # the same
    "POST /v1/seats/{seat_id}/limit": "player",  # the same
    "GET /v1/seats/{seat_id}/purse/moves": "player client operator",  # the same
    "POST /v1/seats/{seat_id}/purse/moves": "client",
    "GET /v1/seats/{seat_id}/statistics": "player client operator",  # the same
    "GET /v1/players/{player}/statistics": "client operator",
    "POST /v1/shoes/{shoe_id}/lock": "client",
    "POST /v1/shoes/{shoe_id}/seal": "client",
    "POST /v1/shoes/{shoe_id}/coups": "client",
    "POST /v1/shoes/{shoe_id}/reveal": "client",
    "GET /v1/shoes/{shoe_id}/state": "client operator",
    "POST /v1/tables/{table_id}/seats": "client",  # at a table that is not open to guests
    "POST /v1/seats/{seat_id}/revoke": "client operator",
    "POST /v1/tables": "operator",
    "POST /v1/tables/{table_id}/books": "operator",
    "POST /v1/tables/{table_id}/books/{root}/end": "operator",
    "POST /v1/tables/{table_id}/shoes": "client operator",
    "POST /v1/shoes/{shoe_id}/void": "operator",
    "POST /v1/keys": "operator",
    "GET /v1/keys": "operator",
    "GET /v1/keys/{key_id}": "operator",
    "POST /v1/keys/{key_id}/revoke": "operator",
    "GET /v1/audits": EVERYONE,
    "GET /v1/audits/{audit_id}": EVERYONE,
    "GET /v1/audits/{audit_id}/{document}": EVERYONE,
    "POST /v1/audits": "regulator",
    "GET /metrics": "operator",
    "GET /v1/statistics/voids": "regulator",
    "GET /v1/books/unused": "regulator",
}
"""Who may use an endpoint, by its method and path: roles, or anyone at all."""

WHOLE_ROOMS: Mapping[str, str] = {"/v1/webhooks": "operator", "/v1/exports": "regulator"}
"""The same of everything below an address."""

NOBODY = "019c1000-0000-7000-8000-000000000000"
BODIES: Mapping[str, dict[str, Any]] = {
    "POST /v1/tables": {"preset": "np_punto_banco"},
    "POST /v1/tables/{table_id}/books": {"size": 1},
    "POST /v1/tables/{table_id}/shoes": DEADLINES,
    "POST /v1/keys": {"roles": ["client"]},
    "POST /v1/shoes/{shoe_id}/entropy": {"seed_commitment": commit_seed("mine").hex()},
    "POST /v1/shoes/{shoe_id}/seeds": {"seed": "mine"},
    "POST /v1/shoes/{shoe_id}/void": {"reason": "operator"},
    "POST /v1/shoes/{shoe_id}/bets": {"bet": "player", "stake": 100},
    "POST /v1/seats/{seat_id}/limit": {"maximum_minor": 100, "pin": "4711"},
    "POST /v1/seats/{seat_id}/purse/moves": {"amount_minor": 100},
    "POST /v1/shoes/{shoe_id}/loop": {"seat": NOBODY, "bets": [{"bet": "player", "stake": 100}], "coups": 1},
    "POST /v1/seats/{seat_id}/settings": {"preserve": True},
    "POST /v1/verify": {"bundle": {}},
}

NO_ROLE = {"own seat": "player", "another table's seat": "player"}
NOT_GOOD = ("revoked", "expired", "unknown", "unknown seat", "another scheme", "malformed", "two tokens", "empty")


def written(endpoint: Endpoint) -> frozenset[str] | None:
    """The roles that may use an endpoint, none for anyone; None where the table does not know it."""
    name = f"{endpoint.method} {endpoint.path}"
    rooms = [who for room, who in WHOLE_ROOMS.items() if f"{endpoint.path}/".startswith(f"{room}/")]
    who = WRITTEN.get(name, rooms[0] if rooms else None)
    if who is None:
        return None
    return frozenset() if who == EVERYONE else frozenset(who.split())


@dataclass
class Walk:
    """An installation with two tables in play, and a header for each kind of credential.

    The shoe of table `t` is open, that of `u` is locked and waits for seeds: steps on seeds go there, others to `t`.
    """

    house: Installation
    shoes: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    seats: dict[str, str] = field(default_factory=dict)
    spare: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        house = self.house
        for table in ("t", "u", "v"):
            house.table(table, decks=1)
            self.shoes[table] = house.open(table)
        house.post(f"/shoes/{self.shoes['u']}/lock")
        self.headers["every role"] = f"Bearer {house.tokens.key}"
        for role in ("client", "operator", "regulator"):
            self.headers[role] = self.key([role])
        for table in ("t", "u", "v"):
            self.seats[table] = f"Bearer {house.post(f'/tables/{table}/seats')['token']}"
        self.spare["key_id"] = house.post("/keys", {"roles": ["client"]})["id"]
        self.spare["seat_id"] = house.post("/tables/v/seats")["seat"]
        revoked = house.post("/keys", {"roles": ["client", "operator", "regulator"]})
        house.post(f"/keys/{revoked['id']}/revoke")
        self.headers |= {
            "revoked": f"Bearer {revoked['token']}",
            "expired": self.key(["client", "operator", "regulator"], expires_in_s=1),
            "unknown": "Bearer fsk_" + "A" * 43,
            "unknown seat": "Bearer fst_" + "A" * 43,
            "another scheme": "Basic b3BlcmF0b3I6c2VjcmV0",
            "malformed": f"Bearer  {house.tokens.key}",
            "two tokens": f"Bearer {house.tokens.key}, Bearer {house.tokens.key}",
            "empty": "",
        }
        house.clock.forward(1)

    def key(self, roles: list[str], **further: Any) -> str:
        return f"Bearer {self.house.post('/keys', {'roles': roles, **further})['token']}"

    def header(self, who: str, endpoint: Endpoint) -> str:
        """What a credential sends; which seat is a shoe's own depends on the shoe."""
        if who == "own seat":
            return self.seats["u" if endpoint.path.endswith("/seeds") else "t"]
        return self.seats["v"] if who == "another table's seat" else self.headers.get(who, "none")

    def address(self, endpoint: Endpoint) -> str:
        named = {
            "table_id": "t",
            "shoe_id": self.shoes["u" if endpoint.path.endswith("/seeds") else "t"],
            "number": "0",
            "index": "0",
            "root": "0" * 64,
            "place": "0/000.p/1",
            "monitor": "outcomes",
            "document": "plan.json",
            **self.spare,
        }
        path = endpoint.path
        for name in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
            path = path.replace("{" + name + "}", named.get(name, "nowhere"))
        return path + {"/v1/log/proof/inclusion": "?index=0", "/v1/log/proof/consistency": "?old=1"}.get(path, "")

    def ask(self, endpoint: Endpoint, who: str) -> int:
        body = BODIES.get(f"{endpoint.method} {endpoint.path}", {}) if endpoint.method == "POST" else None
        headers = {"Authorization": self.header(who, endpoint)}
        return self.house.client.open(
            self.address(endpoint), method=endpoint.method, json=body, headers=headers
        ).status_code


def wanted(endpoint: Endpoint, roles: frozenset[str], who: str) -> tuple[int, ...]:
    """The statuses that a credential may be answered with: one for what it may not do, else any of several."""
    if who in NOT_GOOD:
        return (401,)
    has = {"every role": {"client", "operator", "regulator"}, "nothing": set()}.get(who, {NO_ROLE.get(who, who)})
    if endpoint.path.startswith("/v1/seats/{seat_id}/") and who in NO_ROLE:
        return (403,)
    if not roles or roles & has:
        at_home = who != "another table's seat" or roles != {"player"}
        return (200, 201, 204, 304, 404, 409, 422) if at_home else (403,)
    return (401,) if who == "nothing" else (403,)


def test_every_credential_may_do_at_every_endpoint_what_is_written(house: Installation) -> None:
    """Those who are let in come last: what they do changes where the shoes stand."""
    walk, wrong = Walk(house), []
    everybody = (*NOT_GOOD, "nothing", "regulator", "another table's seat", "own seat", "client", "operator")
    for who in (*everybody, "every role"):
        for endpoint in endpoints_of(house.app).values():
            roles = written(endpoint)
            got = walk.ask(endpoint, who)
            if roles is None or got not in wanted(endpoint, roles, who):
                wrong.append(f"{endpoint.method} {endpoint.path} with {who}: {got}")
    assert wrong == []


def test_who_is_refused_changes_nothing(house: Installation) -> None:
    walk = Walk(house)
    before = house.checkpoint(), house.get("/keys"), house.get("/tables")
    for who in (*NOT_GOOD, "nothing", "regulator"):
        for endpoint in endpoints_of(house.app).values():
            if endpoint.method == "POST":
                assert walk.ask(endpoint, who) in (401, 403) or not endpoint.access - {who}
    assert (house.checkpoint(), house.get("/keys"), house.get("/tables")) == before


STORY: tuple[tuple[str, str, Callable[[Walk], str], dict[str, Any]], ...] = (
    ("operator", "POST", lambda _: "/v1/tables", {"id": "w", "preset": "np_punto_banco", "overrides": {"decks": 1}}),
    ("operator", "POST", lambda _: "/v1/tables/w/books", {"size": 2}),
    ("client", "POST", lambda _: "/v1/tables/w/seats", {}),
    ("operator", "POST", lambda _: "/v1/tables/w/shoes", DEADLINES),
    ("own seat", "POST", lambda walk: f"/v1/shoes/{walk.shoes['t']}/entropy", {"seed_commitment": "ab" * 32}),
    ("client", "POST", lambda walk: f"/v1/shoes/{walk.shoes['v']}/lock", {}),
    ("client", "POST", lambda walk: f"/v1/shoes/{walk.shoes['v']}/seal", {}),
    ("client", "POST", lambda walk: f"/v1/shoes/{walk.shoes['v']}/coups", {}),
    ("client", "GET", lambda walk: f"/v1/shoes/{walk.shoes['v']}/state", {}),
    ("operator", "POST", lambda walk: f"/v1/shoes/{walk.shoes['v']}/void", {"reason": "operator"}),
    ("client", "POST", lambda walk: f"/v1/seats/{walk.spare['seat_id']}/revoke", {}),
    ("operator", "POST", lambda walk: f"/v1/keys/{walk.spare['key_id']}/revoke", {}),
)


def test_each_role_alone_takes_its_steps(house: Installation) -> None:
    walk = Walk(house)
    walk.headers["own seat"] = walk.seats["t"]
    for who, method, path, body in STORY:
        answer = house.client.open(
            path(walk), method=method, json=body if method == "POST" else None,
            headers={"Authorization": walk.headers[who]},
        )  # fmt: skip
        assert answer.status_code in (200, 201), f"{who} {path(walk)}: {answer.text}"


@pytest.mark.parametrize("who", ["nothing", "regulator", "operator", "client", "every role", "another table's seat"])
def test_anyone_takes_a_seat_at_a_table_open_to_guests(house: Installation, who: str) -> None:
    walk = Walk(house)
    body = {"id": "g", "preset": "np_punto_banco", "overrides": HOUSE, "guests": True}
    assert house.post("/tables", body)["guests"] is True
    (endpoint,) = (each for each in endpoints_of(house.app).values() if each.path == "/v1/tables/{table_id}/seats")
    headers = {"Authorization": walk.header(who, endpoint)}
    answer = house.client.post("/v1/tables/g/seats", json={}, headers=headers)
    assert answer.status_code == 201
    assert answer.json is not None
    assert answer.json["table"] == "g"


# --- marks -------------------------------------------------------------------------------------


def test_the_marks_are_what_is_written(house: Installation) -> None:
    """But for a seat, which anyone may take where the table says so: the case looks after that."""
    wrong = {
        name: endpoint.access
        for name, endpoint in endpoints_of(house.app).items()
        if endpoint.access != written(endpoint) and endpoint.path != "/v1/tables/{table_id}/seats"
    }
    assert wrong == {}


def view() -> Response:
    """Answer with nothing."""
    return Response()


def test_a_route_without_a_mark_keeps_the_application_from_starting() -> None:
    app, marked = Flask("marked", static_folder=None), Resource("marked", "/v1/marked")
    marked.get("", access=ANYONE, answers={200: "text/plain"})(view)
    app.add_url_rule("/bare", "bare", view)
    with pytest.raises(SetupError, match=r"^/bare: expected an endpoint with an access mark, got a bare route$"):
        register(app, [marked])


def test_a_route_that_flask_adds_by_itself_is_found_too() -> None:
    with pytest.raises(SetupError, match=r"^/static/<path:filename>: expected an endpoint with an access mark"):
        register(Flask("with static files"), [])


def test_a_route_that_is_added_later_is_found_where_it_is_looked_for(house: Installation) -> None:
    require_marks(house.app)
    house.app.url_map.add(Rule("/later", endpoint="later"))
    with pytest.raises(SetupError, match=r"^/later: "):
        require_marks(house.app)


def test_an_endpoint_cannot_be_declared_without_saying_who_may_use_it() -> None:
    resource = Resource("unmarked")
    with pytest.raises(TypeError, match="access"):
        resource.get("/x", answers={200: "text/plain"})  # type: ignore[call-arg]  # that is what is tried
