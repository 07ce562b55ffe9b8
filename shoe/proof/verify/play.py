"""Checks of the cards and coups: openings, positions, tableau, cut card, shuffle, bets (protocol §6, §7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from shoe.errors import BetError, InputError, ProofError, RulesError, expected
from shoe.game.bets.record import terms_of
from shoe.game.bets.settling import settle
from shoe.game.cards import card_name
from shoe.game.dealing import advance, begin, burned_cards
from shoe.game.tableau import Coup as Played
from shoe.game.tableau import outcome_of, play_coup
from shoe.proof.merkle import check_inclusion, leaf_hash
from shoe.proof.openings import Opening, check_opening
from shoe.proof.records import Bets, Coup, Reveal, parse_bet_line
from shoe.proof.verify.case import Case
from shoe.proof.verify.result import Missing, NotYet


def _opened(case: Case) -> Iterator[tuple[str, int, Opening]]:
    """Every opened card with its place in words and its shuffle."""
    seal = case.sealed
    if seal.burn is not None:
        yield "seal.burn", 0, seal.burn
    for coup in case.history.coups:
        for place, opening in enumerate(coup.cards):
            yield f"coup {coup.number} card {place}", coup.hand, opening


def check_composition(case: Case) -> str:
    """No card was opened more often than the decks hold it."""
    decks = case.history.open.rules.decks
    seen = Counter((hand, opening.card) for _, hand, opening in _opened(case))
    for (hand, card), times in seen.items():
        if times > decks:
            raise ProofError(expected(f"{card_name(card)} at most {decks} times", times, f"shuffle {hand}"))
    return f"{seen.total()} cards, none more than {decks} times a shuffle"


def check_deck_root(case: Case) -> str:
    """Each deck root stands where it must; after the end each is what the shuffle gives."""
    seal, rules, coups = case.sealed, case.history.open.rules, case.history.coups
    for number, coup in enumerate(coups):
        needed = rules.shuffle == "coup" and number + 1 != rules.coups
        if (coup.next_deck_root is not None) != needed:
            what = "the next coup's root" if needed else "null"
            raise ProofError(expected(what, "otherwise", f"coup {number}.next_deck_root"))
    roots = [seal.deck_root, *(coup.next_deck_root for coup in coups if coup.next_deck_root is not None)]
    if case.history.end is None:
        return "signed before the first bet"
    for hand, root in enumerate(roots):
        if root != case.deck(hand).root:
            raise ProofError(f"deck root of shuffle {hand}: not the root of the shuffled cards")
    return f"{len(roots)} recomputed from the seeds"


def _root(case: Case, hand: int) -> bytes:
    if hand == 0:
        return case.sealed.deck_root
    coups = case.history.coups
    root = coups[hand - 1].next_deck_root if hand <= len(coups) else None
    if root is None:
        raise ProofError(f"shuffle {hand}: no deck root was published for it")
    return root


def check_openings(case: Case) -> str:
    """Each card shown is the one committed to at its position."""
    seal, rules, paths = case.history.seal, case.history.open.rules, case.bundle.openings
    burn = None if seal is None else seal.burn
    if seal is not None and (burn is not None) != (rules.burn == "first_card"):
        raise ProofError(f"seal.burn: expected an opening only where the burn is shown, which is {rules.burn}")
    if burn is None and paths.burn is not None:
        raise ProofError("openings.burn: a path for no card")
    if len(paths.coups) > len(case.history.coups):
        raise ProofError(expected(f"paths for {len(case.history.coups)} coups", len(paths.coups), "openings.coups"))
    if seal is None:
        raise NotYet("no card is shown before the seal")
    given = {} if paths.burn is None else {"seal.burn": paths.burn}
    for coup, coup_paths in zip(case.history.coups, paths.coups, strict=False):
        if len(coup_paths) > len(coup.cards):
            where = f"openings.coups[{coup.number}]"
            raise ProofError(expected(f"{len(coup.cards)} paths", len(coup_paths), where))
        given |= {f"coup {coup.number} card {place}": path for place, path in enumerate(coup_paths)}
    without = _check_paths(case, given)
    if without:
        raise Missing(f"openings: the paths of {len(without)} cards, first of {without[0]}")
    return f"{len(given)} cards open against their deck roots"


def _check_paths(case: Case, given: Mapping[str, Sequence[bytes]]) -> list[str]:
    """Check every path that is given, and name the cards that have none."""
    without = []
    for where, hand, opening in _opened(case):
        if where not in given:
            without.append(where)
            continue
        try:
            check_opening(opening, hand, given[where], case.history.open.rules, _root(case, hand))
        except ProofError as error:
            raise ProofError(f"openings, {where}: {error}") from None
    return without


def check_positions(case: Case) -> str:
    """The cards come in order from the first after the burn, each position once, no coup left out."""
    seal, rules = case.sealed, case.history.open.rules
    position = 0
    if rules.burn == "first_card":
        if seal.burn is None or seal.burn.position != 0:
            raise ProofError("seal.burn: expected the card at position 0")
        position = burned_cards(rules, seal.burn.card)
    for number, coup in enumerate(case.history.coups):
        hand = number if rules.shuffle == "coup" else 0
        if (coup.number, coup.hand) != (number, hand):
            got = f"number {coup.number}, hand {coup.hand}"
            raise ProofError(expected(f"number {number}, hand {hand}", got, f"coup {number}"))
        start = 0 if rules.shuffle == "coup" else position
        for place, opening in enumerate(coup.cards):
            if opening.position != start + place:
                where = f"coup {number} card {place}"
                raise ProofError(expected(f"position {start + place}", opening.position, where))
        position = start + len(coup.cards)
    end = case.history.end
    if end is not None and end.coups != len(case.history.coups):
        raise ProofError(expected(f"{len(case.history.coups)} coups", end.coups, f"{end.type}.coups"))
    return f"{len(case.history.coups)} coups without a gap, next card {position}"


def _play(coup: Coup) -> Played:
    cards = [opening.card for opening in coup.cards]
    try:
        played = play_coup(cards)
    except InputError:
        raise ProofError(f"coup {coup.number}: a card that had to be drawn is missing") from None
    if len(played.cards) != len(cards):
        got = f"{len(cards)}"
        raise ProofError(expected(f"{len(played.cards)} cards by the tableau", got, f"coup {coup.number}"))
    return played


def check_tableau(case: Case) -> str:
    """Each side drew and stood as the tableau says, and the rule class is the one that applied."""
    for coup in case.history.coups:
        played = _play(coup)
        if coup.rule != played.rule:
            raise ProofError(expected(played.rule, coup.rule, f"coup {coup.number}.rule"))
    return f"{len(case.history.coups)} coups by the tableau"


def check_outcome(case: Case) -> str:
    """Each coup's totals and outcome follow from its cards."""
    for coup in case.history.coups:
        played = _play(coup)
        totals = (played.player_total, played.banker_total)
        if (coup.player_total, coup.banker_total) != totals:
            got = f"{coup.player_total}:{coup.banker_total}"
            raise ProofError(expected(f"totals {totals[0]}:{totals[1]}", got, f"coup {coup.number}"))
        if coup.outcome != outcome_of(*totals):
            raise ProofError(expected(outcome_of(*totals), coup.outcome, f"coup {coup.number}.outcome"))
    return f"{len(case.history.coups)} coups"


def check_cut_card(case: Case) -> str:
    """No coup was dealt after the end that the rules set, and a reveal came no earlier."""
    rules, seal = case.history.open.rules, case.sealed
    known = rules.cut is None or rules.cut.fixed
    cut = None if rules.cut is None else rules.size - rules.cut.lowest
    if not known and case.history.end is not None:
        cut = case.deck(0).cut_position
    progress = begin(rules, 0 if seal.burn is None else seal.burn.card)
    for coup in case.history.coups:
        if progress.ended:
            raise ProofError(f"coup {coup.number}: dealt after the end of the shoe")
        progress = advance(rules, cut, progress, len(coup.cards))
    if isinstance(case.history.end, Reveal) and not progress.ended:
        raise ProofError(f"reveal: after {progress.number} coups, before the end that the rules set")
    if not known and case.history.end is None:
        raise NotYet("the cut card's place is drawn: it is known after the reveal")
    return f"the shoe {'ended' if progress.ended else 'goes on'} after {progress.number} coups"


def check_shuffle(case: Case) -> str:
    """Each card shown is the one that the seeds shuffle to its position, under the salt they give."""
    seal, _ = case.sealed_and_ended
    count = 0
    for where, hand, opening in _opened(case):
        openings = case.deck(hand).openings
        if opening.position >= len(openings) or openings[opening.position] != opening:
            raise ProofError(f"{where}: not the card and salt that the seeds give")
        count += 1
    return f"{count} cards follow from the seeds under {seal.seal.hex()}"


def check_bets(case: Case) -> str:
    """Bets are closed before their coup, and the holder's lines stand under those roots.

    Where the rules carry terms, the detail says what each line won or lost by them; no verdict speaks of money.
    """
    by_number: dict[int, Bets] = {}
    history = case.history
    numbers = {coup.number: coup for coup in history.coups}
    for bets in history.bets:
        coup = numbers.get(bets.number)
        open_end = bets is history.bets[-1] and bets.number == len(numbers)
        follows = coup.seq == bets.seq + 1 if coup is not None else open_end
        if not follows:
            raise ProofError(expected("the coup of that number next", "another", f"bets of coup {bets.number}"))
        by_number[bets.number] = bets
    _check_lines(case, by_number)
    counted = f"{len(by_number)} coups with bets, {len(case.bundle.bets or ())} lines of the holder"
    return "; ".join([counted, *_nets(case)])


def _nets(case: Case) -> list[str]:
    """Settle the holder's lines anew by the terms in the rules: in words, in minor units, and all together."""
    try:
        terms = terms_of(case.history.open.rules)
    except RulesError:
        return []
    coups = {coup.number: coup for coup in case.history.coups}
    lines = [line for held in case.bundle.bets or () if (line := parse_bet_line(held.line)).number in coups]
    if terms is None or not lines:
        return []
    said, total = [], 0
    for line in lines:
        where = f"coup {line.number} {line.bet} {line.stake}"
        try:
            settlement = settle(terms.bet(line.bet), line.stake, _play(coups[line.number]), terms)
        except (BetError, ProofError):
            said.append(f"{where} can't be settled")
            continue
        said.append(f"{where} {settlement.result} {settlement.net_minor:+}")
        total += settlement.net_minor
    return [*said, f"net {total:+}"]


def _check_lines(case: Case, by_number: dict[int, Bets]) -> None:
    lines, last = case.bundle.bets or (), (-1, -1)
    for at, held in enumerate(lines):
        line, holder = parse_bet_line(held.line), parse_bet_line(lines[0].line).client
        if (line.shoe, line.client) != (case.history.open.shoe, holder):
            raise ProofError(expected(f"a line of {holder} in this shoe", f"{line.client}, {line.shoe}", f"bets[{at}]"))
        if line.number not in by_number:
            raise ProofError(f"bets[{at}]: no bets were closed for coup {line.number}")
        if (line.number, held.index) <= last:
            raise ProofError(f"bets[{at}]: out of order, or a line twice")
        last = (line.number, held.index)
        closed = by_number[line.number]
        try:
            check_inclusion(leaf_hash(held.line), held.index, closed.count, held.path, closed.bets_root)
        except ProofError as error:
            raise ProofError(f"bets[{at}]: {error}") from None
