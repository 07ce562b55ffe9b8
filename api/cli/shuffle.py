"""``fairshoe shuffle``: what a revealed server seed and a transcript give, card by card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from api.cli.inputs import parse_secret, read_by, read_file, whole
from api.cli.output import BadInput, columns, examples, json_option, note, print_object, print_text
from shoe.errors import InputError, expected
from shoe.game.cards import card_names
from shoe.game.dealing import DealtCoup, Progress, deal_shoe, next_coup
from shoe.game.rules import MAX_COUPS, Rules
from shoe.game.tableau import RULE_WORDS
from shoe.proof.openings import commit_deck
from shoe.proof.seal import Keys, Transcript, derive_keys, parse_transcript, seal_transcript
from shoe.proof.seeds import commit_server_seed
from shoe.proof.shuffle import Shuffled, shuffle_hand

CARDS_A_LINE = 26


@dataclass(frozen=True, slots=True)
class Dealt:
    """One shuffle dealt to its end: keys, cards, root and coups, as the protocol derives them (§4–§7)."""

    seal: bytes
    keys: Keys
    shuffled: Shuffled
    deck_root: bytes
    coups: tuple[DealtCoup, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the object that ``shuffle --json`` prints; a coup is [start, player, banker, outcome, rule]."""
        return {
            "seal": self.seal.hex(),
            "shuffle_key": self.keys.shuffle_key.hex(),
            "salt_key": self.keys.salt_key.hex(),
            "cards": card_names(self.shuffled.cards),
            "deck_root": self.deck_root.hex(),
            "cards_behind_cut": self.shuffled.cards_behind_cut,
            "coups": [
                [dealt.start, coup.player_total, coup.banker_total, coup.outcome, coup.rule]
                for dealt in self.coups
                for coup in [dealt.coup]
            ],
        }


@click.command(
    epilog=examples(
        "fairshoe shuffle --server-seed 1e75…49af --transcript transcript.json",
        "fairshoe shuffle --server-seed 1e75…49af --transcript transcript.json --hand 7 --json",
    )
)
@click.option("--server-seed", "seed", required=True, metavar="HEX", callback=read_by(parse_secret),
              help="The server seed that the reveal published: 64 characters 0-9 a-f.")  # fmt: skip
@click.option("--transcript", required=True, metavar="FILE",
              help="The transcript's exact bytes, as the seal record holds it; - is standard input.")  # fmt: skip
@click.option("--hand", default="0", metavar="H", show_default=True, callback=read_by(whole(0, MAX_COUPS - 1)),
              help="The shuffle: the coup's number where each coup is shuffled anew, else 0.")  # fmt: skip
@json_option
def shuffle(seed: bytes, transcript: str, hand: int, as_json: bool) -> None:
    """Shuffle and deal from a seed.

    Prints the seal, the keys, every card in dealing order, the root that commits to them and the coups they give.
    """
    sealed = _read_transcript(transcript)
    _check_hand(hand, sealed.rules)
    if commit_server_seed(seed) != sealed.commitment:
        note("Mind: this server seed does not open the transcript's commitment: it is not this shoe's.")
    dealt = deal(seed, sealed, hand)
    if as_json:
        print_object(dealt.to_json())
    else:
        print_text(*_listing(dealt))


def deal(seed: bytes, transcript: Transcript, hand: int) -> Dealt:
    """Shuffle `hand` from a server seed (32 bytes) and a transcript, and deal every coup of it.

    Where each coup is shuffled anew that is the coup of that number alone.
    """
    rules, seal = transcript.rules, seal_transcript(transcript)
    keys = derive_keys(seed, seal)
    shuffled = shuffle_hand(keys.shuffle_key, rules, hand)
    root = commit_deck(shuffled.cards[: rules.leaves], keys.salt_key, hand, None).root
    if shuffled.cut_position is None:
        only = next_coup(Progress(number=hand, position=0), shuffled.cards, hand)
        return Dealt(seal, keys, shuffled, root, (only,))
    return Dealt(seal, keys, shuffled, root, tuple(deal_shoe(rules, shuffled.cards, shuffled.cut_position)))


def _read_transcript(name: str) -> Transcript:
    try:
        return parse_transcript(read_file(name))
    except InputError as error:
        raise BadInput(f"{name}: {error}; give the exact bytes of the seal's transcript, without a newline") from None


def _check_hand(hand: int, rules: Rules) -> None:
    if rules.shuffle == "shoe" and hand:
        raise BadInput(expected("0, for this shoe is shuffled once", hand, "--hand"))
    if rules.coups is not None and hand >= rules.coups:
        raise BadInput(expected(f"0…{rules.coups - 1}, a coup that this seal covers", hand, "--hand"))


def _listing(dealt: Dealt) -> Iterable[str]:
    cards, behind = dealt.shuffled.cards, dealt.shuffled.cards_behind_cut
    rows = (
        ("seal", dealt.seal.hex()),
        ("shuffle key", dealt.keys.shuffle_key.hex()),
        ("salt key", dealt.keys.salt_key.hex()),
        ("deck root", dealt.deck_root.hex()),
        ("cut card", "none" if behind is None else f"{behind} cards behind it"),
    )
    yield from (*columns(rows, "<<"), "", f"{len(cards)} cards in dealing order:")
    yield from (card_names(cards[at : at + CARDS_A_LINE]) for at in range(0, len(cards), CARDS_A_LINE))
    yield ""
    header = ("coup", "start", "player", "", "banker", "", "outcome", "rule")
    yield from columns([header, *map(_coup_row, dealt.coups)], ">><><><<")


def _coup_row(dealt: DealtCoup) -> tuple[object, ...]:
    coup = dealt.coup
    player, banker = card_names(coup.player_cards), card_names(coup.banker_cards)
    words = RULE_WORDS[coup.rule]
    return (dealt.number, dealt.start, player, coup.player_total, banker, coup.banker_total, coup.outcome, words)
