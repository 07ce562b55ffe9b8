"""The sample that a fault needs, measured: real shoes dealt by a faulty chart, and multinomials of exact laws."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from audit.deals import merged
from audit.exact import Cell
from audit.faults import Fault, banker_six_never_draws, catalogue, honest_law
from audit.power import Effect, effect
from tests.reference import bulk_dealer

LEVEL, POWER, JUDGED, TABLES = 1e-6, 0.9, 69, 400
DOUBLE = banker_six_never_draws(8)
FAULTS = {fault.name: fault for fault in (*catalogue(8), DOUBLE)}


def joint(cell: Cell) -> tuple[int, int, int]:
    return cell.player_total, cell.banker_total, cell.cards


NULL = merged(honest_law(8), joint)
CELLS = sorted(NULL)
P = np.array([float(NULL[cell]) for cell in CELLS])
CRITICAL = chi2.isf(LEVEL, len(CELLS) - 1)


def joint_effect(fault: Fault) -> Effect:
    return effect(NULL, merged(fault.law(), joint))


def rejected(counts: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Whether Pearson's χ² over the 198 cells rejects counts after n coups."""
    expected = n[:, None] * P
    return ((counts - expected) ** 2 / expected).sum(axis=1) >= CRITICAL


def dealt_need(fault: Fault, around: int) -> float:
    """Coups after which nine tables of ten are caught, dealt from real shoes; the power rises between grid points."""
    grid = (around * np.arange(0.6, 1.6, 0.02)).astype(np.int64)
    chart = fault.chart.player, fault.chart.banker
    columns = np.array([30 * player + 3 * banker + cards - 4 for player, banker, cards in CELLS])
    generator = np.random.Generator(np.random.SFC64(around))
    caught = np.zeros(len(grid))
    for _ in range(TABLES):
        shoes = bulk_dealer.shuffled(generator, 8, -(-int(grid[-1]) // JUDGED))
        codes = bulk_dealer.judged(shoes, JUDGED, chart).ravel()[: grid[-1]] % bulk_dealer.JOINT
        pieces = [np.bincount(piece, minlength=bulk_dealer.JOINT) for piece in np.split(codes, grid)[: len(grid)]]
        caught += rejected(np.cumsum(pieces, axis=0)[:, columns], grid)
    return _crossing(grid, caught / TABLES)


def drawn_need(fault: Fault, around: int) -> float:
    """The same from multinomials of the fault's exact law, for samples too large to deal."""
    grid = (around * np.arange(0.6, 1.6, 0.02)).astype(np.int64)
    law = merged(fault.law(), joint)
    generator = np.random.Generator(np.random.SFC64(around))
    steps = np.diff(grid, prepend=0)
    q = np.array([float(law.get(cell, 0)) for cell in CELLS])
    caught = np.zeros(len(grid))
    for _ in range(TABLES):
        counts = generator.multinomial(steps, [*q, max(1 - q.sum(), 0)])[:, :-1]
        caught += rejected(np.cumsum(counts, axis=0), grid)
    return _crossing(grid, caught / TABLES)


def _crossing(grid: np.ndarray, power: np.ndarray) -> float:
    assert power[0] < POWER < power[-1]
    at = int(np.argmax(power >= POWER))
    return float(np.interp(POWER, power[at - 1 : at + 1], grid[at - 1 : at + 1]))


def first_impossible(fault: Fault) -> float:
    """Coups after which nine tables of ten have dealt a coup that no right tableau can end in."""
    honest = {_code(cell) for cell in honest_law(8)}
    possible = np.isin(np.arange(bulk_dealer.CODES), list(honest))
    generator = np.random.Generator(np.random.SFC64(11))
    chart = fault.chart.player, fault.chart.banker
    codes = bulk_dealer.judged(bulk_dealer.shuffled(generator, 8, 60 * TABLES), JUDGED, chart).reshape(TABLES, -1)
    impossible = ~possible[codes]
    assert impossible.any(axis=1).all()
    return float(np.quantile(impossible.argmax(axis=1) + 1, POWER))


def _code(cell: Cell) -> int:
    return bulk_dealer.JOINT * bulk_dealer.RULES.index(cell.rule) + (
        30 * cell.player_total + 3 * cell.banker_total + cell.cards - 4
    )
