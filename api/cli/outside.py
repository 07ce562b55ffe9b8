"""Other people's programs on a plan's keystream, beside the findings and never part of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from api.cli.emit import words_of
from api.cli.output import columns
from audit.outside import OutsideResult, Program, Status, dieharder, ent, rngtest, run_program
from audit.plan import Plan

PROGRAMS: Final[Mapping[str, Callable[[], Program]]] = {"dieharder": dieharder, "ent": ent, "rngtest": rngtest}
TIMEOUT_S: Final = 4 * 3600.0
_SHOES_AT_ONCE: Final = 1024


def run_outside(plan: Plan, names: Iterable[str]) -> list[OutsideResult]:
    """Run the named programs on the batch path's words, shoe after shoe without end; an absent one says so."""
    programs: list[Program] = [PROGRAMS[name]() for name in names]
    return [run_program(program, endless_words(plan), TIMEOUT_S) for program in programs]


def endless_words(plan: Plan) -> Iterator[bytes]:
    """Yield what `--emit raw` writes, from shuffle h = 0 on, and never end with the plan's shoes."""
    return (words_of(plan, first, _SHOES_AT_ONCE) for first in count(0, _SHOES_AT_ONCE))


def outside_object(results: Iterable[OutsideResult]) -> list[dict[str, Any]]:
    """Give the results as ``certify --json`` prints them; p as text, null where nothing was judged."""
    return [
        {
            "program": result.program,
            "status": result.status.value,
            "detail": result.detail,
            "p": None if result.p is None else f"{result.p:.10g}",
            "lines": [
                {"label": line.label, "printed": line.printed, "p": None if line.p is None else f"{line.p:.10g}"}
                for line in result.lines
            ],
        }
        for result in results
    ]


def outside_listing(results: Iterable[OutsideResult]) -> list[str]:
    """List the results for people."""
    rows = [("program", "status", "lines", "p"), *map(_row, results)]
    return ["", "Outside programs, beside the findings:", *columns(rows, "<<>>")]


def _row(result: OutsideResult) -> tuple[str, str, str, str]:
    status = result.status.value if result.status is Status.RAN else f"{result.status.value}: {result.detail}"
    return result.program, status, str(len(result.lines)), "-" if result.p is None else f"{result.p:.6g}"
