"""A hundred million coups from the kernel: what every bet earns the house is its exact edge, within four errors."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest

from audit.checks.own_bets import seen_by_bets
from audit.kernel import deal_block, orders
from audit.showings import showings
from audit.wagers import bet_edge, edge_at
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import PAIRS, Shown
from shoe.game.bets.wagers import CATALOGUE, Bet
from shoe.game.houses import HOUSES, NP_PUNTO_BANCO
from shoe.game.rules import Rules
from tests.reference import bulk_dealer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

KEY = bytes.fromhex("b0b5" + "0" * 59 + "1")
BATCH = 10_000

Numbers = npt.NDArray[np.int64]


def shown_coups(rules: Rules, first: int) -> Numbers:
    """Count what coups 1…K of a batch show, by `code`: the kernel's orders, dealt by the reference's chart."""
    order = orders(rules, KEY, range(first, first + BATCH)).astype(np.int64)
    rows, position = np.arange(BATCH), np.zeros(BATCH, np.int64)
    codes, used = bulk_dealer.table(bulk_dealer.CHART)
    counts = np.zeros(CODES, np.int64)
    for _ in range(rules.judged_coups):
        six = order[rows, position + np.arange(6)[:, None]] % 52
        p1, b1, p2, b2, x, y = bulk_dealer.POINTS[six % 13].astype(np.int64)
        index = (((p1 + p2) % 10 * 10 + (b1 + b2) % 10) * 10 + x) * 10 + y
        pairs = pair_class(six[0], six[2]) * 4 + pair_class(six[1], six[3])
        counts += np.bincount(codes[index].astype(np.int64) * 16 + pairs, minlength=CODES)
        position += used[index]
    return counts


CODES = bulk_dealer.CODES * 16


def pair_class(one: Numbers, other: Numbers) -> Numbers:
    """0 none, 1 mixed, 2 coloured, 3 pure: clubs and spades are black."""
    black, other_black = ((cards // 13 == 0) | (cards // 13 == 3) for cards in (one, other))
    same = 1 + (black == other_black) + (one == other)
    return np.where(one % 13 == other % 13, same, 0)


def shown(code: int) -> Shown:
    """Read a code back: rule class, totals, cards used, both sides' pairs."""
    code, pairs = divmod(code, 16)
    rule, joint = divmod(code, bulk_dealer.JOINT)
    player, rest = divmod(joint, 30)
    banker, cards = divmod(rest, 3)
    stood = rule < 3 or bulk_dealer.RULES[rule].startswith("stood")
    player_cards = 2 if stood else 3
    return Shown(player, banker, player_cards, cards + 4 - player_cards, PAIRS[pairs // 4], PAIRS[pairs % 4])


def test_every_bet_earns_its_edge_over_a_hundred_million_coups() -> None:
    """The key was fixed before any run, and no other was tried; batches are independent, coups of a shoe are not."""
    rules, terms = NP_PUNTO_BANCO.rules, NP_PUNTO_BANCO.terms
    batches = 145
    counts = np.array([shown_coups(rules, at * BATCH) for at in range(batches)])
    coups = BATCH * rules.judged_coups
    assert (counts.sum(axis=1) == coups).all()
    assert counts.sum() == 145 * 690_000
    assert counts.sum() >= 100_000_000
    seen = np.flatnonzero(counts.sum(axis=0))
    shows = [shown(int(code)) for code in seen]
    assert set(shows) <= set(showings(8).counts)
    for bet in CATALOGUE.values():
        judge(
            bet, [settle_shown(bet, 10_000, each, terms).net_minor / 10_000 for each in shows], counts[:, seen], coups
        )
    _, mean, _ = earned([1.0] * len(seen), counts[:, seen], coups)
    assert mean == 1


def judge(bet: Bet, nets: list[float], counts: Numbers, coups: int) -> None:
    """Compare the mean of the batches with the exact edge."""
    edge, mean, error = float(bet_edge(showings(8), bet)), *earned(nets, counts, coups)[1:]
    assert 0 < error < 0.01
    assert abs(-mean - edge) < 4 * error, bet.name


def earned(nets: list[float], counts: Numbers, coups: int) -> tuple[npt.NDArray[np.float64], float, float]:
    """Give each batch's mean net, their mean, and its standard error."""
    means = counts @ np.array(nets) / coups
    return means, float(means.mean()), float(means.std(ddof=1)) / sqrt(len(means))


@pytest.mark.parametrize("table", HOUSES)
def test_every_bet_of_every_table_earns_its_edge_over_a_hundred_million_coups_of_its_own(table: str) -> None:
    """By the kernel's own counts: of cells, and of pairs at the table whose bets look at them."""
    rules, terms, law = HOUSES[table].rules, HOUSES[table].terms, showings(HOUSES[table].rules.decks)
    blocks, each_coup = 200, rules.shuffle == "coup"
    shoes = 500_000 if each_coup else 2 * -(-250_000 // rules.judged_coups)  # an even number
    coups = shoes if each_coup else shoes * rules.judged_coups
    seen = [
        seen_by_bets(block.judged_cells, block.pair_cells)
        for block in (deal_block(rules, KEY, at * shoes, shoes) for at in range(blocks))
    ]
    shows = sorted(set().union(*seen))
    counts = np.array([[of_block.get(each, 0) for each in shows] for of_block in seen])
    assert (counts.sum(axis=1) == coups).all()
    assert counts.sum() >= 100_000_000
    assert (len(shows) > 1000) == any(bet.side for bet in terms.bets)
    least = terms.limits.min_minor
    for bet in terms.bets:
        nets = [settle_shown(bet, least, each, terms).net_minor / least for each in shows]
        _, mean, error = earned(nets, counts, coups)
        assert 0 < error < 0.001
        assert abs(-mean - float(edge_at(law, bet, least, terms))) < 4 * error, bet.name


def test_a_wrong_pay_is_seen() -> None:
    """The same sample tells 25:1 from 26:1 on Panda 8, and 11:1 from 12:1 on a pair."""
    rules = NP_PUNTO_BANCO.rules
    counts = np.array([shown_coups(rules, at * BATCH) for at in range(20)])
    seen = np.flatnonzero(counts.sum(axis=0))
    for name, line in (("panda_8", "player_three_card_8"), ("player_pair", "player_pair")):
        bet = CATALOGUE[name]
        nets = [(pay.gain + 1 if (pay := bet.pay_on(shown(int(code)))) else -1) for code in seen]
        assert bet.pays[0].event == line
        with pytest.raises(AssertionError, match=name):
            judge(bet, [float(net) for net in nets], counts[:, seen], BATCH * rules.judged_coups)
