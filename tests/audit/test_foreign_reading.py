"""Kinds told from content, and broken lines: each is told with its number, and none stops the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.foreign.audit import LogAudit, LogFindings
from audit.foreign.reading import Kind, LogFile
from shoe.proof.note import parse_vkey
from shoe.proof.verify import Evidence
from tests.audit.foreign_logs import HEADER, audited, dealt, name, orders, read, table

GOLDEN = Path(__file__).parents[1] / "golden"
LOG = table(shoes=2, seed=21)


def file(found: LogFindings) -> LogFile:
    (log,) = found.files
    return log


def bad(found: LogFindings) -> list[tuple[int, str]]:
    return [(each.line, each.kind) for each in file(found).bad_examples]


# --- kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("\n".join(LOG), "csv"),
        ("\n".join(LOG[1:]), "csv"),
        ("Shoe No;Coup;Banker;Player;Winner\n1;1;2c 5d;9s Kd;Player wins\n", "csv"),
        ("BPTB\n", "outcomes"),
        ("b p t b\n", "outcomes"),
        ("B,P,T\nP,B\n", "outcomes"),
        ("Kd Th 9s 2c 5d\n", "cards"),
        ("KdTh9s2c5d\n", "cards"),
        ("9,0,5,8\n", "cards"),
        ("\n\n# a remark\nBPTB\n", "outcomes"),
    ],
)
def test_the_kind_is_told_from_the_content(text: str, kind: Kind) -> None:
    found = audited(text)
    assert (file(found).kind, found.bad_lines) == (kind, 0)
    assert found.counts.coups > 0


def test_a_kind_may_be_forced() -> None:
    assert file(audited("T T T T T T\n")).kind == "outcomes"
    found = audited("T T T T T T\n", kind="cards")
    assert (file(found).kind, found.counts.coups) == ("cards", 1)
    assert bad(audited("BPT\n", kind="cards")) == [(1, "bad_card")]
    assert bad(audited("BPT\n", kind="csv")) == [(1, "unrecognised")]
    assert file(audited("BPT\n", kind="bundle")).verdict == "invalid"


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_newlines_and_marks_are_told_and_change_nothing(separator: str, newline: str, mark: str) -> None:
    text = mark + "".join(line.replace(",", separator) + newline for line in LOG)
    found = audited(text)
    assert (found.word, found.counts.tally()) == ("pass", audited(LOG).counts.tally())
    remarks = " ".join(file(found).remarks)
    assert ("tabs" if separator == "\t" else "semicolons") in remarks
    assert ("byte order mark" in remarks) == bool(mark)
    assert ("CRLF" in remarks) == (newline == "\r\n")


def test_columns_come_in_any_order() -> None:
    turned = [",".join(line.split(",")[place] for place in (4, 2, 0, 3, 1)) for line in LOG]
    assert audited(turned).counts.tally() == audited(LOG).counts.tally()


def test_a_log_without_header_is_read_and_that_is_told() -> None:
    found = audited(LOG[1:])
    assert (found.word, found.counts.coups) == ("pass", len(LOG) - 1)
    assert file(found).remarks == ["has no header: columns taken for shoe, coup, player, banker, outcome"]


def test_fields_may_stand_in_quotes() -> None:
    quoted = [HEADER, *(",".join(f'"{field}"' for field in line.replace(" ", ";").split(",")) for line in LOG[1:])]
    assert audited(quoted).counts.tally() == audited(LOG).counts.tally()


def test_a_stream_of_cards_is_dealt_by_the_tableau() -> None:
    """All cards of whole shoes, by the reference dealer; of n cards ⌊n/6⌋ coups are judged."""
    shoes = list(orders(8, 3, seed=22))
    found = audited([" ".join(map(name, cards)) for cards in shoes])
    assert found.word == "pass"
    assert found.counts.coups == sum(len(dealt(cards, 6)) for cards in shoes)
    assert dict(found.counts.lengths) == {69: 3}
    shoes[1][415] = shoes[1][414]
    found = audited([" ".join(map(name, cards)) for cards in shoes])
    (violation,) = found.ledger.first["composition", "card_too_often"]
    assert (violation.line, violation.shoe, violation.found) == (2, "2", "9")


# --- bundles -----------------------------------------------------------------------------------

NOW = "2023-01-01T00:00:00.000000Z"


def bundle_audit(*names: str, decks: int = 1) -> LogFindings:
    vkey = parse_vkey((GOLDEN / "vkey").read_text().strip())
    audit = LogAudit(decks, Evidence((vkey,), now=NOW))
    for each in names:
        audit.read(each, [(GOLDEN / each).read_bytes()])
    return audit.judge()


def test_a_bundle_is_verified_and_counted_in() -> None:
    found = bundle_audit("bundle.json")
    assert (found.word, file(found).verdict) == ("pass", "verified")
    assert found.counts.coups == 11
    assert dict(found.counts.lengths) == {8: 1}


def test_a_bundle_that_does_not_verify_fails_for_its_reason() -> None:
    found = bundle_audit("cheated.json")
    assert {kind for kind, _ in found.ledger.counts} == {"bundle", "outcome"}
    (violation,) = found.ledger.first["bundle", "invalid"]
    assert violation.found == "outcome: coup 4.outcome: expected banker, got 'tie'"


def test_a_bundle_in_play_is_not_in_the_checks() -> None:
    found = bundle_audit("playing.json")
    assert (found.word, file(found).verdict, found.counts.coups, found.counts.judged) == ("pass", "consistent", 3, 0)
    assert any("not in the checks" in remark for remark in file(found).remarks)


def test_a_bundle_without_its_logs_key_is_incomplete_and_says_so() -> None:
    found = audited((GOLDEN / "bundle.json").read_bytes(), decks=1)
    assert file(found).verdict == "incomplete"
    assert any("the verifier says incomplete" in remark for remark in file(found).remarks)


def test_a_bundle_of_other_decks_is_told() -> None:
    found = bundle_audit("bundle.json", decks=8)
    assert (found.word, bad(found), found.counts.coups) == ("not judged", [(1, "decks")], 0)


@pytest.mark.parametrize("text", ["{", "{}", '{"a": [', "{\0}", "\ufeff{}"])
def test_what_is_no_bundle_is_invalid(text: str) -> None:
    found = audited(text)
    assert (file(found).verdict, found.word) == ("invalid", "fail")


# --- broken lines ------------------------------------------------------------------------------

BROKEN = {
    "bad_card": ("1,5,Kx 3d,4c 5c,P", "bad_card"),
    "no_card": ("1,5,,4c 5c,P", "bad_value"),
    "bad_outcome": ("1,5,Kd 3d,4c 5c,X", "bad_value"),
    "missing_column": ("1,5,Kd 3d,4c 5c", "columns"),
    "one_column_more": ("1,5,Kd 3d,4c 5c,P,x", "columns"),
    "no_shoe": (",5,Kd 3d,4c 5c,P", "columns"),
    "no_outcome": ("1,5,Kd 3d,4c 5c,", "columns"),
    "prose": ("End of shift", "columns"),
    "nul": ("1,5,Kd 3d,4c\x00 5c,P", "nul"),
    "long": ("1,5,Kd 3d," + "4c " * 40_000 + ",P", "too_long"),
    "open_quote": ('1,5,"Kd 3d,4c 5c,P', "columns"),
}


@pytest.mark.parametrize(("line", "kind"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_is_told_and_the_rest_is_read(line: str, kind: str) -> None:
    lines = [*LOG[:5], line, *LOG[6:]]
    found = audited(lines)
    assert bad(found) == [(6, kind)]
    assert found.counts.coups == len(LOG) - 2
    assert found.word == "not judged"
    assert found.reasons()[-1] == "1 line could not be read: what stands there is not judged"
    (example,) = file(found).bad_examples
    assert example.found.startswith(line[:8])


def test_bytes_that_are_no_utf_8_are_told() -> None:
    lines = [line.encode() for line in LOG]
    lines[5] = b"1,5,K\xe9 3d,4c 5c,P"
    found = audited(b"\n".join(lines))
    assert bad(found) == [(6, "not_utf8")]
    assert file(found).bad_examples[0].found == "1,5,K\\xe9 3d,4c 5c,P"
    assert found.counts.coups == len(LOG) - 2


def test_a_last_line_that_is_cut_short_is_told() -> None:
    found = audited("\n".join(LOG)[:-12])
    assert bad(found) == [(len(LOG), "columns")]
    assert "the last line has no newline: it may be cut short" in file(found).remarks


def test_empty_lines_and_shoes_are_counted() -> None:
    found = audited("BPT\n\n  \n\nPBB\n")
    assert (file(found).empty_lines, found.counts.shoes, found.word) == (3, 2, "pass")


@pytest.mark.parametrize("missing", ["shoe", "player", "banker"])
def test_a_header_that_lacks_a_column_is_told_with_every_line(missing: str) -> None:
    found = audited([LOG[0].replace(missing, "other"), *LOG[1:]])
    assert file(found).bad == {"header": 1, "header_lacks_columns": len(LOG) - 1}
    assert file(found).bad_examples[0].expected == f"columns {missing}"
    assert (found.word, found.counts.coups) == ("not judged", 0)


def test_without_hands_the_outcomes_are_read() -> None:
    found = audited(["shoe,outcome", "1,B", "1,P", "2,T"])
    assert (found.counts.shoes, found.counts.coups, dict(found.counts.lengths)) == (2, 3, {2: 1, 1: 1})


def test_without_outcomes_the_hands_are_read() -> None:
    lines = [line.rpartition(",")[0] for line in LOG]
    assert audited(lines).counts.tally() == audited(LOG).counts.tally()


@pytest.mark.parametrize(
    ("lines", "kind", "told"),
    [
        (["BPT", "BXT", "PPB"], "bad_value", "outcome 2: B, P or T, got 'X'"),
        (["BPT", "B-T", "PPB"], "bad_value", "outcome 2: B, P or T, got '-'"),
        (["Kd Th 9s 2c 5d 8s", "Kd Zz 9s 2c 5d", "2d Th 9s 2c 5d 8s"], "bad_card", "cards such as Kd"),
        (["Kd Th 9s 2c 5d 8s", "Kd Th 9s", "2d Th 9s 2c 5d 8s"], "bad_card", "cards enough for one coup, got 3"),
    ],
)
def test_a_shoe_that_cannot_be_read_is_told_and_the_next_is_read(lines: list[str], kind: str, told: str) -> None:
    found = audited(lines)
    assert bad(found) == [(2, kind)]
    assert told in file(found).bad_examples[0].expected
    assert found.counts.shoes == 2


@pytest.mark.parametrize(
    ("data", "kinds"),
    [(b"", []), (b"\n\n", []), (b"hello\nworld\n", ["unrecognised"] * 2), (b"\xff\xfeh\0", ["not_utf8"]),
     (b"\0\0\0\0", ["nul"]), (b"\x89PNG\r\n\x1a\n", ["not_utf8", "unrecognised"]), (b"PK\x03\x04", ["unrecognised"])],
)  # fmt: skip
def test_what_holds_no_coup_is_not_judged(data: bytes, kinds: list[str]) -> None:
    found = audited(data)
    assert [kind for _, kind in bad(found)] == kinds
    assert (found.word, found.reasons()[-1]) == ("not judged", "no coup was found")


def test_one_log_that_cannot_be_read_stops_no_other() -> None:
    found = audited(b"\xff\xfe\0\0", LOG, "what?")
    assert [log.coups for log in found.files] == [0, len(LOG) - 1, 0]
    assert found.word == "not judged"


def test_examples_are_bounded_and_all_are_counted() -> None:
    audit = LogAudit(8, Evidence(()), keep=2)
    log = read(audit, "x", [HEADER, *["1,1,Kx,9s,P"] * 50, *["1,1,Ks 9s 2c 2d,9s,B"] * 40])
    assert (log.bad["bad_card"], len(log.bad_examples)) == (50, 2)
    ledger = audit.judge().ledger
    assert ledger.counts["tableau", "too_few_cards"] == 40
    assert len(ledger.first["tableau", "too_few_cards"]) == 2
