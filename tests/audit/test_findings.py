"""Findings: canonical, hashed without time or machine, with one verdict over all checks; and what is not judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from audit.battery import Sizes
from audit.counts import RunCounts
from audit.engine import Engine
from audit.findings import FORM, MOST_BYTES, Findings, compare_findings, find
from audit.plan import Plan
from audit.run import run
from audit.whole_shoe import NO_CUT, whole_shoe
from shoe.errors import CanonicalError, InputError
from shoe.proof.canonical import MAX_BYTES, parse_canonical, parse_object, print_canonical
from tests.audit.plans import EIGHT_DECKS, ONE_DECK, SMALL, plan_of
from tests.audit.scalar_block import coup_rules, scalar_coups
from tests.audit.wrong_order import PLAYER_FIRST, RIGHT, engine

Found = dict[str, Any]


@pytest.fixture(scope="module")
def counts() -> RunCounts:
    return run(SMALL)


@pytest.fixture(scope="module")
def findings(counts: RunCounts) -> Findings:
    return find(SMALL, counts)


@pytest.fixture
def printed(findings: Findings) -> Found:
    return json.loads(findings.to_bytes())


# --- the document ------------------------------------------------------------------------------


def test_the_hash_is_that_of_the_canonical_bytes(findings: Findings) -> None:
    text = findings.to_bytes()
    assert findings.hash == hashlib.sha256(text).digest()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")).encode() == text
    assert parse_object(text, MOST_BYTES)["form"] == FORM


def test_findings_may_be_larger_than_a_record(findings: Findings) -> None:
    text = findings.to_bytes()
    assert len(text) > MAX_BYTES
    for read in (parse_canonical, parse_object):
        with pytest.raises(CanonicalError, match="canonical JSON: expected at most 65535 bytes"):
            read(text)
    with pytest.raises(CanonicalError, match="canonical JSON: expected at most 65535 bytes"):
        print_canonical(findings.to_json())


def test_the_hash_does_not_depend_on_who_ran_it(findings: Findings, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        again = find(SMALL, run(SMALL, threads, checkpoint=tmp_path / "c"))
    assert again.hash == findings.hash
    assert find(SMALL, run(SMALL, checkpoint=tmp_path / "c")).hash == findings.hash


def test_the_findings_name_plan_counts_checks_and_version(findings: Findings, printed: Found) -> None:
    assert printed["plan"] == json.loads(SMALL.to_bytes())
    assert printed["plan_hash"] == SMALL.hash.hex()
    assert [check["name"] for check in printed["checks"]] == list(SMALL.checks)
    assert printed["coups"] == findings.coups > printed["judged_coups"] == 900 * 8
    assert len(printed["self_tests"]) == 8
    assert printed["version"][0].isdigit()
    assert any("picks among seeds" in text for text in printed["limitations"])


def test_nothing_of_time_or_machine_is_in_it(printed: Found) -> None:
    text = json.dumps(printed)
    for word in ("seconds", "worker", "host", "time_", "date", "/", "cpu"):
        assert f'"{word}' not in text
    assert not [key for key in _keys(printed) if "time" in key]


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


def test_a_sound_run_passes_collectively(findings: Findings, printed: Found) -> None:
    assert findings.passed
    assert (printed["verdict"], printed["failed"]) == ("pass", [])
    m = len(SMALL.checks)
    assert printed["verdict_in_words"] == f"All {m} checks pass collectively at 99 % (Holm at 1/100)."


def test_adjusted_p_values_are_holms(findings: Findings, printed: Found) -> None:
    """By the definition: running maximum of (m − rank) times the sorted p-values, at most 1."""
    m, largest, wanted = len(findings.checks), Fraction(0), {}
    for rank, check in enumerate(sorted(findings.checks, key=lambda check: check.p)):
        largest = max(largest, min(Fraction(1), (m - rank) * Fraction(check.p)))
        wanted[check.name] = f"{float(largest):.10g}"
    assert {check["name"]: check["p_adjusted"] for check in printed["checks"]} == wanted


def test_a_missing_part_is_refused(counts: RunCounts) -> None:
    with pytest.raises(InputError, match="counts: expected counts of bits"):
        find(SMALL, replace(counts, batch=replace(counts.batch, bits=None)))


# --- a failed run ------------------------------------------------------------------------------


def misbooked_block(*args: Any) -> Any:
    """A block by the right order of which every coup of 160 cells is booked under the first cell."""
    block = engine(RIGHT).deal_block(*args)
    moved = block.judged_cells.copy()
    moved[0] += moved[100:260].sum()
    moved[100:260] = 0
    return replace(block, judged_cells=moved)


def failing(plan: Plan) -> Findings:
    return find(plan, run(plan, engine=engine(RIGHT)._replace(deal_block=misbooked_block)))


def test_a_failed_run_names_what_failed_and_stands_in_the_findings() -> None:
    plan = plan_of(Sizes(700, 0, 0, 20))
    findings = failing(plan)
    printed = json.loads(findings.to_bytes())
    assert not findings.passed
    assert printed["verdict"] == "fail"
    assert {"batch_rule_use", "batch_replay"} <= set(printed["failed"])
    assert printed["failed"] == [check.name for check in findings.verdict.checks if check.rejected]
    assert f"{len(printed['failed'])} of {len(plan.checks)} checks fail" in printed["verdict_in_words"]
    (replayed,) = (check for check in printed["checks"] if check["name"] == "batch_replay")
    assert (replayed["p"], replayed["p_adjusted"], replayed["rejected"]) == ("<1e-300", "<1e-300", True)


def test_a_confirmation_follows_from_a_failed_run() -> None:
    plan = plan_of(Sizes(700, 0, 0, 20))
    findings = failing(plan)
    second = plan.confirm(findings.verdict.rejected, findings.hash, bytes(32))
    assert second.confirms == findings.hash
    assert set(second.checks) == set(findings.verdict.rejected)
    assert find(second, run(second)).passed


def all_but_replay_pass(rules: Any, sizes: Sizes) -> None:
    plan = plan_of(sizes, rules=rules)
    assert find(plan, run(plan, engine=engine(RIGHT))).passed
    wrong = find(plan, run(plan, engine=engine(PLAYER_FIRST)))
    assert wrong.verdict.rejected == ("batch_replay",)
    (replay,) = (check for check in wrong.checks if check.name == "batch_replay")
    assert (replay.p, replay.effect) == (0.0, 1.0)
    rest = replace(plan, checks=tuple(name for name in plan.checks if name != "batch_replay"))
    assert find(rest, run(rest, engine=engine(PLAYER_FIRST))).passed


def test_dealing_player_player_banker_banker_passes_every_statistic_and_fails_the_replay() -> None:
    all_but_replay_pass(ONE_DECK, Sizes(950, 100, 0, 20))


@pytest.mark.slow
def test_dealing_player_player_banker_banker_passes_every_statistic_of_a_large_run() -> None:
    """3,000 shoes of 8 decks: 207,000 judged coups, joint totals, bits and sampled orders included."""
    all_but_replay_pass(EIGHT_DECKS, Sizes(3000, 2080, 2, 100))


# --- comparison --------------------------------------------------------------------------------


def dealt_by(machine: Engine, seed: bytes) -> bytes:
    plan = plan_of(Sizes(700, 0, 0, 0), seed=seed)
    return find(plan, run(plan, engine=machine)).to_bytes()


def test_two_findings_of_one_table_agree_and_a_spoilt_one_does_not() -> None:
    one, other = (dealt_by(engine(RIGHT), seed) for seed in (bytes(32), b"\1" * 32))
    spoilt = failing(plan_of(Sizes(700, 0, 0, 0))).to_bytes()
    assert compare_findings(one, other, "batch_rule_use").p > 0.01
    assert compare_findings(one, spoilt, "batch_rule_use").p < 1e-6
    assert compare_findings(one, one, "batch_rule_use").p == 1.0


@pytest.mark.parametrize("spoil", [lambda t: t[:-1], lambda t: t + b" ", lambda t: b"[]", lambda t: b""])
def test_what_are_no_findings_is_not_compared(findings: Findings, spoil: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CanonicalError):
        compare_findings(findings.to_bytes(), spoil(findings.to_bytes()), "batch_rule_use")


@pytest.mark.parametrize(
    "other",
    [
        b"{}",
        b'{"checks":null}',
        b'{"checks":[{}]}',
        b'{"checks":[{"name":"batch_rule_use"}]}',
        b'{"checks":[{"items":[{"label":"a","observed":"1"}],"name":"batch_rule_use"}]}',
    ],
)
def test_findings_without_the_counts_are_not_compared(other: bytes, findings: Findings) -> None:
    with pytest.raises(InputError, match="findings: expected findings with the counts of batch_rule_use"):
        compare_findings(findings.to_bytes(), other, "batch_rule_use")


def test_findings_too_short_for_joint_totals_are_not_compared_by_them(findings: Findings) -> None:
    with pytest.raises(InputError, match="findings: expected findings with the counts of batch_joint_totals"):
        compare_findings(findings.to_bytes(), findings.to_bytes())


# --- the whole shoe ----------------------------------------------------------------------------


def test_the_whole_shoe_is_beside_and_not_judged(printed: Found, counts: RunCounts) -> None:
    batch, production = printed["whole_shoe"]
    assert (batch["path"], production["path"]) == ("batch", "production")
    assert "not judged" in batch["note"]
    assert sum(shoes for _, shoes in batch["coups_per_shoe"]) == batch["shoes"] == 700
    assert sum(coups * shoes for coups, shoes in batch["coups_per_shoe"]) == batch["coups"]
    for kind in ("outcomes", "rules"):
        assert sum(line["observed"] for line in batch[kind]) == batch["coups"]
        assert abs(sum(float(line["expected_decimal"]) for line in batch[kind]) - batch["coups"]) < 1e-4


def test_the_whole_shoe_is_counted_as_coups_are_dealt_one_by_one() -> None:
    """Against the scalar dealer's coups of ten shoes."""
    from audit.counts import Dealt  # noqa: PLC0415
    from audit.kernel import deal_block  # noqa: PLC0415

    key = bytes(32)
    coups = [coup for hand in range(10) for coup in scalar_coups(ONE_DECK, key, hand)]
    lines = whole_shoe(Dealt.of(deal_block(ONE_DECK, key, 0, 10), 0), ONE_DECK)
    for kind, name in (("outcomes", "outcome"), ("rules", "rule")):
        seen = {line["label"]: line["observed"] for line in lines[kind]}
        assert seen == {label: sum(getattr(coup, name) == label for coup in coups) for label in seen}


def test_where_every_coup_is_shuffled_there_is_no_cut_card() -> None:
    from audit.counts import Dealt  # noqa: PLC0415
    from audit.kernel import deal_block  # noqa: PLC0415

    lines = whole_shoe(Dealt.of(deal_block(coup_rules(8), bytes(32), 0, 10), 0), coup_rules(8))
    assert (lines["note"], lines["outcomes"], lines["coups_per_shoe"]) == (NO_CUT, [], [[1, 10]])
