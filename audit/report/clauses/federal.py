"""25 CFR 547.14: electronic random number generation in Class II gaming systems of the United States."""

from __future__ import annotations

from typing import Final

from audit.report.clauses.clause import ALL, Body, Clause

CFR: Final = Body(
    "25 CFR 547.14",
    "Code of Federal Regulations of the United States, title 25, section 547.14",
    "Binds Class II gaming (bingo and its like), of which baccarat is not.",
    (
        Clause(
            "(b)(1)",
            "Random one by one, and in the combinations that the game uses.",
            "PASS",
            "Cards by position; all 198 triples of both totals and cards used; rule classes.",
            ("card_positions", "joint_totals", "rule_use"),
        ),
        Clause(
            "(b)(2)",
            "Statistical tests at a 99 % confidence level.",
            "PASS",
            "All named checks together at 99 % by Holm's rule.",
            ALL,
        ),
        Clause(
            "(b)(2)(i)", "Chi-square test.", "PASS", "Against exact laws.", ("outcomes", "rule_use", "joint_totals")
        ),
        Clause("(b)(2)(ii)", "Runs test: no recurrent patterns.", "PASS", "Winners and bits.", ("runs", "bits_runs")),
        Clause(
            "(b)(2)(iii)",
            "Serial correlation: independent of the previous game.",
            "PASS",
            "Successive coups, and the same place of successive shoes.",
            ("serial_correlation", "same_place", "draw_serial_correlation*"),
        ),
        Clause("(b)(2)(iv)", "Equidistribution test.", "PASS", "Of bounded draws.", ("draw_equidistribution*",)),
        Clause("(b)(2)(v)", "Gap test.", "PASS", "Of bounded draws.", ("draw_gaps*",)),
        Clause("(b)(2)(vi)", "Poker test.", "PASS", "Of bounded draws.", ("draw_poker*",)),
        Clause("(b)(2)(vii)", "Coupon collector's test.", "PASS", "Of bounded draws.", ("draw_coupons*",)),
        Clause("(b)(2)(viii)", "Permutation test.", "PASS", "Of bounded draws.", ("draw_permutations*",)),
        Clause(
            "(b)(2)(ix)",
            "Spectral test.",
            "PARTIAL",
            "The discrete Fourier transform of SP 800-22 stands here. The lattice test of that name is for linear "
            "congruential generators, of which this is none: nothing to measure.",
            ("bits_spectral",),
        ),
        Clause(
            "(b)(2)(x)",
            "Test on subsequences.",
            "PASS",
            "Every check of draws again on every 2nd and every 5th draw.",
            (
                "draw_mean_every_2",
                "draw_mean_every_5",
                "draw_equidistribution_every_2",
                "draw_equidistribution_every_5",
            ),
        ),
        Clause(
            "(c)(1)",
            "Future output cannot feasibly be predicted, though algorithm and past are known.",
            "MANUAL",
            "Rests on AES-256 and HKDF. A human must judge.",
        ),
        Clause(
            "(c)(2)",
            "Reseeding or cycling, and enough states for the applications.",
            "PARTIAL",
            "Every shoe has a new key. 2^256 keys are fewer than the 2^2229.3 orders of an 8-deck shoe.",
        ),
        Clause(
            "(c)(3)",
            "Reseeding input at least as random as the output, and independent of it.",
            "MANUAL",
            "Seeds come from a book under one master of the operating system's randomness, and from players. A human "
            "must judge the source; its health is watched.",
        ),
        Clause(
            "(d)",
            "No stream is ever repeated, by one instance or by two.",
            "PARTIAL",
            "No two shoes here are equal. That no seed is used twice is kept by the log: a book's index is opened "
            "once.",
            ("duplicate_shoes",),
        ),
        Clause(
            "(e)",
            "Output is used at once and in the order drawn, none discarded or selected, no adjustment to past prizes.",
            "PARTIAL",
            "The replay deals every card from the stream in order by the written protocol, which has no input but "
            "seeds. "
            "That live shoes were so dealt is shown by the verification of their records, not here.",
            ("replay", "tableau_cells"),
        ),
        Clause(
            "(f)",
            "Scaling is independent and uniform, takes the first number that fits, gives every outcome, and has a bias "
            "of at most 1 in 50 million.",
            "PARTIAL",
            "The bias is exactly 0: by rejection every value below n comes of the same number of words, and the replay "
            "shows that the code is the protocol's. Not every order of a whole shoe has a seed, so not PASS.",
            ("draw_equidistribution*", "draw_mean*", "replay"),
        ),
    ),
)
