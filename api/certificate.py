"""A shoe's certificate: what was committed to and when, the coups and their road, rule use, verdict and fairness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from api.demo import Played
from audit.checks.result import CheckResult, LineItem
from shoe.game.roads import big_road_text, draw_roads
from shoe.game.rules import Rules
from shoe.game.tableau import RULE_WORDS
from shoe.proof.records import (
    Book,
    CommittedEntropy,
    Coup,
    Lock,
    Open,
    OpenEntropy,
    Record,
    Reveal,
    Seal,
    Seed,
    Void,
    parse_record,
)

COUPS_A_LINE: Final = 10
_LETTER: Final = {"player": "P", "banker": "B", "tie": "T"}


def certificate(played: Played) -> list[str]:
    """Print what a shoe's evidence shows, as lines of at most 100 columns."""
    bundle = played.parsed
    records = [parse_record(data) for data in bundle.records]
    placed = [(index, record) for index, record in zip(bundle.log_indices, records, strict=True)]
    if bundle.book_record is not None:
        placed.insert(0, (bundle.book_record.index, parse_record(bundle.book_record.record)))
    coups = [record for record in records if isinstance(record, Coup)]
    answer = played.verification
    return [
        *_heading(records[0], played.rules),
        "",
        "Committed, in the order of the signed log (UTC)",
        *_commitments(placed),
        "",
        *_coups(coups),
        "",
        *_rule_use(played.rule_lines),
        "",
        "Tests on the judged coups: p is the chance of a result at least this unusual if all is well",
        *(_test(check) for check in played.checks),
        "",
        f"Verdict   {answer.verdict} ({_counted(played)})",
        f"Fairness  {(answer.fairness or 'none').replace('_', ' ')}",
        f"Why       {answer.why}",
    ]


def _heading(opened: Record, rules: Rules) -> list[str]:
    if not isinstance(opened, Open):
        return []
    cut = "" if rules.cut is None else f", cut card before the last {rules.cut.lowest}"
    return [
        f"Shoe {opened.shoe}",
        f"Table {opened.table}: {rules.decks} decks{cut}, entropy {rules.entropy}",
        f"Log {opened.log}",
    ]


def _commitments(placed: Sequence[tuple[int, Record]]) -> Iterator[str]:
    first = next((index for index, record in placed if isinstance(record, Coup)), None)
    for index, record in placed:
        if isinstance(record, Coup):
            if index == first:
                yield f"  {record.time[11:26]}  #{index:<4} the first coup is dealt; none could be before"
            continue
        yield f"  {record.time[11:26]}  #{index:<4} {_what(record)}"


def _what(record: Record) -> str:
    match record:
        case Book():
            return f"house: book of {record.size} server seeds, root {record.root.hex()[:16]}…"
        case Open():
            return f"house: opens with seed {record.index}, commitment {record.commitment.hex()[:16]}…"
        case CommittedEntropy():
            return f"{record.client}: commits to a seed, {record.seed_commitment.hex()[:16]}…"
        case OpenEntropy():
            return f"{record.client}: gives the seed {record.seed[:16]}…"
        case Lock():
            return f"house: locks the list at {record.count} players"
        case Seed():
            return f"player {record.position}: opens the seed {record.seed[:16]}…"
        case Seal():
            return f"house: seals, every card fixed under deck root {record.deck_root.hex()[:16]}…"
        case Reveal() | Void():
            return f"house: reveals the server seed {record.server_seed.hex()[:16]}… after {record.coups} coups"
        case _:
            return record.type


def _coups(coups: Sequence[Coup]) -> Iterator[str]:
    roads = draw_roads(_LETTER[coup.outcome] for coup in coups)
    sums = roads.sums
    yield f"{sums.coups} coups: banker {sums.banker}, player {sums.player}, tie {sums.tie} (winner, player:banker)"
    for start in range(0, len(coups), COUPS_A_LINE):
        row = coups[start : start + COUPS_A_LINE]
        cells = "  ".join(f"{_LETTER[coup.outcome]} {coup.player_total}:{coup.banker_total}" for coup in row)
        yield f"  {start:>3}  {cells}"
    yield ""
    yield "Big road (a small letter carries a tie)"
    yield from (f"  {line}" for line in big_road_text(roads).splitlines())


def _rule_use(lines: Sequence[LineItem]) -> Iterator[str]:
    yield f"{'Rule use in the judged coups':<62} {'seen':>5} {'exact':>7} {'deviation':>10}"
    for line in lines:
        words = RULE_WORDS.get(line.label, line.label)
        yield f"  {words:<60} {line.observed:>5} {float(line.expected):>7.2f} {line.deviation:>+8.2f} σ"


def _test(check: CheckResult) -> str:
    name = check.name.replace("_", " ")
    return f"  {name:<18} p = {check.p_text:<14} n = {check.n}"


def _counted(played: Played) -> str:
    statuses = Counter(check.status for check in played.verification.checks)
    undecided = [check.name for check in played.verification.checks if check.status == "UNVERIFIABLE"]
    beside = f", not decided: {', '.join(undecided)}" if undecided else ""
    return f"{statuses['VALID']} checks valid, {statuses['INVALID']} invalid{beside}"
