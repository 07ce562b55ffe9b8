"""``fairshoe verify`` on bundles of an honest and of a cheating operator: verdicts, exit codes, evidence, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from shoe.proof.bundle import Bundle, print_bundle
from shoe.proof.checkpoint import cosign
from shoe.proof.note import COSIGNATURE, SignerKey
from shoe.proof.records import Coup
from shoe.proof.tlog import print_receipt
from shoe.proof.verify import CHECKS, verify_bundle
from tests.operator import ORIGIN, Operator, rules, secret

NOW = "2023-09-15T12:00:00.000000Z"
LATER = "2024-01-01T00:00:00.000000Z"
WITNESS = SignerKey.from_seed("witness.example/w", secret("witness"), COSIGNATURE)


class Desk:
    """A folder with what a verifier holds, and the command run on it."""

    def __init__(self, folder: Path, operator: Operator) -> None:
        self.folder = folder
        self.operator = operator

    def file(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def call(self, bundle: Bundle | str, *args: str, vkey: str | None = None) -> Result:
        text = bundle if isinstance(bundle, str) else print_bundle(bundle)
        path = self.file("bundle.json", text)
        return CliRunner().invoke(fairshoe, ["verify", path, "--vkey", vkey or str(self.operator.vkey), *args])

    def verify(self, bundle: Bundle | str, *args: str, **further: Any) -> tuple[int, dict[str, Any]]:
        if "--now" not in args:
            args = (*args, "--now", NOW)
        result = self.call(bundle, *args, "--json", **further)
        assert result.stderr == ""
        return result.exit_code, json.loads(result.stdout)

    def receipts(self, story: Any) -> list[str]:
        """The options for the entropy and lock receipts of player 0."""
        given = self.operator.evidence(story, player=0).receipts
        texts = [self.file(f"{at}.receipt", print_receipt(receipt)) for at, receipt in enumerate(given)]
        return [part for text in texts for part in ("--receipt", text)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, Operator())


def statuses(printed: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["status"] for check in printed["checks"]}


# --- verdicts and exit codes -------------------------------------------------------------------


def test_a_finished_shoe_is_verified_and_has_every_check_in_order(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    code, printed = desk.verify(desk.operator.bundle(story))
    assert (code, printed["verdict"], printed["fairness"]) == (0, "verified", "contributed")
    assert list(printed) == ["verdict", "fairness", "why", "checks"]
    assert [check["name"] for check in printed["checks"]] == ["format", *CHECKS]
    assert {tuple(check) for check in printed["checks"]} == {("name", "status", "detail")}
    assert all(check["detail"] for check in printed["checks"])


def test_a_shoe_in_play_is_consistent_until_its_deadline(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe(coups=2))
    bundle = desk.operator.bundle(story)
    assert [
        (code, printed["verdict"]) for code, printed in (desk.verify(bundle), desk.verify(bundle, "--now", LATER))
    ] == [
        (0, "consistent"),
        (1, "overdue"),
    ]


def test_without_now_the_clock_of_today_is_used(desk: Desk) -> None:
    """The shoe was to be revealed in 2023."""
    story = desk.operator.publish(desk.operator.play_shoe(coups=2))
    result = desk.call(desk.operator.bundle(story), "--json")
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "overdue")


def test_a_void_shoe_is_void(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe(coups=2, void="operator"))
    code, printed = desk.verify(desk.operator.bundle(story))
    assert (code, printed["verdict"]) == (0, "void")


def test_a_shoe_whose_previous_is_withheld_is_incomplete(desk: Desk) -> None:
    desk.operator.publish(desk.operator.play_shoe())
    story = desk.operator.publish(desk.operator.play_shoe())
    code, printed = desk.verify(replace(desk.operator.bundle(story), previous_shoe=None))
    assert (code, printed["verdict"]) == (1, "incomplete")
    assert "previous shoe" in printed["why"]


def test_a_false_outcome_is_invalid_and_nothing_is_said_of_fairness(desk: Desk) -> None:
    story = desk.operator.play_shoe()
    story.change(Coup, 1, outcome="tie")
    code, printed = desk.verify(desk.operator.bundle(desk.operator.publish(story)))
    assert (code, printed["verdict"], printed["fairness"]) == (1, "invalid", None)
    assert [name for name, status in statuses(printed).items() if status == "INVALID"] == ["outcome"]
    assert printed["why"].startswith("outcome: coup 1.outcome: expected ")


NO_BUNDLES = {
    "empty": ("", "not JSON at character 0"),
    "text": ("hello", "not JSON at character 0"),
    "list": ("[]", "expected an object"),
    "no_keys": ("{}", "expected the key"),
    "cut_off": ('{"format":', "not JSON at character 10"),
    "duplicate_key": ('{"a":1,"a":2}', "each key once"),
    "float": ('{"a":1.5}', "an integer"),
    "not_a_number": ('{"a":NaN}', "an integer"),
    "deep": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("text", "said"), NO_BUNDLES.values(), ids=NO_BUNDLES)
def test_what_is_no_bundle_is_invalid(desk: Desk, text: str, said: str) -> None:
    code, printed = desk.verify(text)
    assert (code, printed["verdict"], printed["fairness"]) == (1, "invalid", None)
    assert statuses(printed) == {"format": "INVALID"} | dict.fromkeys(CHECKS, "UNVERIFIABLE")
    assert said in printed["why"]


def test_bytes_that_are_not_utf8_are_invalid(desk: Desk) -> None:
    (desk.folder / "latin").write_bytes(b'{"format": "\xe9"}')
    result = CliRunner().invoke(fairshoe, ["verify", str(desk.folder / "latin"), "--json"])
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "invalid")


# --- what the caller knows ---------------------------------------------------------------------


def test_json_prints_what_the_verifier_says(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe(bets={1: 3}))
    bundle = desk.operator.bundle(story, holder="guest-0")
    _, printed = desk.verify(bundle)
    assert printed == verify_bundle(bundle, desk.operator.evidence(story, now=NOW)).to_json()


def test_own_receipts_make_a_shoe_provably_fair(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    bundle, both = desk.operator.bundle(story), desk.receipts(story)
    assert desk.verify(bundle, *both)[1]["fairness"] == "provably_fair"
    assert desk.verify(bundle, *both[:2])[1]["fairness"] == "contributed"
    assert statuses(desk.verify(bundle, *both[:2])[1])["receipts"] == "VALID"


def test_a_receipt_of_another_record_than_the_bundles_is_invalid(desk: Desk) -> None:
    """The operator shows the player one history and everyone else another."""
    story = desk.operator.publish(desk.operator.play_shoe())
    receipts = desk.receipts(story)
    other = Operator()
    rewritten = other.play_shoe(players=3)
    code, printed = desk.verify(other.bundle(other.publish(rewritten)), *receipts)
    assert (code, printed["verdict"], statuses(printed)["receipts"]) == (1, "invalid", "INVALID")


def test_the_key_may_stand_in_a_file(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    bundle = desk.operator.bundle(story)
    for ending in ("", "\n"):
        code, printed = desk.verify(bundle, vkey=desk.file("vkey", f"{desk.operator.vkey}{ending}"))
        assert (code, statuses(printed)["checkpoint"]) == (0, "VALID")


def test_old_and_new_key_may_stand_in_one_file_or_in_two_options(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    bundle = desk.operator.bundle(story)
    new = SignerKey.from_seed(ORIGIN, secret("new key")).vkey
    assert desk.verify(bundle, vkey=desk.file("vkey", f"{new}\n{desk.operator.vkey}\n"))[0] == 0
    assert desk.verify(bundle, "--vkey", str(new))[0] == 0


def test_a_log_signed_by_another_key_is_invalid(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    code, printed = desk.verify(desk.operator.bundle(story), vkey=str(SignerKey.from_seed(ORIGIN, secret("x")).vkey))
    assert (code, statuses(printed)["checkpoint"]) == (1, "INVALID")


def test_without_a_key_nothing_is_proved(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    path = desk.file("b.json", print_bundle(desk.operator.bundle(story)))
    result = CliRunner().invoke(fairshoe, ["verify", path, "--json", "--now", NOW])
    printed = json.loads(result.stdout)
    assert (result.exit_code, printed["verdict"]) == (1, "incomplete")
    assert "checkpoint: missing: the log's vkey" in printed["why"]


def test_the_bundle_may_come_by_standard_input(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    args = ["verify", "-", "--vkey", str(desk.operator.vkey), "--json", "--now", NOW]
    result = CliRunner().invoke(fairshoe, args, input=print_bundle(desk.operator.bundle(story)))
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (0, "verified")


def test_a_checkpoint_held_before_the_round_makes_a_beacon_shoe_provably_fair(desk: Desk) -> None:
    """The beacon's signature is the real one of round 657413, due at 2023-09-15T11:00:03Z."""
    operator = desk.operator
    story = operator.publish(operator.play_shoe(rules(entropy="beacon")))
    lock_size = story.indices[3] + 1
    bundle = operator.bundle(story, earlier=lock_size)
    held = ["--checkpoint", desk.file("held", operator.checkpoint(lock_size)), "--held-since"]
    _, early = desk.verify(bundle, *held, "2023-09-15T11:00:02.999999Z")
    _, late = desk.verify(bundle, *held, "2023-09-15T11:00:03.000000Z")
    assert statuses(early)["beacon"] == statuses(early)["consistency"] == "VALID"
    assert [early["fairness"], late["fairness"]] == ["provably_fair", "contributed"]
    assert "due 2023-09-15T11:00:03.000000Z" in late["why"]
    assert desk.verify(bundle, *held[:2])[1]["fairness"] == "contributed"


def test_an_older_checkpoint_of_a_forked_log_is_invalid(desk: Desk) -> None:
    operator = desk.operator
    story = operator.publish(operator.play_shoe())
    forked = replace(operator, leaves=[b"another", *operator.leaves[1:]])
    held = desk.file("held", forked.checkpoint())
    code, printed = desk.verify(operator.bundle(story), "--checkpoint", held)
    assert (code, statuses(printed)["consistency"]) == (1, "INVALID")
    assert "two heads" in printed["why"]


def test_a_witness_that_the_caller_names_is_looked_for(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    bundle = desk.operator.bundle(story)
    cosigned = replace(bundle, checkpoint=cosign(bundle.checkpoint, WITNESS, 1_694_770_000))
    named = ["--witness", str(WITNESS.vkey)]
    assert statuses(desk.verify(cosigned, *named)[1])["witnesses"] == "VALID"
    assert statuses(desk.verify(cosigned)[1])["witnesses"] == "UNVERIFIABLE"
    assert statuses(desk.verify(bundle, *named)[1])["witnesses"] == "UNVERIFIABLE"
    from_file = ["--witness", desk.file("witness", f"{WITNESS.vkey}\n")]
    assert statuses(desk.verify(cosigned, *from_file)[1])["witnesses"] == "VALID"


# --- what people read --------------------------------------------------------------------------


def test_people_read_verdict_fairness_why_and_every_check(desk: Desk) -> None:
    story = desk.operator.publish(desk.operator.play_shoe())
    bundle = desk.operator.bundle(story)
    _, printed = desk.verify(bundle)
    result = desk.call(bundle, "--now", NOW)
    lines = result.stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines[:3]] == [
        ["Verdict", "verified"],
        ["Fairness", "contributed"],
        ["Why", printed["why"]],
    ]
    shown = [line.split(maxsplit=2) for line in lines[4:]]
    assert shown == [[check["status"], check["name"], check["detail"]] for check in printed["checks"]]


def test_people_read_that_nothing_can_be_said_of_an_invalid_shoes_fairness(desk: Desk) -> None:
    assert "Fairness  nothing can be said of its fairness\n" in desk.call("{}").stdout


# --- refusals ----------------------------------------------------------------------------------

TIME = "2023-09-15T09:30:00.000000Z"
VKEY = str(Operator().vkey)
BAD_OPTIONS = {
    "vkey_text": (["--vkey", "abc"], "'--vkey': verifier key: expected name+id+key, got 'abc'; give a vkey, or a file"),
    "vkey_empty": (["--vkey", ""], "'--vkey': verifier key: expected name+id+key, got ''"),
    "vkey_id": (["--vkey", VKEY.replace("+51", "+52")], "'--vkey': verifier key fairshoe.example/log: expected key id"),
    "vkey_of_a_witness": (["--vkey", str(WITNESS.vkey)], "'--vkey': key: expected a log's (0x01) key"),
    "witness_of_a_log": (["--witness", VKEY], "'--witness': key: expected a witness's (0x04) key"),
    "time_without_decimals": (["--now", "2023-09-15T09:30:00Z"], "'--now': time: expected a time such as"),
    "time_elsewhere": (["--now", "2023-09-15T09:30:00.000000+00:00"], "'--now': time: expected a time such as"),
    "no_such_day": (["--now", "2023-02-29T09:30:00.000000Z"], "'--now': time: expected a real date and time"),
    "since_without_checkpoint": (["--held-since", TIME], "--held-since: expected --checkpoint with it"),
    "receipt_missing": (["--receipt", "no-such"], "no-such: No such file or directory; name a file that can be read"),
    "checkpoint_missing": (["--checkpoint", "no-such"], "no-such: No such file or directory; name a file"),
    "two_bundles": (["other.json"], "unexpected extra argument"),
}


@pytest.mark.parametrize(("args", "said"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_a_bad_option_is_refused_in_one_line(desk: Desk, args: list[str], said: str) -> None:
    result = desk.call("{}", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("fairshoe verify: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


BAD_FILES = {
    "vkey_file_with_a_blank_line": ("--vkey", f"{VKEY}\n\n", "'--vkey': verifier key: expected name+id+key, got ''"),
    "vkey_file_with_a_remark": ("--vkey", f"# mine\n{VKEY}\n", "'--vkey': verifier key: expected name+id+key"),
    "receipt_empty": ("--receipt", "", "receipt: expected a final newline"),
    "receipt_without_proof": ("--receipt", '{"a":1}\n', "tlog-proof: expected a final newline"),
    "receipt_of_another_kind": ("--receipt", "{}\nhello\n\nx\n", "tlog-proof header: expected c2sp.org/tlog-proof@v1"),
    "checkpoint_empty": ("--checkpoint", "", "expected a final newline"),
    "checkpoint_unsigned": ("--checkpoint", "a\n1\nAAAA\n", "note: expected a blank line before the signatures"),
}


@pytest.mark.parametrize(("option", "text", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_of_another_kind_is_refused_in_one_line(desk: Desk, option: str, text: str, said: str) -> None:
    result = desk.call("{}", option, desk.file("bad", text))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--vkey", "--witness", "--receipt", "--checkpoint"])
def test_a_file_of_other_bytes_than_utf8_is_refused(desk: Desk, option: str) -> None:
    (desk.folder / "bad").write_bytes(b"ab\xff\n")
    result = desk.call("{}", option, str(desk.folder / "bad"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{desk.folder / 'bad'}: byte 2: expected UTF-8, got 255" in result.stderr
