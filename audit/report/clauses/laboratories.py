"""Gaming Laboratories International: GLI-19 version 3 and the list of tests of GLI-11 version 3."""

from __future__ import annotations

from typing import Final

from audit.report.clauses.clause import ALL, Body, Clause

GLI_19: Final = Body(
    "GLI-19, version 3.0, sections 3.2.1 to 3.3.2",
    "Gaming Laboratories International, Standards for Interactive Gaming Systems, 2020",
    "A standard for interactive gaming; a laboratory that is accredited for it decides, not this report.",
    (
        Clause(
            "3.2.1",
            "The laboratory reviews the source code of the generator and of all that leads to an outcome.",
            "MANUAL",
            "A human must read it. The source is public, the protocol is written (shoe/SPEC.md, sections 3 to 6), and "
            "the "
            "replay shows that the compiled loop deals bit for bit what the short scalar code deals.",
            ("replay",),
        ),
        Clause(
            "3.2.2",
            "Statistical tests of scaled and shuffled output, evaluated together at 99 % confidence, on enough data to "
            "see significant deviations.",
            "PASS",
            "All named checks, fixed in a plan hashed before the first shoe, judged together by Holm's rule at .01. "
            "What "
            "each can see at this size is in audit/METHODS.md and fairshoe certify --power.",
            ALL,
        ),
        Clause(
            "3.2.3",
            "Every selection equally likely, or as the game design has it; scaling, mapping and shuffling without "
            "bias.",
            "PASS",
            "Cards by position, bounded draws, and what they make of outcomes, against exact laws. Draws are scaled by "
            "rejection, so that every value comes of equally many words: the bias is exactly 0 (shoe/SPEC.md, section "
            "5).",
            (
                "card_positions",
                "types_by_position",
                "draw_equidistribution*",
                "outcomes",
                "rule_use",
                "joint_totals",
                "replay",
            ),
        ),
        Clause(
            "3.2.4",
            "Knowing some numbers tells nothing of others, within a draw and between draws.",
            "PASS",
            "Correlation of all pairs of positions, neighbours, runs, serial correlation of draws and of outcomes, the "
            "same place of the next shoe.",
            (
                "interplay",
                "worst_pair",
                "runs",
                "neighbour_pairs",
                "serial_correlation",
                "draw_serial_correlation*",
                "same_place",
            ),
        ),
        Clause(
            "3.2.5",
            "The set of outcomes is large enough that every outcome can come at every draw.",
            "PARTIAL",
            "Every coup can come, and every cell of the tableau is listed with its count. But a shoe of 8 decks has "
            "2,229.3 "
            "bits of distinguishable orders and a seed has 256: not every order of a whole shoe has a seed. No "
            "statistic can tell.",
            ("tableau_cells", "structural_zeros", "joint_totals"),
        ),
        Clause(
            "3.3.1",
            "The generator is cryptographically strong when submitted; each instance is evaluated.",
            "MANUAL",
            "AES-256 in counter mode under a key by HKDF-SHA-256 from seeds committed to beforehand; known answers "
            "are computed at every start. The bits pass what is listed, but no statistic shows cryptographic strength: "
            "a cryptographer must judge.",
            ("bits_*",),
        ),
        Clause(
            "3.3.2 (a)",
            "Direct attack: from past output, the future cannot be computed.",
            "MANUAL",
            "Rests on AES-256 and HKDF; each shoe has a key of its own. A human must judge the argument (shoe/SPEC.md, "
            "sections 4, 5 and 11).",
        ),
        Clause(
            "3.3.2 (b)",
            "Known input: the state cannot be computed or estimated after seeding.",
            "MANUAL",
            "Seeds are 256 bits of the operating system, watched by health tests, and in the entropy modes that say so "
            "joined with players' seeds. A human must judge how masters are kept.",
        ),
        Clause(
            "3.3.2 (c)",
            "Extension of a stolen state: outside entropy goes in again and again, so that a breach does not last.",
            "PARTIAL",
            "Met only in part. Players' seeds, or a beacon, enter each shoe. But the house's seeds of a whole book "
            "come "
            "from one master: who steals it knows them all until the book is used up.",
        ),
    ),
)

GLI_11: Final = Body(
    "GLI-11, version 3.0, list of statistical tests",
    "Gaming Laboratories International, Gaming Devices, 2016",
    "Written for gaming devices; the same list stands in GLI-19, 3.2.2, as examples.",
    (
        Clause(
            "Chi-square",
            "Total distribution, or chi-square test.",
            "PASS",
            "Outcomes, rule classes, joint totals, cards by position.",
            ("outcomes", "rule_use", "joint_totals", "card_positions"),
        ),
        Clause(
            "Overlaps",
            "Overlaps test.",
            "PASS",
            "Overlapping pairs of outcomes, and overlapping patterns of the bits.",
            ("neighbour_pairs", "bits_overlapping", "bits_serial", "bits_approximate_entropy"),
        ),
        Clause(
            "Coupons", "Coupon collector's test.", "PASS", "On every, every 2nd and every 5th draw.", ("draw_coupons*",)
        ),
        Clause(
            "Runs",
            "Runs test.",
            "PASS",
            "Runs of winners with their exact law, and of the bits.",
            ("runs", "bits_runs"),
        ),
        Clause(
            "Interplay",
            "Interplay correlation test.",
            "PASS",
            "The 15 pairs within a coup's six positions, and the worst of all pairs of positions.",
            ("interplay", "worst_pair"),
        ),
        Clause(
            "Serial",
            "Serial correlation test.",
            "PASS",
            "Of outcomes within a shoe, and of successive draws.",
            ("serial_correlation", "draw_serial_correlation*"),
        ),
        Clause("Duplicates", "Duplicates test.", "PASS", "No two shoes of one order.", ("duplicate_shoes",)),
    ),
)
