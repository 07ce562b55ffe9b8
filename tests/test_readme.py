"""The README's commands run, and print what it says they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from api.demo import running_service

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FAIRSHOE = Path(sys.executable).with_name("fairshoe")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def block(language, holding):
    (found,) = [text for text in blocks(language) if holding in text]
    return found


def sessions():
    """Each command of a console block, with the output printed under it."""
    for text in blocks("console"):
        for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, printed = session.partition("\n")
            if not command.startswith("fairshoe serve"):
                yield command, printed


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The folder that the README's first command makes."""
    folder = tmp_path_factory.mktemp("readme")
    run("fairshoe demo --out evidence", folder)
    return folder


def run(command, folder):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, "PATH": f"{FAIRSHOE.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pattern(printed):
    """What an output must match: numbers and times may differ, and … stands for any lines."""
    text = re.escape(re.sub(r"\d+", "0", printed.strip()))
    return text.replace(re.escape("…\n"), r"(?:.*\n)*?").replace(re.escape("\n…"), r"(?:\n.*)*")


@pytest.mark.parametrize(("command", "printed"), list(sessions()))
def test_a_command_prints_what_the_readme_shows(evidence, command, printed):
    out = run(command, evidence)
    if printed:
        assert re.fullmatch(pattern(printed), re.sub(r"\d+", "0", out.strip()))


@pytest.mark.parametrize(
    "command",
    ["fairshoe odds --decks 8", "fairshoe odds --table np_punto_banco", "fairshoe roads BPTBBBPPTPBBBBBBBBP"],
)
def test_what_never_changes_is_shown_to_the_digit(evidence, command):
    shown = dict(sessions())[command]
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


def test_the_requests_of_the_tour_are_taken(tmp_path):
    pool = urllib3.PoolManager()
    with running_service(tmp_path / "service") as url:
        for line in block("sh", "curl").strip().splitlines():
            words = shlex.split(line)
            body = words[words.index("-d") + 1] if "-d" in words else None
            (address,) = [word for word in words if word.startswith("localhost:8000")]
            response = pool.request(
                "POST" if body else "GET",
                address.replace("localhost:8000", url),
                body=body,
                headers={"Content-Type": "application/json"} if body else {},
            )
            assert response.status in (200, 201), response.data
    pool.clear()


def test_the_certificate_shown_has_the_form_of_a_real_one(evidence):
    shown = block("text", "Rule use in the judged coups")
    real = run("fairshoe demo", evidence)
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
