"""Scope and game parameters; generator, seeding, scaling and shuffle."""

from __future__ import annotations

from math import lgamma, log, perm

from audit.own_bets import bets_of
from audit.report.document import Column, Fact, Facts, Paragraph, Points, Section, table
from audit.report.source import Source
from shoe.game.bets.wagers import Bet
from shoe.game.cards import DECK
from shoe.game.rules import Rules
from shoe.game.tableau import MAX_CARDS


def scope(source: Source) -> Section:
    """Say what was judged and what was not, and the table's parameters."""
    rules = source.plan.rules
    cut, bets = rules.cut, bets_of(rules)
    behind = "none: every coup has a shuffle of its own"
    if cut is not None:
        behind = (
            f"before the last {cut.lowest}"
            if cut.lowest == cut.highest
            else f"before the last {cut.lowest} to {cut.highest}"
        )
    columns = (Column("Bet", "code", 14), Column("Pays", width=34), Column("Commission", "number", 12))
    return Section(
        "scope",
        "Scope and game parameters",
        (
            Paragraph(
                "Judged are the shuffler and the table as the protocol fairshoe/1 deals them: keystream, bounded "
                "draws, "
                "order of the cards, tableau, outcomes and what the bets give back. Not judged are the live service, "
                "its "
                "records, its clients and its operator; an audit of records looks at those."
            ),
            Facts(
                (
                    Fact("Decks", f"{rules.decks}, {rules.size} cards"),
                    Fact("Shuffle", f"for every {rules.shuffle}"),
                    Fact("Cut card", behind),
                    Fact("Burn", rules.burn.replace("_", " ")),
                    Fact("Coups judged of each shoe", f"the first {rules.judged_coups}"),
                    Fact("Entropy of live shoes", rules.entropy.replace("_", " ")),
                    Fact("Distinguishable orders", _orders(rules)),
                )
            ),
            *([table("Bets of the table", columns, [_bet(bet) for bet in bets])] if bets else []),
            Paragraph(
                "Only the first coups of a shoe, those that are dealt whatever the cards are, have the exact "
                "probabilities; whether a later one is dealt hangs on the cards before it. So these are judged, and "
                "the whole shoes are reported beside them."
            ),
        ),
    )


def order_bits(rules: Rules) -> float:
    """Count the bits of the orders that can be told apart: of the whole shoe, or of the six cards of a coup."""
    if rules.shuffle == "coup":
        return log(perm(rules.size, MAX_CARDS)) / log(2)
    return (lgamma(rules.size + 1) - DECK * lgamma(rules.decks + 1)) / log(2)


def _orders(rules: Rules) -> str:
    what = "of six physical cards" if rules.shuffle == "coup" else "of the whole shoe, equal cards not told apart"
    return f"{order_bits(rules):,.1f} bits {what}; a seed has 256"


def _bet(bet: Bet) -> tuple[str, str, str]:
    pays = "; ".join(f"{on.replace('_', ' ')} {gain}:{stake}" for on, gain, stake in bet.pays)
    return bet.name, pays, f"{bet.commission_bp / 100:g} %" if bet.commission_bp else "none"


def generator(source: Source) -> Section:
    """Describe generator, seeding, scaling and shuffle, with the self-tests of known answers."""
    plan = source.plan
    return Section(
        "generator",
        "Generator, seeding, scaling, shuffle",
        (
            Points(
                (
                    "Generator: AES-256 in counter mode, one key for each shoe (shoe/SPEC.md, section 5).",
                    "Seeding: a server seed of a book whose root is published beforehand; a transcript with players' "
                    "seeds and beacon, sealed before the first bet; the key by HKDF-SHA-256 from seed and seal "
                    "(sections 3 "
                    "and 4). In this run no player contributes, and the seal says so.",
                    "Scaling: a 32-bit word w is drawn anew where it would favour some values; else the value is the "
                    "high "
                    "half of w times n. Every value below n comes of equally many words: the bias is exactly 0.",
                    "Shuffle: forward Fisher-Yates on the physical cards in fresh order; every order is equally likely "
                    "if "
                    "the draws are (section 6).",
                )
            ),
            Facts(
                (
                    Fact("Batch path", "one key, hands 0, 1, 2 ... of it"),
                    Fact(
                        "Production path", "for every shoe its own seed, seal and key, hand 0: as live shoes are dealt"
                    ),
                    Fact("Orders sampled", f"{plan.batch.sampled:,} and {plan.production.sampled:,}"),
                    Fact(
                        "Keystream judged as bits",
                        f"{plan.batch.sequences} and {plan.production.sequences} sequences of 10^6 bits",
                    ),
                    Fact(
                        "Shoes replayed by the scalar code",
                        f"{plan.batch.replayed:,} and {plan.production.replayed:,}",
                    ),
                )
            ),
            Paragraph("Known answers that are computed wherever a run begins; it does not begin where one is wrong:"),
            Points(tuple(source.content["self_tests"])),
        ),
    )
