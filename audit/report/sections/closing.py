"""Provenance, the command that makes it all again, and what the report does not show."""

from __future__ import annotations

from audit.plan import make_plan
from audit.report.document import Fact, Facts, Listing, Paragraph, Points, Section
from audit.report.source import Source
from shoe.game.houses import HOUSES


def provenance(source: Source) -> Section:
    """Say where the numbers come from, and how each can be checked."""
    return Section(
        "provenance",
        "Provenance",
        (
            Points(
                (
                    "The plan, in the findings, fixes table, rules, sizes, samples, seed, checks, level and "
                    "correction; its "
                    "SHA-256 was printed before the first shoe.",
                    "The seed gives each path a master, SHA-256 of a tag and the seed; book, transcript, seal and key "
                    "follow as for a live shoe (audit/paths.py).",
                    "The counts' digest in the findings is over every count that the checks judged. Where this report "
                    "shows "
                    "counts that the findings lack, their digest was recomputed and is the findings' own.",
                    "Before printing, the p-values of the findings were judged once more by Holm's rule; verdict and "
                    "rejected "
                    "checks agree. Plots of order deal the first shoes of the production path again from the plan.",
                    "No time, no machine and no chance goes into plan, findings or this report; a signature alone has "
                    "a time.",
                )
            ),
            Facts(
                (
                    Fact("Plan", source.plan.hash.hex(), "code"),
                    Fact("Findings", source.hash.hex(), "code"),
                    Fact("Counts", source.content["counts_digest"], "code"),
                )
            ),
        ),
    )


def reproduction(source: Source) -> Section:
    """Give the commands that come to the same bytes."""
    plan = source.plan
    words: list[Paragraph | Listing] = []
    if plan.confirms is not None:
        words.append(Paragraph("A confirmation, from the folder of the run that failed:"))
        words.append(
            Listing(("fairshoe certify --confirm FIRST --out certificate \\", f"  --seed {plan.seed.hex()}", _REPORT))
        )
    elif _is_made_by_the_command(source):
        command = f"fairshoe certify --table {plan.table} --shoes {plan.batch.shoes} --out certificate \\"
        words.append(Listing((command, f"  --seed {plan.seed.hex()}", _REPORT)))
    else:
        words.append(
            Paragraph(
                "This plan is none that the command would make; it is run by audit.run.run from the plan in the "
                "findings, "
                "and reported by:"
            )
        )
        words.append(Listing((_REPORT,)))
    words.append(
        Paragraph(
            "The plan's and the findings' SHA-256 that it prints must be those above; report.json, report.html and "
            "the unsigned PDF are then the same bytes with the same version and libraries."
        )
    )
    return Section("reproduction", "The command that reproduces it", tuple(words))


def limitations(source: Source) -> Section:
    """List what a pass does not mean."""
    return Section(
        "limitations",
        "Limitations",
        (
            Points(
                (
                    *source.content["limitations"],
                    "Clauses are held against our own short wording of them; the published text decides.",
                    "Interplay, worst pair, longest increasing subsequence and card positions look at the sampled "
                    "orders "
                    "alone; duplicates at all.",
                    "The program that tests is by the hands that made the shuffler. Streams for another's tools: "
                    "fairshoe "
                    "certify --emit raw, draws or cards.",
                )
            ),
        ),
    )


_REPORT = "fairshoe report certificate/findings.json --out report"


def _is_made_by_the_command(source: Source) -> bool:
    plan = source.plan
    house = HOUSES.get(plan.table)
    if house is None or house.rules != plan.rules:
        return False
    return make_plan(plan.table, plan.rules, plan.batch.shoes, plan.seed).hash == plan.hash
