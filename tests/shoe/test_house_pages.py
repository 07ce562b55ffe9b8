"""The table of the houses' rules points at tests that are there, and every page has its part."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.shoe.house_pages import PAGES
from tests.shoe.page_rules import DECISIONS, SCREEN

ROOT = Path(__file__).parents[2]
RULES = [(page, rule) for page, rules in PAGES.items() for rule in rules]


@cache
def names_in(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"^ *def (test_\w+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize(("page", "rule"), RULES, ids=[f"{page}: {rule.words}" for page, rule in RULES])
def test_a_rule_is_kept_by_a_test_that_is_there(page: str, rule: tuple[str, str, str]) -> None:
    words, kept, reading = rule
    assert words
    assert len(words) <= 100  # a few words to find the sentence by, no copy of it
    assert not reading or reading.endswith(".")
    assert reading or kept != SCREEN  # why it is no rule of a table
    assert kept != DECISIONS or page == "np"  # the only house that has such games
    if kept not in (SCREEN, DECISIONS):
        path, name = kept.split("::")
        assert name in names_in(path)


def test_no_sentence_stands_twice_on_one_page() -> None:
    assert [words for words, times in Counter((page, rule.words) for page, rule in RULES).items() if times > 1] == []


def test_each_page_is_kept_mostly_by_tests_here() -> None:
    here = Counter(page for page, rule in RULES if rule.kept not in (SCREEN, DECISIONS))
    assert min(here[page] for page in PAGES) >= 40


def test_a_test_that_is_not_there_is_noticed() -> None:
    assert "test_the_moon" not in names_in("tests/shoe/test_roads.py")
