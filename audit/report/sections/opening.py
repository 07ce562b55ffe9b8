"""Identification; versions and digests; the summary with its non-compliances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from audit.report.clauses.clause import STATUSES, Body, Judged
from audit.report.document import Column, Fact, Facts, Paragraph, Points, Section, Table, table
from audit.report.provenance import Digest, Provenance
from audit.report.source import Source
from audit.report.words import check_words, plain, short_p

NOT_A_CERTIFICATE = (
    "This report is made by the program that it reports on, from a run that anybody can repeat. It is not a "
    "certificate "
    "under ISO 17025, and no accredited laboratory stands behind it."
)

Judgements = Sequence[tuple[Body, Sequence[Judged]]]


def identification(source: Source) -> Section:
    """Say what was certified, by which plan and findings."""
    plan, content = source.plan, source.content
    facts = [
        Fact("Table", plan.table, "code"),
        Fact("Game", f"{plan.rules.game.replace('_', ' ')}, {plan.rules.decks} decks"),
        Fact("Plan, SHA-256", plan.hash.hex(), "code"),
        Fact("Findings, SHA-256", source.hash.hex(), "code"),
        Fact("Counts, digest", content["counts_digest"], "code"),
        Fact("Seed of the run", plan.seed.hex(), "code"),
        Fact("Shoes", f"{plan.batch.shoes:,} by the batch path, {plan.production.shoes:,} by that of production"),
        Fact("Coups", f"{content['coups']:,}, of which {content['judged_coups']:,} judged"),
        Fact("Checks", f"{len(source.checks)}, named in the plan, judged together"),
        Fact("Verdict", "PASS" if source.passed else "FAIL", "status"),
    ]
    if plan.confirms is not None:
        facts.insert(4, Fact("Confirms findings", plan.confirms.hex(), "code"))
    blocks: list[Paragraph | Facts] = [
        Facts(tuple(facts)),
        Paragraph(NOT_A_CERTIFICATE, strong=True),
        Paragraph(
            "The plan was fixed, serialised and hashed before the first shoe. The findings are a function of the plan: "
            "the same bytes on one process, on many and after an interruption; and this document is a function of the "
            "findings and of the counts beside them. The canonical JSON of the report is the authority; page and PDF "
            "say the same."
        ),
    ]
    if plan.confirms is not None:
        blocks.append(
            Paragraph(
                "This run confirms the failed checks of an earlier one, named above, with a new seed and four times "
                "its size. Both must be read: the first run stands as it is, and no third follows.",
                strong=True,
            )
        )
    return Section("identification", "Identification", tuple(blocks))


def versions(found_by: str, made_by: Provenance) -> Section:
    """List versions and digests of code and inputs; `found_by` is the version that made the findings."""
    return Section(
        "versions",
        "Versions and digests",
        (
            Facts(
                (
                    Fact("Version that made the findings", found_by, "code"),
                    Fact("Version that made this report", made_by.version, "code"),
                )
            ),
            _digests("Inputs", "Bytes", made_by.inputs),
            _digests("Code that made this report", "Files", made_by.code),
            table(
                "Libraries beside it",
                (Column("Library", width=10), Column("Version", "code", 10)),
                [(plain(name), plain(version)) for name, version in made_by.libraries],
                folds=2,
            ),
            Paragraph(
                "A package's digest is the SHA-256 of its files in order of their names, each as its name, a zero "
                "byte, "
                "its size in decimal, a zero byte and its bytes. The findings name the version of the code that made "
                "them; that it was the code listed here is shown by repeating the run."
            ),
        ),
    )


def _digests(caption: str, sizes: str, digests: Sequence[Digest]) -> Table:
    columns = (Column("Name", "code", 18), Column(sizes, "number", 10), Column("SHA-256", "code", 60))
    return table(caption, columns, [(plain(d.name), f"{d.size:,}", d.sha256.hex()) for d in digests])


def summary(source: Source, judgements: Judgements) -> Section:
    """Give the verdict, how many clauses have which status, and what does not comply."""
    counts = [(body, Counter(judged.status for judged in clauses)) for body, clauses in judgements]
    columns = (Column("Clauses of", width=40), *(Column(status.capitalize(), "number", 10) for status in STATUSES))
    rows = [(body.name, *(str(count[status]) for status in STATUSES)) for body, count in counts]
    return Section(
        "summary",
        "Summary and non-compliances",
        (
            Paragraph(_words(source), strong=True),
            Paragraph(
                f"All {len(source.checks)} checks are judged together at 99 %: Holm's rule keeps the chance that any "
                f"of "
                "them is rejected, where nothing is wrong, at 1 %."
            ),
            table("Clauses by status", columns, rows),
            *_non_compliances(source, judgements),
        ),
    )


def _words(source: Source) -> str:
    failed = [check for check in source.checks if check.rejected]
    if not failed:
        return f"PASS: none of {len(source.checks)} checks is rejected."
    return f"FAIL: {len(failed)} of {len(source.checks)} checks are rejected."


def _non_compliances(source: Source, judgements: Judgements) -> list[Paragraph | Points]:
    failed = [check for check in source.checks if check.rejected]
    if not failed:
        return [Paragraph("Non-compliances: none found. What a human must judge is marked MANUAL in the clause table.")]
    checks = [
        f"{check_words(check.kind)}, {check.path} path: p = {short_p(check.p)}, adjusted {short_p(check.p_adjusted)}, "
        f"n = {check.n:,}. Null: {check.null}."
        for check in failed
    ]
    clauses = [
        f"{body.name}, {judged.clause.number}: {', '.join(check_words(c.name) for c in judged.checks if c.rejected)}."
        for body, clauses in judgements
        for judged in clauses
        if judged.status == "FAIL"
    ]
    return [
        Paragraph("Non-compliances: checks that are rejected", strong=True),
        Points(tuple(checks)),
        Paragraph("Non-compliances: clauses that they touch", strong=True),
        Points(tuple(clauses)),
    ]
