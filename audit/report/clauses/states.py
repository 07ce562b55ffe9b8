"""South Dakota's and New Jersey's rules."""

from __future__ import annotations

from typing import Final

from audit.report.clauses.clause import Body, Clause

SOUTH_DAKOTA: Final = Body(
    "South Dakota 48:02:08:02",
    "Administrative Rules of South Dakota, software requirements for randomness testing",
    "Binds video lottery machines.",
    (
        Clause(
            "(1)",
            "Each card position satisfies the 99 % limit of chi-square analysis.",
            "PASS",
            "Every card at every position, each position's worst, and card types by position.",
            ("card_positions", "worst_position", "types_by_position"),
        ),
        Clause(
            "(2)",
            "No position makes patterns: runs test or the like at 99 %.",
            "PARTIAL",
            "Runs of winners, gaps and permutations of the draws that fill the positions, and orders kept from the "
            "pack; "
            "no runs test for each position by itself.",
            ("runs", "draw_gaps*", "draw_permutations*", "fresh_order"),
        ),
        Clause(
            "(3)",
            "Each pair of positions is independent within a game, by correlation at 99 %.",
            "PASS",
            "The 15 pairs of a coup's six positions, and all pairs of a shoe by the worst.",
            ("interplay", "worst_pair"),
        ),
        Clause(
            "(4)",
            "Each position is independent of the same position in the previous game, by serial correlation at 99 %.",
            "PARTIAL",
            "Judged by the outcomes at the same place of two successive shoes, not card by card.",
            ("same_place",),
        ),
    ),
)

NEW_JERSEY: Final = Body(
    "New Jersey 13:69E-1.28G and 13:69O-1.8",
    "New Jersey Administrative Code, standards for a random number generator; mandatory gaming system logging",
    "Binds casino and internet gaming in New Jersey; the Division decides.",
    (
        Clause(
            "1.28G(b)1",
            "Large enough to encompass all possible outcomes.",
            "PARTIAL",
            "All outcomes of a coup; of whole 8-deck shoes 2^256 of 2^2229.3 orders.",
            ("tableau_cells", "structural_zeros"),
        ),
        Clause(
            "1.28G(b)2",
            "Available at the start of every game.",
            "MANUAL",
            "Every shoe is sealed, all cards fixed, before its first bet; a human must judge the service's "
            "availability.",
        ),
        Clause(
            "1.28G(b)3",
            "Independent, random in distribution, passes recognized tests such as chi-square, monobit, runs.",
            "PASS",
            "Among all named checks these three, and more.",
            ("outcomes", "rule_use", "bits_frequency", "bits_runs", "runs"),
        ),
        Clause(
            "1.28G(b)4",
            "Cycles in the background between games.",
            "MANUAL",
            "By the letter it does not: nothing runs between shoes, for each has a key of its own, committed to before "
            "the bets. Whether that serves the purpose a human must judge.",
        ),
        Clause(
            "1.28G(b)5",
            "A random seed by an uncontrolled event, never the same start.",
            "PARTIAL",
            "No two shoes are equal here; live seeds come from the operating system and from players. The seed of this "
            "certification was published with its plan.",
            ("duplicate_shoes",),
        ),
        Clause(
            "1.28G(b)6",
            "A number for a shorter range is rescaled so that all values are equally probable.",
            "PASS",
            "By rejection, exactly (shoe/SPEC.md, section 5); the draws of every range are tested.",
            ("draw_equidistribution*", "draw_mean*", "replay"),
        ),
        Clause(
            "1.28G(c)1-3",
            "The outcome shown is the one selected; no second selection; nothing misleading.",
            "PARTIAL",
            "Replayed shoes are what the tableau makes of their cards. What a client displays a human must see.",
            ("replay", "tableau_cells"),
        ),
        Clause(
            "69O-1.8(b)",
            "The regulator can query and export all data.",
            "MANUAL",
            "fairshoe export and GET /v1/exports/records; a human must try them on the installation.",
        ),
        Clause(
            "69O-1.8(d)",
            "All that recreates a patron's play is kept for 10 years.",
            "MANUAL",
            "From a shoe's records alone it can be dealt again, as the replay does here; that they are kept for ten "
            "years "
            "the operator must show.",
            ("replay",),
        ),
    ),
)
