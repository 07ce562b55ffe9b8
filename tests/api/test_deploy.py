"""The examples in deploy/: what they name exists, fits together, and says what the code says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from api.cli import fairshoe
from api.meters import instruments
from api.metrics import ASKED
from api.settings import VARIABLES, settings_from

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "fairshoe.service").read_text(encoding="utf-8")
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
RUNBOOK = (DEPLOY / "RUNBOOK.md").read_text(encoding="utf-8")
ALARMS = (DEPLOY / "alarms.yml").read_text(encoding="utf-8")
TEXTS = {"fairshoe.service": UNIT, "Containerfile": CONTAINER, "RUNBOOK.md": RUNBOOK, "alarms.yml": ALARMS}


def directives(name: str) -> list[str]:
    """The unit's values of a directive, comments left out."""
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def instructions(name: str) -> list[str]:
    """The container file's arguments of an instruction, its continued lines joined."""
    return re.findall(rf"^{name} (.*)$", CONTAINER.replace("\\\n", " "), re.MULTILINE)


def settings_of(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def check_command(words: list[str]) -> click.Command:
    """Have click parse a command of ours without running it: an option that there is none of raises."""
    command = fairshoe.get_command(click.Context(fairshoe), words[0])
    assert command is not None, f"there is no command {words[0]}"
    command.make_context(words[0], list(words[1:]))
    return command


# --- variables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
def test_every_variable_named_is_one(name: str) -> None:
    named = set(re.findall(r"\bFAIRSHOE_[A-Z_]*[A-Z]\b|\bDATABASE_URL\b", TEXTS[name]))
    assert named - {variable.name for variable in VARIABLES} == set()
    assert named or name == "alarms.yml"


@pytest.mark.parametrize(
    "given",
    [
        settings_of(directives("Environment")),
        {name: text for name, text in settings_of(shlex.split(instructions("ENV")[0])).items() if "FAIRSHOE" in name},
    ],
    ids=["unit", "container"],
)
def test_the_variables_set_are_values_that_settings_take(given: dict[str, str]) -> None:
    assert len(given) > 1
    assert settings_from(dict(given)).folder == Path(given["FAIRSHOE_DATA"])


# --- the unit ------------------------------------------------------------------------------------------


def test_the_units_commands_have_the_options_they_are_given() -> None:
    (start,), (before,) = directives("ExecStart"), directives("ExecStartPre")
    for line in (start, before):
        program, *words = shlex.split(line)
        assert program == "/opt/fairshoe/bin/fairshoe"
        check_command(words)
    assert shlex.split(start)[1] == "serve"
    assert shlex.split(before)[1] == "migrate"


def test_the_check_of_commands_can_fail() -> None:
    for words in (["serve", "--prot", "1"], ["serve", "--port", "70000"], ["serve", "x"]):
        with pytest.raises(click.UsageError):
            check_command(words)


def test_the_unit_grants_what_the_service_needs_to_end_in_order() -> None:
    granted_s = settings_from(settings_of(directives("Environment"))).grace_s
    assert int(directives("TimeoutStopSec")[0]) >= granted_s + 10
    assert directives("ExecReload") == ["/bin/kill -HUP $MAINPID"]
    # SIGTERM to the master alone: it is the one that lets its workers finish.
    assert directives("KillMode") == ["mixed"]
    assert directives("KillSignal") in ([], ["SIGTERM"])


def test_the_units_folder_is_its_state_folder_of_mode_0700() -> None:
    (state,) = directives("StateDirectory")
    assert settings_of(directives("Environment"))["FAIRSHOE_DATA"] == f"/var/lib/{state}"
    assert directives("WorkingDirectory") == [f"/var/lib/{state}"]
    assert directives("StateDirectoryMode") == ["0700"]
    assert directives("UMask") == ["0077"]


def test_no_secret_stands_in_the_unit() -> None:
    assert not any(variable.name in name for variable in VARIABLES if variable.secret
                   for name in settings_of(directives("Environment")))  # fmt: skip
    assert directives("EnvironmentFile") == ["-/etc/fairshoe/environment"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("SystemCallFilter", "@system-service"),
        ("DynamicUser", "yes"),
    ],
)
def test_the_unit_is_hardened(name: str, value: str) -> None:
    assert directives(name)[0] == value


# --- the container -------------------------------------------------------------------------------------


def test_the_containers_command_has_the_options_it_is_given() -> None:
    (entry,), (words,) = map(json.loads, instructions("ENTRYPOINT")), map(json.loads, instructions("CMD"))
    assert entry == ["/opt/fairshoe/bin/fairshoe"]
    check_command(words)
    port = words[words.index("--port") + 1]
    assert instructions("EXPOSE") == [port]
    assert f"http://127.0.0.1:{port}/livez" in CONTAINER
    assert f":{port}:{port} " in CONTAINER


def test_the_container_copies_what_the_wheel_is_built_from() -> None:
    copied = {word for line in instructions("COPY") if "--from" not in line for word in line.split()[:-1]}
    assert {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "shoe", "audit", "api", "migrations"} == copied
    assert [word for word in sorted(copied) if not (ROOT / word).exists()] == []


def test_the_container_runs_as_nobody_in_particular_and_owns_its_folder() -> None:
    (user,), (folder,) = instructions("USER"), instructions("VOLUME")
    uid, gid = user.split(":")
    assert uid.isdigit()
    assert int(uid) > 0
    assert any(f"-m 0700 -o {uid} -g {gid} {folder}" in line for line in instructions("RUN"))
    assert f"FAIRSHOE_DATA={folder}" in instructions("ENV")[0]
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_the_extra_it_installs_exists() -> None:
    (extra,) = re.findall(r"'\.\[(\w+)\]'", CONTAINER)
    assert re.search(rf"^{extra} = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


# --- metrics, alarms and the runbook -------------------------------------------------------------------


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the runbook."""
    section = RUNBOOK.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def counted() -> dict[str, tuple[str, str]]:
    """Each counted metric as Prometheus names it: its labels, and its meaning."""
    found = {}
    for name in type(instruments()).__dataclass_fields__:
        metric = getattr(instruments(), name)
        if name != "registry":
            (family,) = metric.describe()
            labels = ", ".join(f"`{label}`" for label in metric._labelnames) or "–"
            found[family.name + ("_total" if family.type == "counter" else "")] = labels, family.documentation
    return found


def test_the_runbook_lists_every_counted_metric_with_its_labels_and_meaning() -> None:
    listed = {name.strip("`"): (labels, meaning) for name, labels, meaning in rows("Metrics")}
    assert {name: listed[name] for name in listed.keys() - ASKED.keys()} == counted()


def test_the_runbook_lists_every_metric_that_is_asked_for() -> None:
    listed = {name.strip("`"): meaning for name, _, meaning in rows("Metrics")}
    assert {name: meaning for name, meaning in listed.items() if name in ASKED} == ASKED


def alarms() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALARMS)["groups"] for rule in group["rules"]]


def test_every_alarm_has_one_line_in_the_runbook_and_every_line_its_alarm() -> None:
    lines = rows("Alarms")
    assert [rule["alert"] for rule in alarms()] == [line[0].strip("`") for line in lines]
    assert all(len(line) == 3 and all(line) for line in lines)
    assert len({line[0] for line in lines}) == len(lines) > 5


@pytest.mark.parametrize("rule", alarms(), ids=[rule["alert"] for rule in alarms()])
def test_an_alarm_asks_for_metrics_and_labels_that_there_are(rule: dict[str, Any]) -> None:
    known = set(ASKED)
    for name, (_, _) in counted().items():
        known |= {name} if name.endswith("_total") else {name, f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    named = set(re.findall(r"\bfairshoe_\w+", rule["expr"]))
    assert named - known == set()
    assert named or rule["alert"] == "FairshoeDown"
    labels = set(re.findall(r"[{,]\s*(\w+)(?:=|!=|=~|!~)\"", rule["expr"])) - {"job"}
    assert labels <= {label for _, cells, _ in rows("Metrics") for label in re.findall(r"`(\w+)`", cells)}
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"]


def test_what_each_alarm_watches_is_worth_a_metric_and_the_other_way_round() -> None:
    """What nobody is woken by: how much there is to do, and how much there is."""
    watched = " ".join(rule["expr"] for rule in alarms())
    idle = {name for name in [*ASKED, *counted()] if name.removesuffix("_total") not in watched}
    assert idle == {"fairshoe_log_records", "fairshoe_requests_in_progress", "fairshoe_commit_writes"}
