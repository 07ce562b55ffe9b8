"""All bodies of clauses, in the order in which a report lists them."""

from __future__ import annotations

from typing import Final

from audit.report.clauses.britain import UKGC
from audit.report.clauses.clause import Body
from audit.report.clauses.federal import CFR
from audit.report.clauses.laboratories import GLI_11, GLI_19
from audit.report.clauses.states import NEW_JERSEY, SOUTH_DAKOTA

BODIES: Final[tuple[Body, ...]] = (GLI_19, GLI_11, CFR, SOUTH_DAKOTA, NEW_JERSEY, UKGC)
