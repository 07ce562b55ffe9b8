"""All coups of every shoe beside the exact law and the cut-card effect: reported, never judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import sqrt
from typing import Any, Final

from audit.cells import CELLS
from audit.counts import Dealt
from audit.covariance import Kind
from audit.cutcard import BURN_MEAN, cut_card_bias
from audit.exact import Cell, exact_odds
from shoe.game.rules import Rules
from shoe.game.tableau import OUTCOMES, RULES

NOTE: Final = (
    "All coups of cut shoes: not judged. Whether a late coup is dealt hangs on the cards before it, so a sound table "
    "deviates from the exact law as the cut-card effect says, and ever more clearly with more shoes."
)
NO_CUT: Final = "Every coup has a shuffle of its own: all coups are judged, and there is no cut card."


def whole_shoe(dealt: Dealt, rules: Rules) -> dict[str, Any]:
    """List all coups by outcome and by rule class, each with the exact expectation and that with the cut-card effect.

    `noncentrality` is by how much that effect raises chi-square over the rule classes at this size. Where every coup
    has a shuffle of its own there is nothing beside the judged coups.
    """
    per_shoe = [[coups, int(count)] for coups, count in enumerate(dealt.coups_per_shoe) if count]
    whole: dict[str, Any] = {"shoes": dealt.shoes, "coups": dealt.all_coups, "coups_per_shoe": per_shoe}
    if rules.cut is None:
        return {**whole, "note": NO_CUT, "outcomes": [], "rules": [], "noncentrality": "0"}
    outcomes, _ = _beside(dealt, rules, (lambda cell: cell.outcome), (lambda kind: kind[1]), OUTCOMES)
    classes, noncentrality = _beside(dealt, rules, (lambda cell: cell.rule), (lambda kind: kind[0]), RULES)
    return {**whole, "note": NOTE, "outcomes": outcomes, "rules": classes, "noncentrality": f"{noncentrality:.6g}"}


def _beside(
    dealt: Dealt, rules: Rules, of_cell: Callable[[Cell], str], of_kind: Callable[[Kind], str], order: Sequence[str]
) -> tuple[list[dict[str, Any]], float]:
    cut = rules.cut
    behind = (cut.lowest + cut.highest) // 2 if cut else 0
    bias = cut_card_bias(rules.decks, behind, of_kind, order, BURN_MEAN if rules.burn == "first_card" else Fraction(0))
    seen: Counter[str] = Counter()
    for cell, count in zip(CELLS, dealt.all_cells.tolist(), strict=True):
        seen[of_cell(cell)] += count
    odds, coups = exact_odds(rules.decks), dealt.all_coups
    exact = odds.counts(of_cell, order)
    lines = []
    for label, p, excess in zip(bias.labels, bias.p, bias.excess, strict=True):
        mean = Fraction(coups * exact[label], odds.total)
        biased, error = float(mean) + dealt.shoes * excess, sqrt(coups * p * (1 - p))
        lines.append(
            {
                "label": label,
                "observed": seen[label],
                "expected_decimal": f"{float(mean):.10g}",
                "with_cut_card": f"{biased:.10g}",
                "deviation": f"{float(seen[label] - mean) / error:.6g}",
                "deviation_with_cut_card": f"{(seen[label] - biased) / error:.6g}",
            }
        )
    return lines, bias.noncentrality(coups)
