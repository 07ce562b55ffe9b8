"""Many sequences: exact binomial tails, evenness, pooled bits, and tallies that add up in any order."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from audit.checks.bits import SP80022, BitTest
from audit.checks.bits.evidence import Bits, Classes, Deviation, Score, Squares
from audit.checks.bits.second_level import BitsTally, LabelTally, add_up_bits, judge_bits, share_p, tally_bits
from audit.checks.bits.serial import Patterns, PatternStatistic
from shoe.errors import InputError

SHORT = {name: SP80022[name] for name in ("frequency", "runs", "rank", "spectral", "serial", "cumulative_sums")}


def sequences(number: int, n: int = 40_000, seed: int = 3) -> list[Bits]:
    generator = np.random.Generator(np.random.PCG64(seed))
    return [generator.integers(0, 2, n, dtype=np.uint8) for _ in range(number)]


def test_share_of_small_p_values_by_hand() -> None:
    """Of 3 sequences: none below .01 has chance .99³, and 2·P(X ≥ 1) = 2(1 − .99³)."""
    assert share_p(0, 3) == pytest.approx(1.0)
    assert share_p(1, 3) == pytest.approx(2 * (1 - 0.99**3))
    assert share_p(3, 3) == pytest.approx(2e-6)


@given(st.integers(1, 3000), st.data())
def test_share_equals_the_binomial_law(number: int, data: st.DataObject) -> None:
    below = data.draw(st.integers(0, min(number, 60)))
    tails = binom.sf(below - 1, number, 0.01), binom.cdf(below, number, 0.01)
    assert share_p(below, number) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


def test_share_equals_sums_of_binomial_terms() -> None:
    terms = [Fraction(comb(40, k) * 99 ** (40 - k), 100**40) for k in range(41)]
    for below in (0, 1, 2, 3, 5):
        tail = min(sum(terms[: below + 1]), sum(terms[below:]))
        assert share_p(below, 40) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-12)


def test_evenness_counts_from_55_sequences_on() -> None:
    tally = LabelTally(54, 0, (9, 5, 5, 5, 5, 5, 5, 5, 5, 5), None)
    assert tally.p_values() == [share_p(0, 54)]
    more = tally.plus(LabelTally(1, 1, (1, *[0] * 9), None))
    chi = (10 - 5.5) ** 2 / 5.5 + 9 * 0.5**2 / 5.5
    assert more.p_values() == pytest.approx([share_p(1, 55), chi2.sf(chi, 9)])


def test_one_sequence_is_judged_by_the_test_itself() -> None:
    (bits,) = sequences(1)
    result, *_ = judge_bits(tally_bits(bits, SHORT))
    p = SHORT["frequency"](bits)[0].p
    assert result.p == pytest.approx(min(1.0, 2 * p))
    assert result.distribution == "smallest of 2 p-values, Bonferroni"
    assert (result.name, result.n) == ("bits_frequency", 40_000)


def test_pooled_evidence_is_that_of_all_bits_in_one() -> None:
    """Sums of sequences are the statistics of their concatenation, where blocks don't straddle the seams."""
    rows = sequences(5, 40_960)
    whole = np.concatenate(rows)
    tally = add_up_bits(tally_bits(row, SHORT) for row in rows)
    for name in ("frequency", "rank"):
        (label,) = tally.tests[name].values()
        assert label.pooled is not None
        assert label.pooled.p == pytest.approx(SP80022[name](whole)[0].p)
    assert next(iter(tally.tests["cumulative_sums"].values())).pooled is None
    assert tally.bits == whole.size


def test_tallies_add_up_in_any_order() -> None:
    parts = [tally_bits(row, SHORT) for row in sequences(3)]
    a, b, c = parts
    assert [r.to_json() for r in judge_bits((a + b) + c)] == [r.to_json() for r in judge_bits(a + (b + c))]
    verdicts = {tuple(map(repr, judge_bits(add_up_bits(order)))) for order in permutations(parts)}
    assert len(verdicts) == 1
    assert judge_bits(pickle.loads(pickle.dumps(a + b))) == judge_bits(a + b)  # noqa: S301 - our own bytes


def test_a_weak_bias_shows_only_in_all_bits_together() -> None:
    """.5007 of ones: half a standard error or so in each of 100 sequences, five over all."""
    generator = np.random.Generator(np.random.PCG64(5))
    rows = [(generator.random(150_000) < 0.5007).astype(np.uint8) for _ in range(100)]
    only = {"frequency": SP80022["frequency"]}
    (result,) = judge_bits(add_up_bits(tally_bits(row, only) for row in rows))
    (label,) = add_up_bits(tally_bits(row, only) for row in rows).tests["frequency"].values()
    share, evenness, pooled = label.p_values()
    assert pooled < 1e-5
    assert min(share, evenness) > 0.01
    assert result.p == pytest.approx(3 * pooled)


def too_even(bits: Bits) -> tuple[Score, ...]:
    return (Score("p", 0.0, 0.45, None),)


def too_often_small(bits: Bits) -> tuple[Score, ...]:
    return (Score("p", 0.0, 0.001 if bits[0] else 0.5, None), Score("q", 0.0, 0.5, None))


@pytest.mark.parametrize(("score", "number"), [(too_even, 60), (too_often_small, 20)])
def test_too_even_and_too_small_p_values_are_caught(score: object, number: int) -> None:
    test = BitTest("frequency", "2.1", 1, "null", score)  # type: ignore[arg-type]
    (result,) = judge_bits(add_up_bits(tally_bits(row, {"frequency": test}) for row in sequences(number, 10)))
    assert result.p < 1e-9


def test_a_test_that_never_applied_says_so() -> None:
    one = {"random_excursions": SP80022["random_excursions"]}
    bits = np.tile(np.array([1] * 50 + [0] * 50, dtype=np.uint8), 1000)[:100_000]
    (result,) = judge_bits(tally_bits(np.concatenate((bits[:20_000], np.ones(80_000, dtype=np.uint8))), one))
    assert (result.p, result.items) == (1.0, ())
    assert result.distribution == "not applicable: too few cycles"


def test_lines_show_the_small_p_values_beside_their_expectation() -> None:
    tally = BitsTally(600, {"frequency": {"ones": LabelTally(6, 3, (3, 1, 0, 0, 0, 0, 0, 0, 1, 1), None)}})
    (result,) = judge_bits(tally)
    (line,) = result.items
    assert (line.label, line.observed, line.expected) == ("ones: p < .01", 3, Fraction(6, 100))
    assert line.deviation == pytest.approx((3 - 0.06) / (0.06 * 0.99) ** 0.5)
    assert result.effect == pytest.approx(0.49)


def test_exact_sums_forget_nothing() -> None:
    """In floats 1e16 + 1 − 1e16 is 0."""
    parts = [Deviation.of(1e16, 1.0), Deviation.of(1.0, 1.0), Deviation.of(-1e16, 1.0)]
    assert parts[0].plus(parts[1]).plus(parts[2]).above == 1
    assert Squares.of(0.1, 2).plus(Squares.of(0.2, 3)).total == Fraction(0.1) + Fraction(0.2)
    assert Deviation.of(0.0, 0.0).p == 1.0


def test_evidence_of_other_laws_does_not_add_up() -> None:
    with pytest.raises(InputError, match=r"^bits: expected sequences of one length, got 'classes of two laws'$"):
        Classes((1, 2), (0.5, 0.5)).plus(Classes((1, 2), (0.4, 0.6)))
    three, four = (Patterns(np.ones(size, dtype=np.int64), PatternStatistic.FIRST) for size in (8, 16))
    with pytest.raises(InputError, match=r"^bits: expected 8 patterns, got 16$"):
        three.plus(four)
    with pytest.raises(InputError, match=r"^bits: expected sequences of one length"):
        add_up_bits(
            tally_bits(row, {"longest_run": SP80022["longest_run"]}) for row in sequences(1) + sequences(1, 750_000)
        )


def test_no_bits_are_no_verdict() -> None:
    with pytest.raises(InputError, match=r"^tally: expected 1 or more bits, got 0$"):
        judge_bits(add_up_bits([]))
