"""An audit of records in numbers: statistics, outcomes, live returns, voids as they would have been, unused seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.records.plan import Plan
from audit.report.document import Block, Column, Fact, Facts, Paragraph, Section, table
from audit.report.words import check_words, label_of, plain, short, short_p, signed

Content = Mapping[str, Any]


def statistics(content: Content) -> Section:
    """List the named statistics with their laws, and every null in words."""
    columns = (
        Column("Check", width=30),
        Column("Statistic", "number", 12),
        Column("Its law", width=22),
        *(Column(name, "number", 10) for name in ("n", "p", "Adjusted", "Effect")),
        Column("Result", "status", 9),
    )
    rows = [
        (
            check_words(check["name"]),
            short(check["statistic"]),
            check["distribution"],
            f"{check['n']:,}",
            short_p(check["p"]),
            short_p(check["p_adjusted"]),
            f"{float(check['effect']):.3g}",
            "FAIL" if check["rejected"] else "PASS",
        )
        for check in content["checks"]
    ]
    nulls = {check_words(check["name"]): check["null"] for check in content["checks"]}
    blocks: list[Block] = [
        Paragraph(
            "Named in the plan by the sizes alone, on coups 1 to K, judged together by Holm's rule at .01: the chance "
            "that any is rejected, where nothing is wrong, is 1 % at most."
        )
    ]
    if not rows:
        return Section("statistics", "Every check", (*blocks, Paragraph("No shoe of the scope has ended.")))
    null_columns = (Column("Check", width=30), Column("Null hypothesis", width=60))
    blocks += [table("Statistics", columns, rows), table("What each holds true", null_columns, list(nulls.items()))]
    return Section("statistics", "Every check", tuple(blocks))


def outcomes(content: Content) -> Section:
    """List what was counted beside its exact expectation."""
    columns = (Column("Counted", width=30), *(Column(name, "number", 13) for name in ("Seen", "Expected", "Sigma")))
    blocks: list[Block] = [
        Paragraph(
            "Expected are exact counts over every coup of a full shoe. Sigma is the deviation in standard errors, "
            "dependence within a shoe included; of many, one in twenty exceeds 2."
        )
    ]
    for check in content["checks"]:
        if check["items"] and check["name"].startswith(_COUNTED):
            rows = [
                (
                    label_of(item["label"]),
                    f"{item['observed']:,}",
                    _expectation(item["expected"]),
                    signed(float(item["deviation"]), 2),
                )
                for item in check["items"]
            ]
            blocks.append(table(plain(label_of(check["name"])), columns, rows))
    return Section("outcomes", "Outcomes and rule use against exact", tuple(blocks))


_COUNTED = ("outcomes_", "rule_use_", "cards_used_", "naturals_")


def _expectation(exact: str) -> str:
    top, _, bottom = exact.partition("/")
    return f"{int(top) / int(bottom or 1):,.2f}"


def live(content: Content, plan: Plan) -> Section:
    """Show what came back of what was really staked, beside the exact return of these stakes."""
    columns = (
        Column("Bet", width=20),
        *(Column(name, "number", 13) for name in ("Bets", "Staked, minor", "Returned, minor", "Commission")),
        *(Column(name, "number", 10) for name in ("Return %", "Low %", "High %", "Exact %")),
    )
    blocks: list[Block] = []
    for place, (stratum, planned) in enumerate(zip(content["strata"], plan.strata, strict=True)):
        rows = [
            (
                line["bet"],
                f"{line['bets']:,}",
                *(f"{int(line[name]):,}" for name in ("staked_minor", "returned_minor", "commission_minor")),
                *(f"{100 * float(line[name]):.4f}" for name in ("return_decimal", "low", "high", "exact_decimal")),
            )
            for line in stratum["live_returns"]
        ]
        if rows:
            caption = f"Bets laid at tables of terms {place}, {planned.decks} decks: reported, not judged"
            blocks += [table(caption, columns, rows), Paragraph(stratum["live_note"])]
    return Section("live", "Live return to player", tuple(blocks or [Paragraph("No bet was laid on an ended shoe.")]))


def voids(content: Content) -> Section:
    """Show how often shoes were given up, why, and their coups as they would have been."""
    shoes = content["shoes"]
    facts = [
        Fact("Void", f"{shoes['void']:,} of {shoes['ended']:,} ended", "number"),
        Fact(
            "Rate",
            "none has ended" if shoes["void_rate"] is None else f"{100 * float(shoes['void_rate_decimal']):.4f} %",
        ),
        Fact("Longest run of voids at a table", f"{shoes['longest_run_of_voids']:,}", "number"),
        *(Fact(f"For the reason {reason}", f"{count:,}", "number") for reason, count in shoes["by_reason"].items()),
    ]
    columns = (
        Column("Outcome", width=20),
        *(Column(name, "number", 16) for name in ("Of void shoes", "Expected", "Of the others")),
    )
    blocks: list[Block] = [Facts(tuple(facts))]
    for place, stratum in enumerate(content["strata"]):
        void = stratum["void"]
        if void["coups"]:
            rows = [
                (
                    label_of(line["label"]),
                    f"{line['observed']:,}",
                    f"{float(line['expected_decimal']):,.2f}",
                    f"{line['of_the_others']:,}",
                )
                for line in void["outcomes"]
            ]
            told = "too few to compare" if void["p"] is None else f"p = {short_p(void['p'])} against the others"
            caption = f"Void shoes as they would have been, terms {place}: {void['coups']:,} judged coups, {told}"
            blocks.append(table(caption, columns, rows))
    return Section("voids", "Void shoes", tuple(blocks))


def seeds(content: Content) -> Section:
    """List ended books with the seeds that no shoe used."""
    columns = (
        Column("Root", "code", 50),
        Column("Table", "code", 14),
        *(Column(name, "number", 10) for name in ("Size", "End at", "Unused")),
    )
    ended = content["books"]["ended"]
    if not ended:
        return Section("seeds", "Unused seeds", (Paragraph("No book has ended."),))
    rows = [
        (book["root"], book["table"], f"{book['size']:,}", f"{book['end_index']:,}", f"{book['unused']:,}")
        for book in ended
    ]
    return Section("seeds", "Unused seeds", (table("Ended books", columns, rows),))
