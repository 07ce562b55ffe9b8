"""An audit of records: what it is of, what was looked at without chance, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.records.plan import Held, Plan
from audit.report.document import Block, Column, Fact, Facts, Listing, Paragraph, Points, Section, table
from audit.report.sections.opening import NOT_A_CERTIFICATE

Content = Mapping[str, Any]


def identification(content: Content, plan: Plan, digest: bytes) -> Section:
    """Say which records were audited, under which head, by which plan and findings."""
    shoes = content["shoes"]
    facts = (
        Fact("Log", plan.log, "code"),
        Fact("Head", f"{plan.size:,} records", "number"),
        Fact("Its root", plan.root.hex(), "code"),
        Fact("Pinned outside the database", _held(plan.pinned)),
        Fact("Newest cosigned", _held(plan.cosigned)),
        Fact("Table", plan.table or "all"),
        Fact("Opened", f"{plan.since or 'the beginning'} to {plan.until or 'the end'}"),
        Fact("Plan, SHA-256", plan.hash.hex(), "code"),
        Fact("Findings, SHA-256", digest.hex(), "code"),
        Fact("Shoes", f"{shoes['ended']:,} ended, {shoes['void']:,} of them void; {shoes['waiting']:,} not ended"),
        Fact("Coups", f"{content['judged_coups']:,} judged"),
        Fact("Receipts handed in", f"{len(plan.receipts):,}", "number"),
    )
    words = (
        "The plan was fixed, serialised and hashed before any card was looked at. The findings are a function of the "
        "plan and of the records under its head; this document is a function of the findings. The log holds the "
        "hashes of both where the service made the audit."
    )
    return Section("identification", "Identification", (Facts(facts), Paragraph(NOT_A_CERTIFICATE), Paragraph(words)))


def _held(held: Held | None) -> str:
    if held is None:
        return "none"
    cosigned = f", by {len(held.witnesses)} witnesses" if held.witnesses else ""
    return f"{held.size:,} records{cosigned}, root {held.root.hex()}"


def summary(content: Content) -> Section:
    """Give the verdict, and each check of records with what it looked at and found."""
    columns = (
        Column("Check", width=12),
        Column("What holds", width=50),
        *(Column(name, "number", 9) for name in ("Looked at", "Wrong", "Unverified")),
        Column("Result", "status", 9),
    )
    rows = [
        (
            each["name"],
            each["what"],
            *(f"{each[name]:,}" for name in ("looked_at", "wrong", "unverified")),
            "FAIL" if each["wrong"] else "MANUAL" if each["unverified"] else "PASS",
        )
        for each in content["records"]
    ]
    return Section(
        "summary",
        "Summary",
        (
            Paragraph(content["verdict_in_words"], strong=True),
            table("Checks of records: the log and the order of commitments first", columns, rows),
        ),
    )


def non_compliances(content: Content) -> Section:
    """List every fault that the findings quote, with shoe, coup and log index, and every rejected check."""
    faults = [(each["name"], fault) for each in content["records"] for fault in each["faults"]]
    rejected = [check["name"] for check in content["checks"] if check["rejected"]]
    blocks: list[Block] = []
    if faults:
        columns = (
            Column("Check", width=9),
            Column("Shoe", "code", 26),
            Column("Coup", "number", 6),
            Column("Log index", "number", 8),
            Column("What is wrong", width=44),
        )
        rows = [
            (name, fault["shoe"] or "", _number(fault["coup"]), _number(fault["index"]), fault["detail"])
            for name, fault in faults
        ]
        blocks.append(table("Faults: of each check the first twenty", columns, rows))
    if rejected:
        blocks += [Paragraph("Statistics that are rejected", strong=True), Points(tuple(rejected))]
    return Section("non-compliances", "Non-compliances", tuple(blocks or [Paragraph("None found.")]))


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def scope(plan: Plan) -> Section:
    """List the strata: tables of the same decks, way of shuffling and terms, with their bets."""
    columns = (
        Column("Terms", "number", 6),
        Column("Decks", "number", 6),
        Column("Shuffled", width=14),
        *(Column(name, "number", 9) for name in ("Tables", "Shoes", "Judged coups")),
        Column("Bets", width=40),
    )
    rows = [
        (
            f"{place}",
            f"{stratum.decks}",
            f"for every {stratum.shuffle}",
            *(f"{number:,}" for number in (stratum.tables, stratum.shoes, stratum.coups)),
            ", ".join(bet.name for bet in terms.bets) if (terms := stratum.read_terms()) else "none",
        )
        for place, stratum in enumerate(plan.strata)
    ]
    words = (
        "Shoes are those that had ended under the plan's head. Judged are coups 1 to K, which the decks promise to "
        "every shoe; a void shoe is completed to coup K from its published seed."
    )
    return Section("scope", "Scope and game parameters", (Paragraph(words), table("What was audited", columns, rows)))


def provenance(plan: Plan) -> Section:
    """Say where the numbers come from, and the command that comes to the same."""
    scope = "".join(
        f" --{name} {value}"
        for name, value in (("table", plan.table), ("from", plan.since), ("to", plan.until))
        if value
    )
    lines = (
        "curl https://HOST/v1/audits/ID/findings.json -o findings.json",
        "fairshoe report findings.json --out report",
    )
    return Section(
        "provenance",
        "Provenance",
        (
            Points(
                (
                    "Every row that a statistic reads was first held against its record, and every record against its "
                    "shoe's bundle, its seed and the log.",
                    "Verdict and rejected checks follow from the faults and the p-values in the findings; that was "
                    "computed once more before printing.",
                    "Whoever holds the records makes the same findings again while the head is the plan's:",
                )
            ),
            Listing((f"fairshoe audit{scope or ' --own'} --findings findings.json",)),
            Paragraph("From the service's own audit, this document:"),
            Listing(lines),
        ),
    )


def limitations(content: Content) -> Section:
    """List what a pass does not mean."""
    return Section("limitations", "Limitations", (Points(tuple(content["limitations"])),))
