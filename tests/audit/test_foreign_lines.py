"""Lines of any stream: every newline, every piece size, and each way in which bytes are no line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.foreign.lines import MAX_LINE, BadLine, LineReader, quote
from shoe.errors import InputError


def lines(data: bytes, size: int = 2**16) -> tuple[list[tuple[int, str]], list[BadLine], LineReader]:
    bad: list[BadLine] = []
    reader = LineReader(bad.append)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return list(reader.read(pieces)), bad, reader


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("data", "wanted", "newlines"),
    [
        (b"a\nb\n", ["a", "b"], {"LF"}),
        (b"a\r\nb\r\n", ["a", "b"], {"CRLF"}),
        (b"a\rb\r", ["a", "b"], {"CR"}),
        (b"a\n\nb", ["a", "", "b"], {"LF"}),
        ("ä♦\n1\n".encode(), ["ä♦", "1"], {"LF"}),
        (b"", [], set()),
    ],
)
def test_any_newline_in_pieces_of_any_size(size: int, data: bytes, wanted: list[str], newlines: set[str]) -> None:
    found, bad, reader = lines(data, size)
    assert (found, bad, reader.newlines) == (list(enumerate(wanted, 1)), [], newlines)
    assert reader.lines == len(wanted)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")), min_size=1), st.integers(1, 9))
def test_what_is_joined_comes_apart_again(texts: list[str], size: int) -> None:
    found, bad, _ = lines("".join(f"{text}\n" for text in texts).removeprefix("\ufeff").encode(), size)
    texts[0] = texts[0].removeprefix("\ufeff")
    assert [text for _, text in found] == texts
    assert bad == []


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    found, _, reader = lines(b"\xef\xbb\xbfshoe\n")
    assert (found, reader.bom) == ([(1, "shoe")], True)
    assert not lines(b"shoe\n")[2].bom


def test_a_last_line_without_newline_is_told() -> None:
    assert lines(b"a\nb")[2].unfinished
    assert not lines(b"a\nb\n")[2].unfinished


@pytest.mark.parametrize("size", [1, 5, 2**16])
def test_bytes_that_are_no_text_are_told_and_the_rest_is_read(size: int) -> None:
    found, bad, _ = lines(b"one\nt\xe9wo\nth\0ree\nfour\n", size)
    assert found == [(1, "one"), (4, "four")]
    assert bad == [
        BadLine(2, "not_utf8", "UTF-8 (byte 1 is 0xe9)", "t\\xe9wo"),
        BadLine(3, "nul", "no NUL (there is one at byte 2)", "th\\x00ree"),
    ]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1000, 2**16, 2**20])
@pytest.mark.parametrize("length", [MAX_LINE + 1, 3 * MAX_LINE, 10 * MAX_LINE + 17])
def test_a_line_too_long_is_skipped_whole(length: int, size: int, newline: bytes) -> None:
    found, bad, reader = lines(newline.join([b"one", b"x" * length, b"three", b""]), size)
    assert [(number, text) for number, text in found] == [(1, "one"), (3, "three")]
    assert [(each.line, each.kind) for each in bad] == [(2, "too_long")]
    assert reader.lines == 3


def test_the_longest_line_that_is_read() -> None:
    assert lines(b"x" * MAX_LINE + b"\n")[1] == []
    assert [bad.kind for bad in lines(b"x" * (MAX_LINE + 1))[1]] == ["too_long"]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_refused(mark: bytes) -> None:
    with pytest.raises(InputError, match=r"^byte 0: expected UTF-8, got 'UTF-16'$"):
        lines(mark + b"s\0h\0")


def test_a_quote_is_short_and_printable() -> None:
    assert quote("a\tb\x1b[31m") == "a\\tb\\x1b[31m"
    assert len(quote("x" * 1000)) == 60
