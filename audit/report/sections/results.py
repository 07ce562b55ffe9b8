"""Outcomes and rule use against exact; return to player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from audit.report.document import Block, Column, Paragraph, Section, Table, table
from audit.report.plots import evidence
from audit.report.plots.shoes import coups_per_shoe
from audit.report.plots.whiskers import frequencies, returns
from audit.report.sample import Sample
from audit.report.sections.checks import counts_table
from audit.report.source import Source
from audit.report.words import PATH_WORDS, label_of, signed

_LISTED: Final = (
    ("cards_used", "Cards used", 1),
    ("naturals", "Naturals", 2),
    ("joint_totals", "Joint totals (player:banker, cards used)", 3),
    ("pair_classes", "Pairs of both hands", 2),
    ("tableau_cells", "Decisions on replayed shoes, by cell of the tableau", 3),
)


def outcomes(source: Source, sample: Sample) -> Section:
    """Show what was dealt beside the exact law: frequencies, joint counts, order, whole shoes."""
    rules = source.plan.rules
    figures = (
        frequencies(source),
        evidence.runs(sample, rules.shuffle),
        evidence.evidence(sample, rules.decks),
        coups_per_shoe(source),
    )
    blocks: list[Block] = [
        Paragraph(
            "Expected are exact counts: every coup over point values with the multiplicities of the shoe. Sigma is the "
            "deviation in standard errors, dependence within a shoe included; of many, one in twenty exceeds 2."
        ),
        *(figure for figure in figures if figure is not None),
    ]
    for kind, caption, folds in _LISTED:
        blocks += [counts_table(check, f"{caption}, {check.path} path", folds) for check in source.of(kind)]
    blocks += [part for path, whole in source.whole_shoes().items() for part in _whole(path, whole)]
    return Section("outcomes", "Outcomes and rule use against exact", tuple(blocks))


def _whole(path: str, whole: Mapping[str, Any]) -> list[Paragraph | Table]:
    if not whole["rules"]:
        return [Paragraph(f"{whole['note']} ({PATH_WORDS[path]})")]
    columns = (
        Column("What came", width=40),
        *(Column(name, "number", 12) for name in ("Seen", "Exact", "With cut card", "Sigma", "Sigma, cut card")),
    )
    rows = [
        (
            label_of(line["label"]),
            f"{line['observed']:,}",
            f"{float(line['expected_decimal']):,.1f}",
            f"{float(line['with_cut_card']):,.1f}",
            signed(float(line["deviation"]), 2),
            signed(float(line["deviation_with_cut_card"]), 2),
        )
        for line in (*whole["outcomes"], *whole["rules"])
    ]
    caption = f"All {whole['coups']:,} coups of {whole['shoes']:,} whole shoes, {path} path: reported, not judged"
    return [table(caption, columns, rows), Paragraph(whole["note"])]


def return_to_player(source: Source) -> Section:
    """Show what every bet gave back beside its exact return."""
    figure = returns(source)
    blocks: list[Block] = [
        Paragraph(
            "What a unit staked on every judged coup gives back, nothing rounded. No live stake and no payment is "
            "looked at: "
            "what was really paid is for the audit of records."
        )
    ]
    if figure is None:
        blocks.append(Paragraph("The plan was too small for a check of returns."))
    else:
        blocks.append(figure)
    return Section("returns", "Return to player", tuple(blocks))
