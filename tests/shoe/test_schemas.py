"""The published JSON Schemas: what the code generates, what real records and bundles keep, what broken ones don't.

The `jsonschema` package decides; every value that a reader refuses is held against the schema too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shoe.proof.bundle import print_bundle
from shoe.proof.records import CLASSES, Alarm, CommittedEntropy, Key, OpenEntropy, Report, parse_record
from tests.operator import ORIGIN, Operator, Story, rules
from tests.record_examples import BAD, BAD_LINE, EXAMPLES, FURTHER_EXAMPLES, LINE, RULES, printed
from tests.write_schemas import FOLDER, schemas
from tests.write_schemas import printed as printed_files

SCHEMAS = schemas()
VALIDATORS = {stem: Draft202012Validator(schema) for stem, schema in SCHEMAS.items()}
FILE_OF = {"entropy, two_phase": "entropy-two-phase", "entropy, beacon": "entropy-beacon", "book_end": "book-end"}

COUP_RULES = {"shuffle": "coup", "cut": None, "coups": 4}
STORIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two_phase": ({}, {}),
    "two_phase, three players": ({}, {"players": 3}),
    "two_phase, nobody": ({}, {"players": 0}),
    "beacon": ({"entropy": "beacon"}, {}),
    "house": ({"entropy": "house"}, {}),
    "burn": ({"burn": "first_card", "cut": {"from": 14, "to": 14}}, {}),
    "burn, one more, drawn cut": ({"burn": "first_card", "cut": {"from": 11, "to": 20}, "last_coup": "one_more"}, {}),
    "eight decks": ({"decks": 8, "limits": {"max": 500}}, {}),
    "each coup anew": (COUP_RULES, {}),
    "each coup anew, beacon, bets": (COUP_RULES | {"entropy": "beacon"}, {"bets": {0: 1, 3: 5}}),
    "bets": ({}, {"bets": {0: 3, 1: 0, 4: 2}}),
    "just open": ({}, {"until": "open"}),
    "not locked": ({}, {"until": "entropy"}),
    "locked": ({}, {"until": "lock"}),
    "sealed": ({}, {"until": "seal"}),
    "in play": ({}, {"coups": 3}),
    "void by the operator": ({}, {"coups": 3, "void": "operator"}),
    "void before the lock": ({}, {"until": "entropy", "void": "deadline", "late_s": 100}),
    "void without a seed": ({}, {"until": "lock", "void": "seed_missing", "late_s": 1000}),
    "void without the beacon": ({"entropy": "beacon"}, {"until": "lock", "void": "beacon_missing", "late_s": 1000}),
}


def stem_of(record: object) -> str:
    names = {CommittedEntropy: "entropy-two-phase", OpenEntropy: "entropy-beacon"}
    return "record-" + names.get(type(record), type(record).type.replace("_", "-"))  # type: ignore[arg-type, attr-defined]


def errors(stem: str, value: Any) -> list[str]:
    return [error.message for error in VALIDATORS[stem].iter_errors(value)]


def told(name: str, operator: Operator) -> Story:
    changes, how = STORIES[name]
    return operator.publish(operator.play_shoe(rules(**changes), **how))


# --- the files ---------------------------------------------------------------------------------


def test_the_files_are_what_the_code_generates() -> None:
    """Written by `python -m tests.write_schemas`."""
    on_disk = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert on_disk == printed_files()


def test_there_is_a_schema_for_every_class_of_record_and_for_the_bundle() -> None:
    records = {stem_of(parse_record(printed(example))) for example in EXAMPLES.values()}
    assert len(records) == len(CLASSES)
    assert set(SCHEMAS) == records | {"bundle", "bet-line", "rules", "table-rules"}


@pytest.mark.parametrize("stem", SCHEMAS)
def test_each_is_a_schema_of_2020_12_with_a_name_of_its_own(stem: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[stem])
    assert SCHEMAS[stem]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMAS[stem]["$id"] == f"urn:fairshoe:schema:{stem.replace('record-', 'record:')}"
    assert [other for other in SCHEMAS if SCHEMAS[other]["title"] == SCHEMAS[stem]["title"]] == [stem]


def patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from patterns(inner)


PATTERNS = sorted({pattern for schema in SCHEMAS.values() for pattern in patterns(schema)})
# What ECMA-262 and Python read alike: plain characters, classes of plain characters and ranges, groups, counts.
PLAIN_CLASS = r"\[(?:\\x[0-9a-f]{2}|[^\\\[\]^])+\]"
ECMA = re.compile(rf"\^\(\?:(?:{PLAIN_CLASS}|\\\.|[0-9A-Za-z:-]|\((?!\?)|\)|\||[?*+]|\{{[0-9]+(?:,[0-9]*)?\}})+\)\$")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_whole_and_of_ecma_262(pattern: str) -> None:
    assert ECMA.fullmatch(pattern)
    assert re.compile(pattern)


@pytest.mark.parametrize(
    "pattern", [r"[a-z]+\Z", r"(?i)^(?:a)$", r"^(?:(?P<x>a))$", r"^(?:\A)$", r"^(?:(?<!a)b)$", r"^(?:\d)$", "a|b"]
)
def test_other_patterns_would_be_found(pattern: str) -> None:
    assert not ECMA.fullmatch(pattern)


# --- real records and bundles ------------------------------------------------------------------


@pytest.mark.parametrize("name", STORIES)
def test_every_record_and_bundle_of_an_operator_keeps_its_schema(name: str) -> None:
    operator = Operator()
    operator.publish(operator.play_shoe(rules(), void="operator", coups=1))
    story = told(name, operator)
    for data in story.data:
        record = parse_record(data)
        assert errors(stem_of(record), json.loads(data)) == []
    bundle = operator.bundle(story, earlier=2, holder="guest-0")
    assert errors("bundle", json.loads(print_bundle(bundle))) == []
    for lines in story.lines.values():
        for line in lines:
            assert errors("bet-line", json.loads(line)) == []
    assert errors("rules", json.loads(story.data[0])["rules"]) == []


def test_a_table_s_first_shoe_without_book_or_bets_keeps_the_bundle_s_schema() -> None:
    operator = Operator()
    story = told("just open", operator)
    story.book = None
    value = json.loads(print_bundle(operator.bundle(story)))
    assert [value[key] for key in ("book_record", "previous_shoe", "earlier", "bets")] == [None] * 4
    assert errors("bundle", value) == []


def test_records_outside_of_shoes_keep_their_schemas() -> None:
    operator = Operator()
    operator.new_book()
    operator.end_book()
    common = {"log": ORIGIN, "time": operator.now()}
    operator.log(Key(**common, vkey=str(operator.vkey), status="retired").to_bytes())
    operator.log(Report(**common, kind="monthly", plan_hash=bytes(32), findings_hash=bytes(32)).to_bytes())
    operator.log(Alarm(**common, table="t", monitor="m", evidence="1.5e7", threshold="1000").to_bytes())
    kinds = [stem_of(parse_record(data)) for data in operator.leaves]
    assert kinds == ["record-book", "record-book-end", "record-key", "record-report", "record-alarm"]
    for stem, data in zip(kinds, operator.leaves, strict=True):
        assert errors(stem, json.loads(data)) == []


@pytest.mark.parametrize(("name", "changes"), [*((name, {}) for name in EXAMPLES), *FURTHER_EXAMPLES])
def test_records_by_hand_keep_their_schemas(name: str, changes: dict[str, Any]) -> None:
    assert errors(f"record-{FILE_OF.get(name, name)}", EXAMPLES[name] | changes) == []


# --- broken ones -------------------------------------------------------------------------------

# Only a reader can tell: dates that no calendar has, and whether a vkey's id is its key's.
NO_REAL_DATE = ["2026-13-01", "2026-00-01", "2026-02-30", "2026-02-29", "2026-01-00", "0000-01-31"]


def beyond_schemas(key: str, value: Any) -> bool:
    return isinstance(value, str) and (key == "vkey" or value[:10] in NO_REAL_DATE)


@pytest.mark.parametrize("name", BAD)
def test_what_a_reader_refuses_breaks_the_schema(name: str) -> None:
    stem = f"record-{FILE_OF.get(name, name)}"
    for key, values in BAD[name].items():
        passed = [value for value in values if not errors(stem, EXAMPLES[name] | {key: value})]
        assert [value for value in passed if not beyond_schemas(key, value)] == [], key


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_record_needs_exactly_its_keys(name: str) -> None:
    stem, example = f"record-{FILE_OF.get(name, name)}", EXAMPLES[name]
    for key in example:
        rest = {each: value for each, value in example.items() if each != key}
        assert errors(stem, rest) == [f"'{key}' is a required property"]
    assert len(errors(stem, example | {"stake": 1})) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_record_keeps_no_other_record_s_schema(name: str) -> None:
    own = f"record-{FILE_OF.get(name, name)}"
    others = {stem for stem in SCHEMAS if stem != own}
    assert {stem for stem in others if not errors(stem, EXAMPLES[name])} == set()


def test_what_a_reader_of_bet_lines_refuses_breaks_the_schema() -> None:
    assert errors("bet-line", LINE) == []
    passed = [
        (key, value)
        for key, values in BAD_LINE.items()
        for value in values
        if not errors("bet-line", LINE | {key: value})
    ]
    assert passed == []


@pytest.mark.parametrize(
    "changes",
    [
        {"decks": 0},
        {"decks": 17},
        {"decks": True},
        {"decks": "8"},
        {"burn": "two"},
        {"coups": 0},
        {"coups": 2**20 + 1},
        {"cut": {"from": 5, "to": 5}},
        {"cut": {"from": 7}},
        {"cut": {"from": 7, "to": 7, "x": 1}},
        {"cut": 7},
        {"entropy": "dice"},
        {"game": "chemin_de_fer"},
        {"last_coup": "two_more"},
        {"shuffle": None},
    ],
)
def test_rules_of_another_form_break_the_schema(changes: dict[str, Any]) -> None:
    assert errors("rules", RULES) == []
    assert errors("rules", RULES | changes) != []
    assert errors("record-open", EXAMPLES["open"] | {"rules": RULES | changes}) != []


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    operator = Operator()
    operator.publish(operator.play_shoe(rules()))
    story = told("bets", operator)
    return json.loads(print_bundle(operator.bundle(story, earlier=2, holder="guest-0")))


PLACED = {"record": "{}", "index": 0, "path": []}
BROKEN_BUNDLES: list[tuple[str, dict[str, Any]]] = [
    ("another format", {"format": "fairshoe-bundle/2"}),
    ("no format", {"format": None}),
    ("no record", {"records": []}),
    ("a record as an object", {"records": [{}]}),
    ("records as one text", {"records": "{}"}),
    ("no log index", {"log_indices": []}),
    ("log index a string", {"log_indices": ["0"]}),
    ("log index below 0", {"log_indices": [-1]}),
    ("log index of 2^53", {"log_indices": [2**53]}),
    ("log index a bool", {"log_indices": [True]}),
    ("path of capitals", {"inclusion": [["0A" * 32]]}),
    ("path of a short hash", {"inclusion": [["0a" * 31]]}),
    ("path of 65 hashes", {"inclusion": [["0a" * 32] * 65]}),
    ("path as one text", {"inclusion": ["0a" * 32]}),
    ("no checkpoint", {"checkpoint": None}),
    ("checkpoint as an object", {"checkpoint": {}}),
    ("book record as text", {"book_record": "{}"}),
    ("book record without its path", {"book_record": {"record": "{}", "index": 0}}),
    ("book record with more", {"book_record": PLACED | {"vkey": "x"}}),
    ("previous shoe's index a string", {"previous_shoe": PLACED | {"index": "0"}}),
    ("previous shoe a list", {"previous_shoe": [PLACED]}),
    ("book proof null", {"book_proof": None}),
    ("openings null", {"openings": None}),
    ("openings without burn", {"openings": {"coups": []}}),
    ("a coup of seven cards", {"openings": {"burn": None, "coups": [[[]] * 7]}}),
    ("a path for a coup and not for its cards", {"openings": {"burn": None, "coups": [["0a" * 32]]}}),
    ("earlier a checkpoint alone", {"earlier": "x"}),
    ("earlier without its path", {"earlier": {"checkpoint": "x"}}),
    ("bets an empty list", {"bets": []}),
    ("bets an object", {"bets": {}}),
    ("a bet line without its index", {"bets": [{"line": "{}", "path": []}]}),
    ("a further key", {"vkey": "x"}),
]


@pytest.mark.parametrize("changes", [row[1] for row in BROKEN_BUNDLES], ids=[row[0] for row in BROKEN_BUNDLES])
def test_a_broken_bundle_breaks_the_schema(whole: dict[str, Any], changes: dict[str, Any]) -> None:
    assert len(errors("bundle", whole | changes)) == 1


def test_a_bundle_needs_each_of_its_keys(whole: dict[str, Any]) -> None:
    for key in whole:
        rest = {each: value for each, value in whole.items() if each != key}
        assert errors("bundle", rest) == [f"'{key}' is a required property"]
