"""The specification's sections against what the code cites, and its table against the files there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoe.proof.canonical import MAX_BYTES, MAX_DEPTH
from shoe.proof.records import CLASSES
from shoe.proof.verify import CHECKS

ROOT = Path(__file__).parents[2]
SPEC = (ROOT / "shoe" / "SPEC.md").read_text()
CITED = re.compile(r"protocol\s+(§[0-9]+(?:[–,]\s*§?[0-9]+)*)")
ROWS = re.findall(r"^\| ([0-9]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", SPEC, re.MULTILINE)


def section(number: int) -> str:
    return re.split(r"^## [0-9]+ .*$", SPEC, flags=re.MULTILINE)[number]


def test_the_sections_are_1_to_11_in_order() -> None:
    assert [int(number) for number in re.findall(r"^## ([0-9]+) ", SPEC, re.MULTILINE)] == [*range(1, 12)]
    assert [int(number) for number, *_ in ROWS] == [*range(1, 12)]


def test_the_code_cites_sections_that_there_are() -> None:
    cited = {
        int(number)
        for path in (ROOT / "shoe").rglob("*.py")
        for citation in CITED.findall(path.read_text())
        for number in re.findall(r"[0-9]+", citation)
    }
    assert cited == {*range(1, 11)}  # section 11 is about what no code can give


@pytest.mark.parametrize(("number", "modules", "tests"), ROWS, ids=[f"section {row[0]}" for row in ROWS])
def test_the_files_of_each_section_are_there(number: str, modules: str, tests: str) -> None:
    named = re.findall(r"`([^`]+)`", modules + tests)
    assert bool(named) == (number != "11")
    assert [name for name in named if not list(ROOT.glob(name))] == []


def test_a_module_cites_the_section_that_names_it() -> None:
    for number, modules, _ in ROWS:
        for name in re.findall(r"`([^`]+\.py)`", modules):
            cited = CITED.findall((ROOT / name).read_text())
            numbers = {int(each) for citation in cited for each in re.findall(r"[0-9]+", citation)}
            assert int(number) in numbers or name == "shoe/proof/merkle.py", name


def test_every_check_and_every_record_type_is_described() -> None:
    checks = re.findall(r"^\| `([a-z_]+)` \| ", section(10).partition("VALID means")[2], re.MULTILINE)
    assert checks[: len(CHECKS) + 1] == ["format", *CHECKS]
    types = re.findall(r"^\| `([a-z_]+)` \| `?", section(8), re.MULTILINE)
    assert set(types) >= {cls.type for cls in CLASSES}


def test_the_limits_of_canonical_json_are_the_code_s() -> None:
    assert f"at most {MAX_BYTES:,} bytes" in section(8)
    assert f"at most {MAX_DEPTH} deep" in section(8)
