"""Every check, the raw battery of bits and draws, the tests of shuffles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit.counts import RunCounts
from audit.report.document import Column, Figure, Paragraph, Section, Table, table
from audit.report.plots.heat import heat_map
from audit.report.plots.pvalues import p_values
from audit.report.source import Check, Source
from audit.report.words import check_words, label_of, plain, short, short_p, signed
from audit.shuffle_counts import ShuffleCounts

COUPS: Final = (
    *(
        "structural_zeros",
        "outcomes",
        "rule_use",
        "merged_rule_use",
        "joint_totals",
        "naturals",
        "cards_used",
        "returns",
    ),
    *(
        "pair_classes",
        "bet_returns",
        "runs",
        "neighbour_pairs",
        "serial_correlation",
        "same_place",
        "replay",
        "tableau_cells",
    ),
)
"""Checks of what was dealt, its order and its replay; those of bits and draws have their own prefixes."""

_COLUMNS: Final = (
    Column("Check", width=22),
    Column("Path", width=11),
    Column("Statistic", "number", 12),
    Column("Its law", width=24),
    Column("Dof", "number", 10),
    Column("n", "number", 13),
    Column("p", "number", 10),
    Column("Adjusted", "number", 9),
    Column("Effect", "number", 12),
    Column("Result", "status", 9),
)


def every_check(source: Source) -> Section:
    """List the checks of coups with their laws, all p-values in order, and every null in words."""
    nulls: dict[str, list[str]] = {}
    for check in source.checks:
        nulls.setdefault(check.null, []).append(check_words(check.kind))
    meanings = [(", ".join(dict.fromkeys(kinds)), null, _effect(source, null)) for null, kinds in nulls.items()]
    columns = (Column("Check", width=30), Column("Null hypothesis", width=46), Column("Effect", width=24))
    return Section(
        "checks",
        "Every check",
        (
            Paragraph(
                "One p-value a check: the probability, if the null is true, of a statistic at least as far out. "
                "Adjusted "
                "is Holm's: at most .01 is rejected. Dof are degrees of freedom, where the law has any. An effect is a "
                "size that does not grow with n. Checks of bits, draws "
                "and shuffles follow in their own sections."
            ),
            _results("Checks of coups, their order and their replay", [c for c in source.checks if c.kind in COUPS]),
            p_values(source),
            table("What each check holds true, and how its effect is measured", columns, meanings),
        ),
    )


def _effect(source: Source, null: str) -> str:
    return next(check.effect_name for check in source.checks if check.null == null)


def raw_battery(source: Source) -> Section:
    """List the tests of the keystream's bits and of the bounded draws."""
    bits = [check for check in source.checks if check.kind.startswith("bits_")]
    draws = [check for check in source.checks if check.kind.startswith("draw_")]
    blocks: list[Paragraph | Table | Figure] = [
        Paragraph(
            "The keystream by the fifteen tests of NIST SP 800-22, its known errors mended, at a second level: exact "
            "binomial tails and evenness of the p-values of all sequences. The draws by Knuth's tests, exact on levels."
        )
    ]
    blocks += _if_any("Keystream, as bits", bits, "The plan was too small for a sequence of 10^6 bits.")
    blocks += _if_any("Bounded draws", draws, "The plan was too small for a sample of draws.")
    return Section("battery", "Raw battery: bits and draws", tuple(blocks))


def shuffle_tests(source: Source, counts: RunCounts | None) -> Section:
    """List the tests of whole orders, with the map of cards by position where the counts are at hand."""
    shuffles = [c for c in source.checks if c.kind not in COUPS and not c.kind.startswith(("bits_", "draw_"))]
    blocks: list[Paragraph | Table | Figure] = [
        Paragraph(
            "On physical cards 0 to n - 1 of orders sampled at even distances, and on the hashes of all orders. "
            "METHODS.md "
            "says what each can see."
        )
    ]
    blocks += _if_any("Shuffles", shuffles, "The plan was too small for a sample of orders.")
    blocks += _maps(counts)
    return Section("shuffles", "Shuffle tests", tuple(blocks))


def _maps(counts: RunCounts | None) -> list[Paragraph | Figure]:
    if counts is None:
        return [
            Paragraph(
                "No map of cards by position: the findings hold no such counts, and the certification's checkpoint was "
                "not given beside them."
            )
        ]
    found: list[tuple[str, ShuffleCounts | None]] = [
        ("batch", counts.batch.shuffles),
        ("production", counts.production.shuffles),
    ]
    return [heat_map("batch" if path == "batch" else "production", part) for path, part in found if part is not None]


def _if_any(caption: str, checks: Sequence[Check], otherwise: str) -> list[Paragraph | Table | Figure]:
    return [_results(caption, checks)] if checks else [Paragraph(f"{caption}: none. {otherwise}")]


def _results(caption: str, checks: Sequence[Check]) -> Table:
    rows = [
        (
            check_words(check.kind),
            check.path,
            short(check.statistic),
            check.distribution,
            "" if check.dof is None else f"{check.dof:,}",
            f"{check.n:,}",
            short_p(check.p),
            short_p(check.p_adjusted),
            f"{float(check.effect):.3g}",
            "FAIL" if check.rejected else "PASS",
        )
        for check in checks
    ]
    return table(caption, _COLUMNS, rows)


def counts_table(check: Check, caption: str, folds: int = 1) -> Table:
    """List a check's counts beside their exact expectations."""
    columns = (
        Column("Counted", width=30),
        Column("Seen", "number", 12),
        Column("Expected", "number", 14),
        Column("Sigma", "number", 11),
    )
    rows = [
        (label_of(item.label), f"{item.observed:,}", _expectation(item.expected), signed(float(item.deviation), 2))
        for item in check.items
    ]
    return table(plain(caption), columns, rows, folds)


def _expectation(exact: str) -> str:
    top, _, bottom = exact.partition("/")
    return f"{int(top) / int(bottom or 1):,.2f}"
