"""A table's rules: their form, and which of them can be played (protocol §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from shoe.errors import RulesError, expected
from shoe.game.cards import DECK, MAX_DECKS
from shoe.game.tableau import MAX_CARDS

MAX_COUPS: Final = 2**20
MAX_BURN: Final = 11
_LEAST_BEHIND: Final = {"drawn_in": 6, "one_more": 11}
_KEYS: Final = ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "burn": ("none", "first_card"),
    "entropy": ("two_phase", "beacon", "house"),
    "game": ("punto_banco",),
    "last_coup": ("drawn_in", "one_more"),
    "shuffle": ("shoe", "coup"),
}


@dataclass(frozen=True, slots=True)
class CutRange:
    """How many cards may lie behind the cut card: `lowest` to `highest`, both included."""

    lowest: int
    highest: int

    @property
    def fixed(self) -> bool:
        """Whether the cut card always lies at one place, so that no draw is spent on it."""
        return self.lowest == self.highest


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one table; every instance can be played without running out of cards.

    `further` holds keys beyond the protocol's own (bets, limits): carried, committed to, not interpreted here.
    Raises RulesError, saying which rule and why. Source: protocol §6.
    """

    burn: Literal["none", "first_card"]
    coups: int | None
    cut: CutRange | None
    decks: int
    entropy: Literal["two_phase", "beacon", "house"]
    last_coup: Literal["drawn_in", "one_more"]
    shuffle: Literal["shoe", "coup"]
    game: Literal["punto_banco"] = "punto_banco"
    further: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what can't be played."""
        for key, choices in _CHOICES.items():
            if getattr(self, key) not in choices:
                raise RulesError(expected(" or ".join(choices), getattr(self, key), f"rules.{key}"))
        _integer("decks", self.decks, 1, MAX_DECKS)
        if self.shuffle == "shoe":
            self._check_shoe()
        else:
            self._check_coups()

    def _check_shoe(self) -> None:
        if self.coups is not None:
            raise RulesError(expected("null where the shoe is shuffled once", self.coups, "rules.coups"))
        if self.cut is None:
            raise RulesError(expected("{from, to} where the shoe is shuffled once", None, "rules.cut"))
        least = _LEAST_BEHIND[self.last_coup]
        _integer(
            "cut.from",
            self.cut.lowest,
            least,
            self.size,
            f" (so that {self.last_coup} can't run out of cards)",
        )
        _integer("cut.to", self.cut.highest, self.cut.lowest, self.size - MAX_BURN, " (so that no cut is burned)")

    def _check_coups(self) -> None:
        if self.cut is not None:
            raise RulesError(expected("null where each coup is shuffled anew", self.cut, "rules.cut"))
        if self.burn != "none":
            raise RulesError(expected("none where each coup is shuffled anew", self.burn, "rules.burn"))
        if self.last_coup != "drawn_in":
            raise RulesError(expected("drawn_in where each coup is shuffled anew", self.last_coup, "rules.last_coup"))
        _integer("coups", self.coups, 1, MAX_COUPS)

    @property
    def size(self) -> int:
        """Cards in the shoe."""
        return DECK * self.decks

    @property
    def leaves(self) -> int:
        """Cards that each deck root commits to: all, or six where each coup is shuffled anew (protocol §7)."""
        return self.size if self.shuffle == "shoe" else MAX_CARDS

    @property
    def judged_coups(self) -> int:
        """K: how many coups of a shuffle are always dealt, so that their probabilities are the exact ones.

        ⌊(n − greatest burn − greatest cut)/6⌋ + 1, or 1 where each coup is shuffled anew.
        """
        if self.cut is None:
            return 1
        burned = MAX_BURN if self.burn == "first_card" else 0
        return (self.size - burned - self.cut.highest) // MAX_CARDS + 1

    def to_json(self) -> dict[str, Any]:
        """Give the rules as the object that stands in records."""
        cut = None if self.cut is None else {"from": self.cut.lowest, "to": self.cut.highest}
        return {**self.further, **{key: getattr(self, key) for key in _KEYS}, "cut": cut}


def parse_rules(value: object, where: str = "rules") -> Rules:
    """Read rules from the object that stands in records; the inverse of `Rules.to_json`.

    Raises RulesError for a missing key, a value of the wrong kind, or rules that can't be played.
    """
    if not isinstance(value, Mapping):
        raise RulesError(expected("an object", value, where))
    for key in _KEYS:
        if key not in value:
            raise RulesError(expected(f"the keys {', '.join(_KEYS)}", f"none named {key}", where))
    given = {key: value[key] for key in _KEYS}
    further = {key: value[key] for key in value if key not in _KEYS}
    return Rules(**{**given, "cut": _parse_cut(given["cut"])}, further=further)


def _parse_cut(value: object) -> CutRange | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != {"from", "to"}:
        raise RulesError(expected("null or exactly the keys from, to", value, "rules.cut"))
    return CutRange(_integer("cut.from", value["from"], 0, 2**20), _integer("cut.to", value["to"], 0, 2**20))


def _integer(key: str, value: object, low: int, high: int, why: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RulesError(expected(f"an integer {low}…{high}{why}", value, f"rules.{key}"))
    return value
