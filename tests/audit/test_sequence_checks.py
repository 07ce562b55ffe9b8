"""The runs test: every order written out, published tables, and shoes that alternate or cling."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import kstest, norm

from audit.checks.sequence import EXACT_UP_TO, run_counts, runs, total_run_counts, two_sided
from audit.tally import Seen, Tally, add_up, tally_fresh_shuffles, tally_shoe
from shoe.errors import InputError
from tests.audit import seen_shoes
from tests.reference import runs_reference as slow

PLAYER = Seen("player", "player_natural", 4, 9, 3)
BANKER = Seen("banker", "stood_stands", 4, 6, 7)
TIE = Seen("tie", "both_natural", 4, 8, 8)
COUP = {"B": BANKER, "P": PLAYER, "T": TIE}


def shoes(*sequences: str) -> Tally:
    return add_up(tally_shoe([COUP[letter] for letter in text], 69) for text in sequences)


@pytest.mark.parametrize("banker", range(6))
@pytest.mark.parametrize("player", range(6))
def test_run_counts_equal_all_orders_written_out(banker: int, player: int) -> None:
    counts = run_counts(banker, player)
    assert Counter({r: count for r, count in enumerate(counts) if count}) == slow.total_runs([(banker, player)])
    assert sum(counts) == comb(banker + player, banker)


# "Wald-Wolfowitz Runs Test in Mathematica" (MathGroup archive): orders of 11 and 14 with 2, 3 … 23 runs.
PUBLISHED_11_14 = """
    2 23 260 1365 7020 22230 68640 145860 300300 450450 648648
    702702 720720 566280 411840 231660 115830 45045 14300 3575 572 78
"""


def test_run_counts_of_eleven_and_fourteen_as_published() -> None:
    assert run_counts(11, 14)[2:24] == [int(count) for count in PUBLISHED_11_14.split()]


# Critical values at .05, two-sided, of Swed and Eisenhart (1943), as Triola's Elementary Statistics prints them in
# table A-10: the row of 10, for 2 to 20 of the other kind. The lower value 1, and an upper value above the greatest
# possible number of runs, stand for none.
ROW_OF_TEN = (
    "1 6, 2 8, 3 10, 3 12, 4 13, 5 14, 5 15, 5 16, 6 16, 6 17, 7 17, 7 18, 7 18, 7 18, 8 19, 8 19, 8 19, 8 20, 9 20"
)


@pytest.mark.parametrize(("other", "printed"), list(enumerate(ROW_OF_TEN.split(", "), start=2)))
def test_critical_values_are_those_of_swed_and_eisenhart(other: int, printed: str) -> None:
    lower, upper = map(int, printed.split())
    counts = run_counts(10, other)
    greatest = max(r for r, count in enumerate(counts) if count)
    assert two_sided(counts, lower + 1) > 0.05
    if lower > 1:
        assert two_sided(counts, lower) <= 0.05
    assert two_sided(counts, upper - 1) > 0.05
    if upper <= greatest:
        assert two_sided(counts, upper) <= 0.05


@pytest.mark.parametrize(
    "sequences",
    [
        ("BBP",),
        ("BPBPBP",),
        ("BBBBPPPP", "PB"),
        ("BPB", "P", "BBPP"),
        ("BTBTPTT", "PPTB", "T"),
        ("BB", "PP"),
    ],
)
def test_exact_p_equals_all_orders_of_all_shoes(sequences: tuple[str, ...]) -> None:
    tally = shoes(*sequences)
    wins = [(text.count("B"), text.count("P")) for text in sequences]
    counts = slow.total_runs(wins)
    mean = sum((Fraction(r * count, counts.total()) for r, count in counts.items()), Fraction(0))
    square = sum((Fraction(r * r * count, counts.total()) for r, count in counts.items()), Fraction(0))
    result = runs(tally)
    assert Counter({r: c for r, c in enumerate(total_run_counts(tally)) if c}) == counts
    assert result.p == float(slow.two_sided(counts, tally.runs))
    assert result.distribution == "runs, exact"
    (line,) = result.items
    assert (line.observed, line.expected) == (tally.runs, mean)
    error = sqrt(square - mean * mean)
    assert line.deviation == pytest.approx(float(tally.runs - mean) / error if error else 0.0)
    assert result.effect == pytest.approx(float(tally.runs / mean - 1))
    assert result.n == sum(map(sum, wins))


def test_p_of_five_and_five_by_hand() -> None:
    """252 orders; 2 have 2 runs and 2 have 10: p = 2·2/252 on either side."""
    assert runs(shoes("BBBBBPPPPP")).p == runs(shoes("BPBPBPBPBP")).p == 4 / 252


@pytest.mark.parametrize(
    "wins",
    [{(33, 30): 16}, {(510, 491): 1}, {(4, 3): 150}, {(32, 31): 8, (35, 27): 4, (28, 34): 5}],
    ids=["8 decks", "fresh shuffles", "1 deck", "mixed"],
)
def test_normal_and_exact_agree_where_one_takes_over(wins: dict[tuple[int, int], int]) -> None:
    """Just above `EXACT_UP_TO`, where the normal law starts, it errs by less than .001 everywhere."""
    tally = Tally(wins=Counter(wins))
    counts = total_run_counts(tally)
    assert EXACT_UP_TO < sum((b + p) * shoes for (b, p), shoes in wins.items()) < 1.1 * EXACT_UP_TO
    for observed in range(400, 600):
        result = runs(Tally(wins=tally.wins, runs=observed))
        assert result.distribution.startswith("normal")
        assert abs(result.p - two_sided(counts, observed)) < 1e-3


def test_long_series_use_the_textbook_normal_law() -> None:
    """Wald and Wolfowitz: mean 1 + 2ab/n, variance 2ab(2ab − n)/(n²(n − 1)); half a run towards the mean."""
    result = runs(Tally(wins=Counter({(1000, 1200): 1}), runs=1150))
    product, n = 2 * 1000 * 1200, 2200
    mean, variance = 1 + product / n, product * (product - n) / (n * n * (n - 1))
    assert result.p == pytest.approx(2 * norm.sf((1150 - mean - 0.5) / sqrt(variance)), rel=1e-12)
    assert result.items[0].deviation == pytest.approx((1150 - mean) / sqrt(variance), rel=1e-12)


def test_winners_that_alternate_or_cling_are_caught() -> None:
    clinging = runs(shoes(*["BBBBBBPPPPPPBBBBBB"] * 3))
    alternating = runs(shoes(*["BPBPBPBPBPBPBPBP"] * 3))
    assert clinging.p < 1e-3
    assert alternating.p < 1e-6
    assert clinging.effect < 0 < alternating.effect
    many = runs(shoes(*["BPBPBPBPBPBPBPBP"] * 100))
    assert many.distribution.startswith("normal")
    assert many.p < 1e-100


def test_a_generator_that_repeats_the_winner_a_little_too_often_is_caught() -> None:
    """METHODS.md: 52 % repeats instead of 50 % need 9,300 winners for power .9 at .01; here twice that."""
    generator = np.random.Generator(np.random.PCG64(4))
    changes = generator.random(18600) > 0.52
    winners = np.cumsum(changes) % 2
    assert runs(tally_fresh_shuffles([(BANKER, PLAYER)[winner] for winner in winners])).p < 0.01


def test_sample_size_of_the_methods() -> None:
    """Power .9 at .01: excess of runs n·δ over error √n/2 must be 2.576 + 1.282; δ = .02."""
    needed = ((norm.isf(0.005) + norm.isf(0.1)) / (2 * 0.02)) ** 2
    assert needed == pytest.approx(9300, rel=0.01)


@pytest.mark.parametrize(
    ("decks", "judged", "each"),
    [(8, 69, 5), *(pytest.param(*other, marks=pytest.mark.slow) for other in [(8, 69, 20), (1, 8, 40)])],
)
def test_honest_shoes_are_rejected_no_more_often_than_stated(decks: int, judged: int, each: int) -> None:
    """300 audits each, exact and normal: p is uniform but for its steps (Kolmogorov–Smirnov)."""
    dealt = seen_shoes.deal(decks, 300 * each, judged, seed=100 + decks + each)
    audits = [seen_shoes.tally(dealt[start : start + each], judged) for start in range(0, len(dealt), each)]
    p = [runs(audit).p for audit in audits]
    assert sum(q <= 0.05 for q in p) <= 27  # Binomial(300, .05): P(more than 27) = .0014
    assert kstest(p, "uniform", alternative="greater").pvalue > 0.001


def test_shoes_of_one_coup_have_no_order_to_judge() -> None:
    single = shoes(*["B", "P", "P", "T"])
    result = runs(single)
    assert (result.p, result.items[0].deviation, result.n) == (1.0, 0.0, 3)
    many = Tally(wins=Counter({(1, 0): EXACT_UP_TO + 1}), runs=EXACT_UP_TO + 1)
    assert runs(many).p == 1.0


@pytest.mark.parametrize("sequences", [(), ("T", "TT")])
def test_a_tally_without_winners_is_refused(sequences: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"^tally.wins: expected 1 or more coups that are no ties, got 0$"):
        runs(shoes(*sequences))


@pytest.mark.parametrize("observed", [0, 1, 11, 500])
def test_a_number_of_runs_that_cannot_be_has_p_nothing(observed: int) -> None:
    result = runs(Tally(wins=Counter({(5, 5): 1}), runs=observed))
    assert (result.p, result.p_text) == (0.0, "<1e-300")
