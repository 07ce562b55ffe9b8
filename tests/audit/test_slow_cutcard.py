"""The cut-card effect shown: all coups of a cut single deck deviate as the closed form says, coups 1…K do not."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import chi2

from audit.covariance import rule_covariance
from audit.cutcard import cut_card_bias
from shoe.game.tableau import RULES
from tests.reference import bulk_dealer

pytestmark = pytest.mark.slow

SHOES, BATCH, JUDGED = 6_000_000, 100_000, 8


def test_whole_shoes_deviate_and_judged_coups_do_not() -> None:
    generator = np.random.Generator(np.random.SFC64(5))
    judged, late = np.zeros(15), np.zeros(15)
    for _ in range(SHOES // BATCH):
        classes = bulk_dealer.whole(bulk_dealer.shuffled(generator, 1, BATCH), 7) // bulk_dealer.JOINT
        judged += np.bincount(classes[:, :JUDGED].ravel(), minlength=15)
        late += np.bincount(classes[:, JUDGED:][classes[:, JUDGED:] >= 0], minlength=15)
    order = [RULES.index(rule) for rule in bulk_dealer.RULES]
    bias = cut_card_bias(1, 7, lambda kind: kind[0], RULES)
    p, predicted = np.array(bias.p)[order], np.array(bias.excess)[order]
    everything = judged + late
    coups = everything.sum()

    # Coups 1…K: Q = d′V⁻d has its χ²(14).
    d = (judged - SHOES * JUDGED * p)[:-1]
    v = rule_covariance(1).of_counts(SHOES * JUDGED, SHOES * JUDGED * (JUDGED - 1))[np.ix_(order, order)]
    assert 0.001 < chi2.sf(d @ np.linalg.solve(v[:-1, :-1], d), 14) < 0.999

    # All coups: Pearson's χ² is raised by some 96 in 58 million coups, and rejects beyond doubt.
    statistic = ((everything - coups * p) ** 2 / (coups * p)).sum()
    raised = bias.noncentrality(coups)
    assert 90 < raised < 100
    assert abs(statistic - 14 - raised) < 4 * sqrt(2 * 14 + 4 * raised)
    assert chi2.sf(statistic, 14) < 1e-9

    # Class by class: coups 1…K have no part in the excess, and what is left is what the closed form says.
    excess = (late - late.sum() * p) / SHOES
    size = (excess * predicted / p).sum() / (predicted**2 / p).sum()
    error = sqrt(late.sum() / SHOES**2 / (predicted**2 / p).sum())
    assert error < 0.05
    assert abs(size - 1) < 0.05 + 3 * error
    assert coups / SHOES == pytest.approx(bias.coups, abs=0.002)
