"""Small plans for tests: 1-deck shoes, K = 8, so that every part is counted within a second or two."""

from __future__ import annotations

from audit.battery import Sizes, checks_for
from audit.plan import FORM, Blocks, Plan
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.rules import Rules
from tests.audit.scalar_block import shoe_rules

SEED = bytes(range(32))
ONE_DECK = shoe_rules(1, (7, 7))
EIGHT_DECKS = NP_PUNTO_BANCO.rules
BLOCKS = Blocks(128, 64)
NOTHING = Sizes(0, 0, 0, 0)


def plan_of(
    batch: Sizes,
    production: Sizes = NOTHING,
    *,
    rules: Rules = ONE_DECK,
    seed: bytes = SEED,
    blocks: Blocks = BLOCKS,
) -> Plan:
    """A plan of these sizes with every check that suits them."""
    checks = checks_for(rules, {"batch": batch, "production": production})
    return Plan(FORM, "test", rules, seed, batch, production, blocks, checks, "1/100", "holm", None)


SMALL = plan_of(Sizes(700, 150, 1, 20), Sizes(200, 100, 0, 10))
"""Every part on the batch path, all but bits on the other: 7 + 1 + 1 + 1 + 4 + 1 + 1 blocks."""
