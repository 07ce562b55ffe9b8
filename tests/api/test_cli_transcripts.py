"""What the command prints, word for word: transcripts in tests/transcripts, run on the files of tests/golden.

``REGENERATE=1`` writes both anew instead of comparing; tests/transcripts/README.md says how to read them.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli import fairshoe
from shoe.proof.bundle import print_bundle
from shoe.proof.canonical import print_canonical
from shoe.proof.forms import write_fields
from shoe.proof.records import Coup, Seal
from shoe.proof.tlog import print_receipt
from tests.operator import Operator, rules

TESTS = Path(__file__).parents[1]
GOLDEN, TRANSCRIPTS = TESTS / "golden", TESTS / "transcripts"
REGENERATE = os.environ.get("REGENERATE") == "1"
PROMPT = "$ fairshoe"


def golden_files() -> dict[str, str]:
    """One shoe of one deck as its player holds it, and what a cheat or an unfinished shoe looks like."""
    operator = Operator()
    story = operator.publish(operator.play_shoe())
    entropy, lock = operator.evidence(story, player=0).receipts
    seal = story.records[story.find(Seal)]
    playing, cheating, anew = Operator(), Operator(), Operator()
    begun = playing.publish(playing.play_shoe(coups=3))
    cheated = cheating.play_shoe()
    cheated.change(Coup, 4, outcome="tie")
    coups = anew.publish(anew.play_shoe(rules(shuffle="coup", coups=3, cut=None)))
    return {
        "bundle.json": print_bundle(operator.bundle(story)),
        "vkey": f"{operator.vkey}\n",
        "entropy.receipt": print_receipt(entropy),
        "lock.receipt": print_receipt(lock),
        "transcript.json": print_canonical(write_fields(seal.transcript)).decode(),
        "playing.json": print_bundle(playing.bundle(begun)),
        "cheated.json": print_bundle(cheating.bundle(cheating.publish(cheated))),
        "coup-transcript.json": coups.records[coups.find(Seal)].transcript.to_bytes().decode(),
    }


def replay(transcript: str) -> str:
    """Run a transcript's commands and give it back with what they print now."""
    lines = [line for line in transcript.splitlines() if line.startswith((PROMPT, "# "))]
    return "\n".join(line if line.startswith("# ") else f"{line}\n{run(line)}" for line in lines)


def run(line: str) -> str:
    result = CliRunner().invoke(fairshoe, shlex.split(line)[2:])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output + (f"[exit {result.exit_code}]\n" if result.exit_code else "")


@pytest.mark.parametrize("name", golden_files())
def test_golden_files_are_what_the_operator_makes(name: str) -> None:
    if REGENERATE:
        (GOLDEN / name).write_text(golden_files()[name])
    assert golden_files()[name] == (GOLDEN / name).read_text()


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    now = replay(path.read_text())
    if REGENERATE:
        path.write_text(now)
    assert now == path.read_text()


def test_every_command_has_a_transcript_with_a_success_and_a_refusal() -> None:
    text = "".join(path.read_text() for path in TRANSCRIPTS.glob("*.txt"))
    for name in ("verify", "shuffle", "odds", "roads"):
        blocks = [block for block in text.split(PROMPT) if block.startswith(f" {name} ")]
        assert {"[exit 2]" in block for block in blocks} == {True, False}, name
    assert "[exit 1]" in text


def test_a_changed_line_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN)
    transcript = f"{PROMPT} roads BPX\nfairshoe roads: fine\n"
    assert replay(transcript) != transcript
    assert replay(transcript).endswith("see 'fairshoe roads --help'\n[exit 2]\n")
