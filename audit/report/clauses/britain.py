"""The Gambling Commission of Great Britain: technical standard 7A and sections 3 and 5 of its testing strategy."""

from __future__ import annotations

from typing import Final

from audit.report.clauses.clause import ALL, Body, Clause

UKGC: Final = Body(
    "UKGC RTS 7A; testing strategy, sections 3 and 5",
    "Gambling Commission, remote gambling and software technical standards; testing strategy for compliance with them",
    "Binds remote gambling in Great Britain; the testing that it asks for is done by an approved test house.",
    (
        Clause(
            "7A",
            "Results are acceptably random, demonstrably and to a high degree of confidence; no adaptive behaviour.",
            "PARTIAL",
            "All named checks together at 99 %, and a replay without any input but seeds. That live shoes behave so is "
            "shown by the audit of their records.",
            ALL,
        ),
        Clause(
            "7A, uniform",
            "Output uniform over its range; outcomes as their theoretical probabilities.",
            "PASS",
            "Bounded draws, cards by position, outcomes and rule classes, against exact laws.",
            ("draw_equidistribution*", "card_positions", "outcomes", "rule_use", "joint_totals"),
        ),
        Clause(
            "7A, unpredictable",
            "The next number cannot feasibly be computed without algorithm and seed.",
            "MANUAL",
            "Rests on AES-256 and HKDF. A human must judge.",
        ),
        Clause(
            "7A, no cycle",
            "No stream is reproduced, no two instances agree.",
            "PARTIAL",
            "No two equal shoes here; the log shows that each live seed is opened once.",
            ("duplicate_shoes",),
        ),
        Clause(
            "7A, seeding",
            "Seeding and reseeding introduce no predictability.",
            "PARTIAL",
            "Seeds are committed to before players give theirs. Who holds a book's master can foretell what no player "
            "adds to: the house must keep it secret.",
        ),
        Clause(
            "7A, scaling",
            "Scaling keeps these qualities.",
            "PASS",
            "Rejection, exactly unbiased.",
            ("draw_mean*", "replay"),
        ),
        Clause(
            "Strategy 3, documents",
            "Review of the generator's documentation and of its source code.",
            "MANUAL",
            "shoe/SPEC.md, audit/METHODS.md and the source; a human must read them.",
        ),
        Clause(
            "Strategy 3, research",
            "No publicly known weakness of the algorithm.",
            "MANUAL",
            "AES-256 (FIPS 197), HKDF (RFC 5869), SHA-256 (FIPS 180-4); a human must judge.",
        ),
        Clause(
            "Strategy 3, statistics",
            "Statistical testing of raw output, and of scaled or shuffled decks.",
            "PASS",
            "Keystream by the tests of SP 800-22, draws, whole orders.",
            ("bits_*", "draw_*", "card_positions", "interplay", "inversions", "cycles"),
        ),
        Clause(
            "Strategy 3, games",
            "Games pay as designed: the mathematics is verified, and play is simulated.",
            "PARTIAL",
            "Exact edges by enumeration and the returns of simulated play. Artwork and what is displayed is not looked "
            "at.",
            ("returns", "tableau_cells"),
        ),
        Clause(
            "Strategy 5",
            "The return to player of live bets is monitored against the theoretical one.",
            "MANUAL",
            "Not from this report: it knows no live bet. GET /v1/statistics/payouts and the audit of records look at "
            "them.",
        ),
    ),
)
