"""Canonical JSON against RFC 8785 as another implementation has it, and against everything it must refuse (§8)."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import CanonicalError
from shoe.proof.canonical import (
    MAX_BYTES,
    MAX_DEPTH,
    load_json,
    parse_canonical,
    parse_object,
    place,
    print_canonical,
)

KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
STRINGS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)

BY_HAND: list[tuple[Any, str]] = [
    ({}, "{}"),
    ([], "[]"),
    ("", '""'),
    (0, "0"),
    (-1, "-1"),
    (2**53 - 1, "9007199254740991"),
    (-(2**53) + 1, "-9007199254740991"),
    (None, "null"),
    (True, "true"),
    (False, "false"),
    ({"b": 1, "a": [None, True, {"z": ""}]}, '{"a":[null,true,{"z":""}],"b":1}'),
    ({"a_b": 0, "a": 0, "a0": 0, "ab": 0}, '{"a":0,"a0":0,"a_b":0,"ab":0}'),
    ('say "hi"', '"say \\"hi\\""'),
    ("back\\slash", '"back\\\\slash"'),
    ("a/b~c'd<e>&f", '"a/b~c\'d<e>&f"'),
    ((1, (2,)), "[1,[2]]"),
]


# --- what is printed ---------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "text"), BY_HAND, ids=[text for _, text in BY_HAND])
def test_values_are_printed_as_by_hand(value: Any, text: str) -> None:
    assert print_canonical(value) == text.encode()
    assert parse_canonical(text.encode()) == json.loads(text)


@given(VALUES)
def test_every_value_comes_back_from_its_bytes(value: Any) -> None:
    assert parse_canonical(print_canonical(value)) == value


@given(VALUES)
def test_every_value_is_printed_as_rfc_8785_has_it(value: Any) -> None:
    assert print_canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_ordinary_json_of_a_value_is_read_whatever_its_white_space(value: Any) -> None:
    assert load_json(json.dumps(value, indent=2)) == value
    assert load_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=40))
def test_bytes_are_refused_or_print_back(data: bytes) -> None:
    try:
        value = parse_canonical(data)
    except CanonicalError:
        return
    assert print_canonical(value) == data


@given(VALUES, st.integers(0), st.sampled_from(list(b' \t\n"\\{}[],:0123456789-+eEaz_.\x7f\xff')))
def test_a_byte_put_in_is_refused_or_prints_back(value: Any, at: int, byte: int) -> None:
    data = print_canonical(value)
    at %= len(data) + 1
    try:
        other = parse_canonical(data[:at] + bytes([byte]) + data[at:])
    except CanonicalError:
        return
    assert other != value


@pytest.mark.parametrize("text", ["[" * 200, '\\"[[' * 100, "]" * 200, "{" * 200 + "\\"])
def test_brackets_in_a_string_nest_nothing(text: str) -> None:
    assert parse_canonical(print_canonical([text, [text]])) == [text, [text]]


def test_lists_side_by_side_nest_nothing() -> None:
    value = [[[], {}] for _ in range(500)]
    assert parse_canonical(print_canonical(value)) == value


def test_65535_bytes_are_the_most() -> None:
    longest = "x" * (MAX_BYTES - 2)
    assert parse_canonical(print_canonical(longest)) == longest


def test_nesting_a_hundred_deep_is_the_most() -> None:
    data = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert print_canonical(parse_canonical(data)) == data


# --- what is refused, each named after its mutation --------------------------------------------

REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not JSON at character 0"),
    "only a space": (b" ", "not JSON at character 1"),
    "space after a colon": (b'{"a": 1}', "byte 5: expected the canonical form, here b'1', got b' '"),
    "space after a comma": (b"[1, 2]", "byte 3: expected the canonical form, here b'2', got b' '"),
    "space before": (b" {}", "byte 0: expected the canonical form"),
    "space after": (b"{} ", "byte 2: expected the canonical form, here b'', got b' '"),
    "newline after": (b"{}\n", "byte 2: expected bytes 0x20–0x7e, got b'\\n'"),
    "carriage return": (b"{}\r\n", "byte 2: expected bytes 0x20–0x7e, got b'\\r'"),
    "tab between": (b'{"a":\t1}', "byte 5: expected bytes 0x20–0x7e"),
    "keys out of order": (b'{"b":1,"a":2}', "byte 2: expected the canonical form, here b'a', got b'b'"),
    "inner keys out of order": (b'{"a":{"c":1,"b":2}}', "byte 7: expected the canonical form"),
    "key twice": (b'{"a":1,"a":1}', "duplicate key: expected each key once, got 'a'"),
    "inner key twice": (b'[{"a":1,"b":2,"b":3}]', "duplicate key: expected each key once, got 'b'"),
    "key twice by an escape": (b'{"a":1,"\\u0061":1}', "duplicate key: expected each key once, got 'a'"),
    "float": (b"1.5", "number: expected an integer, got '1.5'"),
    "float of a whole number": (b"1.0", "number: expected an integer, got '1.0'"),
    "exponent": (b"1e3", "number: expected an integer, got '1e3'"),
    "exponent, capital": (b"1E3", "number: expected an integer, got '1E3'"),
    "exponent of zero": (b"0e0", "number: expected an integer, got '0e0'"),
    "minus zero": (b"-0", "number: expected an integer below 2^53 in size, got '-0'"),
    "minus zero as a float": (b"-0.0", "number: expected an integer, got '-0.0'"),
    "leading zero": (b"01", "not JSON at character 1"),
    "leading plus": (b"+1", "not JSON at character 0"),
    "bare minus": (b"-", "not JSON at character 0"),
    "underscore between digits": (b"1_000", "not JSON at character 1"),
    "hexadecimal number": (b"0x10", "not JSON at character 1"),
    "2^53": (b"9007199254740992", "number: expected an integer below 2^53 in size, got '9007199254740992'"),
    "−2^53": (b"-9007199254740992", "number: expected an integer below 2^53 in size, got '-9007199254740992'"),
    "2^53 in a list": (b"[0,9007199254740992]", "number: expected an integer below 2^53 in size"),
    "5,000 digits": (b"9" * 5000, "number: expected an integer below 2^53 in size"),
    "NaN": (b"NaN", "number: expected an integer, got 'NaN'"),
    "Infinity": (b"Infinity", "number: expected an integer, got 'Infinity'"),
    "minus Infinity": (b'{"a":-Infinity}', "number: expected an integer, got '-Infinity'"),
    "None": (b"None", "not JSON at character 0"),
    "True": (b"True", "not JSON at character 0"),
    "undefined": (b"undefined", "not JSON at character 0"),
    "escape of a letter": (b'"\\u0061"', "byte 1: expected the canonical form, here b'a', got b'\\\\'"),
    "escape with capital digits": (b'"\\u005C"', "byte 2: expected the canonical form, here b'\\\\', got b'u'"),
    "escape with small digits": (b'"\\u005c"', "byte 2: expected the canonical form"),
    "escaped slash": (b'"a\\/b"', "byte 2: expected the canonical form, here b'/', got b'\\\\'"),
    "escaped newline": (b'"a\\nb"', "the document: character 1: expected characters 0x20–0x7e, got '\\n'"),
    "escaped zero": (b'"\\u0000"', "the document: character 0: expected characters 0x20–0x7e, got '\\x00'"),
    "escaped DEL": (b'["a","\\u007f"]', "[1]: character 0: expected characters 0x20–0x7e, got '\\x7f'"),
    "escaped letter outside ASCII": (b'{"a":"\\u00e9"}', "a: character 0: expected characters 0x20–0x7e, got 'é'"),
    "escaped line separator": (b'"\\u2028"', "the document: character 0: expected characters 0x20–0x7e"),
    "lone surrogate escape": (b'"\\ud800"', "the document: character 0: expected characters 0x20–0x7e"),
    "surrogate pair escape": (b'"\\ud83c\\udccf"', "the document: character 0: expected characters 0x20–0x7e"),
    "unknown escape": (b'"\\x41"', "not JSON at character 1"),
    "escape cut short": (b'"\\u00"', "not JSON at character 2"),
    "DEL": (b'"\x7f"', "byte 1: expected bytes 0x20–0x7e, got b'\\x7f'"),
    "zero byte": (b'"a\0"', "byte 2: expected bytes 0x20–0x7e, got b'\\x00'"),
    "tab in a string": (b'"a\tb"', "byte 2: expected bytes 0x20–0x7e, got b'\\t'"),
    "newline in a string": (b'"a\nb"', "byte 2: expected bytes 0x20–0x7e, got b'\\n'"),
    "UTF-8 letter": ('"é"'.encode(), "byte 1: expected bytes 0x20–0x7e, got b'\\xc3'"),
    "UTF-8 line separator": ('"\u2028"'.encode(), "byte 1: expected bytes 0x20–0x7e, got b'\\xe2'"),
    "UTF-8 surrogate": (b'"\xed\xa0\x80"', "byte 1: expected bytes 0x20–0x7e, got b'\\xed'"),
    "UTF-16": ('{"a":1}'.encode("utf-16-le"), "byte 1: expected bytes 0x20–0x7e, got b'\\x00'"),
    "byte order mark": (b"\xef\xbb\xbf{}", "byte 0: expected bytes 0x20–0x7e, got b'\\xef'"),
    "comment": (b"{}//x", "not JSON at character 2"),
    "comment between": (b'{"a":/*x*/1}', "not JSON at character 5"),
    "single quotes": (b"{'a':1}", "not JSON at character 1"),
    "no quotes": (b"{a:1}", "not JSON at character 1"),
    "key with a capital": (b'{"aB":1}', "the document: expected a key [a-z][a-z0-9_]*, got 'aB'"),
    "key that starts with a digit": (b'{"0a":1}', "the document: expected a key [a-z][a-z0-9_]*, got '0a'"),
    "key that starts with a line": (b'{"_a":1}', "the document: expected a key [a-z][a-z0-9_]*, got '_a'"),
    "empty key": (b'{"":1}', "the document: expected a key [a-z][a-z0-9_]*, got ''"),
    "key with a dash": (b'{"a":[{"b-c":1}]}', "a[0]: expected a key [a-z][a-z0-9_]*, got 'b-c'"),
    "key with a space": (b'{"a ":1}', "the document: expected a key [a-z][a-z0-9_]*, got 'a '"),
    "key with a newline": (b'{"a\\n":1}', "the document: expected a key [a-z][a-z0-9_]*, got 'a\\n'"),
    "key outside ASCII": (b'{"\\u00e9":1}', "the document: expected a key [a-z][a-z0-9_]*, got 'é'"),
    "key a number": (b"{1:1}", "not JSON at character 1"),
    "comma after the last": (b"[1,]", "not JSON at character "),
    "comma after the last key": (b'{"a":1,}', "not JSON at character "),
    "comma first": (b"[,1]", "not JSON at character 1"),
    "comma missing": (b"[1 2]", "not JSON at character 3"),
    "two documents": (b"{}{}", "not JSON at character 2"),
    "two documents with a space": (b"{} {}", "not JSON at character 3"),
    "object cut short": (b'{"a":1', "not JSON at character 6"),
    "string cut short": (b'"a', "not JSON at character 0"),
    "65,536 bytes": (b'"' + b"x" * 65_534 + b'"', "canonical JSON: expected at most 65535 bytes, got 65536"),
    "nested 101 deep": (b"[" * 101 + b"]" * 101, "character 100: nested too deeply: expected at most 100"),
    "nested 101 deep in objects": (b'{"a":' * 101 + b"1" + b"}" * 101, "character 500: nested too deeply"),
    "nested 500 deep": (b"[" * 500 + b"]" * 500, "character 100: nested too deeply"),
    "nested 10,000 deep": (b"[" * 10_000 + b"]" * 10_000, "character 100: nested too deeply"),
    "nested 10,000 deep in objects": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "character 500: nested too deeply"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bytes_are_refused(name: str) -> None:
    data, message = REFUSED[name]
    with pytest.raises(CanonicalError) as refused:
        parse_canonical(data)
    assert str(refused.value).startswith(message)


UNPRINTABLE: dict[str, tuple[Any, str]] = {
    "float": (1.0, "the document: expected a string, integer, bool, null, list or object, got 1.0"),
    "NaN": ({"a": float("nan")}, "a: expected a string, integer, bool, null, list or object, got nan"),
    "bytes": ([b"x"], "[0]: expected a string, integer, bool, null, list or object, got b'x'"),
    "set": ({"a": {1}}, "a: expected a string, integer, bool, null, list or object"),
    "2^53": ({"a": [0, 2**53]}, "a[1]: expected an integer below 2^53 in size, got 9007199254740992"),
    "−2^53": (-(2**53), "the document: expected an integer below 2^53 in size"),
    "control character": ({"a": {"b": "x\x1f"}}, "a.b: character 1: expected characters 0x20–0x7e, got '\\x1f'"),
    "DEL": ("\x7f", "the document: character 0: expected characters 0x20–0x7e"),
    "newline at the end": ("x\n", "the document: character 1: expected characters 0x20–0x7e"),
    "letter outside ASCII": ("ß", "the document: character 0: expected characters 0x20–0x7e, got 'ß'"),
    "lone surrogate": ("\ud800", "the document: character 0: expected characters 0x20–0x7e"),
    "key a number": ({1: 1}, "the document: expected a key [a-z][a-z0-9_]*, got 1"),
    "key null": ({None: 1}, "the document: expected a key [a-z][a-z0-9_]*, got None"),
    "key a bool": ({"a": {True: 1}}, "a: expected a key [a-z][a-z0-9_]*, got True"),
    "key with a capital": ({"A": 1}, "the document: expected a key [a-z][a-z0-9_]*, got 'A'"),
    "key with a newline": ({"a\n": 1}, "the document: expected a key [a-z][a-z0-9_]*, got 'a\\n'"),
    "too long": ("x" * MAX_BYTES, "canonical JSON: expected at most 65535 bytes, got 65537"),
}


@pytest.mark.parametrize("name", UNPRINTABLE)
def test_values_without_a_form_are_refused(name: str) -> None:
    value, message = UNPRINTABLE[name]
    with pytest.raises(CanonicalError) as refused:
        print_canonical(value)
    assert str(refused.value).startswith(message)


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(CanonicalError, match=r"^(\[0\]){100}: nested too deeply"):
        print_canonical(endless)


def test_a_refusal_shows_one_character_of_a_string_and_not_the_rest() -> None:
    """The string may be a seed, and the refusal may be logged."""
    for refuse in (
        lambda: print_canonical({"seed": "c0ffee\n"}),
        lambda: parse_canonical(b'{"seed":"c0ffee" }'),
        lambda: parse_canonical(b'{"seed":"c0ffee'),
        lambda: parse_canonical(b'{"seed":"c0ffee\xff"}'),
    ):
        with pytest.raises(CanonicalError) as refused:
            refuse()
        assert "c0ffee" not in str(refused.value)


def test_any_mapping_is_an_object() -> None:
    assert print_canonical(MappingProxyType({"b": 1, "a": MappingProxyType({})})) == b'{"a":{},"b":1}'


# --- objects, places, ordinary JSON ------------------------------------------------------------


@pytest.mark.parametrize("data", [b"[]", b"null", b"0", b'"{}"', b"true"])
def test_a_record_is_an_object(data: bytes) -> None:
    with pytest.raises(CanonicalError, match=r"^expected an object, got "):
        parse_object(data)
    assert parse_object(b'{"a":1}') == {"a": 1}


def test_places_are_printed_as_a_reader_would_write_them() -> None:
    assert place(()) == "the document"
    assert place(("rules", "cut", "from")) == "rules.cut.from"
    assert place(("cards", 2, "salt")) == "cards[2].salt"
    assert place((0, 1, "a")) == "[0][1].a"


LOOSE_AND_REFUSED: dict[str, tuple[str | bytes, str]] = {
    "key twice": ('{"a": 1, "a": 2}', "duplicate key: expected each key once, got 'a'"),
    "float": ("[1.0]", "number: expected an integer, got '1.0'"),
    "NaN": ("[NaN]", "number: expected an integer, got 'NaN'"),
    "2^53": ("[9007199254740992]", "number: expected an integer below 2^53 in size"),
    "no JSON": ("[1", "not JSON at character 2"),
    "not UTF-8": (b'"\xff"', "byte 1: expected UTF-8, got 255"),
    "UTF-8 surrogate": (b'"\xed\xa0\x80"', "byte 1: expected UTF-8, got 237"),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "byte 0: expected UTF-8, got 255"),
    "UTF-16 without a mark": ('{"a":1}'.encode("utf-16-le"), "not JSON at character 1"),
    "byte order mark": (b"\xef\xbb\xbf{}", "not JSON at character 0"),
    "byte order mark in text": ("\ufeff{}", "not JSON at character 0"),
    "nested too deeply": ("[" * 100_000, "character 100: nested too deeply"),
}


@pytest.mark.parametrize("name", LOOSE_AND_REFUSED)
def test_ordinary_json_is_read_strictly_too(name: str) -> None:
    text, message = LOOSE_AND_REFUSED[name]
    with pytest.raises(CanonicalError) as refused:
        load_json(text)
    assert str(refused.value).startswith(message)


def test_a_hundred_thousand_keys_with_one_twice_are_refused_at_once() -> None:
    """Looking for the double key by comparing all with all would take a minute and more."""
    text = "{" + ",".join(f'"k{n}":0' for n in range(100_000)) + ',"k99999":0}'
    with pytest.raises(CanonicalError, match=r"^duplicate key: expected each key once, got 'k99999'$"):
        load_json(text)
