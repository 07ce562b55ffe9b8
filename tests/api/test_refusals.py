"""What the use cases refuse: steps in the wrong state, mode or time, and values that are not allowed."""

from __future__ import annotations

from typing import Any

import pytest

from api.cases.tables import MAX_RULES_BYTES
from tests.api.installation import (
    BEFORE_ROUND,
    DEADLINES,
    EVERY_COUP,
    ROUND,
    SIGNATURE,
    SMALL,
    Clock,
    Found,
    Installation,
    problem_of,
)

COMMITMENT = "ab" * 32
WITHOUT_A_KEY = "expected the keys burn, coups, cut, decks, entropy, game, last_coup, shuffle, got 'none named"
RULES = {
    "burn": "none",
    "coups": None,
    "cut": {"from": 7, "to": 7},
    "decks": 8,
    "entropy": "house",
    "game": "punto_banco",
    "last_coup": "drawn_in",
    "shuffle": "shoe",
}

# --- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "detail"),
    [
        ({"decks": 0}, "rules.decks: expected an integer 1…16, got 0"),
        ({"decks": 17}, "rules.decks: expected an integer 1…16, got 17"),
        ({"decks": "8"}, "rules.decks: expected an integer 1…16, got '8'"),
        ({"decks": True}, "rules.decks: expected an integer 1…16, got True"),
        ({"cut": {"from": 5, "to": 7}}, "rules.cut.from: expected an integer 6…416 (so that drawn_in"),
        ({"cut": {"from": 8, "to": 7}}, "rules.cut.to: expected an integer 8…405"),
        ({"cut": {"at": 7}}, "rules.cut: expected null or exactly the keys from, to"),
        ({"cut": {"from": 7, "to": 7, "at": 7}}, "rules.cut: expected null or exactly the keys from, to"),
        ({"cut": None}, "rules.cut: expected {from, to} where the shoe is shuffled once"),
        ({"cut": {"from": 10, "to": 12}, "last_coup": "one_more"}, "rules.cut.from: expected an integer 11…416"),
        ({"decks": 1, "cut": {"from": 7, "to": 42}}, "rules.cut.to: expected an integer 7…41"),
        ({"coups": 5}, "rules.coups: expected null where the shoe is shuffled once"),
        ({**EVERY_COUP, "coups": None}, "rules.coups: expected an integer 1…1048576"),
        ({**EVERY_COUP, "coups": 2**20 + 1}, "rules.coups: expected an integer 1…1048576"),
        ({**EVERY_COUP, "burn": "first_card"}, "rules.burn: expected none where each coup is shuffled anew"),
        ({"entropy": "dice"}, "rules.entropy: expected two_phase or beacon or house, got 'dice'"),
        ({"game": "roulette"}, "rules.game: expected punto_banco, got 'roulette'"),
        ({"burn": ["none"]}, "rules.burn: expected none or first_card, got ['none']"),
        ({"Tables": 1}, "rules: expected only the keys bets, chips_minor, combine, limits, money, on_tie, own_limit,"),
        ({"limits": {"note": "20 €"}}, "rules.limits: expected only the keys min_minor, max_minor, below, got 'note'"),
        ({"bets": ["x"]}, "rules.bets[0]: expected an object, got 'x'"),
    ],
)
def test_rules_that_cannot_be_played_make_no_table(house: Installation, overrides: dict[str, Any], detail: str) -> None:
    body = {"id": "t", "preset": "np_punto_banco", "overrides": overrides}
    assert detail in house.refuse("/tables", body, "invalid", 422)
    assert house.get("/tables")["tables"] == []


@pytest.mark.parametrize(
    ("further", "detail"),
    [
        ({"Tables": 1}, "expected a key [a-z][a-z0-9_]*, got 'Tables'"),
        ({"house": {"note": "20 €"}}, "house.note: "),
        ({"house": ["x" * MAX_RULES_BYTES]}, f"rules: expected rules of at most {MAX_RULES_BYTES} bytes"),
    ],
)
def test_whole_rules_must_fit_into_a_record(house: Installation, further: dict[str, Any], detail: str) -> None:
    assert detail in house.refuse("/tables", {"rules": {**RULES, **further}}, "invalid", 422)


@pytest.mark.parametrize("key", sorted(RULES))
def test_whole_rules_need_every_key(house: Installation, key: str) -> None:
    rules = {name: value for name, value in RULES.items() if name != key}
    assert f"{WITHOUT_A_KEY} {key}'" in house.refuse("/tables", {"rules": rules}, "invalid", 422)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "expected either preset or rules, got 'both or neither'"),
        ({"preset": "np_punto_banco", "rules": RULES}, "expected either preset or rules"),
        ({"rules": RULES, "overrides": {}}, "expected overrides beside a preset only"),
        ({"preset": "monte_carlo"}, "preset: expected one of np_punto_banco, np_punto_banco_three, chance,"),
        ({"preset": 7}, "preset: Input should be a valid string"),
        ({"preset": "np_punto_banco", "id": "T"}, "id: String should match pattern"),
        ({"preset": "np_punto_banco", "id": "-t"}, "id: String should match pattern"),
        ({"preset": "np_punto_banco", "id": "t\n"}, "id: String should match pattern"),
        ({"preset": "np_punto_banco", "id": ""}, "id: String should match pattern"),
        ({"preset": "np_punto_banco", "id": "t" * 65}, "id: String should match pattern"),
        ({"preset": "np_punto_banco", "name": "t"}, "name: Extra inputs are not permitted"),
        ({"rules": [1]}, "rules: Input should be a valid dictionary"),
    ],
)
def test_a_table_needs_one_source_and_a_plain_id(house: Installation, body: dict[str, Any], detail: str) -> None:
    assert detail in house.refuse("/tables", body, "invalid", 422)


def test_an_id_is_taken_once(house: Installation) -> None:
    house.table()
    body = {"id": "t", "preset": "np_punto_banco"}
    assert house.refuse("/tables", body, "table-exists", 409) == "The table 't' exists."


def test_a_table_gets_an_id_where_none_is_chosen(house: Installation) -> None:
    made = house.post("/tables", {"rules": {**RULES, "house": {"least": 1}}})
    assert house.get(f"/tables/{made['id']}") == {**made, "live_shoe": None, "last_shoe": None}
    assert (made["preset"], made["rules"]) == (None, {**RULES, "house": {"least": 1}})


# --- books -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, -1, 2**16 + 1, True, "8", None, 2.0])
def test_a_book_has_a_size_within_bounds(house: Installation, size: object) -> None:
    house.table()
    slug, status = ("malformed-json", 400) if isinstance(size, float) else ("invalid", 422)
    assert "size" in house.refuse("/tables/t/books", {"size": size}, slug, status) or status == 400


def test_a_book_without_a_next_one_does_not_end(house: Installation) -> None:
    house.table(**SMALL, book=1)
    root = house.get("/tables/t/books")["books"][0]["root"]
    house.refuse(f"/tables/t/books/{root}/end", {}, "no-next-book", 409)
    house.deal_out(house.sealed())
    assert root in house.refuse(f"/tables/t/books/{root}/end", {}, "no-next-book", 409)


def test_the_newest_book_does_not_end(house: Installation) -> None:
    house.table(**SMALL)
    newest = house.post("/tables/t/books", {"size": 2})["root"]
    house.refuse(f"/tables/t/books/{newest}/end", {}, "no-next-book", 409)


def test_a_master_is_not_published_while_a_shoe_is_live(house: Installation) -> None:
    house.table(**SMALL, book=1)
    first = house.get("/tables/t/books")["books"][0]["root"]
    second = house.post("/tables/t/books", {"size": 2})["root"]
    house.post("/tables/t/books", {"size": 2})
    shoe = house.sealed()
    for root in (first, second):
        assert shoe in house.refuse(f"/tables/t/books/{root}/end", {}, "shoe-live", 409)


def test_a_book_ends_once(house: Installation) -> None:
    house.table(**SMALL)
    root = house.get("/tables/t/books")["books"][0]["root"]
    house.post("/tables/t/books", {"size": 1})
    house.post(f"/tables/t/books/{root}/end")
    house.refuse(f"/tables/t/books/{root}/end", {}, "book-ended", 409)


def test_an_ended_book_gives_no_seed(house: Installation) -> None:
    house.table(**SMALL)
    root = house.get("/tables/t/books")["books"][0]["root"]
    house.post("/tables/t/books", {"size": 1})
    house.post(f"/tables/t/books/{root}/end")
    house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    house.refuse("/tables/t/shoes", DEADLINES, "no-book", 409)


@pytest.mark.parametrize("root", ["00" * 32, "xyz", "00" * 31, "AB" * 32, "é" * 32])
def test_a_book_of_another_table_or_form_is_not_there(house: Installation, root: str) -> None:
    house.table()
    house.table("u")
    others = house.get("/tables/u/books")["books"][0]["root"]
    for path in (f"/tables/t/books/{root}/end", f"/tables/t/books/{others}/end", f"/tables/v/books/{others}/end"):
        house.refuse(path, {}, "not-found", 404)


# --- opening -----------------------------------------------------------------------------------


def test_without_a_book_no_shoe_opens(house: Installation) -> None:
    house.post("/tables", {"id": "t", "preset": "np_punto_banco"})
    assert "'t'" in house.refuse("/tables/t/shoes", DEADLINES, "no-book", 409)


def test_a_used_up_book_opens_no_shoe(house: Installation) -> None:
    house.table(**SMALL, book=1)
    house.deal_out(house.sealed())
    house.refuse("/tables/t/shoes", DEADLINES, "no-book", 409)


def test_a_table_has_one_live_shoe(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    for step in ("lock", "seal", "coups"):
        assert shoe in house.refuse("/tables/t/shoes", DEADLINES, "shoe-live", 409)
        house.post(f"/shoes/{shoe}/{step}")


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"lock_in_s": 0}, "lock_in_s: Input should be greater than or equal to 1"),
        ({"reveal_in_s": 366 * 86400 + 1}, "reveal_in_s: Input should be less than or equal to"),
        ({"seal_in_s": "60"}, "seal_in_s: Input should be a valid integer"),
        ({"seal_in_s": True}, "seal_in_s: Input should be a valid integer"),
        ({"lock_in_s": 121}, "expected lock_in_s ≤ seal_in_s ≤ reveal_in_s"),
        ({"seal_in_s": 3601}, "expected lock_in_s ≤ seal_in_s ≤ reveal_in_s"),
        ({"beacon_round": 5}, "beacon_round: expected no round in mode house, got 5"),
        ({"beacon_round": 0}, "beacon_round: Input should be greater than or equal to 1"),
        ({"now": 1}, "now: Extra inputs are not permitted"),
    ],
)
def test_deadlines_are_whole_seconds_in_order(house: Installation, change: dict[str, Any], detail: str) -> None:
    house.table(**SMALL)
    assert detail in house.refuse("/tables/t/shoes", {**DEADLINES, **change}, "invalid", 422)
    assert house.get("/tables/t")["live_shoe"] is None


@pytest.mark.parametrize("missing", sorted(DEADLINES))
def test_every_deadline_is_needed(house: Installation, missing: str) -> None:
    house.table(**SMALL)
    body = {name: value for name, value in DEADLINES.items() if name != missing}
    assert f"{missing}: Field required" in house.refuse("/tables/t/shoes", body, "invalid", 422)


# --- the order of steps ------------------------------------------------------------------------

STEPS: dict[str, dict[str, Any]] = {
    "entropy": {"seed_commitment": COMMITMENT},
    "lock": {},
    "seeds": {"position": 0, "seed": "s"},
    "seal": {},
    "coups": {},
    "reveal": {},
    "void": {"reason": "operator"},
}
REACHED = {
    "open": (),
    "locked": ("lock",),
    "sealed": ("lock", "seal"),
    "revealed": ("lock", "seal", *["coups"] * 5),
    "void": ("void",),
}
ALLOWED = {
    ("open", "entropy"),
    ("open", "lock"),
    ("locked", "seeds"),
    ("locked", "seal"),
    ("sealed", "coups"),
    ("sealed", "reveal"),
    ("revealed", "reveal"),
    ("open", "void"),
    ("locked", "void"),
    ("sealed", "void"),
}


@pytest.mark.parametrize(
    ("state", "step"), [(state, step) for state in REACHED for step in STEPS if (state, step) not in ALLOWED]
)
def test_a_step_in_another_state_is_refused(house: Installation, state: str, step: str) -> None:
    """Protocol §8: open, entropy*, lock, seed*, seal, coup*, reveal, or void."""
    house.table(**{**EVERY_COUP, "entropy": "two_phase"})
    shoe = house.open()
    for done in REACHED[state]:
        house.post(f"/shoes/{shoe}/{done}", STEPS[done])
    detail = house.refuse(f"/shoes/{shoe}/{step}", STEPS[step], "wrong-state", 409)
    assert detail.startswith(f"The shoe {shoe} is {state}; this needs one that is ")


def test_a_shoe_is_not_revealed_before_its_end(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    for coups in range(4):
        assert f"after {coups} coups" in house.refuse(f"/shoes/{shoe}/reveal", {}, "not-ended", 409)
        house.post(f"/shoes/{shoe}/coups")


@pytest.mark.parametrize(
    ("done", "seconds", "step", "deadline"),
    [
        ((), 60.000001, "entropy", "lock_by"),
        ((), 61, "lock", "lock_by"),
        (("entropy", "lock"), 121, "seeds", "seal_by"),
        (("lock",), 120.000001, "seal", "seal_by"),
        (("lock", "seal"), 3601, "coups", "reveal_by"),
        (("lock", "seal", "coups"), 3600.000001, "coups", "reveal_by"),
    ],
)
def test_a_step_after_its_deadline_is_refused_by_name(
    house: Installation, done: tuple[str, ...], seconds: float, step: str, deadline: str
) -> None:
    house.table(**{**EVERY_COUP, "entropy": "two_phase"})
    shoe = house.open()
    for before in done:
        house.post(f"/shoes/{shoe}/{before}", STEPS[before])
    house.clock.forward(seconds)
    assert house.refuse(f"/shoes/{shoe}/{step}", STEPS[step], "deadline-passed", 409).startswith(f"{deadline} of shoe")


@pytest.mark.parametrize(("seconds", "step"), [(60, "lock"), (120, "seal"), (3600, "coups")])
def test_a_deadline_is_still_in_time(house: Installation, seconds: float, step: str) -> None:
    house.table(**SMALL)
    shoe = house.open()
    steps = ("lock", "seal", "coups")
    for before in steps[: steps.index(step)]:
        house.post(f"/shoes/{shoe}/{before}")
    house.clock.forward(seconds)
    house.post(f"/shoes/{shoe}/{step}")
    assert house.verify(shoe).verdict == "consistent"


@pytest.mark.parametrize("step", sorted(STEPS))
def test_a_shoe_that_is_not_there_takes_no_step(house: Installation, step: str) -> None:
    house.table()
    assert house.refuse(f"/shoes/nowhere/{step}", STEPS[step], "not-found", 404) == "There is no shoe 'nowhere'."


# --- entropy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "expected either seed_commitment or seed"),
        ({"seed": "s", "seed_commitment": COMMITMENT}, "expected either seed_commitment or seed"),
        ({"seed": "s"}, "entropy: expected seed_commitment in mode two_phase, got 'seed'"),
        ({"seed_commitment": "AB" * 32}, "seed_commitment: String should match pattern"),
        ({"seed_commitment": "ab" * 31}, "seed_commitment: String should match pattern"),
        ({"seed_commitment": "ab" * 32 + "\n"}, "seed_commitment: String should match pattern"),
        ({"seed_commitment": None}, "expected either seed_commitment or seed"),
        ({"seed_commitment": 7}, "seed_commitment: Input should be a valid string"),
        ({"seed_commitment": COMMITMENT, "client": "me"}, "client: Extra inputs are not permitted"),
    ],
)
def test_a_contribution_to_a_two_phase_shoe_is_a_commitment(
    house: Installation, body: dict[str, Any], detail: str
) -> None:
    house.table(decks=1)
    assert detail in house.refuse(f"/shoes/{house.open()}/entropy", body, "invalid", 422)


def test_nobody_contributes_in_mode_house(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    for body in ({"seed": "s"}, {"seed_commitment": COMMITMENT}):
        house.refuse(f"/shoes/{shoe}/entropy", body, "wrong-mode", 409)


def test_a_shoe_takes_64_contributions(house: Installation) -> None:
    """Protocol §4: at most 64 a shoe."""
    house.table(decks=1)
    shoe = house.open()
    given = [house.commit(shoe, f"seed-{n}")["position"] for n in range(64)]
    assert given == list(range(64))
    house.refuse(f"/shoes/{shoe}/entropy", {"seed_commitment": COMMITMENT}, "contributions-full", 409)
    house.post(f"/shoes/{shoe}/lock")
    for n in range(64):
        house.post(f"/shoes/{shoe}/seeds", {"position": n, "seed": f"seed-{n}"})
    house.post(f"/shoes/{shoe}/seal")
    assert house.verify(shoe).verdict == "consistent"


def locked_with(house: Installation, *seeds: str) -> str:
    house.table(decks=1)
    shoe = house.open()
    for seed in seeds:
        house.commit(shoe, seed)
    house.post(f"/shoes/{shoe}/lock")
    return shoe


@pytest.mark.parametrize(
    ("body", "slug", "status", "detail"),
    [
        ({"position": 0, "seed": "Mine"}, "proof-failed", 422, "does not open its commitment"),
        ({"position": 0, "seed": "mine "}, "invalid", 422, "seed: String should match pattern"),
        ({"position": 0, "seed": "other"}, "proof-failed", 422, "does not open its commitment"),
        ({"position": 1, "seed": "mine"}, "proof-failed", 422, "does not open its commitment"),
        ({"position": 2, "seed": "mine"}, "not-found", 404, "by '2'"),
        ({"client": "guest-2", "seed": "mine"}, "not-found", 404, "by 'guest-2'"),
        ({"client": "0", "seed": "mine"}, "not-found", 404, "by '0'"),
        ({"position": 64, "seed": "mine"}, "invalid", 422, "position: Input should be less than 64"),
        ({"position": -1, "seed": "mine"}, "invalid", 422, "position: Input should be greater than or equal to 0"),
        ({"position": "0", "seed": "mine"}, "invalid", 422, "position: Input should be a valid integer"),
        ({"position": 0, "client": "guest-0", "seed": "mine"}, "invalid", 422, "expected at most one of client and"),
        ({"position": 0}, "invalid", 422, "seed: Field required"),
        ({"position": 0, "seed": ""}, "invalid", 422, "seed: String should match pattern"),
        ({"position": 0, "seed": "x" * 129}, "invalid", 422, "seed: String should match pattern"),
        ({"position": 0, "seed": "sé"}, "invalid", 422, "seed: String should match pattern"),
        ({"client": "Guest 0", "seed": "mine"}, "invalid", 422, "client: String should match pattern"),
    ],
)
def test_a_seed_must_open_its_own_commitment(
    house: Installation, body: dict[str, Any], slug: str, status: int, detail: str
) -> None:
    shoe = locked_with(house, "mine", "yours")
    said = house.refuse(f"/shoes/{shoe}/seeds", body, slug, status)
    assert detail in said
    assert "mine" not in said


def test_a_seed_is_opened_once(house: Installation) -> None:
    shoe = locked_with(house, "mine")
    house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "mine"})
    house.refuse(f"/shoes/{shoe}/seeds", {"client": "guest-0", "seed": "mine"}, "seed-opened", 409)


def test_a_shoe_is_not_sealed_without_every_seed(house: Installation) -> None:
    shoe = locked_with(house, "one", "two", "three")
    house.post(f"/shoes/{shoe}/seeds", {"position": 1, "seed": "two"})
    said = house.refuse(f"/shoes/{shoe}/seal", {}, "seeds-missing", 409)
    assert "guest-0 (position 0), guest-2 (position 2)" in said


# --- the beacon --------------------------------------------------------------------------------


@pytest.fixture
def beacon(found: Found) -> Installation:
    house = found(clock=Clock(BEFORE_ROUND))
    house.table(decks=1, entropy="beacon")
    return house


def test_without_a_checker_no_beacon_shoe_opens(found: Found) -> None:
    house = found(check_signature=None)
    house.table(entropy="beacon")
    said = house.client.post("/v1/tables/t/shoes", json=DEADLINES)
    assert "the extra `beacon` is not installed" in problem_of(said, "beacon-not-installed", 409)
    assert said.json is not None
    assert "fairshoe[beacon]" in said.json["next"]


@pytest.mark.parametrize(
    ("plan", "detail"),
    [
        ({"beacon_round": ROUND}, f"lock_in_s: expected lock_by up to 2023-09-15T11:00:00.000000Z for round {ROUND}"),
        ({"lock_in_s": 30, "beacon_round": ROUND - 10}, "lock_in_s: expected lock_by up to"),
        ({"lock_in_s": 30, "beacon_round": 1}, "lock_in_s: expected lock_by up to 2023-08-23T15:09:24.000000Z"),
        (
            {"lock_in_s": 30, "seal_in_s": 59, "beacon_round": ROUND},
            "seal_in_s: expected seal_by from 2023-09-15T11",
        ),
        ({"beacon_round": 2**31 - 1}, "seal_in_s: expected seal_by from 2227"),
        ({"beacon_round": 2**31}, "beacon_round: Input should be less than or equal to 2147483647"),
    ],
)
def test_a_round_must_come_after_the_lock_and_before_the_seal(
    beacon: Installation, plan: dict[str, int], detail: str
) -> None:
    """Protocol §4: lock_by ≤ due − period."""
    assert detail in beacon.refuse("/tables/t/shoes", {**DEADLINES, **plan}, "invalid", 422)


FORGED = f"{int(SIGNATURE[:2], 16) ^ 1:02x}{SIGNATURE[2:]}"


@pytest.mark.parametrize(
    ("body", "slug", "detail"),
    [
        ({}, "invalid", f"beacon_signature: expected the signature of quicknet's round {ROUND}"),
        ({"beacon_signature": None}, "invalid", "beacon_signature: expected the signature"),
        ({"beacon_signature": SIGNATURE.upper()}, "invalid", "beacon_signature: String should match pattern"),
        ({"beacon_signature": SIGNATURE[2:]}, "invalid", "beacon_signature: String should match pattern"),
        ({"beacon_signature": FORGED}, "proof-failed", f"not the signature of round {ROUND}"),
        ({"beacon_signature": "c0" + "00" * 47}, "proof-failed", "a compressed point other than infinity"),
        ({"beacon_signature": "37" + SIGNATURE[2:]}, "proof-failed", "a compressed point"),
    ],
)
def test_only_the_pinned_rounds_signature_seals(
    beacon: Installation, body: dict[str, Any], slug: str, detail: str
) -> None:
    shoe = beacon.open(lock_in_s=30, beacon_round=ROUND)
    beacon.post(f"/shoes/{shoe}/lock")
    assert detail in beacon.refuse(f"/shoes/{shoe}/seal", body, slug, 422)


def test_another_rounds_signature_does_not_seal(beacon: Installation) -> None:
    shoe = beacon.open(lock_in_s=30, beacon_round=ROUND + 1)
    beacon.post(f"/shoes/{shoe}/lock")
    beacon.refuse(f"/shoes/{shoe}/seal", {"beacon_signature": SIGNATURE}, "proof-failed", 422)


def test_a_beacon_shoe_takes_seeds_openly(beacon: Installation) -> None:
    shoe = beacon.open(lock_in_s=30)
    body = {"seed_commitment": COMMITMENT}
    said = beacon.refuse(f"/shoes/{shoe}/entropy", body, "invalid", 422)
    assert said == "entropy: expected seed in mode beacon, got 'seed_commitment'"
    beacon.post(f"/shoes/{shoe}/entropy", {"seed": "s"})
    beacon.post(f"/shoes/{shoe}/lock")
    beacon.refuse(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "s"}, "wrong-mode", 409)


def test_a_shoe_without_a_beacon_takes_no_signature(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    house.post(f"/shoes/{shoe}/lock")
    said = house.refuse(f"/shoes/{shoe}/seal", {"beacon_signature": SIGNATURE}, "invalid", 422)
    assert said.startswith("beacon_signature: expected no signature")


# --- voids -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entropy", "done", "seconds", "reason"),
    [
        ("two_phase", (), 0, "deadline"),
        ("two_phase", (), 60, "deadline"),
        ("two_phase", ("lock",), 61, "deadline"),
        ("two_phase", ("lock", "seal"), 3600, "deadline"),
        ("two_phase", ("entropy", "lock"), 120, "seed_missing"),
        ("two_phase", ("entropy",), 3601, "seed_missing"),
        ("two_phase", ("lock",), 3601, "seed_missing"),
        ("two_phase", ("lock", "seal"), 3601, "seed_missing"),
        ("two_phase", ("entropy", "lock"), 3601, "beacon_missing"),
        ("house", ("lock",), 3601, "beacon_missing"),
        ("house", ("lock",), 3601, "seed_missing"),
        ("beacon", ("lock",), 120, "beacon_missing"),
        ("beacon", (), 3601, "beacon_missing"),
        ("beacon", ("lock",), 3601, "seed_missing"),
    ],
)
def test_a_void_must_have_a_true_reason(
    house: Installation, entropy: str, done: tuple[str, ...], seconds: float, reason: str
) -> None:
    """Protocol §8: each INVALID unless that step is absent and its time past."""
    house.table(**{**EVERY_COUP, "entropy": entropy})
    shoe = house.open()
    for step in done:
        house.post(f"/shoes/{shoe}/{step}", STEPS[step])
    house.clock.forward(seconds)
    said = house.refuse(f"/shoes/{shoe}/void", {"reason": reason}, "reason-untrue", 409)
    assert said.startswith(f"{reason} is not true of shoe {shoe}")
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert house.verify(shoe).verdict == "void"


@pytest.mark.parametrize("body", [{}, {"reason": "boredom"}, {"reason": None}, {"reason": ["operator"]}])
def test_a_void_names_one_of_four_reasons(house: Installation, body: dict[str, Any]) -> None:
    house.table(**SMALL)
    assert "reason: " in house.refuse(f"/shoes/{house.open()}/void", body, "invalid", 422)
