"""Checks of how often each thing happens, on coups 1…K against the exact law of a full shoe."""

from __future__ import annotations

from audit.checks.result import CheckResult, LineItem
from audit.checks.table import impossible_items, judge, require_judged, tabulate
from audit.covariance import rule_covariance, two_coup_covariance
from audit.exact import exact_odds
from audit.tally import Seen, Tally
from shoe.game.tableau import MERGED_RULES, OUTCOMES, merged_rule


def structural_zeros(tally: Tally, decks: int) -> CheckResult:
    """Look for coups that no shoe can deal: totals, cards, rule class and outcome that do not go together.

    One of them fails the check by itself: p is 1 without, 0 with any. Raises InputError on a tally of no
    coups, or of more judged coups a shoe than `decks` decks can promise.
    """
    require_judged(tally, decks)
    possible = {
        Seen(cell.outcome, cell.rule, cell.cards, cell.player_total, cell.banker_total)
        for cell in exact_odds(decks).cells
    }
    impossible = {_words(coup): count for coup, count in tally.coups.items() if coup not in possible}
    found = sum(impossible.values())
    return CheckResult(
        name="structural_zeros",
        null="every coup is one that the tableau can deal",
        statistic=float(found),
        distribution="0 for certain",
        dof=None,
        n=tally.n,
        p=0.0 if found else 1.0,
        effect=found / tally.n,
        effect_name="share of impossible coups",
        items=impossible_items(impossible),
    )


def outcomes(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of player, banker and tie by plain χ² with 2 degrees of freedom.

    The dependence within a shoe lowers the mean of this χ² by 2.2·10⁻⁵ for each coup of a shoe but the
    first, at 8 decks: it errs on the side of passing, by less than can be seen. Raises InputError like
    `structural_zeros`.
    """
    law = two_coup_covariance(decks).merged(lambda label: label[1], OUTCOMES)
    table = tabulate(tally, law, lambda coup: coup.outcome)
    return judge("outcomes", "player, banker and tie", table, decks, plain=True)


def rule_use(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of the 15 rule classes by Q = d′V⁻d ~ χ²(14), V the exact covariance on coups 1…K.

    Raises InputError like `structural_zeros`.
    """
    table = tabulate(tally, rule_covariance(decks), lambda coup: coup.rule)
    return judge("rule_use", "the 15 rule classes", table, decks)


def merged_rule_use(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of the 14 classes of a house that counts both one-sided naturals as one: Q ~ χ²(13).

    Raises InputError like `structural_zeros`.
    """
    law = rule_covariance(decks).merged(merged_rule, MERGED_RULES)
    table = tabulate(tally, law, lambda coup: merged_rule(coup.rule))
    return judge("merged_rule_use", "the 14 merged rule classes", table, decks)


def cards_used(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of coups of 4, 5 and 6 cards by Q = d′V⁻d ~ χ²(2).

    Raises InputError like `structural_zeros`.
    """
    law = two_coup_covariance(decks).merged(lambda label: label[2], (4, 5, 6))
    table = tabulate(tally, law, lambda coup: coup.cards)
    return judge("cards_used", "coups of 4, 5 and 6 cards", table, decks)


def rule_lines(tally: Tally, decks: int, *, merged: bool = False) -> tuple[LineItem, ...]:
    """Print the use of every rule beside its exact expectation; also for a tally of no coups.

    The 15 classes of `RULES`, or with `merged` the 14 of `MERGED_RULES`; what is none of them comes last.
    """
    law = rule_covariance(decks)
    if merged:
        law = law.merged(merged_rule, MERGED_RULES)
    return tabulate(tally, law, lambda coup: merged_rule(coup.rule) if merged else coup.rule).items()


def _words(coup: Seen) -> str:
    return f"{coup.outcome} {coup.player_total}:{coup.banker_total}, {coup.cards} cards, {coup.rule}"
