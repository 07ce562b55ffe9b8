"""Our own bundles among the logs: verified by the verifier, and their coups counted in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from audit.foreign.notation import hand_of
from audit.foreign.rows import LoggedCoup
from shoe.errors import FairshoeError
from shoe.game.rules import Rules
from shoe.game.tableau import OUTCOMES, Outcome
from shoe.proof.bundle import parse_bundle
from shoe.proof.records import Coup, Open, Reveal, parse_record
from shoe.proof.verify import Evidence, verify_bundle

MAX_BYTES: Final = 2**26
"""A bundle of 8 decks has some 300 kB."""

FAILED: Final = ("invalid", "overdue")
"""The verifier's verdicts that fail an audit; incomplete says that something to check it by was not given."""


class Audited(NamedTuple):
    """A bundle as the verifier judges it, and what it says was dealt; without rules where it can't be read.

    `judged` coups of each shuffle have the law of a full shoe: coups 1…K of a revealed shoe, none of one that was given
    up, perhaps for what it dealt, or is in play.
    """

    verdict: str
    why: str
    shoe: str
    rules: Rules | None
    coups: tuple[Coup, ...]
    judged: int


def read_bundle(text: bytes, evidence: Evidence) -> Audited:
    """Verify a bundle, and read its coups even where it does not verify; never raises for what is in it."""
    verified = verify_bundle(text, evidence)
    try:
        records = [parse_record(data) for data in parse_bundle(text).records]
    except FairshoeError:
        return Audited(verified.verdict, verified.why, "?", None, (), 0)
    opened = next((record for record in records if isinstance(record, Open)), None)
    coups = tuple(record for record in records if isinstance(record, Coup))
    shoe, rules = (opened.shoe, opened.rules) if opened else ("?", None)
    revealed = any(isinstance(record, Reveal) for record in records)
    judged = rules.judged_coups if rules and revealed else 0
    return Audited(verified.verdict, verified.why, shoe, rules, coups, judged)


def coups_of(audited: Audited) -> Iterator[LoggedCoup]:
    """Give a bundle's coups as logged ones, all at line 1; each shuffle is a shoe of its own."""
    anew = audited.rules is not None and audited.rules.shuffle == "coup"
    for coup in audited.coups:
        codes = [opening.card for opening in coup.cards]
        third = 5 if _player_drew(coup) else 4
        player = [*codes[0:4:2], *codes[4:third]]
        banker = [*codes[1:4:2], *codes[third:]]
        shoe = f"{audited.shoe}/{coup.hand}" if anew else audited.shoe
        outcome: Outcome = next(each for each in OUTCOMES if each == coup.outcome)
        yield LoggedCoup(1, shoe, None if anew else str(coup.number), hand_of(player), hand_of(banker), outcome)


def _player_drew(coup: Coup) -> bool:
    return not coup.rule.endswith("_natural") and not coup.rule.startswith("stood")
