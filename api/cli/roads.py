"""``fairshoe roads``: the roads of a shoe from its outcomes."""

from __future__ import annotations

from collections.abc import Iterable

import click

from api.cli.inputs import read_by
from api.cli.output import columns, examples, json_option, print_object, print_text
from shoe.game.roads import ROWS, Roads, big_road_text, draw_roads


@click.command(epilog=examples("fairshoe roads BPPTBBBP", "fairshoe roads BPPTBBBP --json"))
@click.argument("outcomes", metavar="BPTB…", callback=read_by(draw_roads))
@json_option
def roads(outcomes: Roads, as_json: bool) -> None:
    """Draw the roads of a shoe.

    The argument is the shoe's outcomes so far, in dealing order and without blanks: B banker, P player, T tie. Big
    road: a small letter is a win that ties hang on.
    """
    if as_json:
        print_object(outcomes.to_json())
    else:
        print_text(*draw(outcomes))


def draw(drawn: Roads) -> Iterable[str]:
    """Draw every road for a terminal, line by line."""
    yield from ("Bead plate", *_bead_plate(drawn), "")
    yield from ("Big road", *big_road_text(drawn).split("\n"), "")
    yield from ("Columns", " ".join(drawn.columns), "")
    rows = (
        ("Big eye boy", drawn.big_eye_boy),
        ("Small road", drawn.small_road),
        ("Cockroach pig", drawn.cockroach_pig),
    )
    yield from (*columns(rows, "<<"), "")
    sums = drawn.sums
    yield f"Banker {sums.banker}, player {sums.player}, tie {sums.tie}: {sums.coups} coups"


def _bead_plate(drawn: Roads) -> Iterable[str]:
    for row in range(ROWS):
        yield "".join(bead.outcome for bead in drawn.bead_plate if bead.row == row)
