"""The clause table: what each clause asks, its status, n and p, and what stands behind it."""

from __future__ import annotations

from audit.report.clauses.clause import Judged
from audit.report.document import Column, Paragraph, Section, Table, table
from audit.report.plots.whiskers import worst
from audit.report.sections.opening import Judgements
from audit.report.words import check_words, short_p, span

_COLUMNS = (
    Column("Clause", width=13),
    Column("Asks, in our words", width=25),
    Column("Status", "status", 10),
    Column("n", "number", 11),
    Column("Least p", "number", 10),
    Column("What stands behind it", width=37),
)


def clauses(judgements: Judgements) -> Section:
    """Lay out all clauses, a table for each body."""
    blocks: list[Paragraph | Table] = [
        Paragraph(
            "Used as yardsticks: their legal scope is not always baccarat. PASS: the checks named say all that the "
            "clause "
            "asks. FAIL: one of them is rejected. PARTIAL: they say some of it, or the plan was too small to name them "
            "all. MANUAL: a human must judge. n counts what the checks judged, each in its own unit; least p is the "
            "smallest "
            "of so many, before Holm's correction, so that one of a hundred may well be .01."
        ),
        Paragraph(
            "Said openly: GLI-19 3.3.2 (c) is met only in part; a shoe of 8 decks has 2,229.3 bits of distinguishable "
            "orders, "
            "more than a seed of 256 bits can tell apart; and this is not an ISO 17025 certificate.",
            strong=True,
        ),
    ]
    for body, judged in judgements:
        blocks.append(table(body.name, _COLUMNS, [_row(one) for one in judged]))
        blocks.append(Paragraph(f"{body.source}. {body.scope}"))
    return Section("clauses", "Clauses", tuple(blocks))


def _row(judged: Judged) -> tuple[str, ...]:
    clause, checks = judged.clause, judged.checks
    n, p = "-", "-"
    if checks:
        n = span([check.n for check in checks])
        p = short_p(worst(checks).p) + (f" of {len(checks)}" if len(checks) > 1 else "")
    return clause.number, clause.asks, judged.status, n, p, clause.evidence + _behind(judged)


def _behind(judged: Judged) -> str:
    words = ""
    if judged.checks:
        kinds = dict.fromkeys(check.kind for check in judged.checks)
        named = ", ".join(check_words(kind) for kind in kinds)
        words += f" Checks: {named}." if len(kinds) <= 6 else f" {len(judged.checks)} checks, each in its own section."
        rejected = [f"{check_words(check.kind)} ({check.path})" for check in judged.checks if check.rejected]
        words += f" Rejected: {', '.join(rejected)}." if rejected else ""
    if judged.missing:
        words += f" Not in this plan: {', '.join(check_words(kind) for kind in judged.missing)}."
    return words
