"""Print the table of samples that every fault of the catalogue needs, as Markdown, in about a minute.

Run as ``python -m tests.write_power_table``; the table of audit/METHODS.md is made so.
"""

from __future__ import annotations

from audit.faults import honest_law
from audit.power import effect
from tests.audit.power_by_simulation import FAULTS, LEVEL, POWER, dealt_need, drawn_need, first_impossible, joint_effect

DEALT_UP_TO = 60_000
HEADER = """\
| fault | impossible coup: theory | measured | χ², 198 cells: noncentral | by moments | measured | on real shoes |
|---|---|---|---|---|---|---|"""


def row(name: str) -> str:
    """One fault: coups after which nine tables of ten are caught."""
    fault, theory = FAULTS[name], joint_effect(FAULTS[name])
    certain = effect(honest_law(8), fault.law()).impossible_need(POWER)
    need = theory.need_by_moments(LEVEL, POWER) or 0
    shoe = name.endswith(("shoe", "decks", "missing"))
    cells = [
        name,
        "none" if certain is None else str(certain),
        "" if certain is None else f"{first_impossible(fault):.0f}",
        _rounded(theory.need(LEVEL, POWER) or 0),
        _rounded(need),
        _rounded(drawn_need(fault, need)),
        _rounded(dealt_need(fault, need)) if need < DEALT_UP_TO and not shoe else "",
    ]
    return f"| {' | '.join(cells)} |"


def _rounded(coups: float) -> str:
    digits = max(len(str(int(coups))) - 3, 0)
    return f"{round(coups, -digits):,.0f}"


if __name__ == "__main__":
    print(HEADER)
    for fault_name in FAULTS:
        print(row(fault_name), flush=True)
