"""``fairshoe audit`` on logs of public engines: the right ones pass, the wrong ones fail for what is true of them.

The logs and what is true of them are in `tests/vectors/logs`; its README.md says where they come from.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tracemalloc
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from audit.foreign.audit import LogAudit
from shoe.proof.verify import Evidence
from tests.api.test_cli import process
from tests.audit.foreign_logs import HEADER, dealt, orders, row

TESTS = Path(__file__).parents[1]
LOGS = TESTS / "vectors" / "logs"

TRUE: dict[str, tuple[int, int, int]] = {
    "full-cards-8d.csv": (8, 200, 16_267),
    "outcomes-8d.txt": (8, 200, 16_267),
    "ranks-8d.csv": (8, 200, 16_717),
    "points-8d.csv": (8, 260, 16_219),
    "infinite-deck.csv": (8, 200, 16_000),
    "stale-cards-8d.csv": (8, 200, 16_056),
    "one-card-hands-6d.csv": (6, 270, 14_939),
}
"""Decks, shoes and coups of each log, by its README."""

RIGHT = ("full-cards-8d.csv", "outcomes-8d.txt", "ranks-8d.csv", "points-8d.csv")


def call(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(fairshoe, ["audit", *args], input=stdin)


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """What the command prints of each log."""
    printed = {}
    for name, (decks, _, _) in TRUE.items():
        result = call(str(LOGS / name), "--decks", str(decks), "--json")
        assert result.stderr == ""
        printed[name] = json.loads(result.stdout)
        assert result.exit_code == (0 if printed[name]["verdict"] == "pass" else 1)
    return printed


def test_shoes_and_coups_are_counted(found: dict[str, dict[str, Any]]) -> None:
    counted = {name: (each["decks"], each["shoes"], each["coups"]) for name, each in found.items()}
    assert counted == TRUE
    assert {each["bad_lines"] for each in found.values()} == {0}


def test_right_engines_pass(found: dict[str, dict[str, Any]]) -> None:
    verdicts = {name: each["verdict"] for name, each in found.items()}
    assert verdicts == {name: "pass" if name in RIGHT else "fail" for name in TRUE}
    for name in RIGHT:
        assert (found[name]["violations"], found[name]["failed"]) == ({}, [])
        assert len(found[name]["checks"]) >= 6


def counts(printed: dict[str, Any]) -> dict[str, int]:
    return {kind: each["count"] for kind, each in printed["violations"].items()}


def test_stale_cards_fail_by_tableau_outcomes_and_composition(found: dict[str, dict[str, Any]]) -> None:
    printed = found["stale-cards-8d.csv"]
    assert counts(printed) == {"tableau": 4_828, "outcome": 1_539, "composition": 360}
    assert printed["violations"]["composition"]["shoes"] == 200
    assert printed["violations"]["tableau"]["sorts"]["drawn_after_natural"] == 3_217
    assert printed["reasons"][:2] == [
        "4,828 coups against the tableau, in 200 shoes",
        "1,539 outcomes that the cards contradict, in 200 shoes",
    ]


def test_hands_of_one_card_fail_by_the_tableau(found: dict[str, dict[str, Any]]) -> None:
    printed = found["one-card-hands-6d.csv"]
    assert counts(printed) == {"tableau": 12_981}
    assert printed["violations"]["tableau"]["sorts"]["too_few_cards"] == 8_750


def test_an_infinite_deck_fails_by_composition_in_every_shoe(found: dict[str, dict[str, Any]]) -> None:
    printed = found["infinite-deck.csv"]
    composition = printed["violations"]["composition"]
    assert list(printed["violations"]) == ["composition"]
    assert (composition["shoes"], composition["sorts"]) == (200, {"card_too_often": 200, "too_many_cards": 1})
    assert printed["failed"] == []
    (surplus,) = [each for each in composition["examples"] if each["sort"] == "too_many_cards"]
    assert (surplus["expected"], surplus["found"]) == ("at most 416 cards in 8 decks", "419")


@pytest.mark.parametrize("name", [name for name in TRUE if name not in RIGHT])
def test_every_example_stands_where_it_is_said_to(found: dict[str, dict[str, Any]], name: str) -> None:
    """Shoe and coup of each example are those of the line that it names."""
    lines = (LOGS / name).read_text().splitlines()
    for kind in found[name]["violations"].values():
        assert kind["examples"]
        for each in kind["examples"]:
            shoe, coup, *_ = lines[each["line"] - 1].split(",")
            assert (each["shoe"], each["coup"], each["file"]) == (shoe, coup, str(LOGS / name))


def test_outcomes_alone_are_those_of_the_full_log(found: dict[str, dict[str, Any]]) -> None:
    full, alone = (
        {check["name"]: check["items"] for check in found[name]["checks"]}
        for name in ("full-cards-8d.csv", "outcomes-8d.txt")
    )
    assert alone["outcomes"] == full["outcomes"]
    assert {each["name"] for each in found["outcomes-8d.txt"]["not_made"]} >= {"structural_zeros", "joint_totals"}


def test_what_the_size_can_show_is_said(found: dict[str, dict[str, Any]]) -> None:
    shown = {need["fault"]: need for need in found["points-8d.csv"]["power"]}
    assert len(shown) == 108
    assert shown["banker_3_draws_against_8"]["reached"]
    assert not shown["6_decks"]["reached"]
    alone = {need["fault"]: need["reached"] for need in found["outcomes-8d.txt"]["power"]}
    assert sum(alone.values()) < 5
    assert float(found["points-8d.csv"]["cut_card_noncentrality"]) < 0.01


def test_people_read_the_reasons_and_the_places() -> None:
    result = call(str(LOGS / "one-card-hands-6d.csv"), "--decks", "6", "--examples", "1")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    place = f"    {LOGS / 'one-card-hands-6d.csv'}:2: shoe 1, coup 1: "
    assert f"{place}expected two or three cards a hand, got player 9, banker 0" in lines
    at = lines.index("Verdict  fail")
    assert lines[at + 1] == "  12,981 coups against the tableau, in 270 shoes"
    assert "not made: joint_totals: 12,981 of the coups cannot be, and have no place in it" in lines


def test_the_wrong_number_of_decks_shows_in_the_composition() -> None:
    lines = (LOGS / "full-cards-8d.csv").read_bytes().splitlines(keepends=True)[:500]
    result = call("-", "--decks", "7", "--json", stdin=b"".join(lines))
    assert json.loads(result.stdout)["violations"]["composition"]["shoes"] == 6


# --- what is given -----------------------------------------------------------------------------

SMALL = b"shoe,coup,player,banker,outcome\n1,1,Ks 9d,2c 5d,P\n1,2,Ks 8d,2c 6d,T\n"


def printed(result: Result) -> dict[str, Any]:
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_standard_input_is_a_log() -> None:
    result = call("-", "--json", stdin=SMALL)
    assert (result.exit_code, printed(result)["coups"], printed(result)["files"][0]["file"]) == (0, 2, "-")


def test_a_gzipped_log_is_unpacked(tmp_path: Path) -> None:
    packed = gzip.compress(SMALL)
    (tmp_path / "log.csv.gz").write_bytes(packed)
    assert printed(call(str(tmp_path / "log.csv.gz"), "--json"))["coups"] == 2
    piped = process(["audit", "-", "--json"], input=packed)
    assert json.loads(piped.stdout)["coups"] == 2


@pytest.mark.parametrize("cut", [5, -1, -9])
def test_a_gzip_that_is_cut_off_is_told(tmp_path: Path, cut: int) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(SMALL * 1000)[:cut])
    found = printed(call(str(tmp_path / "log.gz"), "--json"))
    assert found["verdict"] in ("not judged", "fail")
    assert "cut_off" in found["files"][0]["bad_lines"]["kinds"]


def test_several_logs_are_judged_together(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(SMALL)
    (tmp_path / "two").write_text("shoe,coup,player,banker,outcome\n1,1,Qs 9c,3c 5h,B\n")
    found = printed(call(str(tmp_path / "one"), str(tmp_path / "two"), "--json"))
    assert (found["shoes"], found["coups"], found["verdict"]) == (2, 3, "fail")
    (example,) = found["violations"]["outcome"]["examples"]
    assert (example["file"], example["line"]) == (str(tmp_path / "two"), 2)


def test_bad_lines_are_quoted_and_are_no_pass(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(SMALL + b"1,3,Kx,2c 5d,P\n\xff\n")
    result = call(str(tmp_path / "log"))
    assert result.exit_code == 1
    assert f"{tmp_path / 'log'}:4: bad_card: expected cards such as Kd" in result.stdout
    assert f"{tmp_path / 'log'}:5: not_utf8: expected UTF-8 (byte 0 is 0xff): \\xff" in result.stdout
    assert "Verdict  not judged\n" in result.stdout
    assert "  2 lines could not be read: what stands there is not judged\n" in result.stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "LOG: expected one log or more, a file or - for standard input"),
        (["nowhere.csv"], "nowhere.csv: No such file or directory; name a file that can be read"),
        (["."], ".: Is a directory; name a file that can be read"),
        (["-", "--decks", "0"], "expected a whole number 1…16, got '0'"),
        (["-", "--decks", "17"], "expected a whole number 1…16, got '17'"),
        (["-", "--examples", "x"], "expected a whole number 0…10000, got 'x'"),
        (["-", "--kind", "pdf"], "'pdf' is not one of 'csv', 'cards', 'outcomes', 'bundle'"),
        (["-", "--vkey", "x"], "give a vkey, or a file that holds one a line"),
    ],
)
def test_what_cannot_be_used_is_refused(args: list[str], says: str) -> None:
    result = call(*args, stdin=SMALL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


# --- any size ----------------------------------------------------------------------------------

MAKER = """
import sys
from itertools import permutations
sys.path.insert(0, sys.argv[1])
from tests.audit.foreign_logs import HEADER, dealt, orders, row
shoes = ["\\n".join(row("@", n, coup) for n, coup in enumerate(dealt(cards), 1)) for cards in orders(8, 20, 5)]
print(HEADER)
wanted, shoe, written = int(sys.argv[2]), 0, 0
while written < wanted:
    for suits in permutations("cdhs", 4) if len(sys.argv) > 3 else ["cdhs"]:
        for text in shoes:
            shoe += 1
            text = text.translate(str.maketrans("cdhs", "".join(suits))).replace("@", str(shoe))
            written += len(text)
            print(text)
"""

AUDITOR = """
import json, resource, sys
from api.cli.audited_logs import _chunks
from audit.foreign.audit import LogAudit
from shoe.proof.verify import Evidence
audit = LogAudit(8, Evidence(()))
log = audit.read("-", _chunks(sys.stdin.buffer, []))
print(json.dumps([log.coups, log.shoes, audit.book.ledger.shoes["repeated_run"],
                  resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def peak(size: int, *varied: str) -> tuple[int, int, int, int]:
    """Coups, shoes, repeats and the peak of memory, in kB, of an audit of a stream of so many bytes.

    It has twenty different shoes, or where `varied` as many for each of the 24 ways to name the suits.
    """
    root = str(TESTS.parent)
    maker = subprocess.Popen([sys.executable, "-c", MAKER, root, str(size), *varied], stdout=subprocess.PIPE, cwd=root)
    auditor = subprocess.run(
        [sys.executable, "-c", AUDITOR], stdin=maker.stdout, capture_output=True, cwd=root, check=True
    )
    assert maker.stdout is not None
    maker.stdout.close()
    assert maker.wait() == 0
    coups, shoes, repeats, kilobytes = json.loads(auditor.stdout)
    return coups, shoes, repeats, kilobytes


def held(rounds: int) -> tuple[int, int, int]:
    """Repeats, shoes and the peak of Python's memory, in bytes, of twenty shoes that come so often."""
    shoes = ["\n".join(row("@", n, coup) for n, coup in enumerate(dealt(cards), 1)) for cards in orders(8, 20, 5)]
    audit = LogAudit(8, Evidence(()))
    stream = (f"{shoe}\n".replace("@", f"{turn}-{at}") for turn in range(rounds) for at, shoe in enumerate(shoes))
    tracemalloc.start()
    try:
        audit.read("-", (text.encode() for text in chain([f"{HEADER}\n"], stream)))
        return audit.book.ledger.shoes["repeated_run"], audit.book.counts.shoes, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_stream() -> None:
    """As a short-cycle generator makes them; all repeats are told."""
    once, often = held(2), held(12)
    assert (once[:2], often[:2]) == ((20, 40), (220, 240))
    assert often[2] < once[2] + 100_000


@pytest.mark.slow
def test_a_large_stream_takes_no_more_memory_than_a_small_one() -> None:
    small, large = peak(10_000_000, "varied"), peak(200_000_000, "varied")
    assert large[0] > 5_000_000
    assert large[2] > large[1] // 2
    assert large[3] < small[3] + 10_000
