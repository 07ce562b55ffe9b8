"""The shoes of logs in turn: each coup judged as it comes, each shoe when it has ended, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from audit.foreign.composition import Ints, excesses, level_of
from audit.foreign.counts import LogCounts
from audit.foreign.hands import Drawn, drawn_by, fault_of, size_fault, winner
from audit.foreign.notation import Hand, print_cards
from audit.foreign.order import OUTCOMES_K, Place, Repeat, Repeats, fresh_order
from audit.foreign.rows import LoggedCoup
from audit.foreign.settlement import settlement_fault
from audit.foreign.violations import Ledger, Violation
from audit.pair_law import BothPairs
from shoe.game.cards import DECK
from shoe.game.tableau import OUTCOMES, Outcome

MOST_COUPS: Final = 4096
"""Coups of one shoe that are held at a time, many times what 16 decks can deal; what follows is another part of it."""

NAMES_KEPT: Final = 2**16
"""Shoes of a file of which it is remembered that they have been left."""

_LEAST_CARDS: Final = 4


class _Wrong(NamedTuple):
    """A violation before its place is known."""

    kind: str
    sort: str
    expected: str
    found: str


@dataclass(slots=True)
class _Shoe:
    """The shoe that is being read."""

    place: Place
    part: int = 0
    codes: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    coups: list[str | None] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    drawn: list[tuple[Drawn, Outcome] | None] = field(default_factory=list)
    pairs: list[BothPairs | None] = field(default_factory=list)


@dataclass(slots=True)
class ShoeBook:
    """Takes logged coups in the order of their files; what is wrong goes to `ledger`, what is counted to `counts`."""

    decks: int
    ledger: Ledger
    counts: LogCounts
    repeats: Repeats = field(default_factory=Repeats)
    file: str = ""
    _shoe: _Shoe | None = None
    _next: int | None = None
    _latest: LoggedCoup | None = None
    _left: dict[str, None] = field(default_factory=dict)

    def begin(self, file: str) -> None:
        """Go on with another file."""
        self.file = file
        self._left.clear()

    def take(self, coup: LoggedCoup) -> None:
        """Judge one coup; one of another shoe than the last ends that."""
        shoe = self._shoe
        if shoe is None or shoe.place.shoe != coup.shoe:
            self.end()
            shoe = self._open(coup)
        elif _same_coup(self._latest, coup):
            self._settle(coup)
            return
        elif len(shoe.ends) >= MOST_COUPS:
            self._close(None)
            shoe = self._shoe = _Shoe(shoe.place, shoe.part + 1)
        self._latest = coup
        self._number(coup)
        self._judge(shoe, coup)
        if coup.settled is not None:
            self._settle(coup)

    def gap(self) -> None:
        """Take note of a line that could not be read: any number may come next."""
        self._next = self._latest = None

    def end(self, judged: int | None = None) -> None:
        """End the shoe, of which the first `judged` coups go into the battery; all, if not given."""
        if self._shoe is None:
            return
        self._close(judged)
        if len(self._left) >= NAMES_KEPT:
            del self._left[next(iter(self._left))]
        self._left[self._shoe.place.shoe] = None
        self._shoe = self._latest = self._next = None

    def undealt(self, codes: tuple[int, ...]) -> bool:
        """Add the cards of the shoe that are behind its last coup, given all its cards; say whether it has a coup."""
        if self._shoe is None:
            return False
        self._shoe.codes += codes[len(self._shoe.codes) :]
        return True

    def _open(self, coup: LoggedCoup) -> _Shoe:
        self.counts.shoes += 1
        self._shoe = _Shoe(Place(self.counts.shoes, self.file, coup.shoe, coup.line))
        if coup.shoe in self._left:
            self._add("numbering", "shoe_resumed", coup, "a shoe in one piece", f"shoe {coup.shoe} again")
        elif coup.coup and coup.coup.isdecimal() and int(coup.coup) > 1:
            self._add("numbering", "coups_missing", coup, "the shoe's first coup, 0 or 1", coup.coup)
        return self._shoe

    def _number(self, coup: LoggedCoup) -> None:
        """Hold the coup's number against the one before, where both are numbers."""
        number = int(coup.coup) if coup.coup and coup.coup.isdecimal() else None
        if number is not None and self._next is not None and number != self._next:
            sort = "coups_missing" if number > self._next else "coup_again"
            self._add("numbering", sort, coup, f"coup {self._next}", f"coup {number}")
        self._next = None if number is None else number + 1

    def _judge(self, shoe: _Shoe, coup: LoggedCoup) -> None:
        self.counts.coups += 1
        outcome, drawn, pair = coup.outcome, None, None
        player, banker = coup.player, coup.banker
        if player is not None and banker is not None:
            drawn = drawn_by(player, banker)
            fault = size_fault(player, banker) if drawn is None else fault_of(drawn)
            if fault is not None:
                self._add("tableau", fault.sort, coup, fault.expected, _hands(player, banker))
            made = winner(player, banker)
            if outcome is None:
                outcome = made
            elif outcome != made:
                totals = f"{sum(player.points) % 10}:{sum(banker.points) % 10}"
                self._add("outcome", f"{outcome}_claimed", coup, f"{made}, for the cards make {totals}", outcome)
            if player.pair is not None and banker.pair is not None:
                pair = player.pair, banker.pair
            shoe.codes += _in_order(player.codes, banker.codes)
        if outcome is None:
            return
        shoe.ends.append(len(shoe.codes))
        shoe.lines.append(coup.line)
        shoe.coups.append(coup.coup)
        shoe.outcomes.append(outcome)
        shoe.drawn.append(None if drawn is None else (drawn, outcome))
        shoe.pairs.append(pair)

    def _settle(self, coup: LoggedCoup) -> None:
        if coup.settled is None:
            return
        shown = coup.player is not None and coup.banker is not None
        outcome = winner(coup.player, coup.banker) if shown else coup.outcome  # type: ignore[arg-type]
        if outcome is not None and (fault := settlement_fault(coup.settled, outcome)) is not None:
            self._add("settlement", f"{coup.settled.bet}_{fault[0]}", coup, *fault[1:])

    def _close(self, judged: int | None) -> None:
        shoe = self._shoe
        if shoe is None or not shoe.ends:
            return
        possible = self._look_at_cards(shoe) if shoe.codes else self._look_at_outcomes(shoe)
        counts, prefix = self.counts, slice(judged)
        drawn = [each for each in shoe.drawn[prefix] if each is not None]
        counts.drawn.update(drawn)
        if shoe.codes:
            counts.misshapen += len(shoe.drawn[prefix]) - len(drawn)
        counts.pair_classes.update(pair for pair in shoe.pairs[prefix] if pair is not None)
        counts.add_outcomes(tuple(shoe.outcomes[prefix]), possible=possible)

    def _look_at_cards(self, shoe: _Shoe) -> bool:
        """Judge the cards of a shoe; say whether its decks can have dealt them."""
        codes = np.array(shoe.codes, dtype=np.int64)
        level = level_of(codes)
        types = level.types[codes]
        found = excesses(types, level, self.decks)
        for excess in found if shoe.part == 0 else ():
            self._add_at(shoe, excess.place, _Wrong("composition", excess.sort, excess.expected, excess.found))
        for order in (types, types[_sides_in_turn(shoe.ends)]):
            if (fresh := fresh_order(order, level)) is not None:
                words = f"{fresh.cards} cards from card {fresh.place + 1} of the shoe on, {fresh.words}"
                self._add_at(shoe, fresh.place, _Wrong("fresh_order", level.name, "cards in a shuffled order", words))
                break
        self._look_for_repeat(shoe, types, level.name, level.k)
        possible = not found and shoe.part == 0
        if shoe.part == 0:
            self.counts.add_cards(codes, level, possible=possible)
        return possible

    def _look_at_outcomes(self, shoe: _Shoe) -> bool:
        most = DECK * self.decks // _LEAST_CARDS
        numbers = np.array([OUTCOMES.index(outcome) for outcome in shoe.outcomes], dtype=np.int64)
        self._look_for_repeat(shoe, numbers, "outcome", OUTCOMES_K)
        if len(numbers) <= most and shoe.part == 0:
            return True
        if shoe.part == 0:
            words = f"at most {most} coups of four cards from {self.decks} decks"
            self.counts.impossible_shoes += 1
            self._add_from(shoe, most, _Wrong("composition", "too_many_coups", words, str(len(numbers))))
        return False

    def _look_for_repeat(self, shoe: _Shoe, types: Ints, alphabet: str, k: int) -> None:
        repeat = self.repeats.add(types, alphabet, k, shoe.place)
        if repeat is None:
            return
        what = "outcome" if alphabet == "outcome" else "card"
        wrong = _Wrong("repeated_run", alphabet, f"{what}s in an order of their own", _repeat_words(repeat, what))
        if what == "outcome":
            self._add_from(shoe, repeat.place, wrong)
        else:
            self._add_at(shoe, repeat.place, wrong)

    def _add(self, kind: str, sort: str, coup: LoggedCoup, expected: str, found: str) -> None:
        self.ledger.add(Violation(kind, sort, self.file, coup.shoe, coup.coup, coup.line, expected, found))

    def _add_at(self, shoe: _Shoe, card: int, wrong: _Wrong) -> None:
        """Report what shows at a card, by its place in the shoe; behind the last coup it counts as that."""
        coup = int(np.searchsorted(shoe.ends, card, side="right"))
        self._add_from(shoe, min(coup, len(shoe.ends) - 1), wrong)

    def _add_from(self, shoe: _Shoe, coup: int, wrong: _Wrong) -> None:
        kind, sort, *words = wrong
        place = shoe.place
        self.ledger.add(
            Violation(kind, sort, place.file, place.shoe, shoe.coups[coup], shoe.lines[coup], words[0], words[1])
        )


def _same_coup(latest: LoggedCoup | None, coup: LoggedCoup) -> bool:
    """Say whether a line is one more bet on the coup before."""
    if latest is None or latest.settled is None or coup.settled is None or coup.coup is None:
        return False
    return latest[1:6] == coup[1:6]


def _in_order(player: tuple[int, ...], banker: tuple[int, ...]) -> list[int]:
    """Put a coup's cards in the order of dealing: P B P B, the player's third, the banker's third."""
    if len(player) > 1 and len(banker) > 1:
        return [player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]]
    return [*player[:1], *banker[:1], *player[1:], *banker[1:]]


def _sides_in_turn(ends: list[int]) -> Ints:
    """List the places of a shoe's cards as if each coup had been dealt P P B B."""
    stops = np.array(ends, dtype=np.int64)
    starts = np.concatenate(([0], stops[:-1]))
    order = np.arange(stops[-1])
    second = starts[stops - starts >= _LEAST_CARDS] + 1
    order[second], order[second + 1] = second + 1, second
    return order


def _hands(player: Hand, banker: Hand) -> str:
    return f"player {print_cards(player.codes)}, banker {print_cards(banker.codes)}"


def _repeat_words(repeat: Repeat, what: str) -> str:
    earlier = repeat.earlier
    return (
        f"{repeat.cards} {what}s or more from {what} {repeat.place + 1} on that came from {what} "
        f"{repeat.earlier_place + 1} on in shoe {earlier.shoe} of {earlier.file}, which begins at line {earlier.line}"
    )
