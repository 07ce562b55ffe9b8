"""A plan: all that could be tuned about a certification, fixed and hashed before the first shoe is dealt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Final, Literal

from audit.battery import BATTERY, MAX_SHOES, PATHS, PathName, Sizes, checks_for, find_check
from audit.checks.bits import SEQUENCE
from audit.multiple import COLLECTIVE_LEVEL
from shoe.errors import InputError, expected
from shoe.game.rules import Rules
from shoe.game.tableau import MAX_CARDS
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import HASH, NAME, integer, list_of, one_of, or_null, part, read_fields, write_fields
from shoe.proof.notation import sha256
from shoe.proof.seal import RULES
from shoe.proof.seeds import MAX_BOOK

FORM: Final = "fairshoe/certification/1"
LEAST_SHOES: Final = 10
PRODUCTION: Final = 100_000
SAMPLE: Final = 10_000
SEQUENCES: Final = 60
REPLAYED: Final = 1_000
CONFIRM_TIMES: Final = 4
_WORD_BITS: Final = 32
_SPARE: Final = 5
"""A shoe in five, at most, is read as bits."""

SHOES_A_BLOCK: Final = 2**19
COUPS_A_BLOCK: Final = 2**21
KEYS_A_BLOCK: Final = 2**13
ORDERS_A_BLOCK: Final = 1_000
SEQUENCES_A_BLOCK: Final = 2
REPLAYED_A_BLOCK: Final = 500

Kind = Literal["shoes", "sampled", "sequences", "replayed"]


@dataclass(frozen=True, slots=True)
class Task:
    """One block of work: `count` shoes, orders, sequences or replayed shoes of a path, from `first` on."""

    path: PathName
    kind: Kind
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Shoes dealt in one block, of the batch and of the production path, even; each takes about a second."""

    batch: Annotated[int, integer(2, MAX_SHOES)]
    production: Annotated[int, integer(2, MAX_BOOK)]


@dataclass(frozen=True, slots=True)
class Plan:
    """A certification, fixed: a run is a function of it alone.

    `table` names the preset, or says what the rules are of. `seed` (32 bytes) is where all keys come from, see
    `audit.paths`. Sampled orders are shoes 0, k, 2k … with k = ⌊shoes / sampled⌋, and sequences of bits begin at such
    shoes. `checks` are the m named checks; together they are judged by Holm's rule at `level`. `confirms` is the hash
    of the findings that a confirmatory plan follows. Raises InputError for a plan that can't be run.
    """

    form: Annotated[str, one_of(FORM)]
    table: Annotated[str, NAME]
    rules: Annotated[Rules, RULES]
    seed: Annotated[bytes, HASH]
    batch: Annotated[Sizes, part(Sizes)]
    production: Annotated[Sizes, part(Sizes)]
    blocks: Annotated[Blocks, part(Blocks)]
    checks: Annotated[tuple[str, ...], list_of(NAME, 1, 2 * len(BATTERY))]
    level: Annotated[str, one_of(str(COLLECTIVE_LEVEL))]
    correction: Annotated[str, one_of("holm")]
    confirms: Annotated[bytes | None, or_null(HASH)]

    def __post_init__(self) -> None:
        """Refuse what can't be run, and checks that do not suit the sizes."""
        for path in PATHS:
            _check_sizes(path, self.sizes(path), self.rules)
        if self.production.shoes > MAX_BOOK:
            raise InputError(expected(f"at most {MAX_BOOK} shoes, one book", self.production.shoes, "production"))
        if self.blocks.batch % 2 or self.blocks.production % 2:
            raise InputError(expected("an even number of shoes a block", self.blocks, "blocks"))
        if len(set(self.checks)) < len(self.checks):
            raise InputError(expected("each check once", list(self.checks), "checks"))
        for name in self.checks:
            path, check = find_check(name)
            if not check.fits(self.rules, self.sizes(path)):
                raise InputError(expected("checks that the plan's sizes allow", name, "checks"))

    def sizes(self, path: PathName) -> Sizes:
        """Give the sizes of a path."""
        return self.batch if path == "batch" else self.production

    def to_bytes(self) -> bytes:
        """Print the plan as canonical JSON (protocol §8)."""
        return print_canonical(write_fields(self))

    @property
    def hash(self) -> bytes:
        """Hash the canonical bytes: SHA-256."""
        return sha256(self.to_bytes())

    def tasks(self) -> tuple[Task, ...]:
        """List the blocks of work in order, each about a second's; which these are is part of the plan."""
        return tuple(chain.from_iterable(self._tasks_of(path) for path in PATHS))

    def _tasks_of(self, path: PathName) -> list[Task]:
        sizes = self.sizes(path)
        parts: tuple[tuple[Kind, int, int], ...] = (
            ("shoes", sizes.shoes, self.blocks.batch if path == "batch" else self.blocks.production),
            ("sampled", sizes.sampled, ORDERS_A_BLOCK),
            ("sequences", sizes.sequences, SEQUENCES_A_BLOCK),
            ("replayed", sizes.replayed, REPLAYED_A_BLOCK),
        )
        needed = {check.part for name in self.checks for owner, check in [find_check(name)] if owner == path}
        return [
            Task(path, kind, first, min(block, total - first))
            for kind, total, block in parts
            if kind in needed
            for first in range(0, total, block)
        ]

    def confirm(self, failed: Sequence[str], findings_hash: bytes, seed: bytes) -> Plan:
        """Plan the one confirmatory run that may follow: a new seed, four times the size, the failed checks only.

        The production path stays within one book of 2^20 shoes. Raises InputError where no check failed, for one that
        was not in this plan, for the same seed, or where this plan is itself a confirmation.
        """
        if self.confirms is not None:
            raise InputError(expected("a first run, for a second is not confirmed", self.confirms.hex(), "confirms"))
        if not failed or not set(failed) <= set(self.checks):
            raise InputError(expected("failed checks of the plan", list(failed), "failed"))
        if seed == self.seed:
            raise InputError("seed: expected a new one, got the same")
        return replace(
            self,
            seed=seed,
            batch=_times(self.batch, MAX_SHOES),
            production=_times(self.production, MAX_BOOK),
            checks=tuple(name for name in self.checks if name in failed),
            confirms=findings_hash,
        )


def make_plan(table: str, rules: Rules, shoes: int, seed: bytes) -> Plan:
    """Plan the whole battery for `shoes` shoes of the batch path and up to 100,000 of the production path.

    The samples grow with the shoes up to 10,000 orders, 60 sequences of 10^6 bits and 1,000 replayed shoes a path.
    Raises InputError for fewer shoes than 690 judged coups take: 10, or 690 where every coup is shuffled anew.
    """
    least = max(LEAST_SHOES, -(-690 // rules.judged_coups))
    if not least <= shoes <= MAX_SHOES:
        raise InputError(expected(f"{least} to {MAX_SHOES} shoes", shoes, "shoes"))
    batch, production = _sizes(rules, shoes), _sizes(rules, min(shoes, PRODUCTION))
    return Plan(
        form=FORM,
        table=table,
        rules=rules,
        seed=seed,
        batch=batch,
        production=production,
        blocks=Blocks(COUPS_A_BLOCK if rules.shuffle == "coup" else SHOES_A_BLOCK, KEYS_A_BLOCK),
        checks=checks_for(rules, {"batch": batch, "production": production}),
        level=str(COLLECTIVE_LEVEL),
        correction="holm",
        confirms=None,
    )


def parse_plan(data: bytes) -> Plan:
    """Read a plan from its canonical bytes; the inverse of `Plan.to_bytes`. Raises RecordError, CanonicalError."""
    return Plan(**read_fields(Plan, parse_object(data)))


def draws_a_shoe(rules: Rules) -> int:
    """Count the draws that a shuffle's cards take: n − 1, or six where each coup is shuffled anew (protocol §6)."""
    return MAX_CARDS if rules.shuffle == "coup" else rules.size - 1


def shoes_a_sequence(rules: Rules) -> int:
    """Count the shoes whose keystream words make one sequence of 10^6 bits."""
    return -(-SEQUENCE // (_WORD_BITS * draws_a_shoe(rules)))


def _sizes(rules: Rules, shoes: int) -> Sizes:
    return Sizes(
        shoes=shoes,
        sampled=min(shoes, SAMPLE),
        sequences=min(SEQUENCES, shoes // (_SPARE * shoes_a_sequence(rules))),
        replayed=min(REPLAYED, shoes) // 2 * 2,
    )


def _check_sizes(path: str, sizes: Sizes, rules: Rules) -> None:
    if sizes.sampled > sizes.shoes:
        raise InputError(expected(f"at most {sizes.shoes} sampled orders", sizes.sampled, path))
    if sizes.sequences * shoes_a_sequence(rules) > sizes.shoes:
        raise InputError(expected(f"sequences that {sizes.shoes} shoes have bits for", sizes.sequences, path))
    if sizes.replayed > sizes.shoes or sizes.replayed % 2:
        raise InputError(expected(f"an even number of replayed shoes, at most {sizes.shoes}", sizes.replayed, path))


def _times(sizes: Sizes, most: int) -> Sizes:
    by = min(CONFIRM_TIMES, most // max(sizes.shoes, 1))
    return Sizes(sizes.shoes * by, sizes.sampled * by, sizes.sequences * by, sizes.replayed * by)
