"""The README's commands run, and print what it says they print."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from api.client import Client
from api.demo import running_service

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = "fairshoe demo --out evidence"
FAIRSHOE = Path(sys.executable).with_name("fairshoe")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def block(language, holding):
    (found,) = [text for text in blocks(language) if holding in text]
    return found


def sessions():
    """Each console block as its commands, each with the output printed under it."""
    for text in blocks("console"):
        commands = (session.partition("\n") for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
        session = [(command, printed) for command, _, printed in commands if not command.startswith("fairshoe serve")]
        if session:
            yield session


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The folder that the README's first command makes."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "printed").write_text(run(FIRST, folder), encoding="utf-8")
    shutil.copy(ROOT / "tests" / "vectors" / "logs" / "one-card-hands-6d.csv", folder)
    return folder


def run(command, folder):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env={**os.environ, "PATH": f"{FAIRSHOE.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pattern(printed):
    """What an output must match: numbers and times may differ, and … stands for any lines."""
    text = re.escape(re.sub(r"\d+", "0", printed.strip()))
    return text.replace(re.escape("…\n"), r"(?:.*\n)*?").replace(re.escape("\n…"), r"(?:\n.*)*")


@pytest.mark.parametrize("session", [pytest.param(each, id=each[0][0]) for each in sessions()])
def test_commands_print_what_the_readme_shows(evidence, session):
    """A block's commands run in its order: some need what those before them made."""
    for command, printed in session:
        if command == FIRST:
            assert (evidence / "evidence" / "bundle.json").exists()
            continue
        out = run(command, evidence)
        if printed:
            assert re.fullmatch(pattern(printed), re.sub(r"\d+", "0", out.strip())), command


@pytest.mark.parametrize(
    "command",
    [
        "fairshoe odds --decks 8",
        "fairshoe odds --table np_punto_banco",
        "fairshoe roads BPTBBBPPTPBBBBBBBBP",
        'fairshoe audit one-card-hands-6d.csv --decks 6 --examples 1 || echo "exit code $?"',
    ],
)
def test_what_never_changes_is_shown_to_the_digit(evidence, command):
    shown = dict(chain.from_iterable(sessions()))[command]
    lines = [line for line in shown.strip().splitlines() if line != "…"]
    out = run(command, evidence).splitlines()
    assert len(lines) > 4
    assert [line for line in lines if line not in out] == []


def test_a_shoe_verified_by_hand_gives_equal_lines_and_its_own_cards(evidence):
    out = run(block("sh", "fairshoe/1/commit"), evidence).splitlines()
    assert out[0].split()[0] == out[1]
    assert out[2].split()[0] == out[3]
    bundle = (evidence / "evidence" / "bundle.json").read_text()
    first_coup = re.search(r'\\"cards\\":(\[.*?\])', bundle)
    shown = re.findall(r'\\"card\\":\\"(..)\\"', first_coup[1])
    dealt = " ".join(out).split("cards in dealing order: ")[1].split()
    places = [dealt[position] for position in range(len(shown))]
    assert places == shown


@pytest.mark.slow
def test_the_first_card_by_openssl_alone(evidence):
    by_hand, by_openssl = block("sh", "fairshoe/1/commit"), block("sh", "openssl")
    out = run(f"{by_hand}\n{by_openssl}", evidence).splitlines()
    bundle = (evidence / "evidence" / "bundle.json").read_text()
    assert out[-1] == re.search(r'\\"card\\":\\"(..)\\",\\"position\\":0,', bundle)[1]


@pytest.fixture
def curl(tmp_path):
    """The folder of a curl: the machine's, or what stands in for it."""
    if shutil.which("curl"):
        return ""
    made = tmp_path / "bin" / "curl"
    made.parent.mkdir()
    made.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P "{ROOT / "tests" / "stand_in_curl.py"}" "$@"\n')
    made.chmod(0o755)
    return str(made.parent)


def test_the_tour_by_curl_plays_a_coup(tmp_path, curl):
    """What must have come of it is asked for by the typed client."""
    with running_service(tmp_path / "fairshoe-data") as url:
        tour = block("sh", "curl -sS").replace("localhost:8000", url.removeprefix("http://"))
        out = run(f'export PATH="{curl}:$PATH"\n{tour}\necho "shoe $shoe"', tmp_path)
        assert "urn:fairshoe:problem" not in out
        with closing(Client(url)) as client:
            shoe = out.rsplit("shoe ", 1)[1].strip()
            summary = client.shoe(shoe)
            assert (summary.table, summary.state, summary.contributions, summary.coups) == ("t1", "sealed", 1, 1)
            assert client.checkpoint() in out


def test_the_stand_in_asks_as_curl_does(tmp_path):
    with running_service(tmp_path / "fairshoe-data") as url:
        stand_in = [sys.executable, "-P", str(ROOT / "tests" / "stand_in_curl.py"), "-sS"]
        asked = ["-X", "POST", f"{url}/v1/tables", "-H", "Content-Type: application/json", "-d", "{}"]
        said = subprocess.run([*stand_in, *asked], capture_output=True, text=True, check=True).stdout
        assert json.loads(said)["type"] == "urn:fairshoe:problem:unauthenticated"


def test_the_certificate_shown_has_the_form_of_a_real_one(evidence):
    shown = block("text", "Rule use in the judged coups")
    real = (evidence / "printed").read_text(encoding="utf-8")
    headings = [line for line in shown.splitlines() if re.match(r"[A-Z][a-z]+ ", line)]
    assert len(headings) > 8

    def form(line):
        return re.sub(r"[0-9a-f-]{6,}|\d+", "0", line)

    assert [form(line) for line in headings if form(line) not in set(map(form, real.splitlines()))] == []


def test_every_path_that_the_map_names_exists():
    rooms = README.split("## Map of the code")[1].split("## Who is trusted")[0]
    paths = re.findall(r"`((?:shoe|audit|api|tests|migrations)/[\w/.]*)`", rooms)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
