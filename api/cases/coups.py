"""Coups as the store keeps them beside their records."""

from __future__ import annotations

from api.db.tables import CoupRow, ShoeRow
from shoe.game.dealing import DealtCoup, Progress
from shoe.game.rules import Rules


def progress_of(shoe: ShoeRow) -> Progress:
    """Say how far a live sealed shoe is dealt; it has not ended, for the coup that ends a shoe reveals it."""
    return Progress(shoe.next_coup, shoe.position, cut_drawn=bool(shoe.cut_drawn))


def coup_row(shoe: ShoeRow, rules: Rules, dealt: DealtCoup, time: str, log_index: int | None) -> CoupRow:
    """Put down a coup as statistics count it: judged where it is among coups 1…K of its shuffle."""
    coup = dealt.coup
    return CoupRow(
        shoe_id=shoe.id,
        number=dealt.number,
        table_id=shoe.table_id,
        log_index=log_index,
        time=time,
        rule=coup.rule,
        outcome=coup.outcome,
        player_total=coup.player_total,
        banker_total=coup.banker_total,
        cards_used=len(coup.cards),
        judged=int(rules.shuffle == "coup" or dealt.number < rules.judged_coups),
    )
