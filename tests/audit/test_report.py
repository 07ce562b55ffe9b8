"""The report on a certification: what it says, what it refuses to read, and that it can say FAIL."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from audit.battery import BATTERY
from audit.counts import RunCounts
from audit.findings import LIMITATIONS, MOST_BYTES
from audit.report.build import FORM, build
from audit.report.clauses.bodies import BODIES
from audit.report.clauses.clause import Clause, judge
from audit.report.document import Figure, Table
from audit.report.page import print_page
from audit.report.source import read_findings
from shoe.errors import CanonicalError, InputError
from shoe.proof.canonical import parse_canonical
from tests.audit.page_reader import Element, read_page
from tests.audit.reported import MADE_BY, Json, changed, check_in, counts, findings, reject, report

FAILED = ("batch_runs", "production_cards_used")


@pytest.fixture(scope="module")
def page() -> Element:
    return read_page(print_page(report().document))


def failing(*names: str) -> bytes:
    return changed(reject(*names))


# --- the JSON, which is the authority ----------------------------------------------------------


def test_the_json_is_canonical_and_holds_the_findings_whole() -> None:
    printed = report().to_bytes()
    read = parse_canonical(printed, MOST_BYTES)
    assert isinstance(read, dict)
    assert read["form"] == FORM
    assert read["findings"] == json.loads(findings().to_bytes())
    assert read["findings_hash"] == hashlib.sha256(findings().to_bytes()).hexdigest()
    assert read["verdict"] == "pass"
    assert read["non_compliances"] == []


def test_every_section_asked_for_is_there_in_order() -> None:
    wanted = (
        "identification versions summary scope generator clauses checks battery shuffles outcomes returns provenance"
    )
    names = [section.name for section in report().document.sections]
    assert names == [*wanted.split(), "reproduction", "limitations"]


def test_every_check_stands_in_one_table_of_results_with_its_p() -> None:
    rows = [
        row[:2]
        for section in report().document.sections
        for block in section.blocks
        if isinstance(block, Table) and block.columns[-1].heading == "Result"
        for row in block.rows
    ]
    named = [(check.kind.replace("_", " "), check.path) for check in report().source.checks]
    assert sorted(rows) == sorted(named)


def test_every_plot_is_there_with_its_numbers() -> None:
    figures = [block for section in report().document.sections for block in section.blocks if isinstance(block, Figure)]
    names = {figure.name for figure in figures}
    assert names == {"frequencies", "pvalues", "runs", "evidence", "coups", "returns", "heat-batch", "heat-production"}
    assert all(figure.table.rows for figure in figures)
    assert len(next(figure for figure in figures if figure.name == "pvalues").table.rows) == len(report().source.checks)


def test_without_counts_the_map_is_left_out_and_the_report_says_so() -> None:
    made = build(read_findings(findings().to_bytes()), MADE_BY)
    names = [block.name for s in made.document.sections for block in s.blocks if isinstance(block, Figure)]
    assert not any(name.startswith("heat") for name in names)
    assert b"No map of cards by position" in made.to_bytes()


def test_counts_of_another_run_are_refused() -> None:
    other = replace(counts(), production=counts().batch)
    for wrong in (other, RunCounts()):
        with pytest.raises(InputError, match="counts: expected counts with the digest"):
            build(read_findings(findings().to_bytes()), MADE_BY, wrong)


# --- a verdict ---------------------------------------------------------------------------------


def test_a_failing_check_makes_clauses_fail_and_is_listed() -> None:
    made = build(read_findings(failing(*FAILED)), MADE_BY)
    said = made.to_json()
    assert (said["verdict"], made.document.verdict) == ("fail", "FAIL")
    assert said["non_compliances"] == list(FAILED)
    failed = {(one["body"], one["clause"]) for one in said["clauses"] if one["status"] == "FAIL"}
    assert (BODIES[0].name, "3.2.2") in failed
    assert ("25 CFR 547.14", "(b)(2)(ii)") in failed
    assert ("South Dakota 48:02:08:02", "(2)") in failed
    assert ("South Dakota 48:02:08:02", "(3)") not in failed
    text = print_page(made.document).decode()
    assert "Non-compliances: checks that are rejected" in text
    assert 'class="status FAIL"' in text
    assert 'class="status FAIL"' not in print_page(report().document).decode()


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.name)
def test_every_clause_that_names_checks_can_fail(body: object) -> None:
    """Each clause is held against findings in which one of its checks, found in this plan, is rejected."""
    source = report().source
    for clause in body.clauses:  # type: ignore[attr-defined]
        judged = judge(clause, source)
        assert judged.status != "FAIL"
        assert judged.status in ("MANUAL", clause.best) or judged.missing
        if judged.checks:
            wrong = replace(source, checks=tuple(replace(c, rejected=c == judged.checks[-1]) for c in source.checks))
            assert judge(clause, wrong).status == "FAIL"


def test_clauses_name_checks_that_exist() -> None:
    for body in BODIES:
        for clause in body.clauses:
            for kind in clause.checks:
                assert kind in BATTERY or (
                    kind.endswith("*") and any(name.startswith(kind[:-1]) for name in BATTERY)
                ), (clause.number, kind)


@pytest.mark.parametrize(
    ("best", "kinds", "status"),
    [
        ("PASS", ("outcomes",), "PASS"),
        ("PASS", ("outcomes", "bits_*"), "PARTIAL"),
        ("PASS", ("bits_frequency",), "MANUAL"),
        ("PARTIAL", ("outcomes",), "PARTIAL"),
        ("PARTIAL", (), "PARTIAL"),
        ("MANUAL", (), "MANUAL"),
        ("MANUAL", ("replay",), "MANUAL"),
    ],
)
def test_a_status_is_what_the_plan_allows_it_to_be(best: str, kinds: tuple[str, ...], status: str) -> None:
    """The small plan has no sequence of bits: what needs them is at most PARTIAL."""
    clause = Clause("n", "asks", best, "evidence", kinds)  # type: ignore[arg-type]
    assert judge(clause, report().source).status == status


def test_what_must_be_said_openly_is_said() -> None:
    text = report().to_bytes().decode()
    for words in (
        "GLI-19 3.3.2 (c) is met only in part",
        "2,229.3 bits of distinguishable orders, more than a seed of 256 bits",
        "this is not an ISO 17025 certificate",
        "Used as yardsticks: their legal scope is not always baccarat",
        *LIMITATIONS,
    ):
        assert words in text
    statuses = {(one["body"], one["clause"]): one["status"] for one in report().to_json()["clauses"]}
    assert statuses[BODIES[0].name, "3.3.2 (c)"] == "PARTIAL"
    assert statuses[BODIES[0].name, "3.2.5"] == "PARTIAL"
    assert statuses[BODIES[0].name, "3.2.1"] == "MANUAL"


# --- the page ----------------------------------------------------------------------------------


def test_nothing_is_fetched_or_run(page: Element) -> None:
    elements = page.all()
    assert not {"script", "link", "img", "iframe", "object", "form", "button"} & {one.name for one in elements}
    for one in elements:
        for name, value in one.attributes.items():
            assert not name.startswith("on")
            assert name != "style"
            if name in ("href", "src", "xlink:href"):
                assert str(value).startswith("#")
    (policy,) = [one.attributes["content"] for one in page.all("meta") if "http-equiv" in one.attributes]
    (style,) = page.all("style")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "url(" not in style.text


def test_the_page_is_sound_for_those_who_do_not_see_it(page: Element) -> None:
    ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in page.all():
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(str(one.attributes.get(name, "")).split()) <= set(ids)
        if one.name == "a":
            assert str(one.attributes["href"])[1:] in ids
    assert [one.name for one in page.all("h1", "main", "nav", "header", "footer")].count("h1") == 1
    for table in page.all("table"):
        assert len(table.all("caption")) == 1
        assert {head.attributes["scope"] for head in table.all("th")} == {"col", "row"}
    figures = page.all("figure")
    assert len(figures) == 8
    for figure in figures:
        (drawing,) = figure.all("svg")
        assert drawing.attributes["role"] == "img"
        assert [child.name for child in drawing.children[:2]] == ["title", "desc"]
        (table,) = figure.all("table")
        assert len(table.all("tr")) > 1
    assert page.all("html")[0].attributes["lang"] == "en"


def test_what_is_drawn_has_no_colour_that_grey_would_lose(page: Element) -> None:
    """Marks are ink, grey or hatched; the one blue is the only line of its plot."""
    for drawing in page.all("svg"):
        fills = {
            str(one.attributes[key]) for one in drawing.all() for key in ("fill", "stroke") if key in one.attributes
        }
        colours = {fill for fill in fills if fill.startswith("#") and len({fill[1:3], fill[3:5], fill[5:7]}) > 1}
        assert colours <= {"#1f4e79", "#e9edf2"}


# --- injection ---------------------------------------------------------------------------------

EVIL = '</td><script>alert(1)</script> & <b onload=x> #eval("x") $x$ \\ "quoted" *bold* @ref <label> // no'


def evil(content: Json) -> None:
    for name in ("batch_outcomes", "batch_cards_used", "batch_fixed_points"):
        check = check_in(content, name)
        check |= {"null": EVIL, "distribution": EVIL, "effect_name": EVIL}
        check["items"][0]["label"] = EVIL
    check_in(content, "batch_returns")["intervals"][0]["label"] = EVIL
    content["version"] = content["verdict_in_words"] = EVIL
    content["limitations"] = content["self_tests"] = [EVIL]
    content["whole_shoe"][0]["note"] = EVIL


def test_names_that_are_markup_come_out_as_text() -> None:
    made = build(read_findings(changed(evil)), MADE_BY)
    text = print_page(made.document)
    assert b"<script" not in text
    assert b"<b onload" not in text
    words = read_page(text).words
    assert words.count("<script>alert(1)</script>") >= 8


# --- what is refused ---------------------------------------------------------------------------


def put(content: Json, path: str, value: object) -> None:
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    target = content
    for step in steps:
        target = target[step]  # type: ignore[index]
    if value is ...:
        del target[last]  # type: ignore[arg-type]
    else:
        target[last] = value  # type: ignore[index]


WRONG: dict[str, tuple[str, object, str]] = {
    "another form": ("form", "fairshoe/findings/9", "form: expected fairshoe/findings/1"),
    "no form": ("form", ..., "form: expected"),
    "no plan": ("plan", ..., "plan: expected a value of type dict"),
    "another plan": ("plan.level", "1/20", "level"),
    "another seed": ("plan.seed", "00" * 32, "plan_hash: expected"),
    "another plan hash": ("plan_hash", "00" * 32, "plan_hash: expected"),
    "a check less": ("checks.3", ..., "checks: expected the plan's checks in its order"),
    "checks are no list": ("checks", {}, "checks: expected a value of type list"),
    "a check is a text": ("checks.2", "outcomes", r"checks\[2\]: expected an object"),
    "an unknown check": ("checks.2.name", "batch_luck", "the name of a check"),
    "no p": ("checks.2.p", ..., r"checks\[2\].p: expected"),
    "p over 1": ("checks.2.p", "1.5", r"checks\[2\].p: expected a number"),
    "p in words": ("checks.2.p", "small", r"checks\[2\].p: expected a number"),
    "p not a number": ("checks.2.p", "nan", r"checks\[2\].p: expected a number"),
    "p below zero": ("checks.2.p", "-0.1", r"checks\[2\].p: expected a number"),
    "an effect in words": ("checks.2.effect", "big", r"checks\[2\].effect: expected"),
    "degrees of freedom in words": ("checks.2.dof", "two", r"checks\[2\].dof: expected a value of type int"),
    "n as text": ("checks.2.n", "7", r"checks\[2\].n: expected a value of type int"),
    "n as truth": ("checks.2.n", True, r"checks\[2\].n: expected a value of type int"),
    "rejected as text": ("checks.2.rejected", "no", r"checks\[2\].rejected: expected"),
    "an item without a count": ("checks.2.items.0.observed", ..., r"checks\[2\].items\[0\].observed"),
    "division by zero": ("checks.2.items.0.expected", "1/0", r"checks\[2\].items\[0\].expected"),
    "an interval without an end": ("checks.6.intervals.0.high", ..., r"checks\[6\].intervals\[0\].high"),
    "a path that is none": ("whole_shoe.0.path", "dark", r"whole_shoe\[0\].path: expected batch or production"),
    "coups that are no pair": ("whole_shoe.0.coups_per_shoe.0", [1], r"coups_per_shoe: expected coups and shoes"),
    "a limitation that is a number": ("limitations.0", 7, "limitations: expected a list of texts"),
    "a verdict by hand": ("verdict", "fail", "verdict: expected 'pass'"),
    "a failure by hand": ("failed", ["batch_runs"], "failed: expected"),
    "a rejection by hand": ("checks.2.rejected", True, "rejected, by its p"),
    "a small p that passes": ("checks.2.p", "1e-200", "verdict: expected 'fail'"),
    "coups as text": ("coups", "many", "coups: expected a value of type int"),
}


@pytest.mark.parametrize(("path", "value", "says"), WRONG.values(), ids=WRONG)
def test_findings_that_do_not_hold_together_are_refused(path: str, value: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_findings(changed(lambda content: put(content, path, value)))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data + b"\n",
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data.replace(b'"coups"', b' "coups"', 1),
        lambda data: b"[" + data + b"]",
        lambda data: data.replace(b"pass", b"p\xc3\xa4ss", 1),
    ],
    ids=["a newline", "cut short", "nothing", "a blank", "a list", "beyond ASCII"],
)
def test_other_bytes_are_refused(change: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CanonicalError):
        read_findings(change(findings().to_bytes()))
