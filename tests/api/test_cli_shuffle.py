"""``fairshoe shuffle`` gives every value of the protocol's vectors, and refuses what it can't shuffle from."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe

ROOT = Path(__file__).parents[2]
VECTORS: list[dict[str, Any]] = json.loads((ROOT / "tests" / "vectors" / "protocol.json").read_text())
KEYS = ["seal", "shuffle_key", "salt_key", "cards", "deck_root", "cards_behind_cut", "coups"]
ONCE, ANEW = VECTORS[0], VECTORS[7]


def call(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(fairshoe, ["shuffle", *args], input=stdin)


def options(vector: dict[str, Any]) -> list[str]:
    """Arguments for one vector; its transcript comes by standard input."""
    return ["--server-seed", vector["server_seed"], "--transcript", "-", "--hand", str(vector["hand"])]


def shuffled(vector: dict[str, Any], *further: str) -> Result:
    return call(*options(vector), *further, stdin=vector["transcript"].encode())


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_a_vector_has_every_value(vector: dict[str, Any]) -> None:
    result = shuffled(vector, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert list(printed) == KEYS
    assert printed == {key: vector[key] for key in KEYS}


def test_the_installed_command_gives_the_same_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "transcript.json"
    path.write_text(ONCE["transcript"])
    run = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from api.cli import main; main()"
    args = ["shuffle", "--server-seed", ONCE["server_seed"], "--transcript", str(path), "--json"]
    result = subprocess.run([sys.executable, "-c", run, *args], capture_output=True, check=True)
    assert json.loads(result.stdout) == {key: ONCE[key] for key in KEYS}
    assert result.stderr == b""


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_people_read_the_same_values(vector: dict[str, Any]) -> None:
    text = shuffled(vector).stdout
    for key in ("seal", "shuffle_key", "salt_key", "deck_root"):
        assert vector[key] in text
    cards, coups = text.split("in dealing order:\n")[1].split("\n\n")
    assert cards.split() == vector["cards"].split()
    rows = coups.splitlines()[1:]
    assert [int(row.split()[1]) for row in rows] == [coup[0] for coup in vector["coups"]]
    assert [int(row.split()[0]) for row in rows] == [vector["hand"] + at for at in range(len(rows))]
    behind = vector["cards_behind_cut"]
    assert f"cut card     {'none' if behind is None else f'{behind} cards behind it'}\n" in text


def test_the_first_vectors_first_coup_is_spelled_out() -> None:
    """3d 7h Qd Qc 2h: 3 and 0 draw a 2 to 5, 7 and 0 stand on 7."""
    row = shuffled(ONCE).stdout.split("\n\n")[2].splitlines()[1]
    words = "0 0 3d Qd 2h 5 7h Qc 7 banker Player drew 2 or 3, banker stands on 5–7"
    assert " ".join(row.split()) == words


def test_each_coup_of_a_seal_is_another() -> None:
    results = [shuffled(ANEW | {"hand": hand}, "--json") for hand in (0, 1, 7, 2**20 - 1)]
    seen = {json.loads(result.stdout)["cards"] for result in results}
    assert len(seen) == 4
    assert ANEW["cards"] in seen


def test_without_a_hand_it_is_shuffle_0() -> None:
    args = options(ANEW)[:4]
    assert call(*args, stdin=ANEW["transcript"].encode()).stdout == shuffled(ANEW | {"hand": 0}).stdout


def test_a_seed_that_was_not_committed_to_is_remarked_on_and_dealt_all_the_same() -> None:
    result = shuffled(ONCE | {"server_seed": "00" * 32}, "--json")
    assert result.exit_code == 0
    assert result.stderr.startswith("Mind: this server seed does not open the transcript's commitment")
    assert json.loads(result.stdout)["cards"] != ONCE["cards"]


# --- refusals ----------------------------------------------------------------------------------

BAD_SEEDS = {
    "short": ("00" * 31, "got 62 characters"),
    "long": ("00" * 33, "got 66 characters"),
    "empty": ("", "got 0 characters"),
    "upper_case": (ONCE["server_seed"].upper(), "got another among them"),
    "blank_before": (" " + "0" * 63, "got another among them"),
    "arabic_digits": ("٠" * 64, "got another among them"),
    "prefix": ("0x" + "0" * 62, "got another among them"),
    "newline": ("0" * 64 + "\n", "got 65 characters"),
}


@pytest.mark.parametrize(("seed", "got"), BAD_SEEDS.values(), ids=BAD_SEEDS)
def test_a_seed_of_another_form_is_refused_without_being_shown(seed: str, got: str) -> None:
    result = shuffled(ONCE | {"server_seed": seed})
    assert (result.exit_code, result.stdout) == (2, "")
    wanted = f"fairshoe shuffle: Invalid value for '--server-seed': expected 64 characters 0-9 a-f, {got};"
    assert result.stderr.startswith(wanted)
    assert not seed.strip() or seed.strip() not in result.stderr


BAD_HANDS = {
    "shoe_shuffled_once": (ONCE, "1", "--hand: expected 0, for this shoe is shuffled once, got 1"),
    "beyond_any_seal": (ANEW, "1048576", "'--hand': expected a whole number 0…1048575, got '1048576'"),
    "negative": (ANEW, "-1", "'--hand': expected a whole number 0…1048575, got '-1'"),
    "sign": (ANEW, "+7", "got '+7'"),
    "underscore": (ANEW, "1_0", "got '1_0'"),
    "blank": (ANEW, " 7", "got ' 7'"),
    "leading_zero": (ANEW, "07", "got '07'"),
    "arabic_digit": (ANEW, "٧", "got '٧'"),
    "fraction": (ANEW, "7.0", "got '7.0'"),
    "empty": (ANEW, "", "got ''"),
    "huge": (ANEW, "9" * 5000, "expected a whole number"),
}


@pytest.mark.parametrize(("vector", "hand", "said"), BAD_HANDS.values(), ids=BAD_HANDS)
def test_a_hand_that_the_seal_does_not_cover_is_refused(vector: dict[str, Any], hand: str, said: str) -> None:
    result = shuffled(vector | {"hand": hand})
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_hand_of_exactly_the_number_of_coups_is_refused() -> None:
    few = ANEW | {"transcript": ANEW["transcript"].replace('"coups":1048576', '"coups":7')}
    result = shuffled(few)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--hand: expected 0…6, a coup that this seal covers, got 7" in result.stderr
    assert shuffled(few | {"hand": 6}).exit_code == 0


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(transcript: str) -> str:
        assert old in transcript
        return transcript.replace(old, new, 1)

    return change


BAD_TRANSCRIPTS = {
    "final_newline": (lambda t: t + "\n", f"byte {len(ONCE['transcript'])}: expected bytes"),
    "blank": (replaced(",", ", "), "expected the canonical form"),
    "keys_out_of_order": (
        lambda t: '{"book"' + t.split('"book"')[1][:-1] + ',"beacon":null}',
        "expected the canonical form",
    ),
    "no_json": (lambda _: "hello", "not JSON at character 0"),
    "empty": (lambda _: "", "not JSON at character 0"),
    "list": (lambda _: "[]", "expected an object"),
    "key_missing": (replaced('"beacon":null,', ""), "expected the key beacon"),
    "further_key": (replaced('"beacon":null,', '"beacon":null,"bet":1,'), "bet"),
    "upper_case_hex": (replaced(ONCE["commitment"], ONCE["commitment"].upper()), "commitment: expected 64 characters"),
    "other_protocol": (replaced("fairshoe/1", "fairshoe/2"), "protocol: expected fairshoe/1"),
    "seventeen_decks": (replaced('"decks":8', '"decks":17'), "rules.decks: expected an integer 1…16"),
    "no_cut": (replaced('{"from":7,"to":7}', "null"), "rules.cut: expected {from, to}"),
    "float": (replaced('"index":0', '"index":0.0'), "expected an integer"),
    "seed_with_blank": (replaced('"seed":"', '"seed":" '), "client_seeds[0].seed: seed: expected 1–128 characters"),
}


@pytest.mark.parametrize(("change", "said"), BAD_TRANSCRIPTS.values(), ids=BAD_TRANSCRIPTS)
def test_a_transcript_that_is_not_canonical_is_refused(change: Callable[[str], str], said: str) -> None:
    result = shuffled(ONCE | {"transcript": change(ONCE["transcript"])})
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("fairshoe shuffle: -: ")
    assert said in result.stderr
    assert result.stderr.endswith("; give the exact bytes of the seal's transcript, without a newline\n")
