"""Evidence that may be looked at any time: exact expectations, closed forms, and states that survive storage."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import exp, fsum, inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from audit.covariance import two_coup_covariance
from audit.deals import next_outcome
from audit.exact import exact_odds, multiplicities
from audit.multiple import log_threshold
from audit.sequential import (
    CHANGE_LOG_THRESHOLD,
    MOVES,
    WEIGHTS,
    Change,
    Evidence,
    begin,
    begin_change,
    change_from_json,
    evidence_from_json,
    log_e_path,
    update,
    update_change,
)
from shoe.errors import InputError
from shoe.game.cards import POINTS, fresh_shoe
from shoe.game.dealing import deal_shoe
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.tableau import OUTCOMES
from shoe.proof.canonical import parse_canonical, print_canonical

EIGHT = exact_odds(8).probabilities(exact_odds(8).outcomes())
THREE = {"player": Fraction(1, 2), "banker": Fraction(3, 8), "tie": Fraction(1, 8)}
NAMES = st.sampled_from(OUTCOMES)


@st.composite
def laws(draw: st.DrawFn) -> dict[str, Fraction]:
    """Any law of the three outcomes, zeros included."""
    parts = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any))
    return {name: Fraction(part, sum(parts)) for name, part in zip(OUTCOMES, parts, strict=True)}


def watch(outcomes: Any, null: dict[str, Fraction] = THREE) -> Evidence:
    state = begin(null)
    for outcome in outcomes:
        state = update(state, outcome)
    return state


# --- the e-process --------------------------------------------------------------------------------


def test_the_start() -> None:
    state = begin(THREE)
    assert (state.n, state.log_e, state.p_value, state.alarms(log_threshold(1))) == (0, 0.0, 1.0, False)


@given(st.lists(NAMES, max_size=60))
def test_wealth_equals_the_closed_form(outcomes: list[str]) -> None:
    """The Dirichlet–multinomial over the multinomial likelihood: Lindon and Malek, equation for the Bayes factor."""
    state = watch(outcomes)
    assert state.counts == tuple(outcomes.count(name) for name in OUTCOMES)
    for w, log_e in zip(WEIGHTS, state.log_wealth, strict=True):
        closed = gammaln(w) - gammaln(w + len(outcomes))
        for p, s in zip(map(float, THREE.values()), state.counts, strict=True):
            closed += gammaln(w * p + s) - gammaln(w * p) - s * log(p)
        assert log_e == pytest.approx(closed, abs=1e-10)
    assert state.log_e == pytest.approx(log(fsum(map(exp, state.log_wealth)) / 3), abs=1e-12)


@given(st.lists(st.tuples(NAMES, laws()), max_size=12), laws())
def test_the_next_coup_leaves_the_expected_e_value_as_it_is(before: list[tuple[str, Any]], law: dict[str, Any]) -> None:
    """The martingale itself, from any past, for any law that was fixed before the coup."""
    state = begin(THREE)
    for outcome, coup_law in before:
        if coup_law[outcome]:
            state = update(state, outcome, coup_law)
    expected = fsum(float(p) * exp(update(state, outcome, law).log_e) for outcome, p in law.items() if p)
    assert expected == pytest.approx(exp(state.log_e), rel=1e-12)


def test_over_all_sequences_the_expected_e_value_is_one_and_the_peak_keeps_its_promise() -> None:
    """All 3⁸ sequences: E[E] = 1, and P(max E ≥ c) ≤ 1/c for every c (Ville)."""
    leaves = [(1.0, begin(THREE))]
    for _ in range(8):
        leaves = [(chance * float(p), update(state, x)) for chance, state in leaves for x, p in THREE.items()]
    assert fsum(chance * exp(state.log_e) for chance, state in leaves) == pytest.approx(1, abs=1e-12)
    for c in (1.2, 2, 5, 20):
        assert fsum(chance for chance, state in leaves if state.log_peak >= log(c)) <= 1 / c
    assert fsum(chance for chance, state in leaves if state.p_value <= 0.5) > 0  # and it is not vacuous


def test_fixed_probabilities_err_on_the_safe_side_after_two_coups_of_a_shoe() -> None:
    """E[E₂] = 1 + Σ S₁₂[a,a]/p[a] / (w + 1), below 1 as the trace is negative: −2.176e-5/(w + 1) at 8 decks."""
    law = two_coup_covariance(8).merged(lambda kind: kind[1], OUTCOMES)
    trace = float(sum(law.s12[a][a] / law.p[a] for a in range(3)))
    expected = fsum(
        float(law.s12[a][b] + law.p[a] * law.p[b]) * exp(watch((x, y), EIGHT).log_e)
        for a, x in enumerate(OUTCOMES)
        for b, y in enumerate(OUTCOMES)
    )
    assert expected - 1 == pytest.approx(fsum(trace / (w + 1) for w in WEIGHTS) / 3, rel=1e-6)
    assert trace < 0


def test_a_whole_real_shoe_by_the_cards_not_yet_seen() -> None:
    """Burned cards stay unseen; every coup to the last is judged, those behind coup K too."""
    generator = np.random.Generator(np.random.PCG64(2))
    cards = [fresh_shoe(8)[place] for place in generator.permutation(416)]
    unseen, state, change = list(multiplicities(8)), begin(EIGHT), begin_change(EIGHT)
    dealt = list(deal_shoe(NP_PUNTO_BANCO.rules, cards, 402))
    if NP_PUNTO_BANCO.rules.burn == "first_card":
        unseen[POINTS[cards[0]]] -= 1
    for coup in dealt:
        law = next_outcome(unseen)
        state, change = update(state, coup.coup.outcome, law), update_change(change, coup.coup.outcome, law)
        for card in coup.coup.cards:
            unseen[POINTS[card]] -= 1
    assert state.n == change.n == len(dealt) > NP_PUNTO_BANCO.rules.judged_coups
    assert -2 < state.log_e < log(20)
    assert not state.alarms(log_threshold(1))
    assert not change.alarms()


def test_an_outcome_that_the_cards_rule_out_is_infinite_evidence() -> None:
    state = update(begin(EIGHT), "banker", next_outcome((12, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    assert (state.log_e, state.p_value) == (inf, 0.0)
    after = update(state, "tie")
    assert (after.log_e, after.log_peak) == (inf, inf)
    assert evidence_from_json(after.to_json()) == after
    assert update_change(begin_change(EIGHT), "banker", {"tie": Fraction(1), "player": 0, "banker": 0}).log_e == inf


def test_the_peak_stays_when_the_evidence_fades() -> None:
    streak = watch(["tie"] * 6)
    faded = streak
    for outcome in ["player", "banker", "player", "player"] * 6:
        faded = update(faded, outcome)
    assert faded.log_e < streak.log_e <= faded.log_peak
    assert faded.p_value == exp(-faded.log_peak) <= exp(-streak.log_e)


def test_alarms_need_more_for_more_tables() -> None:
    state = replace(begin(THREE), log_peak=log(1000))
    assert state.alarms(log_threshold(1))
    assert state.alarms(log_threshold(9))
    assert not state.alarms(log_threshold(11))


# --- many coups at once ---------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2), max_size=80))
def test_the_path_of_a_sequence_equals_coup_by_coup(places: list[int]) -> None:
    path = log_e_path(np.array(places, dtype=np.int8), [float(p) for p in THREE.values()])
    state, logs = begin(THREE), []
    for place in places:
        state = update(state, OUTCOMES[place])
        logs.append(state.log_e)
    assert path.tolist() == pytest.approx(logs, abs=1e-10)


def test_the_path_stays_exact_over_100_000_coups() -> None:
    generator = np.random.Generator(np.random.PCG64(3))
    p = [float(chance) for chance in EIGHT.values()]
    outcomes = generator.choice(3, 100_000, p=p)
    counts = np.bincount(outcomes)
    closed = [
        gammaln(w)
        - gammaln(w + 100_000)
        + sum(gammaln(w * q + s) - gammaln(w * q) - s * log(q) for q, s in zip(p, counts, strict=True))
        for w in WEIGHTS
    ]
    assert log_e_path(outcomes, p)[-1] == pytest.approx(log(sum(map(exp, closed)) / 3), abs=1e-7)


@pytest.mark.parametrize("outcome", [-1, 3])
def test_the_path_refuses_a_number_without_label(outcome: int) -> None:
    with pytest.raises(InputError, match=r"^outcomes: expected outcomes 0 to 2, got "):
        log_e_path(np.array([0, outcome, 1]), [0.5, 0.25, 0.25])


# --- change points --------------------------------------------------------------------------------


def ratios() -> list[dict[str, float]]:
    """The alternatives, written down anew: every move from one outcome to another that has so much."""
    return [
        {z: float((p + Fraction(move) * ((z == to) - (z == source))) / p) for z, p in THREE.items()}
        for to in THREE
        for source in THREE
        for move in MOVES
        if to != source and move < THREE[source]
    ]


@given(st.lists(NAMES, min_size=1, max_size=40))
def test_e_cusum_is_the_best_start_of_every_alternative(outcomes: list[str]) -> None:
    """By definition: for each alternative the largest product over the coups from any start to now."""
    state = begin_change(THREE)
    for outcome in outcomes:
        state = update_change(state, outcome)
    best = []
    for ratio, log_e, since in zip(ratios(), state.logs, state.since, strict=True):
        from_start = [fsum(log(ratio[x]) for x in outcomes[start:]) for start in range(len(outcomes))]
        best.append(max(from_start))
        assert log_e == pytest.approx(max(from_start), abs=1e-12)
        assert from_start[since] == pytest.approx(max(from_start), abs=1e-12)
    assert state.log_e == pytest.approx(log(fsum(map(exp, best)) / len(best)), abs=1e-12)
    assert best[state.logs.index(max(state.logs))] == pytest.approx(max(best))
    assert state.changed_after == state.since[state.logs.index(max(state.logs))]


def test_e_cusum_grows_no_faster_than_the_number_of_coups() -> None:
    """All 3⁷ sequences: the expected mean is at most n, the Shiryaev–Roberts bound behind the 10⁶ coups."""
    leaves = [(1.0, begin_change(THREE))]
    for n in range(1, 8):
        leaves = [(chance * float(p), update_change(state, x)) for chance, state in leaves for x, p in THREE.items()]
        expected = fsum(chance * exp(state.log_e) for chance, state in leaves)
        assert 1 - 1e-12 <= expected <= n


def test_a_change_is_found_and_placed() -> None:
    """20,000 sound coups, then .04 from player to banker: alarm within 15,000, the change placed within 4,000."""
    generator = np.random.Generator(np.random.PCG64(9))
    p = np.array([float(chance) for chance in EIGHT.values()])
    moved = p + np.array([-0.04, 0.04, 0])
    places = [*generator.choice(3, 20_000, p=p), *generator.choice(3, 15_000, p=moved)]
    state = begin_change(EIGHT)
    for place in places[:20_000]:
        state = update_change(state, OUTCOMES[place])
    assert not state.alarms()
    for place in places[20_000:]:
        state = update_change(state, OUTCOMES[place])
        if state.alarms():
            break
    assert state.alarms()
    assert state.log_peak >= CHANGE_LOG_THRESHOLD == log(10**6)
    assert abs(state.changed_after - 20_000) < 4_000


def test_moves_that_an_outcome_cannot_give_are_left_out() -> None:
    rare = {"a": Fraction(97, 100), "b": Fraction(3, 100)}
    assert len(begin_change(rare).logs) == 4 + 2  # from a all four; from b .01 and .02
    with pytest.raises(InputError, match=r"^null: expected an outcome of probability over 0.01"):
        begin_change({str(i): Fraction(1, 200) for i in range(200)})


# --- storage and refusals -------------------------------------------------------------------------


@given(st.lists(NAMES, max_size=30))
def test_states_survive_canonical_json_to_the_last_bit(outcomes: list[str]) -> None:
    evidence, change = watch(outcomes), begin_change(THREE)
    for outcome in outcomes:
        change = update_change(change, outcome)
    for state, read in ((evidence, evidence_from_json), (change, change_from_json)):
        stored = print_canonical(state.to_json())
        assert read(parse_canonical(stored)) == state
        assert print_canonical(read(parse_canonical(stored)).to_json()) == stored
    assert update(evidence_from_json(evidence.to_json()), "tie") == update(evidence, "tie")


EVIDENCE = watch(["player", "tie"]).to_json()
CHANGE = update_change(begin_change(THREE), "tie").to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": ["0.5", "0.375", "0.125"]}, r"^p\[0\]: expected a real in hexadecimal"),
        ({"p": [0.5, 0.375, 0.125]}, r"^p\[0\]: expected a real in hexadecimal"),
        ({"p": ["nan", "nan", "nan"]}, r"^p\[0\]: expected a real in hexadecimal"),
        ({"p": EVIDENCE["p"][:2]}, r"^p: expected 3 items, got 2$"),
        ({"counts": [1, 0]}, r"^counts: expected 3 items, got 2$"),
        ({"counts": [1, 0, -1]}, r"^counts\[2\]: expected an integer"),
        ({"counts": [1, 0, True]}, r"^counts\[2\]: expected an integer"),
        ({"log_wealth": ["0x0.0p+0"]}, r"^log_wealth: expected a list of 3…3 items, got '1 items'$"),
        ({"log_peak": "0X1.0P+0"}, "^log_peak: expected a real in hexadecimal"),
        ({"log_peak": None}, "^log_peak: expected a real in hexadecimal"),
        ({"labels": "player"}, "^labels: expected a list"),
        ({"further": 1}, "expected only the keys"),
    ],
)
def test_a_broken_state_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evidence_from_json({**EVIDENCE, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logs": CHANGE["logs"][1:]}, r"^logs: expected 24 items, got 23$"),
        ({"since": [0]}, r"^since: expected 24 items, got 1$"),
        ({"p": CHANGE["p"][1:]}, r"^p: expected 3 items, got 2$"),
        ({"n": "1"}, "^n: expected an integer"),
    ],
)
def test_a_broken_change_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        change_from_json({**CHANGE, **change})


@pytest.mark.parametrize("key", sorted(EVIDENCE))
def test_a_state_without_a_key_is_refused(key: str) -> None:
    with pytest.raises(InputError, match=f"expected the key {key}"):
        evidence_from_json({name: value for name, value in EVIDENCE.items() if name != key})
    with pytest.raises(InputError, match="expected an object"):
        evidence_from_json(json.dumps(EVIDENCE))


@pytest.mark.parametrize(
    "null",
    [
        {},
        {"tie": Fraction(1)},
        {"a": Fraction(1), "b": Fraction(0)},
        {"a": Fraction(3, 2), "b": Fraction(-1, 2)},
        {"a": Fraction(1, 2), "b": Fraction(1, 3)},
    ],
)
def test_no_null_is_refused(null: dict[str, Fraction]) -> None:
    for start in (begin, begin_change):
        with pytest.raises(InputError, match=r"^null: expected two or more positive probabilities, together 1"):
            start(null)


@pytest.mark.parametrize(
    "law",
    [
        {"player": Fraction(1)},
        {**THREE, "other": Fraction(0)},
        {"player": Fraction(1, 2), "banker": Fraction(1, 2), "tie": Fraction(1, 2)},
        {"player": Fraction(3, 2), "banker": Fraction(-1, 2), "tie": Fraction(0)},
    ],
)
def test_no_law_of_a_coup_is_refused(law: dict[str, Fraction]) -> None:
    with pytest.raises(InputError, match=r"^coup_law: expected probabilities of player, banker, tie, together 1"):
        update(begin(THREE), "player", law)
    with pytest.raises(InputError, match=r"^coup_law: "):
        update_change(begin_change(THREE), "player", law)


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(InputError, match=r"^outcome: expected player or banker or tie, got 'Tie'$"):
        update(begin(THREE), "Tie")
    with pytest.raises(InputError, match=r"^outcome: "):
        update_change(begin_change(THREE), "B")


def test_states_cannot_be_changed() -> None:
    for state in (begin(THREE), begin_change(THREE)):
        assert isinstance(state, Evidence | Change)
        with pytest.raises(AttributeError):
            state.log_peak = 0.0  # type: ignore[misc]
