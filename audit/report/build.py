"""Findings to a report: the document, and the canonical JSON that is signed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from audit.counts import RunCounts
from audit.encoding import digest
from audit.findings import MOST_BYTES
from audit.report.clauses.bodies import BODIES
from audit.report.clauses.clause import judge
from audit.report.document import Document, Fact
from audit.report.provenance import Provenance
from audit.report.sample import deal_sample
from audit.report.sections import checks, clause_table, closing, game, opening, results
from audit.report.sections.opening import Judgements
from audit.report.source import Source
from shoe.errors import InputError, expected
from shoe.proof.canonical import print_canonical

FORM: Final = "fairshoe/report/1"


@dataclass(frozen=True, slots=True)
class Report:
    """A report: the findings, what it was made by, every clause judged, and the document that shows them."""

    source: Source
    made_by: Provenance
    judgements: Judgements
    document: Document

    @property
    def passed(self) -> bool:
        """Say whether all checks pass collectively."""
        return self.source.passed

    @property
    def verdict(self) -> str:
        """Give the verdict in one word."""
        return "pass" if self.passed else "fail"

    @property
    def non_compliances(self) -> tuple[str, ...]:
        """Name the checks that are rejected."""
        return tuple(check.name for check in self.source.checks if check.rejected)

    def to_json(self) -> dict[str, Any]:
        """List everything under its name, findings included, drawings left out."""
        return {
            "form": FORM,
            "plan_hash": self.source.plan.hash.hex(),
            "findings_hash": self.source.hash.hex(),
            "verdict": self.verdict,
            "non_compliances": list(self.non_compliances),
            "clauses": [
                {
                    "body": body.name,
                    "clause": judged.clause.number,
                    "status": judged.status,
                    "checks": [check.name for check in judged.checks],
                }
                for body, clauses in self.judgements
                for judged in clauses
            ],
            "provenance": self.made_by.to_json(),
            "document": self.document.to_json(),
            "findings": dict(self.source.content),
        }

    def to_bytes(self) -> bytes:
        """Print the report as canonical JSON (protocol §8, but for its limit of 65,535 bytes)."""
        return print_canonical(self.to_json(), MOST_BYTES)


def build(source: Source, made_by: Provenance, counts: RunCounts | None = None) -> Report:
    """Build the report on findings; takes some seconds, for the shoes that are dealt again.

    `counts`, where the certification's checkpoint is at hand, adds the map of cards by position. Raises InputError for
    counts that are not those the findings were made of.
    """
    if counts is not None and digest(counts).hex() != source.content["counts_digest"]:
        raise InputError(
            expected(f"counts with the digest {source.content['counts_digest']}", digest(counts).hex(), "counts")
        )
    judgements = tuple((body, tuple(judge(clause, source) for clause in body.clauses)) for body in BODIES)
    sample = deal_sample(source.plan)
    sections = (
        opening.identification(source),
        opening.versions(source.content["version"], made_by),
        opening.summary(source, judgements),
        game.scope(source),
        game.generator(source),
        clause_table.clauses(judgements),
        checks.every_check(source),
        checks.raw_battery(source),
        checks.shuffle_tests(source, counts),
        results.outcomes(source, sample),
        results.return_to_player(source),
        closing.provenance(source),
        closing.reproduction(source),
        closing.limitations(source),
    )
    plan = source.plan
    document = Document(
        title="Certification report",
        subtitle=f"Table {plan.table}: {plan.rules.game.replace('_', ' ')}, {plan.rules.decks} decks",
        verdict="PASS" if source.passed else "FAIL",
        words=source.content["verdict_in_words"],
        sections=sections,
        foot=Fact("Findings, SHA-256", source.hash.hex(), "code"),
    )
    return Report(source, made_by, judgements, document)
