"""SP 800-22's own figures: appendix B at a million bits of four constants, and the worked examples of section 2.

Where NIST is wrong the test reproduces NIST's figure by NIST's constant, and shows the mended one beside it.
"""

from __future__ import annotations

import json
from itertools import product
from math import comb, erfc, exp, factorial, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtrc, ndtr

from audit.checks.bits import SP80022
from audit.checks.bits.evidence import Bits, pearson
from audit.checks.bits.excursions import (
    PLACES,
    VARIANT_PLACES,
    cycles,
    variant_p,
    visit_counts,
    visit_law,
    visit_totals,
    visits_by_cycle,
)
from audit.checks.bits.frequency import (
    block_frequency,
    cumulative_sums,
    frequency,
    longest_run,
    longest_run_counts,
    longest_run_law,
    runs,
)
from audit.checks.bits.linear_complexity import complexities, complexity_counts, complexity_law, linear_complexity
from audit.checks.bits.rank import rank, rank_counts, rank_law
from audit.checks.bits.serial import approximate_entropy, serial
from audit.checks.bits.spectral import peaks_below, spectral
from audit.checks.bits.templates import non_overlapping, overlapping_counts, overlapping_law
from audit.checks.bits.universal import log_distances, universal_law
from tests.reference import bits_reference as slow
from tests.reference.constants_reference import digits

PUBLISHED = json.loads((Path(__file__).parents[1] / "vectors" / "sp800_22.json").read_text())
APPENDIX_B, MENDED, EXAMPLES = PUBLISHED["appendix_b"], PUBLISHED["mended"], PUBLISHED["examples"]
CONSTANTS = ("pi", "e", "sqrt2", "sqrt3")
MILLION = 1_000_000


def constant(name: str, count: int = MILLION) -> Bits:
    return np.frombuffer(digits(name, MILLION)[:count], dtype=np.uint8)


def example(section: str) -> tuple[Bits, dict[str, Any]]:
    figures = EXAMPLES[section]
    text = figures["bits"]
    bits = constant("e") if text == "e" else np.frombuffer(text.encode(), dtype=np.uint8) - ord("0")
    return bits[: figures.get("length", MILLION)], figures


def nist_law(name: str) -> list[float]:
    return [float(p) for p in PUBLISHED["nist_laws"][name]]


def p_of(name: str, bits: Bits) -> float:
    test, _, label = name.partition(" ")
    scores = {score.label: score.p for score in SP80022[test](bits)}
    return scores[label] if label else scores.popitem()[1]


def six(p: float) -> str:
    return f"{p:.6f}"


def limit_law_of_overlaps(mean_runs: float, most: int) -> list[float]:
    """NIST's law before 2007 (§3.8): Poisson many clumps, each of a geometric number of hits with ratio ½."""
    law = [exp(-mean_runs)]
    for hits in range(1, most):
        clumps = range(1, hits + 1)
        law.append(sum(exp(-mean_runs) * mean_runs**c / factorial(c) * comb(hits - 1, c - 1) / 2**hits for c in clumps))
    return [*law, 1 - sum(law)]


def by_classes(counts: tuple[int, ...], law: list[float]) -> str:
    """Pearson's χ² with whatever probabilities NIST used, which need not add up to 1."""
    return six(float(chdtrc(len(law) - 1, pearson(counts, law))))


def test_digits_begin_as_everyone_knows() -> None:
    """π = 3.243F6A8885A308D3…, e = 2.B7E151628AED2A6A…, √2 = 1.6A09E667F3BCC908…, √3 = 1.BB67AE8584CAA73B…"""
    whole = {
        "pi": 0x3243F6A8885A308D3,
        "e": 0x2B7E151628AED2A6A,
        "sqrt2": 0x16A09E667F3BCC908,
        "sqrt3": 0x1BB67AE8584CAA73B,
    }
    for name, hexadecimal in whole.items():
        text = f"{hexadecimal:b}"
        assert "".join(map(str, digits(name, MILLION)[: len(text)])) == text


AGREED = (
    "frequency",
    "block_frequency",
    "runs",
    "rank",
    "non_overlapping 000000001",
    "serial first difference",
    "approximate_entropy",
    "random_excursions +1",
    "random_excursions_variant -1",
)


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("test", AGREED)
def test_appendix_b_to_the_last_digit(test: str, name: str) -> None:
    assert six(p_of(test, constant(name))) == APPENDIX_B[test][name]


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_appendix_b_cumulative_sums_but_for_the_last_digit_of_e(direction: str, name: str) -> None:
    """NIST's normal integral was off by 10⁻⁶ there: other implementations have .669886 and .724265."""
    test = f"cumulative_sums {direction}"
    p = six(p_of(test, constant(name)))
    assert p == MENDED[test][name]
    assert (p == APPENDIX_B[test][name]) == (name != "e")


@pytest.mark.parametrize("name", CONSTANTS)
def test_appendix_b_longest_run_has_probabilities_of_four_digits(name: str) -> None:
    bits = constant(name)
    counts = longest_run_counts(bits, 10_000, 10, 16)
    assert by_classes(counts, nist_law("longest_run 10000")) == APPENDIX_B["longest_run"][name]
    assert six(p_of("longest_run", bits)) == MENDED["longest_run"][name]
    assert APPENDIX_B["longest_run"][name] != MENDED["longest_run"][name]


@pytest.mark.parametrize("name", CONSTANTS)
def test_appendix_b_linear_complexity_has_a_probability_misprinted(name: str) -> None:
    """NIST has .01047 for 1/96 = .010417."""
    bits = constant(name)
    assert (
        by_classes(complexity_counts(bits, 500), nist_law("linear_complexity")) == APPENDIX_B["linear_complexity"][name]
    )
    assert six(p_of("linear_complexity", bits)) == MENDED["linear_complexity"][name]


@pytest.mark.parametrize(
    ("name", "mended"), [("pi", "0.260718"), ("e", "0.159037"), ("sqrt2", "0.828877"), ("sqrt3", "0.080773")]
)
def test_appendix_b_overlapping_uses_a_limit_law(name: str, mended: str) -> None:
    """A compound Poisson law (.367879 and so on), off by up to .0038 for blocks of 1,032 bits."""
    bits = constant(name)
    counts = overlapping_counts(bits, 1032, 9)
    assert by_classes(counts, limit_law_of_overlaps(1, 5)) == APPENDIX_B["overlapping"][name]
    assert six(p_of("overlapping", bits)) == mended
    by_hamano_kaneko = float(by_classes(counts, nist_law("overlapping, Hamano and Kaneko")))
    assert by_hamano_kaneko == pytest.approx(float(mended), abs=2e-5)


@pytest.mark.parametrize(
    ("name", "mended"), [("pi", "0.012377"), ("e", "0.851198"), ("sqrt2", "0.591979"), ("sqrt3", "0.781843")]
)
def test_appendix_b_spectral_has_too_small_a_variance(name: str, mended: str) -> None:
    bits = constant(name)
    above = peaks_below(bits) - 0.95 * MILLION / 2
    assert six(erfc(abs(above) / sqrt(2 * MILLION * 0.95 * 0.05 / 4))) == APPENDIX_B["spectral"][name]
    assert erfc(abs(above) / sqrt(2 * MILLION * 0.95 * 0.05 / 3.790)) == pytest.approx(float(mended), abs=2e-5)
    assert six(p_of("spectral", bits)) == mended


@pytest.mark.parametrize(
    ("name", "mended"), [("pi", "0.676118"), ("e", "0.293650"), ("sqrt2", "0.139785"), ("sqrt3", "0.175827")]
)
def test_appendix_b_universal_guesses_its_standard_error(name: str, mended: str) -> None:
    """Maurer's c = .7 − .8/L + (4 + 32/L) K^(−3/L)/15 is .589 where .603 is right (Coron and Naccache)."""
    bits = constant(name)
    total, tested = log_distances(bits, 7, 1280)
    guess = 0.7 - 0.8 / 7 + (4 + 32 / 7) * tested ** (-3 / 7) / 15
    mean, variance = nist_law("universal mean and variance of 7")
    sigma = guess * sqrt(variance / tested)
    assert six(erfc(abs(total / tested - mean) / sigma / sqrt(2))) == APPENDIX_B["universal"][name]
    assert six(p_of("universal", bits)) == mended
    _, variance, error = universal_law(7, tested)
    assert guess == pytest.approx(0.5893, abs=1e-4)
    assert error / sqrt(variance / tested) == pytest.approx(0.6029, abs=1e-4)


@pytest.mark.parametrize(
    ("law", "size", "low", "high"),
    [("longest_run 10000", 10_000, 10, 16), ("longest_run 128", 128, 4, 9), ("longest_run 8", 8, 1, 4)],
)
def test_laws_of_longest_runs_are_nists_to_some_three_digits(law: str, size: int, low: int, high: int) -> None:
    """Of blocks of 10,000 NIST's are off by up to .0016, more than the rounding of its four digits."""
    exact = longest_run_law(size, low, high)
    assert exact == pytest.approx(nist_law(law), abs=0.002 if size == 10_000 else 0.0002)
    assert sum(exact) == pytest.approx(1, abs=1e-12)


def test_laws_of_ranks_and_templates_as_published() -> None:
    assert rank_law(32) == pytest.approx(nist_law("rank"), abs=5e-5)
    assert overlapping_law(1032, 9) == pytest.approx(nist_law("overlapping, Hamano and Kaneko"), abs=5e-7)
    assert complexity_law(500) == pytest.approx([1 / 96, 1 / 32, 1 / 8, 1 / 2, 1 / 4, 1 / 16, 1 / 48], abs=1e-12)
    wrong = nist_law("linear_complexity")
    assert [at for at, p in enumerate(complexity_law(500)) if abs(p - wrong[at]) > 1e-6] == [0]


@pytest.mark.parametrize("section", ["2.1.4", "2.1.8"])
def test_example_frequency(section: str) -> None:
    bits, figures = example(section)
    assert six(frequency(bits)[0].p) == figures["p"]


@pytest.mark.parametrize("section", ["2.2.4", "2.2.8"])
def test_example_block_frequency(section: str) -> None:
    bits, figures = example(section)
    assert six(block_frequency(bits, figures["block"])[0].p) == figures["p"]


@pytest.mark.parametrize("section", ["2.3.4", "2.3.8"])
def test_example_runs(section: str) -> None:
    bits, figures = example(section)
    assert six(runs(bits)[0].p) == figures["p"]


def test_example_longest_run() -> None:
    bits, figures = example("2.4.8")
    assert longest_run_counts(bits, 8, 1, 4) == tuple(figures["counts"])
    assert by_classes((4, 9, 3, 0), nist_law("longest_run 8")) == "0.180598"
    assert six(longest_run(bits)[0].p) == figures["p"]


def test_example_rank_of_small_matrices_uses_the_law_of_large_ones() -> None:
    """2.5.4 holds ranks of 3 by 3 matrices against the probabilities of 32 by 32."""
    bits, figures = example("2.5.4")
    assert rank_counts(bits, 3) == tuple(figures["counts"])
    assert float(by_classes((1, 1, 0), nist_law("rank"))) == pytest.approx(float(figures["p"]), abs=1e-6)
    assert six(rank(bits, 3)[0].p) == "0.820962"


def test_example_rank() -> None:
    bits, figures = example("2.5.8")
    assert rank_counts(bits) == tuple(figures["counts"])
    assert six(rank(bits)[0].p) == figures["p"]


@pytest.mark.parametrize(("section", "below", "nist_code"), [("2.6.4", 5, "0.468160"), ("2.6.8", 48, "0.646355")])
def test_examples_of_the_spectral_test_are_miscounted(section: str, below: int, nist_code: str) -> None:
    """NIST's program gives .468160 and .646355 where its document prints .029523 and .168669."""
    bits, figures = example(section)
    n = bits.size

    def by_four(count: int) -> str:
        return six(erfc(abs(count - 0.95 * n / 2) / sqrt(2 * n * 0.95 * 0.05 / 4)))

    assert by_four(figures["below"]) == figures["p"]
    assert peaks_below(bits) == below
    assert by_four(below) == nist_code
    assert spectral(bits)[0].p == pytest.approx(float(nist_code), abs=0.02)


def test_example_non_overlapping() -> None:
    bits, figures = example("2.7.4")
    scores = non_overlapping(bits, 3, figures["blocks"])
    assert {score.label: six(score.p) for score in scores}[figures["pattern"]] == figures["p"]
    assert [score.label for score in scores] == ["001", "011", "100", "110"]


def test_example_overlapping_is_miscounted_and_its_p_too_small() -> None:
    """2.8.4 finds other counts than its bits have, and takes the tail of χ² at twice the statistic."""
    bits, figures = example("2.8.4")
    law, statistic = nist_law("overlapping, 2.8.4"), float(figures["statistic"])
    assert overlapping_counts(bits, figures["block"], 2) == (0, 2, 0, 1, 1, 1)
    assert pearson(figures["counts"], law) == pytest.approx(statistic, abs=5e-6)
    assert six(float(chdtrc(5, 2 * statistic))) == figures["p"]
    assert by_classes(tuple(figures["counts"]), law) == "0.674145"
    assert law == pytest.approx(limit_law_of_overlaps(9 / 4 / 2, 5), abs=1e-6)


def test_example_overlapping_of_e() -> None:
    bits, figures = example("2.8.8")
    assert overlapping_counts(bits, 1032, 9) == tuple(figures["counts"])


def test_example_universal() -> None:
    """The example takes σ for the standard error of the mean of six: neither 1/√6 nor c is there."""
    bits, figures = example("2.9.4")
    total, tested = log_distances(bits, figures["block"], figures["start"])
    mean, variance = nist_law("universal mean and variance of 2")
    exact = universal_law(2, tested)
    assert tested == 6
    assert f"{total / tested:.7f}" == figures["mean"]
    assert six(erfc(abs(total / tested - mean) / sqrt(2 * variance))) == figures["p"]
    assert exact[:2] == pytest.approx((mean, variance), abs=5e-4)
    assert exact[2] < sqrt(variance) / 2


def test_example_linear_complexity() -> None:
    bits, figures = example("2.10.4")
    assert complexities(bits[np.newaxis]).tolist() == [figures["complexity"]]


def test_example_linear_complexity_of_e() -> None:
    """TestRNG has .844721 with .010417 and .020833, sts-lib .844738."""
    bits, figures = example("2.10.8")
    counts = complexity_counts(bits, figures["block"])
    assert counts == tuple(figures["counts"])
    assert by_classes(counts, nist_law("linear_complexity")) == figures["p"]
    assert six(linear_complexity(bits, figures["block"])[0].p) == "0.844738"


@pytest.mark.parametrize("section", ["2.11.4", "2.11.8"])
def test_example_serial(section: str) -> None:
    """Step 5 of 2.11.4 prints .9057 and .8805; 2.11.6 has it right."""
    bits, figures = example(section)
    found = [six(score.p) for score in serial(bits, figures["width"])]
    assert found == figures["p"]
    assert not set(found) & set(figures.get("p_in_step_5", ()))


@pytest.mark.parametrize("section", ["2.12.4", "2.12.8"])
def test_example_approximate_entropy(section: str) -> None:
    """2.12.4 prints the statistic .502193, which is ln 2 − ApEn: twenty times that, 10.043859, gives its p."""
    bits, figures = example(section)
    (score,) = approximate_entropy(bits, figures["width"])
    assert six(score.p) == figures["p"]
    if "statistic" in figures:
        assert score.statistic == pytest.approx(20 * float(figures["statistic"]), abs=2e-5)


def test_example_cumulative_sums() -> None:
    bits, figures = example("2.13.8")
    assert [six(score.p) for score in cumulative_sums(bits)] == figures["p"]


def test_example_cumulative_sums_of_ten_bits_hangs_on_the_limits() -> None:
    """2.13.4 leaves off terms of Φ(−3.8): the whole sum is .411511, and the chance for ten bits .453."""
    bits, figures = example("2.13.4")
    unit = 4 / sqrt(10)
    near = ndtr(unit) - ndtr(-unit)
    far = sum(ndtr((4 * k + 3) * unit) - ndtr((4 * k + 1) * unit) for k in (-1, 0))
    assert 1 - near + far == pytest.approx(float(figures["p"][0]), abs=6e-7)
    assert six(cumulative_sums(bits)[0].p) == "0.411511"
    walks = [slow.walk(steps) for steps in product((0, 1), repeat=10)]
    assert sum(max(map(abs, places)) >= 4 for places in walks) / len(walks) == 0.453125


def test_example_random_excursions() -> None:
    bits, figures = example("2.14.4")
    assert cycles(bits) == figures["cycles"]
    counts = visit_counts(visits_by_cycle(bits), 1)
    assert counts == tuple(figures["visits_to_1"])
    assert by_classes(counts, [0.5, 0.25, 0.125, 0.0625, 0.0312, 0.0312]) == figures["p"]
    assert by_classes(counts, list(visit_law(1))) == "0.502488"


def test_example_random_excursions_of_e_is_wrong_above_zero() -> None:
    """2.14.8 contradicts appendix B, which has .786868 for +1 of the same bits."""
    bits, figures = example("2.14.8")
    found = [six(score.p) for score in SP80022["random_excursions"](bits)]
    assert cycles(bits) == figures["cycles"]
    assert found == figures["mended"]
    assert [place for place, p, nist in zip(PLACES, found, figures["p"], strict=True) if p != nist] == [1, 2, 3, 4]
    assert found[PLACES.index(1)] == APPENDIX_B["random_excursions +1"]["e"]


def test_example_random_excursions_variant() -> None:
    bits, figures = example("2.15.4")
    visits = visit_totals(bits)[VARIANT_PLACES.index(1)]
    assert visits == figures["visits_to_1"]
    assert six(variant_p(1, visits, cycles(bits))) == figures["p"]


def test_example_random_excursions_variant_of_e() -> None:
    bits, figures = example("2.15.8")
    assert visit_totals(bits) == tuple(figures["visits"])
    assert [six(score.p) for score in SP80022["random_excursions_variant"](bits)] == figures["p"]
