"""The streams that a test lab's own programs read: keystream, bounded draws or cards of a plan's batch path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final, Literal

from api.cli.output import EnvironmentFault, forget_stdout, require_stdout
from audit.draw_counts import draws_of
from audit.kernel import keystream, orders
from audit.paths import batch_key
from audit.plan import Plan, draws_a_shoe
from shoe.game.cards import DECK, card_names
from shoe.game.tableau import MAX_CARDS

Stream = Literal["raw", "draws", "cards"]
STREAMS: Final[tuple[Stream, ...]] = ("raw", "draws", "cards")
_SHOES_AT_ONCE: Final = 256


def emit(plan: Plan, stream: Stream) -> None:
    """Write the shoes of the batch path to standard output until all are out, or whoever reads has had enough.

    `raw` is the bytes of the words that the shuffles draw from, rejected ones included; `draws` has a line
    ``value bound`` for each draw of a shuffle, 0 <= value < bound; `cards` has a shuffle a line. A closed pipe is no
    fault. Raises EnvironmentFault where standard output can't be written.
    """
    require_stdout()
    try:
        for chunk in _CHUNKS[stream](plan):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        raise EnvironmentFault(f"standard output can't be written: {error.strerror}") from None


def words_of(plan: Plan, first: int, count: int) -> bytes:
    """Give the bytes of the words that shuffles `first` … `first` + `count` − 1 of the batch path draw from."""
    return keystream(batch_key(plan), first, count, draws_a_shoe(plan.rules)).astype("<u4").tobytes()


def _raw(plan: Plan) -> Iterator[bytes]:
    return (words_of(plan, first, count) for first, count in _batches(plan))


def _draws(plan: Plan) -> Iterator[bytes]:
    key, drawn = batch_key(plan), draws_a_shoe(plan.rules)
    for first, count in _batches(plan):
        draws = draws_of(orders(plan.rules, key, range(first, first + count)))
        bounds = draws.bounds[:drawn].tolist()
        rows = draws.values[:, :drawn].tolist()
        yield "".join(f"{value} {bound}\n" for row in rows for value, bound in zip(row, bounds, strict=True)).encode()


def _cards(plan: Plan) -> Iterator[bytes]:
    key = batch_key(plan)
    dealt = MAX_CARDS if plan.rules.shuffle == "coup" else plan.rules.size
    for first, count in _batches(plan):
        cards = orders(plan.rules, key, range(first, first + count))[:, :dealt] % DECK
        yield "".join(f"{card_names(row)}\n" for row in cards.tolist()).encode()


def _batches(plan: Plan) -> Iterator[tuple[int, int]]:
    shoes = plan.batch.shoes
    return ((first, min(_SHOES_AT_ONCE, shoes - first)) for first in range(0, shoes, _SHOES_AT_ONCE))


_CHUNKS: Final = {"raw": _raw, "draws": _draws, "cards": _cards}
