"""The environment's variables: one declaration each, which the README's table repeats and settings are read by."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.settings import VARIABLES, VAULT_KEY, Settings, SetupError, settings_from
from shoe.errors import InputError

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = [variable.name for variable in VARIABLES]
DECIDED_IN_THE_CODE = {"body_limit", "verify_limit"}


def table_rows() -> list[str]:
    table = README.split("| variable | meaning | value | without it |\n|---|---|---|---|\n")[1]
    return table.split("\n\n")[0].splitlines()


@pytest.mark.parametrize(("number", "variable"), list(enumerate(VARIABLES)), ids=NAMES)
def test_the_readme_has_the_variables_row(number: int, variable: Any) -> None:
    assert table_rows()[number] == variable.row


def test_the_readme_has_no_further_rows_and_no_second_table() -> None:
    assert len(table_rows()) == len(VARIABLES)
    assert len(re.findall(r"^\|[^|]*`FAIRSHOE_", README, re.MULTILINE)) == len(VARIABLES) - 1


def test_every_setting_but_the_codes_own_limits_has_one_variable() -> None:
    fields = {field.name for field in dataclasses.fields(Settings)}
    assert sorted(variable.field for variable in VARIABLES) == sorted(fields - DECIDED_IN_THE_CODE)
    assert len(set(NAMES)) == len(NAMES)


def test_without_variables_the_defaults_of_both_declarations_agree() -> None:
    assert settings_from({}) == Settings(Path("fairshoe-data"))


def test_every_variable_that_any_text_of_the_project_names_exists() -> None:
    texts = [README, *(path.read_text(encoding="utf-8") for path in (ROOT / "api").rglob("*.py"))]
    named = {name for text in texts for name in re.findall(r"\bFAIRSHOE_[A-Z_]*[A-Z]\b", text)}
    assert named - set(NAMES) == set()
    assert len(named) == len(NAMES) - 1


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("FAIRSHOE_DATA", "a b/ü", Path("a b/ü")),
        ("FAIRSHOE_ORIGIN", "x" * 128, "x" * 128),
        ("DATABASE_URL", "postgresql://u@h/n", "postgresql://u@h/n"),
        ("DATABASE_URL", "", ""),
        ("FAIRSHOE_WITNESSES", "w", Path("w")),
        ("FAIRSHOE_WITNESSES", "", None),
        ("FAIRSHOE_WITNESS_EVERY_S", "86400", 86400),
        ("FAIRSHOE_PROXIES", "0", 0),
        ("FAIRSHOE_PROXIES", "16", 16),
        ("FAIRSHOE_CORS", "*", ("*",)),
        ("FAIRSHOE_CORS", "none", ()),
        ("FAIRSHOE_CORS", "https://a.example,http://[::1]:80", ("https://a.example", "http://[::1]:80")),
        ("FAIRSHOE_WRITES_PER_MINUTE", "0", 0),
        ("FAIRSHOE_SEAT_WRITES_PER_MINUTE", "1000000", 1_000_000),
        ("FAIRSHOE_READS_PER_MINUTE", "1", 1),
        ("FAIRSHOE_SANDBOX", "1", True),
        ("FAIRSHOE_SANDBOX", "0", False),
        ("FAIRSHOE_LOG_LEVEL", "error", "error"),
        ("FAIRSHOE_WORKERS", "64", 64),
        ("FAIRSHOE_THREADS", "256", 256),
        ("FAIRSHOE_REACH", "any", "any"),
        ("FAIRSHOE_GRACE_S", "600", 600),
    ],
)
def test_a_variable_gives_its_setting_and_no_other(name: str, text: str, value: object) -> None:
    (variable,) = [each for each in VARIABLES if each.name == name]
    found = settings_from({name: text})
    assert getattr(found, variable.field) == value
    assert type(getattr(found, variable.field)) is type(value)
    others = {each.field for each in VARIABLES} - {variable.field}
    assert all(getattr(found, field) == getattr(settings_from({}), field) for field in others)


NO_NUMBERS = ["", " 1", "1 ", "+1", "01", "1_0", "1.0", "-1", "١", "0x1", "one", "1\n", "9" * 19]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("FAIRSHOE_DATA", ["", "a\0b"]),
        ("FAIRSHOE_ORIGIN", ["", "a b", "a+b", "é", "x" * 129, "a\n"]),
        ("FAIRSHOE_WITNESSES", ["a\0"]),
        ("FAIRSHOE_WITNESS_EVERY_S", [*NO_NUMBERS, "0", "86401"]),
        ("FAIRSHOE_PROXIES", [*NO_NUMBERS, "17", "true", "127.0.0.1"]),
        ("FAIRSHOE_WRITES_PER_MINUTE", [*NO_NUMBERS, "1000001", "none"]),
        ("FAIRSHOE_SEAT_WRITES_PER_MINUTE", [*NO_NUMBERS, "1000001"]),
        ("FAIRSHOE_READS_PER_MINUTE", [*NO_NUMBERS, "1000001"]),
        ("FAIRSHOE_WORKERS", [*NO_NUMBERS, "0", "65"]),
        ("FAIRSHOE_THREADS", [*NO_NUMBERS, "0", "257"]),
        ("FAIRSHOE_GRACE_S", [*NO_NUMBERS, "0", "601"]),
        ("FAIRSHOE_SANDBOX", ["", "2", "true", "yes", "on", "00"]),
        ("FAIRSHOE_LOG_LEVEL", ["", "INFO", "warn", "critical", "20"]),
        ("FAIRSHOE_REACH", ["", "Public", "private", "public,any"]),
        (
            "FAIRSHOE_CORS",
            [
                "",
                "null",
                "a.example",
                "https://a.example/",
                "https://a.example/x",
                "https://A.example",
                "ftp://a",
                "https://u@a.example",
                "https://a.example:0",
                "https://a.example:123456",
                "*,https://a",
                "https://*.a",
                "https://a,https://a",
                "https://a, https://b",
                "https://a,",
                ",".join(f"http://{n}" for n in range(65)),
            ],
        ),
    ],
)
def test_a_text_of_another_form_is_refused_with_name_and_advice(name: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(InputError) as refused:
            settings_from({name: text})
        assert re.fullmatch(rf"(?s){name}: expected .+, got .+; mend or unset it: .+ without it", str(refused.value))


@pytest.mark.parametrize(
    "values",
    [
        {"proxies": 17},
        {"proxies": -1},
        {"proxies": True},
        {"workers": 0},
        {"threads": 257},
        {"grace_s": 0.5},
        {"cors": "*"},
        {"cors": ("*", "*")},
        {"cors": ("a",)},
        {"log_level": "loud"},
        {"reach": "none"},
        {"sandbox": 1},
        {"writes_per_minute": None},
    ],
)
def test_settings_made_in_code_keep_the_same_bounds(values: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^FAIRSHOE_[A-Z_]+: expected "):
        Settings(Path("d"), **values)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FAIRSHOE_PROXY", "FAIRSHOE_PROXIES"),
        ("FAIRSHOE_VAULTKEY", VAULT_KEY),
        ("FAIRSHOE_vault_key", None),
        ("FAIRSHOE_", None),
        ("FAIRSHOE_COLOUR", None),
    ],
)
def test_a_variable_that_there_is_none_of_is_refused_and_not_shown(name: str, near: str | None) -> None:
    with pytest.raises(InputError) as refused:
        settings_from({name: "ab" * 32})
    advice = f"is it {near}?" if near else "README lists them;"
    assert str(refused.value).startswith(f"{name}: there is no variable of this name: ")
    assert near is None or advice in str(refused.value)
    assert "abab" not in str(refused.value)


def test_variables_of_others_are_nobodys_business() -> None:
    assert settings_from({"PATH": "x", "fairshoe_data": "x", "MY_FAIRSHOE_X": "x"}) == settings_from({})


def test_the_vaults_key_leaves_the_environment_even_where_another_variable_is_refused() -> None:
    for other in ("FAIRSHOE_DATA", "FAIRSHOE_PROXIES", "FAIRSHOE_X"):
        environment = {VAULT_KEY: "ab" * 32, other: ""}
        with pytest.raises(InputError):
            settings_from(environment)
        assert environment == {other: ""}
    environment = {VAULT_KEY: "short"}
    with pytest.raises(SetupError):
        settings_from(environment)
    assert environment == {}


def test_a_secret_is_in_no_refusal_and_no_repr() -> None:
    with pytest.raises(InputError) as refused:
        settings_from({"DATABASE_URL": "postgresql://u:hunter2@h/n\0"})
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in repr(settings_from({"DATABASE_URL": "postgresql://u:hunter2@h/n"}))


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0"]
    for name, text in {"FAIRSHOE_THREADS": "many", "FAIRSHOE_TREADS": "4"}.items():
        given = {**os.environ, "FAIRSHOE_DATA": str(tmp_path / "d"), name: text}
        done = subprocess.run(command, env=given, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(f"fairshoe: {name}: ")
    assert not (tmp_path / "d").exists()
