"""``fairshoe bench``: how fast this installation is, as ratios of pieces of work timed one after the other."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Final, NamedTuple

import click

from api.cli.output import columns, examples, json_option, note, print_object, print_text
from audit.kernel import deal_block, orders, prepare
from shoe.game.dealing import deal_shoe
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.rules import Rules
from shoe.proof.shuffle import first_cards, shuffle_hand

ROUNDS: Final = 5
_KEY: Final = bytes(range(32))
_EACH_COUP: Final = Rules("none", 1, None, 8, "house", "drawn_in", "coup")
_RULES: Final = NP_PUNTO_BANCO.rules


class Work(NamedTuple):
    """A piece of work, how often one call does it, and the yardstick that its time is held against."""

    name: str
    times: int
    call: Callable[[], object]
    yardstick: str | None


def _scalar_shoe() -> object:
    shuffled = shuffle_hand(_KEY, _RULES)
    return list(deal_shoe(_RULES, shuffled.cards, _RULES.size - (shuffled.cards_behind_cut or 0)))


WORKS: Final = (
    Work("scalar shoe", 1, _scalar_shoe, None),
    Work("kernel shoe", 20_000, lambda: deal_block(_RULES, _KEY, 0, 20_000), "scalar shoe"),
    Work("kernel order", 20_000, lambda: orders(_RULES, _KEY, range(20_000)), "kernel shoe"),
    Work("scalar coup", 20, lambda: [first_cards(_KEY, _EACH_COUP, hand, 6) for hand in range(20)], None),
    Work("kernel coup", 200_000, lambda: deal_block(_EACH_COUP, _KEY, 0, 200_000), "kernel order"),
)
"""The scalar path beside the kernel, and coups shuffled anew beside full shuffles."""


@click.command(epilog=examples("fairshoe bench", "fairshoe bench --json"))
@json_option
def bench(as_json: bool) -> None:
    """Time this installation, in ratios.

    Takes some seconds. Each ratio is the median over rounds, of which every one times all pieces one after the other,
    so that the machine drops out; the absolute rates depend on it.
    """
    prepare(note)
    rounds = [{work.name: _seconds(work) for work in WORKS} for _ in range(ROUNDS)]
    rows = [_row(work, rounds) for work in WORKS]
    if as_json:
        print_object({"rounds": ROUNDS, "work": rows})
    else:
        print_text(*_listing(rows))


def _seconds(work: Work) -> float:
    start = perf_counter()
    work.call()
    return (perf_counter() - start) / work.times


def _row(work: Work, rounds: list[dict[str, float]]) -> dict[str, Any]:
    times = [each[work.name] for each in rounds]
    faster = work.yardstick and statistics.median(each[work.yardstick] / each[work.name] for each in rounds)
    return {
        "name": work.name,
        "microseconds": round(statistics.median(times) * 1e6, 4),
        "times_faster": round(faster, 3) if faster else None,
        "yardstick": work.yardstick,
    }


def _listing(rows: list[dict[str, Any]]) -> Iterable[str]:
    shown = [
        (
            row["name"],
            f"{row['microseconds']:.3f}",
            f"{row['times_faster']:.1f} x as fast as a {row['yardstick']}" if row["yardstick"] else "",
        )
        for row in rows
    ]
    yield from columns([("work", "microseconds each", ""), *shown], "<><")
