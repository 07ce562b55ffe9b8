"""Every record class against records written by hand, and every field against values it must refuse (protocol §8)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from shoe.errors import CanonicalError, InputError, RecordError, RulesError
from shoe.game.rules import CutRange
from shoe.proof.openings import Opening
from shoe.proof.records import (
    CLASSES,
    BetLine,
    Book,
    CommittedEntropy,
    Coup,
    Open,
    OpenEntropy,
    Reveal,
    Void,
    parse_as,
    parse_bet_line,
    parse_record,
    record_hash,
)
from shoe.proof.seal import BeaconPin, BookRef
from tests.record_examples import (
    BAD,
    BAD_LINE,
    EXAMPLES,
    FURTHER_EXAMPLES,
    H0,
    LINE,
    RULES,
    TRANSCRIPT,
    printed,
)

# --- the good ones -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_record_prints_back_to_the_same_bytes(name: str) -> None:
    data = printed(EXAMPLES[name])
    record = parse_record(data)
    assert record.type == EXAMPLES[name]["type"]
    assert record.to_bytes() == data
    assert parse_as(type(record), data) == record


@pytest.mark.parametrize(("name", "changes"), FURTHER_EXAMPLES)
def test_each_other_form_prints_back_too(name: str, changes: dict[str, Any]) -> None:
    data = printed(EXAMPLES[name] | changes)
    assert parse_record(data).to_bytes() == data


def test_the_examples_are_of_every_class_once() -> None:
    classes = [type(parse_record(printed(example))) for example in EXAMPLES.values()]
    assert sorted(classes, key=CLASSES.index) == list(CLASSES)


def test_fields_are_what_the_record_says() -> None:
    opened = parse_as(Open, printed(EXAMPLES["open"]))
    assert (opened.seq, opened.previous, opened.index) == (3, b"\x0a" * 32, 3)
    assert opened.rules.cut == CutRange(14, 14)
    assert opened.book == BookRef(b"\x1b" * 32, 4)
    assert opened.beacon == BeaconPin(b"\x0a" * 32, 1000)
    coup = parse_as(Coup, printed(EXAMPLES["coup"]))
    assert coup.cards[1] == Opening(12, 22, b"\x5a" * 16)  # Td: rank 9 of suit 1
    assert isinstance(parse_record(printed(EXAMPLES["entropy, beacon"])), OpenEntropy)
    assert isinstance(parse_record(printed(EXAMPLES["entropy, two_phase"])), CommittedEntropy)


def test_the_hash_is_of_the_stored_bytes() -> None:
    data = printed(EXAMPLES["lock"])
    assert record_hash(data) == hashlib.sha256(data).digest()


# --- what each field refuses -------------------------------------------------------------------

CASES = [
    pytest.param(name, key, value, id=f"{name}.{key}={ascii(value)[:30]}")
    for name, fields in BAD.items()
    for key, values in fields.items()
    for value in values
]


def test_every_field_of_every_class_has_values_it_must_refuse() -> None:
    fields = {name: set(example) - {"protocol", "type", "rules"} for name, example in EXAMPLES.items()}
    assert {name: set(values) for name, values in BAD.items()} == fields


@pytest.mark.parametrize(("name", "key", "value"), CASES)
def test_a_wrong_value_is_refused_at_its_place(name: str, key: str, value: Any) -> None:
    with pytest.raises(RecordError) as refused:
        parse_record(printed(EXAMPLES[name] | {key: value}))
    assert str(refused.value).startswith((f"{key}: ", f"{key}.", f"{key}["))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decks": 0}, "rules.decks: expected an integer 1…16, got 0"),
        ({"cut": {"from": 10, "to": 10}}, "rules.cut.from: expected an integer 11…416"),
        ({"game": "chemin_de_fer"}, "rules.game: expected punto_banco"),
    ],
)
def test_rules_that_cannot_be_played_are_refused_in_a_record(changes: dict[str, Any], message: str) -> None:
    for data in (
        printed(EXAMPLES["open"] | {"rules": RULES | changes}),
        printed(EXAMPLES["seal"] | {"transcript": TRANSCRIPT | {"rules": RULES | changes}}),
    ):
        with pytest.raises(RulesError) as refused:
            parse_record(data)
        assert str(refused.value).startswith(message)


@pytest.mark.parametrize("key", RULES)
def test_rules_without_one_of_their_keys_are_refused_in_a_record(key: str) -> None:
    rest = {name: value for name, value in RULES.items() if name != key}
    with pytest.raises(RulesError, match=f"^rules: expected the keys .*, got 'none named {key}'$"):
        parse_record(printed(EXAMPLES["open"] | {"rules": rest}))


# --- keys, types, protocol ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name, example in EXAMPLES.items() for key in example if key not in ("protocol", "type")],
)
def test_a_record_without_one_key_is_refused(name: str, key: str) -> None:
    rest = {each: value for each, value in EXAMPLES[name].items() if each != key}
    wanted = "seed" if key == "seed_commitment" else key  # without either the form is taken for beacon's
    with pytest.raises(RecordError, match=f"^the document: expected the key {wanted}, got 'no such key'$"):
        parse_record(printed(rest))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("key", ["stake", "signature", "zz", "account"])
def test_a_further_key_is_refused(name: str, key: str) -> None:
    with pytest.raises(RecordError, match=f"^the document: expected only the keys .*, got '{key}'$"):
        parse_record(printed(EXAMPLES[name] | {key: 1}))


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "seq" not in EXAMPLES[name]])
def test_a_record_outside_of_a_shoe_has_no_place_in_one(name: str) -> None:
    with pytest.raises(RecordError, match=r"^the document: expected only the keys .*, got 'previous'$"):
        parse_record(printed(EXAMPLES[name] | {"shoe": "shoe-1", "seq": 0, "previous": H0}))


def test_entropy_has_a_seed_or_a_commitment_and_not_both() -> None:
    with pytest.raises(RecordError, match=r"^the document: expected only the keys .*, got 'seed'$"):
        parse_record(printed(EXAMPLES["entropy, two_phase"] | {"seed": "17.x"}))


@pytest.mark.parametrize("kind", ["", "Open", "deal", "bet", "entropy_two_phase", "record", None, 1, ["open"], {}])
def test_an_unknown_type_is_refused(kind: Any) -> None:
    with pytest.raises(RecordError, match=r"^type: expected a known record type, got "):
        parse_record(printed(EXAMPLES["lock"] | {"type": kind}))


@pytest.mark.parametrize("protocol", ["fairshoe/2", "fairshoe/1.0", "Fairshoe/1", "fairshoe/1 ", "", None, 1])
@pytest.mark.parametrize("name", ["open", "key"])
def test_another_protocol_is_refused(name: str, protocol: Any) -> None:
    with pytest.raises(RecordError, match=r"^protocol: expected fairshoe/1, got "):
        parse_record(printed(EXAMPLES[name] | {"protocol": protocol}))


@pytest.mark.parametrize("key", ["protocol", "type"])
def test_a_record_without_protocol_or_type_is_refused(key: str) -> None:
    rest = {name: value for name, value in EXAMPLES["lock"].items() if name != key}
    with pytest.raises(RecordError, match=f"^{key}: expected "):
        parse_record(printed(rest))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", "expected an object"),
        (b"", "not JSON"),
        (json.dumps(EXAMPLES["lock"], sort_keys=True).encode(), "byte 9: expected the canonical form"),
        (json.dumps(EXAMPLES["lock"], separators=(",", ":")).encode(), "byte 2: expected the canonical form"),
        (printed(EXAMPLES["lock"]) + b"\n", f"byte {len(printed(EXAMPLES['lock']))}: expected bytes"),
        (printed(EXAMPLES["lock"] | {"count": 1.0}), "number: expected an integer"),
        (printed(EXAMPLES["lock"] | {"shoe": "é"}), "shoe: character 0: expected characters"),
        (printed(EXAMPLES["lock"] | {"seq": 2**53}), "number: expected an integer below 2^53"),
        (printed(EXAMPLES["open"] | {"rules": RULES | {"house": "x" * 65_535}}), "canonical JSON: expected at most"),
    ],
)
def test_bytes_that_are_no_canonical_object_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(CanonicalError) as refused:
        parse_record(data)
    assert str(refused.value).startswith(message)


def test_a_record_of_another_class_than_wanted_is_refused() -> None:
    with pytest.raises(RecordError, match=r"^type: expected a book record, got 'lock'$"):
        parse_as(Book, printed(EXAMPLES["lock"]))
    with pytest.raises(RecordError, match=r"^type: expected a entropy record, got 'entropy'$"):
        parse_as(OpenEntropy, printed(EXAMPLES["entropy, two_phase"]))


def test_a_reveal_is_no_void() -> None:
    assert not isinstance(parse_record(printed(EXAMPLES["reveal"])), Void)
    assert not isinstance(parse_record(printed(EXAMPLES["void"])), Reveal)


def test_no_public_record_has_a_key_for_a_stake_or_a_name() -> None:
    keys = {key for example in EXAMPLES.values() for key in example}
    assert not keys & {"stake", "account", "address", "name", "email", "balance", "player"}


# --- bet lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"stake": 2**53 - 1}, {"number": 0}, {"bet": "super 6"}])
def test_a_bet_line_prints_back_to_the_same_bytes(changes: dict[str, Any]) -> None:
    data = printed(LINE | changes)
    assert isinstance(parse_bet_line(data), BetLine)
    assert parse_bet_line(data).to_bytes() == data


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in BAD_LINE.items() for value in values])
def test_a_wrong_value_in_a_bet_line_is_refused(key: str, value: Any) -> None:
    with pytest.raises(RecordError) as refused:
        parse_bet_line(printed(LINE | {key: value}))
    assert str(refused.value).startswith(f"{key}: ")


def test_each_key_of_a_bet_line_is_tried_and_needed() -> None:
    assert set(BAD_LINE) == set(LINE)
    for key in LINE:
        with pytest.raises(RecordError, match=f"^the document: expected the key {key}, "):
            parse_bet_line(printed({name: value for name, value in LINE.items() if name != key}))


@pytest.mark.parametrize("further", ["protocol", "type", "time", "zz"])
def test_a_bet_line_has_no_further_key(further: str) -> None:
    with pytest.raises(RecordError, match=f"^the document: expected only the keys .*, got '{further}'$"):
        parse_bet_line(printed(LINE | {further: "x"}))


def test_a_bet_line_s_salt_is_not_shown() -> None:
    """It hides stake and bet behind the root until its holder shows the line."""
    assert "5a5a" not in repr(parse_bet_line(printed(LINE)))
    with pytest.raises(InputError) as refused:
        parse_bet_line(printed(LINE).replace(b',"shoe"', b' ,"shoe"'))
    assert "5a5a" not in str(refused.value)
