"""The compiled loop that shuffles and deals, bit for bit as `shoe` does; the one file with numba.

A batch of shoes goes through three passes over memory that stays in the caches: keystream (`audit.keystream`), words
to bounded draws, draws to orders and counts. Nothing in these loops waits or branches on chance: two shoes are
shuffled side by side, a few dozen are dealt abreast, and a rejected word is only noticed; the rare shoe that has one
is drawn by the scalar code.

Whatever the compiled code depends on stands in this file, because numba compiles anew only when this file changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import event

from audit.block import Block
from audit.cells import CELLS, coup_table, twin_table
from audit.keystream import Keys, Stream, check_shoes, key_and_hand, keystream
from audit.own_bets import looks_at_pairs
from shoe.errors import InputError, expected
from shoe.game.bets.shown import PAIRS
from shoe.game.cards import DECK, POINTS
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.rules import Rules
from shoe.proof.stream import WORD_SPAN, below, words

__all__ = ["Keys", "deal_block", "keystream", "orders", "prepare"]

Function = TypeVar("Function", bound=Callable[..., Any])
U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_u8, _u16, _u32, _u64 = np.uint8, np.uint16, np.uint32, np.uint64

SHOES_AT_ONCE: Final = 256
COUPS_AT_ONCE: Final = 4096
SHOES_ABREAST: Final = 32
_COUP_CARDS: Final = 6
_PLAYER, _BANKER, _TIE = _u8(0), _u8(1), _u8(2)

# An entry of the coup table: cell in the lowest ten bits, then cards used, then the outcome.
_CELL_SPAN: Final = 1024
_CELL_MASK: Final = _u16(_CELL_SPAN - 1)
_USED_SHIFT, _USED_MASK, _OUTCOME_SHIFT = _u16(10), _u16(7), _u16(13)

# A card's label: its physical number in the lowest ten bits, then its points.
_POINTS_SHIFT: Final = _u16(10)
_CARD_MASK: Final = _u16(1023)
_DECK: Final = _u16(DECK)

_PAIR_SPAN: Final = _u32(len(PAIRS))
_BOTH_PAIRS: Final = _u32(len(PAIRS) ** 2)


def compiled(function: Function) -> Function:
    """Compile on first use, and keep the machine code on disk where numba finds a place for it.

    That is NUMBA_CACHE_DIR, the package's own __pycache__, or the user's cache folder, whichever can be written to.
    Without any, each process compiles.
    """
    try:
        return cast(Function, njit(function, cache=True, nogil=True, boundscheck=False))
    except RuntimeError:
        return cast(Function, njit(function, nogil=True, boundscheck=False))


# --- words to draws ----------------------------------------------------------------------------


class Draws(NamedTuple):
    """What is drawn from a shuffle's words: the i-th result is offsets[i] + below(bounds[i]), uint32 each.

    A bound of 1 stands for no draw: any word gives 0. `thresholds` has 2^32 mod bound.
    """

    bounds: U32
    thresholds: U32
    offsets: U32


@compiled
def _draw(batch: U32, draws: Draws, rejected: npt.NDArray[np.bool_]) -> None:
    """Turn each row's words into draws where they stand, and say in which rows a word was rejected."""
    bounds, thresholds, offsets = draws
    for s in range(len(rejected)):
        row, bad = batch[s], _u32(0)
        for i in range(len(bounds)):
            product = _u64(row[i]) * _u64(bounds[i])
            bad |= _u32(_u32(product) < thresholds[i])
            row[i] = _u32(product >> _u64(32)) + offsets[i]
        rejected[s] = bad != _u32(0)


def _all_draws(rules: Rules) -> Draws:
    """List the draws of a whole shuffle, n − 1, and then how many cards lie behind the cut card (protocol §6)."""
    lowest, highest = (0, 0) if rules.cut is None else (rules.cut.lowest, rules.cut.highest)
    bounds = [*range(rules.size, 1, -1), highest - lowest + 1]
    return _draws(bounds, [*range(rules.size - 1), lowest])


def _first_draws(rules: Rules) -> Draws:
    """List the six draws that a coup needs, and two of bound 1 that fill the last block."""
    bounds = [*range(rules.size, rules.size - _COUP_CARDS, -1), 1, 1]
    return _draws(bounds, [*range(_COUP_CARDS), 0, 0])


def _draws(bounds: Sequence[int], offsets: Sequence[int]) -> Draws:
    thresholds = [WORD_SPAN % bound for bound in bounds]
    return Draws(np.array(bounds, _u32), np.array(thresholds, _u32), np.array(offsets, _u32))


class _Drawn:
    """The draws of batch after batch of shoes, in `table`: uint32[rows, len(bounds)]."""

    def __init__(self, keys: Keys, draws: Draws, rows: int) -> None:
        self._keys, self._draws = keys, draws
        self._stream = Stream(keys, rows, len(draws.bounds))
        self.table = self._stream.words

    def fill(self, shoes: U64) -> None:
        """Draw for these shoes; an odd last one gets a neighbour of legal draws that mean nothing."""
        self._stream.fill(shoes)
        rejected = np.empty(len(shoes) + len(shoes) % 2, np.bool_)
        _draw(self.table, self._draws, rejected)
        for row in np.flatnonzero(rejected[: len(shoes)]):
            self.table[row] = self._by_scalar_code(int(shoes[row]))

    def _by_scalar_code(self, shoe: int) -> list[int]:
        source = words(*key_and_hand(self._keys, shoe))
        pairs = zip(self._draws.bounds.tolist(), self._draws.offsets.tolist(), strict=True)
        return [offset + (below(source, bound) if bound > 1 else 0) for bound, offset in pairs]


# --- draws to orders ---------------------------------------------------------------------------


@compiled
def _shuffle(rows: int, draws: U32, fresh: U16, cards: U16) -> None:
    """Shuffle a fresh shoe into each row, two side by side; an odd last row takes the next one with it.

    Source: protocol §6.
    """
    size = len(fresh)
    for s in range(0, rows, 2):
        one, other, draw, other_draw = cards[s], cards[s + 1], draws[s], draws[s + 1]
        for i in range(size):
            one[i] = fresh[i]
            other[i] = fresh[i]
        for i in range(size - 1):
            j, other_j = draw[i], other_draw[i]
            card, other_card = one[i], other[i]
            one[i], other[i] = one[j], other[other_j]
            one[j], other[other_j] = card, other_card


def orders(rules: Rules, keys: Keys, hands: Sequence[int]) -> npt.NDArray[np.uint16]:
    """Shuffle whole shoes and give their orders: uint16[len(hands), n], physical cards 0…n−1 as they are dealt.

    Physical card c has the number c mod 52 (protocol §2). With one key `hands` are the shuffles' numbers h, with many
    they are places in `keys`. Raises InputError for a shoe there is no key for.
    """
    given = np.empty((len(hands), rules.size), np.uint16)
    if not len(hands):
        return given
    check_shoes(keys, min(hands), max(hands))
    drawn = _Drawn(keys, _all_draws(rules), SHOES_AT_ONCE)
    fresh, cards = np.arange(rules.size, dtype=np.uint16), np.empty((SHOES_AT_ONCE, rules.size), np.uint16)
    shoes = np.array(hands, np.uint64)
    for at in range(0, len(shoes), SHOES_AT_ONCE):
        batch = shoes[at : at + SHOES_AT_ONCE]
        drawn.fill(batch)
        _shuffle(len(batch), drawn.table, fresh, cards)
        given[at : at + len(batch)] = cards[: len(batch)]
    return given


# --- orders to counts --------------------------------------------------------------------------


class Table(NamedTuple):
    """A table's rules as the compiled code takes them.

    `fresh` has the labels of the fresh shoe, `entries` the coup table, `weights` an odd number for every four cards.
    `twins` has the class of two cards' pair at 52·one + other; `pairs` says whether pairs are counted.
    """

    fresh: U16
    entries: U16
    weights: U64
    twins: U8
    pairs: bool
    judged: int
    burn: bool
    one_more: bool


class Desk(NamedTuple):
    """Room to deal in.

    `cards` has a shoe a row: its order first, and then in its stead, place by place, the row of `coup_table` for a
    coup that starts there. `fours` are the same bytes, four cards at a time; `points` and `totals` serve one shoe.
    Where pairs are counted, `twins` has for each place the class of the pair that its card makes with the next but one.
    For each shoe abreast: where it stands, where its last coup started, its number of coups. For all of a batch:
    the outcome of coup k of shoe s at outcomes[k, s], the hash of each order, and nine counters a shoe.
    """

    cards: U16
    fours: U64
    points: U8
    totals: U8
    twins: U8
    position: U32
    before: U32
    number: U32
    outcomes: U8
    hashes: U64
    lanes: U8


class Sums(NamedTuple):
    """What is counted: `judged` and `later` coups by cell [1024], the rest as in `Block`, with `runs` [1]."""

    judged: I64
    later: I64
    pair_cells: I64
    coups_per_shoe: I64
    wins: I64
    runs: I64
    pairs: I64
    first: I64
    last: I64
    same_place: I64


@compiled
def _stirred(value: np.uint64) -> np.uint64:
    """Mix 64 bits one to one."""
    value ^= value >> _u64(32)
    value *= _u64(0xD6E8FEB86659FD93)
    return value ^ (value >> _u64(32))


@compiled
def _hash(fours: U64, weights: U64) -> np.uint64:
    """Hash an order: a sum of its 64-bit words, each times an odd number of its own, stirred."""
    total = _u64(0)
    for i in range(len(weights)):
        total += fours[i] * weights[i]
    return _stirred(total)


@compiled
def _burned(card: np.uint16) -> np.uint32:
    points = _u32(card >> _POINTS_SHIFT)
    return points + _u32(1) if points else _u32(11)


@compiled
def _look_up(cards: U16, size: int, points: U8, totals: U8) -> None:
    """Write over each card the row of `coup_table` for a coup that starts there."""
    for i in range(size):
        points[i] = _u8(cards[i] >> _POINTS_SHIFT)
    for i in range(size - 2):
        total = _u8(points[i] + points[i + 2])
        totals[i] = total - _u8(10) if total >= _u8(10) else total
    for i in range(size - _COUP_CARDS + 1):
        both = _u16(_u16(totals[i]) * _u16(10) + _u16(totals[i + 1]))
        drawn = _u16(_u16(points[i + 4]) * _u16(10) + _u16(points[i + 5]))
        cards[i] = _u16(both * _u16(100)) + drawn


@compiled
def _pair_up(rows: int, table: Table, desk: Desk) -> None:
    """Class the pairs of each card and the next but one: the first two cards of a hand."""
    size, kinds, twins = len(table.fresh), desk.points, table.twins
    for s in range(rows):
        cards, found = desk.cards[s], desk.twins[s]
        for i in range(size):
            kinds[i] = _u8((cards[i] & _CARD_MASK) % _DECK)
        for i in range(size - 2):
            found[i] = twins[_u32(kinds[i]) * _u32(_DECK) + _u32(kinds[i + 2])]


@compiled
def _lay_out(rows: int, table: Table, desk: Desk, hashes: U64) -> None:
    """Hash the shoes on the desk, burn, and look up every coup they could deal."""
    size, cards, fours, position = len(table.fresh), desk.cards, desk.fours, desk.position
    for s in range(rows):
        hashes[s] = _hash(fours[s], table.weights)
        position[s] = _burned(cards[s, 0]) if table.burn else _u32(0)
        _look_up(cards[s], size, desk.points, desk.totals)


@compiled
def _deal_judged(rows: int, table: Table, desk: Desk, judged: I64, outcomes: U8) -> None:
    """Deal coups 1…K of the shoes on the desk, all abreast, so that none waits for its own last coup."""
    entries, cards, position, before = table.entries, desk.cards, desk.position, desk.before
    for k in range(table.judged):
        for s in range(rows):
            at = position[s]
            entry = entries[cards[s, at]]
            before[s] = at
            position[s] = at + _u32((entry >> _USED_SHIFT) & _USED_MASK)
            judged[entry & _CELL_MASK] += 1
            outcomes[k, s] = entry >> _OUTCOME_SHIFT


@compiled
def _count_both_pairs(rows: int, table: Table, desk: Desk, pair_cells: I64) -> None:
    """Count coups 1…K of the shoes on the desk, which stand at their first, by cell and by both hands' pairs."""
    entries, cards, twins, at = table.entries, desk.cards, desk.twins, desk.before
    at[:rows] = desk.position[:rows]
    for _ in range(table.judged):
        for s in range(rows):
            place = at[s]
            entry = entries[cards[s, place]]
            both = twins[s, place] * _PAIR_SPAN + twins[s, place + _u32(1)]
            pair_cells[(entry & _CELL_MASK) * _BOTH_PAIRS + both] += 1
            at[s] = place + _u32((entry >> _USED_SHIFT) & _USED_MASK)


@compiled
def _deal_later(rows: int, draws: U32, table: Table, desk: Desk, sums: Sums) -> None:
    """Deal the shoes on the desk to their ends. Source: protocol §6.

    A shoe goes on while a coup can start before or at the cut card, and then, with one more, unless its last coup
    started there. A shoe that has ended goes through the motions, counted 0 times.
    """
    entries, cards, position, before, number = table.entries, desk.cards, desk.position, desk.before, desk.number
    size, one_more, later = len(table.fresh), table.one_more, sums.later
    number[:rows] = table.judged
    going = _u32(1)
    while going:
        going = _u32(0)
        for s in range(rows):
            at, cut = position[s], _u32(size) - draws[s, size - 1]
            more = _u32((at <= cut) | (one_more & (before[s] < cut)))
            entry = entries[cards[s, at]]
            before[s] = at
            position[s] = at + more * _u32((entry >> _USED_SHIFT) & _USED_MASK)
            later[entry & _CELL_MASK] += more
            number[s] += more
            going |= more
    for s in range(rows):
        sums.coups_per_shoe[number[s]] += 1


@compiled
def _count_winners(outcomes: U8, lanes: U8, sums: Sums) -> None:
    """Count wins and runs of each shoe, a batch abreast, and its first and last outcome."""
    shoes = outcomes.shape[1]
    banker, player, runs, winner = lanes[0], lanes[1], lanes[2], lanes[3]
    lanes[:3] = 0
    winner[:] = _TIE
    for k in range(len(outcomes)):
        for s in range(shoes):
            outcome = outcomes[k, s]
            banker[s] += _u8(outcome == _BANKER)
            player[s] += _u8(outcome == _PLAYER)
            runs[s] += _u8((outcome != _TIE) & (outcome != winner[s]))
            winner[s] = winner[s] if outcome == _TIE else outcome
    for s in range(shoes):
        sums.wins[banker[s], player[s]] += 1
        sums.runs[0] += runs[s]
        sums.first[outcomes[0, s]] += 1
        sums.last[outcomes[-1, s]] += 1


@compiled
def _count_pairs(one: U8, other: U8, lanes: U8, counts: I64, step: int) -> None:
    """Count the pairs of outcomes at the same place of two tables, in every `step`-th column."""
    shoes = other.shape[1]
    lanes[:] = 0
    for k in range(len(one)):
        for s in range(shoes):
            code = _u8(one[k, s] * _u8(3) + other[k, s])
            for pair in range(9):
                lanes[pair, s] += _u8(code == _u8(pair))
    for pair in range(9):
        for s in range(0, shoes, step):
            counts[pair] += lanes[pair, s]


@compiled
def _deal(draws: U32, rows: int, table: Table, desk: Desk, sums: Sums) -> None:
    """Shuffle, deal and count the shoes of a batch."""
    abreast, outcomes = len(desk.position), desk.outcomes[:, :rows]
    for first in range(0, rows, abreast):
        here = min(abreast, rows - first)
        _shuffle(here, draws[first:], table.fresh, desk.cards)
        if table.pairs:
            _pair_up(here, table, desk)
        _lay_out(here, table, desk, desk.hashes[first:])
        if table.pairs:
            _count_both_pairs(here, table, desk, sums.pair_cells)
        _deal_judged(here, table, desk, sums.judged, outcomes[:, first:])
        _deal_later(here, draws[first:], table, desk, sums)
    _count_winners(outcomes, desk.lanes, sums)
    _count_pairs(outcomes[:-1], outcomes[1:], desk.lanes, sums.pairs, 1)
    _count_pairs(outcomes, outcomes[:, 1:], desk.lanes, sums.same_place, 2)


# --- tables shuffled for every coup ------------------------------------------------------------


@compiled
def _card_at(draws: U32, place: int) -> np.uint32:
    """Find the physical card that the exchanges bring to a place, without a shoe to exchange in."""
    card: np.uint32 = draws[place]
    for earlier in range(place - 1, -1, -1):
        if draws[earlier] == card:
            card = _u32(earlier)
    return card


@compiled
def _count_first_pairs(draws: U32, rows: int, table: Table, pair_cells: I64) -> None:
    """Count the one coup of each shuffle of a batch by cell and by both hands' pairs."""
    fresh, kinds = table.fresh, np.zeros(_COUP_CARDS, np.uint32)
    points = np.zeros(_COUP_CARDS, np.uint32)
    for s in range(rows):
        for place in range(_COUP_CARDS):
            label = fresh[_card_at(draws[s], place)]
            points[place] = label >> _POINTS_SHIFT
            kinds[place] = (label & _CARD_MASK) % _DECK
        both = (points[0] + points[2]) % _u32(10) * _u32(10) + (points[1] + points[3]) % _u32(10)
        entry = table.entries[both * _u32(100) + points[4] * _u32(10) + points[5]]
        player, banker = kinds[0] * _u32(_DECK) + kinds[2], kinds[1] * _u32(_DECK) + kinds[3]
        pairs = table.twins[player] * _PAIR_SPAN + table.twins[banker]
        pair_cells[(entry & _CELL_MASK) * _BOTH_PAIRS + pairs] += 1


@compiled
def _deal_first(draws: U32, rows: int, table: Table, desk: Desk, sums: Sums) -> None:
    """Deal and count the one coup of each shuffle of a batch, from its first six draws."""
    judged, same_place, outcomes = sums.judged, sums.same_place, desk.outcomes[:, :rows]
    fresh, entries, hashes = table.fresh, table.entries, desk.hashes
    for s in range(rows):
        row = draws[s]
        a, b, c, d = _card_at(row, 0), _card_at(row, 1), _card_at(row, 2), _card_at(row, 3)
        e, f = _card_at(row, 4), _card_at(row, 5)
        player = (fresh[a] >> _POINTS_SHIFT) + (fresh[c] >> _POINTS_SHIFT)
        banker = (fresh[b] >> _POINTS_SHIFT) + (fresh[d] >> _POINTS_SHIFT)
        drawn = (fresh[e] >> _POINTS_SHIFT) * 10 + (fresh[f] >> _POINTS_SHIFT)
        entry = entries[(player % 10) * 1000 + (banker % 10) * 100 + drawn]
        judged[entry & _CELL_MASK] += 1
        outcomes[0, s] = entry >> _OUTCOME_SHIFT
        low = _u64(a) | _u64(b) << _u64(10) | _u64(c) << _u64(20)
        hashes[s] = _stirred(low | _u64(d) << _u64(30) | _u64(e) << _u64(40) | _u64(f) << _u64(50))
    for s in range(0, rows - 1, 2):
        same_place[outcomes[0, s] * 3 + outcomes[0, s + 1]] += 1
    sums.coups_per_shoe[1] += rows
    _count_winners(outcomes, desk.lanes, sums)
    if table.pairs:
        _count_first_pairs(draws, rows, table, sums.pair_cells)


# --- blocks ------------------------------------------------------------------------------------


def deal_block(rules: Rules, keys: Keys, first: int, count: int) -> Block:
    """Shuffle, deal and count the shoes `first`, `first` + 1 and so on, `count` of them.

    With one key, shoe s is shuffle h = s under it (the batch path); with a sequence of keys it is shuffle h = 0 under
    key s (the path of production). Pure: any process gives the same block. `first` is even, so that no block parts
    shoes 2j and 2j + 1. Takes 8 bytes a shoe and a fixed room beside. Raises InputError for an odd `first`, no shoes,
    a key not of 32 bytes, or shoes there is no key for.
    """
    if first % 2 or count < 1:
        raise InputError(expected("an even first shoe, and 1 or more shoes", (first, count), "deal_block"))
    check_shoes(keys, first, first + count - 1)
    lazy = rules.shuffle == "coup"
    rows, draws, deal = (
        (COUPS_AT_ONCE, _first_draws(rules), _deal_first) if lazy else (SHOES_AT_ONCE, _all_draws(rules), _deal)
    )
    table, desk, sums = _table(rules), _desk(rules, rows), _sums(rules)
    table, desk, sums = _table(rules), _desk(rules, rows), _sums(rules)
    drawn, hashes = _Drawn(keys, draws, rows), np.empty(count, np.uint64)
    for at in range(0, count, rows):
        here = min(rows, count - at)
        drawn.fill(np.uint64(first + at) + np.arange(here, dtype=np.uint64))
        deal(drawn.table, here, table, desk, sums)
        hashes[at : at + here] = desk.hashes[:here]
    return _block(count, sums, hashes)


def _table(rules: Rules) -> Table:
    cell, used, outcome = coup_table().T
    entries = np.zeros(10 << int(_POINTS_SHIFT), np.uint16)  # room for a label too, where an ended shoe stands on one
    entries[: len(cell)] = cell | used << int(_USED_SHIFT) | outcome << int(_OUTCOME_SHIFT)
    return Table(
        fresh=np.array([POINTS[card % DECK] << int(_POINTS_SHIFT) | card for card in range(rules.size)], np.uint16),
        entries=entries,
        weights=_weights(rules.size // 4),
        twins=twin_table(),
        pairs=looks_at_pairs(rules),
        judged=rules.judged_coups,
        burn=rules.burn == "first_card",
        one_more=rules.last_coup == "one_more",
    )


def _weights(count: int) -> U64:
    """Take the first numbers of SplitMix64 from state 0, made odd (Steele, Lea and Flood, OOPSLA 2014)."""
    values = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (values ^ (values >> np.uint64(31))) | np.uint64(1)


def _desk(rules: Rules, rows: int) -> Desk:
    cards = np.zeros((SHOES_ABREAST, rules.size + 4), np.uint16)  # a shoe may end behind its last card
    return Desk(
        cards=cards,
        fours=cards.view(np.uint64),
        points=np.zeros(rules.size, np.uint8),
        totals=np.zeros(rules.size, np.uint8),
        twins=np.zeros(cards.shape, np.uint8),
        position=np.zeros(SHOES_ABREAST, np.uint32),
        before=np.zeros(SHOES_ABREAST, np.uint32),
        number=np.zeros(SHOES_ABREAST, np.uint32),
        outcomes=np.zeros((rules.judged_coups, rows), np.uint8),
        hashes=np.zeros(rows, np.uint64),
        lanes=np.zeros((9, rows), np.uint8),
    )


def _sums(rules: Rules) -> Sums:
    judged, most = rules.judged_coups, rules.size // 4 + 3
    both = len(CELLS) * int(_BOTH_PAIRS) if looks_at_pairs(rules) else 0
    spans: list[int | tuple[int, int]] = [_CELL_SPAN, _CELL_SPAN, both, most, (judged + 1, judged + 1), 1, 9, 3, 3, 9]
    return Sums(*(np.zeros(span, np.int64) for span in spans))


def _block(shoes: int, sums: Sums, hashes: U64) -> Block:
    cells = len(CELLS)
    return Block(
        shoes=shoes,
        judged_cells=sums.judged[:cells],
        all_cells=(sums.judged + sums.later)[:cells],
        pair_cells=sums.pair_cells,
        coups_per_shoe=sums.coups_per_shoe,
        wins=sums.wins,
        runs=int(sums.runs[0]),
        pairs=sums.pairs,
        first=sums.first,
        last=sums.last,
        same_place=sums.same_place,
        order_hashes=hashes,
    )


# --- compiling ---------------------------------------------------------------------------------


class _Compiling(event.Listener):
    """Says once that code is being compiled."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say: Callable[[str], None] | None = say

    def on_start(self, _event: object) -> None:
        if self._say is not None:
            self._say("compiling the dealing kernel: some seconds, once on this machine")
            self._say = None

    def on_end(self, _event: object) -> None:
        """Compiled: nothing to say."""


def prepare(say: Callable[[str], None]) -> None:
    """Compile the kernel, or load it compiled, by dealing a few shoes of each kind.

    `say` is told once, before it starts, that compiling takes time; not at all where nothing is compiled.
    """
    each_coup, key = Rules("none", 1, None, 1, "house", "drawn_in", "coup"), bytes(32)
    with event.install_listener("numba:compile", _Compiling(say)):
        deal_block(NP_PUNTO_BANCO.rules, key, 0, 2)
        deal_block(each_coup, key, 0, 2)
        orders(each_coup, key, [0])
