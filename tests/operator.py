"""An operator that plays shoes in memory, honestly or not, and logs, signs and bundles what it played.

`Operator` keeps one log and one table. `play_shoe` gives a `Story`: the typed records of one shoe before they are
chained, with the decks behind them. A test may edit a story in any way; `Operator.publish` then numbers and chains
its records, logs them and signs a checkpoint, as a cheating operator would, and `Operator.bundle` bundles it.

    operator = Operator()
    story = operator.play_shoe(rules(entropy="two_phase"), players=3)
    bundle = operator.bundle(operator.publish(story))
    verification = verify_bundle(bundle, operator.evidence(story, player=0))
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shoe.game.dealing import advance, begin, next_coup
from shoe.game.rules import Rules, parse_rules
from shoe.proof.beacon import GENESIS_S, PERIOD_S, QUICKNET
from shoe.proof.bundle import Bundle, Earlier, HeldLine, OpeningPaths, Placed
from shoe.proof.checkpoint import Checkpoint, print_checkpoint
from shoe.proof.merkle import Tree
from shoe.proof.note import SignerKey, sign_note
from shoe.proof.openings import Deck, deal_deck
from shoe.proof.records import (
    FIRST,
    BetLine,
    Bets,
    Book,
    BookEnd,
    CommittedEntropy,
    Coup,
    Lock,
    Open,
    OpenEntropy,
    Record,
    Reveal,
    Seal,
    Seed,
    ShoeRecord,
    Void,
    record_hash,
)
from shoe.proof.seal import (
    PROTOCOL,
    BeaconPin,
    BeaconRound,
    BookRef,
    ClientSeed,
    Transcript,
    derive_keys,
    seal_transcript,
)
from shoe.proof.seeds import commit_seed, commit_server_seed, seed_book, server_seed
from shoe.proof.tlog import Receipt, TlogProof
from shoe.proof.verify import Evidence

ORIGIN = "fairshoe.example/log"
START = datetime(2023, 9, 15, 9, 30, tzinfo=UTC)
ROUND_657413 = BeaconRound(
    # a real round of drand quicknet, as in tests/vectors/protocol.json
    QUICKNET,
    657413,
    bytes.fromhex("fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587"),
    bytes.fromhex("b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b"),
)

Edit = Callable[["Story"], None]


def rules(**changes: Any) -> Rules:
    """The rules of np_punto_banco with one deck, changed as named."""
    given: dict[str, Any] = {
        "burn": "none", "coups": None, "cut": {"from": 7, "to": 7}, "decks": 1, "entropy": "two_phase",
        "game": "punto_banco", "last_coup": "drawn_in", "shuffle": "shoe",
    }  # fmt: skip
    return parse_rules(given | changes)


def secret(label: str) -> bytes:
    """32 bytes that a test can make again."""
    return hashlib.sha256(label.encode()).digest()


@dataclass
class Story:
    """One shoe: its records in order, not yet chained, and what only the operator knows of it."""

    records: list[Any]
    book: Placed | None
    previous: Placed | None
    book_proof: tuple[bytes, ...]
    decks: dict[int, Deck]
    server_seed: bytes
    lines: dict[int, list[bytes]] = field(default_factory=dict)
    indices: list[int] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)

    def find(self, kind: type, which: int = 0, /) -> int:
        """The place of one record of a class, the first without `which`."""
        return [at for at, record in enumerate(self.records) if isinstance(record, kind)][which]

    def change(self, kind: type, which: int = 0, /, **changes: Any) -> None:
        """Change fields of one record of a class, the first without `which`."""
        at = self.find(kind, which)
        self.records[at] = replace(self.records[at], **changes)


@dataclass
class Operator:
    """One log with one table; every secret follows from `name`, every time from `clock`."""

    name: str = "operator"
    origin: str = ORIGIN
    table: str = "table-1"
    book_size: int = 4
    clock: datetime = START
    leaves: list[bytes] = field(default_factory=list)
    next_index: int = 0
    books: int = 0
    shoes: int = 0
    book: Placed | None = None
    last: Placed | None = None
    voids: int = 0

    def __post_init__(self) -> None:
        self.signer = SignerKey.from_seed(self.origin, secret(f"{self.name} signs"))

    @property
    def vkey(self):
        return self.signer.vkey

    def now(self, seconds: float = 1) -> str:
        """Let time pass, and print it."""
        self.clock += timedelta(seconds=seconds)
        return self.in_s(0)

    def in_s(self, seconds: float) -> str:
        return (self.clock + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    @property
    def tree(self) -> Tree:
        return Tree.of(self.leaves)

    def log(self, data: bytes) -> int:
        self.leaves.append(data)
        return len(self.leaves) - 1

    def checkpoint(self, size: int | None = None, signer: SignerKey | None = None) -> str:
        tree = Tree.of(self.leaves[:size])
        return sign_note(print_checkpoint(Checkpoint(self.origin, tree.size, tree.root)), [signer or self.signer])

    def receipt(self, index: int, size: int | None = None) -> Receipt:
        """The receipt of a leaf under a checkpoint of `size` records."""
        tree = Tree.of(self.leaves[:size])
        return Receipt(self.leaves[index], TlogProof(index, tree.inclusion(index), self.checkpoint(size)))

    def placed(self, index: int) -> Placed:
        return Placed(self.leaves[index], index, self.tree.inclusion(index))

    @property
    def master(self) -> bytes:
        return secret(f"{self.name} {self.table} book {self.books}")

    def new_book(self) -> None:
        self.books += 1
        self.next_index = 0
        record = Book(
            log=self.origin,
            time=self.now(),
            table=self.table,
            root=seed_book(self.master, self.book_size).root,
            size=self.book_size,
        )
        self.book = self.placed(self.log(record.to_bytes()))

    def end_book(self) -> int:
        """Publish the master of the book, and log it."""
        root = seed_book(self.master, self.book_size).root
        record = BookEnd(log=self.origin, time=self.now(), table=self.table, root=root, master=self.master)
        return self.log(record.to_bytes())

    def play_shoe(
        self,
        table_rules: Rules | None = None,
        players: int = 2,
        *,
        coups: int | None = None,
        until: str = "end",
        void: str | None = None,
        bets: dict[int, int] | None = None,
        late_s: float = 0,
        index: int | None = None,
    ) -> Story:
        """Play a shoe as far as `until` (open, entropy, lock, seeds, seal, end) or for `coups` coups.

        With `void` it ends so, with that reason, `late_s` after the last record; `bets` gives how many lines are
        accepted before each coup.
        """
        table_rules = table_rules or rules()
        if self.book is None or (index is None and self.next_index == self.book_size):
            self.new_book()
        index = self.next_index if index is None else index
        seed = server_seed(self.master, index)
        story = Story(
            records=[self._open(table_rules, index, seed)],
            book=self.book,
            previous=self.last,
            book_proof=seed_book(self.master, self.book_size).inclusion(index),
            decks={},
            server_seed=seed,
        )
        self._contribute(story, table_rules, players, until)
        if until in ("seal", "end"):
            self._seal(story, table_rules)
        if until == "end":
            self._deal(story, table_rules, coups, bets or {})
        if void is not None or (until == "end" and coups is None):
            self.now(late_s)
            story.records.append(self._end(story, void))
        return story

    def _next(self, story: Story | None = None) -> dict[str, Any]:
        return {
            "log": self.origin, "time": self.now(), "shoe": f"shoe-{self.shoes}", "seq": 0, "previous": FIRST,
        }  # fmt: skip

    def _open(self, table_rules: Rules, index: int, seed: bytes) -> Open:
        self.shoes += 1
        beacon = None
        if table_rules.entropy == "beacon":
            due = datetime.fromtimestamp(GENESIS_S + (ROUND_657413.round - 1) * PERIOD_S, UTC)
            self.clock, beacon = due - timedelta(seconds=70), ROUND_657413.pin
            assert isinstance(beacon, BeaconPin)
        tree = seed_book(self.master, self.book_size)
        return Open(
            **self._next(),
            table=self.table,
            rules=table_rules,
            book=BookRef(tree.root, tree.size),
            index=index,
            commitment=commit_server_seed(seed),
            beacon=beacon,
            lock_by=self.in_s(60),
            seal_by=self.in_s(600),
            reveal_by=self.in_s(86400),
        )

    def player_seed(self, position: int) -> str:
        return secret(f"{self.name} shoe {self.shoes} player {position}").hex()[:32]

    def _contribute(self, story: Story, table_rules: Rules, players: int, until: str) -> None:
        mode = table_rules.entropy
        count = 0 if mode == "house" else players
        for position in range(count if until != "open" else 0):
            common = {**self._next(), "position": position, "client": f"guest-{position}"}
            seed = self.player_seed(position)
            story.records.append(
                CommittedEntropy(**common, seed_commitment=commit_seed(seed))
                if mode == "two_phase"
                else OpenEntropy(**common, seed=seed)
            )
        if until in ("open", "entropy"):
            return
        story.records.append(Lock(**self._next(), count=count))
        if until != "lock" and mode == "two_phase":
            for position in range(count):
                story.records.append(Seed(**self._next(), position=position, seed=self.player_seed(position)))

    def transcript(self, story: Story) -> Transcript:
        """What an honest operator seals of a story."""
        opened = story.records[0]
        entropies = [r for r in story.records if isinstance(r, CommittedEntropy | OpenEntropy)]
        seeds = {r.position: r.seed for r in story.records if isinstance(r, Seed | OpenEntropy)}
        return Transcript(
            protocol=PROTOCOL,
            log=opened.log,
            shoe=opened.shoe,
            table=opened.table,
            rules=opened.rules,
            book=opened.book,
            index=opened.index,
            commitment=opened.commitment,
            client_seeds=tuple(ClientSeed(e.client, seeds[e.position]) for e in entropies),
            beacon=ROUND_657413 if opened.beacon else None,
        )

    def _seal(self, story: Story, table_rules: Rules) -> None:
        if table_rules.entropy == "beacon":
            self.now(120)
        transcript = self.transcript(story)
        seal = seal_transcript(transcript)
        self.use_keys(story, table_rules, story.server_seed, seal)
        burn = story.decks[0].openings[0] if table_rules.burn == "first_card" else None
        story.records.append(
            Seal(**self._next(), transcript=transcript, seal=seal, deck_root=story.decks[0].root, burn=burn)
        )

    def use_keys(self, story: Story, table_rules: Rules, seed: bytes, seal: bytes) -> None:
        """Shuffle what a seed and a seal give."""
        keys = derive_keys(seed, seal)
        hands = table_rules.coups if table_rules.shuffle == "coup" else 1
        story.decks = {hand: deal_deck(keys, table_rules, hand) for hand in range(hands or 1)}

    def _deal(self, story: Story, table_rules: Rules, coups: int | None, bets: dict[int, int]) -> None:
        progress = begin(table_rules, story.decks[0].cards[0])
        while not progress.ended and progress.number != coups:
            number = progress.number
            if number in bets:
                story.records.append(self._bets(story, number, bets[number]))
            hand = number if table_rules.shuffle == "coup" else 0
            deck = story.decks[hand]
            dealt = next_coup(progress, deck.cards, hand)
            used = len(dealt.coup.cards)
            following = story.decks.get(number + 1) if table_rules.shuffle == "coup" else None
            story.records.append(
                Coup(
                    **self._next(),
                    number=number,
                    hand=hand,
                    cards=deck.openings[dealt.start : dealt.start + used],
                    player_total=dealt.coup.player_total,
                    banker_total=dealt.coup.banker_total,
                    outcome=dealt.coup.outcome,
                    rule=dealt.coup.rule,
                    next_deck_root=None if following is None else following.root,
                )
            )
            progress = advance(table_rules, deck.cut_position, progress, used)

    def _bets(self, story: Story, number: int, count: int) -> Bets:
        shoe = story.records[0].shoe
        story.lines[number] = [
            BetLine(
                bet="banker",
                client=f"guest-{at % 2}",
                number=number,
                salt=secret(f"bet {number} {at}").hex()[:32],
                shoe=shoe,
                stake=100 + at,
            ).to_bytes()
            for at in range(count)
        ]
        return Bets(**self._next(), number=number, count=count, bets_root=Tree.of(story.lines[number]).root)

    def _end(self, story: Story, void: str | None) -> Reveal | Void:
        opened = story.records[0]
        common = {
            **self._next(), "server_seed": story.server_seed, "book": opened.book, "index": opened.index,
            "coups": sum(isinstance(record, Coup) for record in story.records),
        }  # fmt: skip
        return Reveal(**common) if void is None else Void(**common, reason=void, in_row=self.voids + 1)

    def publish(self, story: Story, *, rechain: bool = True) -> Story:
        """Number and chain a story's records, and log them."""
        before = FIRST if story.previous is None else record_hash(story.previous.record)
        story.data, story.indices = [], []
        for seq, record in enumerate(story.records):
            if isinstance(record, ShoeRecord) and rechain:
                record = replace(record, seq=seq, previous=before)  # noqa: PLW2901
            data = record.to_bytes() if isinstance(record, Record) else record
            before = record_hash(data)
            story.data.append(data)
            story.indices.append(self.log(data))
        end = story.records[-1]
        self.voids = self.voids + 1 if isinstance(end, Void) else 0
        self.last = self.placed(story.indices[-1])
        self.next_index = story.records[0].index + 1 if isinstance(story.records[0], Open) else self.next_index
        return story

    def bundle(self, story: Story, *, earlier: int | None = None, holder: str | None = None) -> Bundle:
        """Bundle a published story under the log's present head."""
        tree = self.tree
        older = None if earlier is None else Earlier(self.checkpoint(earlier), tree.consistency(earlier))
        return Bundle(
            records=tuple(story.data),
            log_indices=tuple(story.indices),
            inclusion=tuple(tree.inclusion(index) for index in story.indices),
            checkpoint=self.checkpoint(),
            book_record=None if story.book is None else self.placed(story.book.index),
            previous_shoe=None if story.previous is None else self.placed(story.previous.index),
            book_proof=story.book_proof,
            openings=self.paths(story),
            earlier=older,
            bets=self._held(story, holder),
        )

    def paths(self, story: Story) -> OpeningPaths:
        seal = next((record for record in story.records if isinstance(record, Seal)), None)
        burn = None if seal is None or seal.burn is None else story.decks[0].tree.inclusion(seal.burn.position)
        coups = [record for record in story.records if isinstance(record, Coup)]
        return OpeningPaths(
            burn,
            tuple(
                tuple(story.decks[coup.hand].tree.inclusion(opening.position) for opening in coup.cards)
                for coup in coups
            ),
        )

    def _held(self, story: Story, holder: str | None) -> tuple[HeldLine, ...] | None:
        lines = [
            HeldLine(line, at, Tree.of(lines).inclusion(at))
            for _, lines in sorted(story.lines.items())
            for at, line in enumerate(lines)
            if holder is not None and f'"client":"{holder}"' in line.decode()
        ]
        return tuple(lines) or None

    def evidence(self, story: Story, player: int | None = None, **further: Any) -> Evidence:
        """What a verifier of a story holds: the vkey, and with `player` that player's entropy and lock receipts."""
        receipts: list[Receipt] = []
        if player is not None:
            entropy = story.find(CommittedEntropy | OpenEntropy, player)  # type: ignore[arg-type]
            lock = story.indices[story.find(Lock)]
            receipts = [self.receipt(story.indices[entropy], lock + 1), self.receipt(lock, lock + 1)]
        given: dict[str, Any] = {"vkeys": (self.vkey,), "receipts": tuple(receipts)}
        return Evidence(**(given | further))
