"""POST /v1/verify: any bundle gets a verdict; keys, receipts and times come from who sends it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from shoe.proof.note import SignerKey
from tests.api.installation import EVERY_COUP, Found, Installation, problem_of

STRANGER = str(SignerKey.from_seed("fairshoe.example/log", b"s" * 32).vkey)
OTHER_LOG = str(SignerKey.from_seed("other.example/log", b"s" * 32).vkey)


@pytest.fixture
def played(house: Installation) -> tuple[Installation, dict[str, Any], list[str]]:
    """A two-phase shoe of five coups: the installation, its bundle, and its player's two receipts."""
    house.table(**{**EVERY_COUP, "entropy": "two_phase"})
    shoe = house.open()
    entropy = house.commit(shoe, "mine")
    lock = house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "mine"})
    house.post(f"/shoes/{shoe}/seal")
    house.deal_out(shoe)
    return house, house.bundle(shoe), [entropy["receipt"], lock["receipt"]]


Played = tuple[Installation, dict[str, Any], list[str]]


def verify(house: Installation, bundle: object, **more: Any) -> Any:
    return house.post("/verify", {"bundle": bundle, **more}, status=200)


def status(answer: Any, name: str) -> str:
    return next(str(check["status"]) for check in answer["checks"] if check["name"] == name)


def test_a_good_bundle_is_verified_under_the_services_own_key(played: Played) -> None:
    house, bundle, receipts = played
    answer = verify(house, bundle)
    assert (answer["verdict"], answer["fairness"]) == ("verified", "contributed")
    assert len(answer["checks"]) == 26  # protocol §10 names format and 25 more
    assert verify(house, bundle, receipts=receipts)["fairness"] == "provably_fair"


def test_nothing_is_kept_of_it(played: Played) -> None:
    house, bundle, _ = played
    before = house.checkpoint()
    verify(house, bundle)
    assert house.checkpoint() == before


def test_another_installation_verifies_it_with_the_key_from_outside(played: Played, found: Found) -> None:
    house, bundle, _ = played
    stranger = found("stranger", origin="other.example/log")
    vkey = house.client.get("/v1/log/key").text.strip()
    assert verify(stranger, bundle, vkeys=[vkey])["verdict"] == "verified"
    assert verify(stranger, bundle)["verdict"] == "invalid"


@pytest.mark.parametrize("vkey", [STRANGER, OTHER_LOG])
def test_another_key_does_not_verify(played: Played, vkey: str) -> None:
    house, bundle, _ = played
    answer = verify(house, bundle, vkeys=[vkey])
    assert (answer["verdict"], status(answer, "checkpoint")) == ("invalid", "INVALID")


def change(at: tuple[Any, ...], new: object) -> Callable[[dict[str, Any]], None]:
    def apply(bundle: dict[str, Any]) -> None:
        place: Any = bundle
        for step in at[:-1]:
            place = place[step]
        place[at[-1]] = new

    return apply


def edit(number: int, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def apply(bundle: dict[str, Any]) -> None:
        assert old in bundle["records"][number]
        bundle["records"][number] = bundle["records"][number].replace(old, new)

    return apply


@pytest.mark.parametrize(
    ("mutate", "check"),
    [
        (change(("format",), "fairshoe-bundle/2"), "format"),
        (change(("records",), []), "format"),
        (change(("more",), 1), "format"),
        (edit(0, '"type":"open"', '"type": "open"'), "record_bytes"),
        (edit(5, '"hand":0', '"hand":1'), "inclusion"),
        (edit(5, '"outcome":', '"outcome_":'), "record_bytes"),
        (edit(-1, '"coups":5', '"coups":4'), "inclusion"),
        (change(("checkpoint",), "x"), "checkpoint"),
        (change(("log_indices", 3), 0), "index"),
        (change(("inclusion", 2), []), "inclusion"),
        (change(("book_proof",), ["00" * 32]), "book"),
        (change(("openings", "coups", 1, 0, 0), "00" * 32), "openings"),
    ],
)
def test_a_changed_bundle_is_invalid_and_the_check_says_where(
    played: Played, mutate: Callable[[dict[str, Any]], None], check: str
) -> None:
    house, bundle, _ = played
    changed = copy.deepcopy(bundle)
    mutate(changed)
    answer = verify(house, changed)
    assert (answer["verdict"], answer["fairness"], status(answer, check)) == ("invalid", None, "INVALID")


@pytest.mark.parametrize("bundle", [{}, {"format": 7}, {"records": {"a": 1}}, {"\x00": None}, {"format": "\ud800"}])
def test_what_is_no_bundle_at_all_is_invalid_too(house: Installation, bundle: dict[str, Any]) -> None:
    answer = verify(house, bundle)
    assert (answer["verdict"], status(answer, "format")) == ("invalid", "INVALID")


def test_a_shoe_in_play_is_overdue_by_the_time_the_caller_gives(house: Installation) -> None:
    house.table(**EVERY_COUP)
    bundle = house.bundle(house.sealed())
    assert verify(house, bundle)["verdict"] == "consistent"
    assert verify(house, bundle, now="2026-01-31T13:00:00.000001Z")["verdict"] == "overdue"
    house.clock.forward(3601)
    assert verify(house, bundle)["verdict"] == "overdue"
    assert verify(house, bundle, now="2026-01-31T12:00:01.000000Z")["verdict"] == "consistent"


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"vkeys": [STRANGER, "x"]}, "vkeys[1]: verifier key: expected name+id+key"),
        ({"vkeys": []}, "vkeys: List should have at least 1 item"),
        ({"vkeys": [STRANGER] * 17}, "vkeys: List should have at most 16 items"),
        ({"vkeys": [STRANGER[:-4] + "AAA="]}, "vkeys[0]: "),
        ({"vkeys": STRANGER}, "vkeys: Input should be a valid list"),
        ({"receipts": ["x\n"]}, "receipts[0]: "),
        ({"receipts": [7]}, "receipts.0: Input should be a valid string"),
        ({"witnesses": ["x"]}, "witnesses[0]: verifier key: expected name+id+key"),
        ({"held": {"since": "2026-01-31T12:00:00.000000Z"}}, "held.checkpoint: Field required"),
        ({"held": {"checkpoint": "x", "since": "today"}}, "held.since: Value error, time: expected a time"),
        ({"now": "2026-01-31"}, "now: Value error, time: expected a time"),
        ({"extra": 1}, "extra: Extra inputs are not permitted"),
    ],
)
def test_evidence_of_the_wrong_form_is_refused(house: Installation, more: dict[str, Any], detail: str) -> None:
    response = house.client.post("/v1/verify", json={"bundle": {}, **more})
    assert detail in problem_of(response, "invalid", 422)


@pytest.mark.parametrize("body", [{}, {"bundle": None}, {"bundle": "{}"}, {"bundle": [1]}])
def test_a_bundle_is_an_object(house: Installation, body: dict[str, Any]) -> None:
    response = house.client.post("/v1/verify", data=json.dumps(body), content_type="application/json")
    assert problem_of(response, "invalid", 422).startswith("bundle: ")


def test_a_held_checkpoint_of_another_history_proves_fraud(played: Played, found: Found) -> None:
    """Two heads of one size: the same origin and key, another history, after a copied folder went on by itself."""
    house, bundle, _ = played
    other = found("copy")
    other.table("u")
    for _ in range(9):
        other.post("/tables/u/books", {"size": 1})
    size = int(bundle["checkpoint"].split("\n")[1])
    while int(other.checkpoint().split("\n")[1]) < size:
        other.post("/tables/u/books", {"size": 1})
    assert other.client.get("/v1/log/key").text == house.client.get("/v1/log/key").text
    answer = verify(house, bundle, held={"checkpoint": other.checkpoint()})
    assert answer["verdict"] == "invalid"
    assert "proves fraud" in answer["why"]
