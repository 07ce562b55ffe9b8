"""Every value in a bundle matters: change one and `verify` says so; take a part away and it never says verified."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoe.proof.bundle import print_bundle
from shoe.proof.records import Lock
from shoe.proof.verify import verify_bundle
from tests.operator import Operator, rules

OPTIONAL = ("earlier", "bets")
"""Parts that a bundle may lack: whether it shows an older checkpoint or own bet lines is its holder's choice."""

NAMED_BY = {
    "format": {"format"},
    "records": {"record_bytes", "inclusion"},
    "log_indices": {"inclusion", "index", "format"},
    "inclusion": {"inclusion", "format"},
    "checkpoint": {"checkpoint"},
    "book_record": {"record_bytes", "inclusion", "index", "format", "book"},
    "previous_shoe": {"record_bytes", "inclusion", "record_chain", "index", "format"},
    "book_proof": {"book", "format"},
    "openings": {"openings", "format"},
    "earlier": {"consistency", "format"},
    "bets": {"bets", "format"},
}
"""Which checks may be the one that names the place of a change, by the bundle's key."""


def make(table: Any, **how: Any) -> tuple[dict[str, Any], Any]:
    operator = Operator()
    operator.publish(operator.play_shoe(rules(), void="operator", coups=1))
    story = operator.publish(operator.play_shoe(table, bets={0: 3, 2: 2}, **how))
    bundle = operator.bundle(story, earlier=story.indices[story.find(Lock)] + 1, holder="guest-0")
    return json.loads(print_bundle(bundle)), operator.evidence(story, player=0)


SHOES = {
    "two_phase": make(rules()),
    "burned": make(rules(burn="first_card", cut={"from": 11, "to": 20}, last_coup="one_more")),
    "beacon": make(rules(entropy="beacon")),
    "each_coup_shuffled": make(rules(shuffle="coup", cut=None, coups=4)),
    "in_play": make(rules(), coups=5),
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every string, number, bool and null."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path


def lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists(inner, (*path, key))
    elif isinstance(value, list):
        yield path
        for index, inner in enumerate(value):
            yield from lists(inner, (*path, index))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of the bundle with one value replaced; what is not on the way to it is shared."""
    if not path:
        return new
    inner = copy.copy(value)
    inner[path[0]] = changed(value[path[0]], path[1:], new)
    return inner


def other_values(old: Any) -> Iterator[Any]:
    if isinstance(old, str):
        middle = len(old) // 2
        yield old[:middle] + ("0" if old[middle : middle + 1] != "0" else "1") + old[middle + 1 :]
        yield from (old[1:], old[:-1], old + old[-1:], old.upper() if old.upper() != old else old + "x", "", None, 0)
    elif old is None:
        yield from ([], {}, "", 0)
    else:
        yield from (old + 1, old - 1, -old - 1, str(old), None, [old], float(old) + 0.5)


def other_lists(old: list[Any]) -> Iterator[list[Any]]:
    yield [*old, "00" * 32]
    if old:
        yield from (old[:-1], old[1:], [*old, old[-1]], [])
    for index in range(len(old) - 1):
        if old[index] != old[index + 1]:
            yield [*old[:index], old[index + 1], old[index], *old[index + 2 :]]


def assert_refused(name: str, path: tuple[Any, ...], new: Any) -> None:
    bundle, evidence = SHOES[name]
    answer = verify_bundle(changed(bundle, path, new), evidence)
    assert answer.verdict == "invalid", (path, new)
    wrong = {check.name: check.detail for check in answer.checks if check.status == "INVALID"}
    fitting = NAMED_BY[path[0]] & wrong.keys() or {"format"} & wrong.keys()
    assert fitting, (path, wrong)


@pytest.mark.parametrize("name", SHOES)
def test_the_bundle_is_good_before_it_is_changed(name):
    bundle, evidence = SHOES[name]
    assert verify_bundle(bundle, evidence).verdict == ("consistent" if name == "in_play" else "verified")


@pytest.mark.parametrize("name", SHOES)
def test_every_leaf_counts(name):
    bundle, _ = SHOES[name]
    paths = list(leaves(bundle))
    assert len(paths) > 150
    for number, path in enumerate(paths):
        values = list(other_values(at(bundle, path)))
        assert_refused(name, path, values[number % len(values)])


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOES)
def test_every_leaf_counts_in_every_way(name):
    bundle, _ = SHOES[name]
    for path in leaves(bundle):
        for new in other_values(at(bundle, path)):
            assert_refused(name, path, new)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOES)
def test_every_character_of_every_record_and_of_the_checkpoint_counts(name):
    bundle, evidence = SHOES[name]
    for path in [("checkpoint",), *(("records", index) for index in range(len(bundle["records"])))]:
        text = at(bundle, path)
        for place, character in enumerate(text):
            new = text[:place] + chr(ord(character) ^ 1) + text[place + 1 :]
            assert verify_bundle(changed(bundle, path, new), evidence).verdict == "invalid", (path, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOES)
def test_every_list_counts_in_length_and_order(name):
    bundle, evidence = SHOES[name]
    for path in lists(bundle):
        for new in other_lists(at(bundle, path)):
            answer = verify_bundle(changed(bundle, path, new), evidence)
            if path == ("bets",) and new and all(line in at(bundle, path) for line in new) and _rising(new):
                continue  # a holder may show some of its lines only
            if path[:1] == ("openings",) and len(new) < len(at(bundle, path)):
                assert answer.verdict in ("incomplete", "invalid"), path
            else:
                assert answer.verdict == "invalid", (path, new)


def _rising(lines: list[Any]) -> bool:
    places = [(json.loads(line["line"])["number"], line["index"]) for line in lines]
    return all(before < after for before, after in pairwise(places))


@pytest.mark.parametrize("name", SHOES)
def test_a_bundle_without_a_part_is_never_verified(name):
    bundle, evidence = SHOES[name]
    for key in bundle:
        without = {other: value for other, value in bundle.items() if other != key}
        assert verify_bundle(without, evidence).verdict == "invalid", key
        answer = verify_bundle({**bundle, key: None}, evidence)
        assert answer.verdict in ("invalid", "incomplete") or key in OPTIONAL, key


@pytest.mark.parametrize("name", SHOES)
def test_a_shoe_cut_short_is_at_most_a_shoe_in_play(name):
    bundle, evidence = SHOES[name]
    for length in range(1, len(bundle["records"])):
        records = bundle["records"][:length]
        coups = sum('"type":"coup"' in record for record in records)
        sealed = any('"type":"seal"' in record for record in records)
        openings = {
            "burn": bundle["openings"]["burn"] if sealed else None, "coups": bundle["openings"]["coups"][:coups],
        }  # fmt: skip
        short = {
            **bundle, "records": records, "log_indices": bundle["log_indices"][:length], "openings": openings,
            "inclusion": bundle["inclusion"][:length], "bets": None,
        }  # fmt: skip
        if '"type":"lock"' not in "".join(records):
            assert verify_bundle(short, evidence).verdict == "invalid", "the caller's receipts show more"
        alone = verify_bundle(short, evidence.__class__(vkeys=evidence.vkeys))
        assert alone.verdict == "consistent", (length, alone.why)


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(SHOES)), st.data())
def test_any_character_of_any_string_counts(name, draw):
    bundle, _ = SHOES[name]
    path = draw.draw(st.sampled_from([path for path in leaves(bundle) if isinstance(at(bundle, path), str)]))
    text = at(bundle, path)
    place = draw.draw(st.integers(0, len(text) - 1))
    character = draw.draw(st.characters(exclude_characters=text[place]))
    assert_refused(name, path, text[:place] + character + text[place + 1 :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "nonsense",
        '{"format":"fairshoe-bundle/1"',
        "[" * 100_000,
        '{"a":1,"a":1}',
        "\ud800",
        "1e999",
    ],
)
def test_what_is_no_bundle_at_all_is_invalid_and_never_raises(text):
    _, evidence = SHOES["two_phase"]
    answer = verify_bundle(text, evidence)
    assert answer.verdict == "invalid"
    assert answer.check("format").status == "INVALID"
    assert all(check.status == "UNVERIFIABLE" for check in answer.checks[1:])
