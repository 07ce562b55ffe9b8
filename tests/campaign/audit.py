"""The log, read as bytes out of the database and held against every answer; nothing the service computes is believed.

Trees, chains and positions are worked out here anew, from the records' bytes alone; a finding is an AssertionError that
names the leaf or the request.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import Connection, NullPool, create_engine, text

from shoe.proof.checkpoint import Checkpoint, check_checkpoint
from shoe.proof.note import VerifierKey, decode_base64
from shoe.proof.tlog import parse_receipt
from shoe.proof.verify import Evidence, verify_bundle
from tests.campaign.ledger import Answer
from tests.reference.merkle_reference import climb_inclusion

UNASKED = {"key", "book_end"}
"""Records that no request of a campaign's clients brings by itself; nor does it a deadline's void."""


class GrowingTree:
    """RFC 6962's tree as a binary counter of perfect subtrees; it keeps the root at every size."""

    def __init__(self) -> None:
        self.roots = [hashlib.sha256().digest()]
        self._perfect: list[tuple[int, bytes]] = []

    def append(self, leaf: bytes) -> None:
        leaves, reached = 1, hashlib.sha256(b"\x00" + leaf).digest()
        while self._perfect and self._perfect[-1][0] == leaves:
            leaves, reached = 2 * leaves, _inner(self._perfect.pop()[1], reached)
        self._perfect.append((leaves, reached))
        root = reached
        for _, left in reversed(self._perfect[:-1]):
            root = _inner(left, root)
        self.roots.append(root)


@dataclass
class Play:
    """A shoe's records so far, and how far they have come."""

    opened: Any
    records: list[bytes] = field(default_factory=list)
    coups: int = 0
    position: int = 0
    ended: str = ""


@dataclass
class Audit:
    """A log as its records tell it, and the answers that were held against it."""

    vkey: VerifierKey
    leaves: list[bytes] = field(default_factory=list)
    plays: dict[str, Play] = field(default_factory=dict)
    answered: dict[int, Answer] = field(default_factory=dict)
    receipts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What clients hold of each shoe."""
    _tree: GrowingTree = field(default_factory=GrowingTree)

    def __post_init__(self) -> None:
        self._checkpoint: Callable[[str], Checkpoint] = cache(self._check_signed)

    def take(self, leaves: Iterable[bytes]) -> None:
        """Take the leaves that follow; each must fit the shoe that it continues."""
        for leaf in leaves:
            record = json.loads(leaf)
            if "shoe" in record:
                self._follow(record, leaf, f"leaf {len(self.leaves)}, {record['type']} of shoe {record['shoe']}")
            self._tree.append(leaf)
            self.leaves.append(leaf)

    def check(self, answer: Answer) -> None:
        """Check that what was answered is in the log: once, with the same bytes, under a root that was signed."""
        if answer.status == 201 and "receipt" in answer.json:
            self._check_logged(answer.json, answer)
            reveal = answer.json.get("reveal")
            if reveal is not None:
                self._check_logged(reveal, answer)

    def check_head(self, text: str) -> None:
        """Check a signed checkpoint against the leaves' bytes."""
        checkpoint = self._checkpoint(text)
        assert checkpoint.size < len(self._tree.roots), f"signed {checkpoint.size} leaves of {len(self.leaves)}"
        assert checkpoint.root == self._tree.roots[checkpoint.size], f"another root at {checkpoint.size} leaves"

    def check_all_asked_for(self) -> None:
        """Check, once every request is answered, that nothing is in the log that nobody was told of."""
        for index, leaf in enumerate(self.leaves):
            if index not in self.answered:
                record = json.loads(leaf)
                kind, by_itself = record["type"], record.get("reason") in ("deadline", "seed_missing")
                assert kind in UNASKED or by_itself, (
                    f"leaf {index}, {kind}: in the log, and answered to nobody: {leaf.decode()}"
                )

    def check_bundle(self, shoe: str, bundle: bytes) -> None:
        """Verify a shoe offline from its bundle, with the log's key and every receipt that its clients hold."""
        records = [record.encode() for record in json.loads(bundle)["records"]]
        assert records == self.plays[shoe].records, f"shoe {shoe}: the bundle has other records than the log"
        evidence = Evidence((self.vkey,), tuple(map(parse_receipt, self.receipts[shoe])))
        verification = verify_bundle(bundle, evidence)
        wanted = {"reveal": "verified", "void": "void", "": "consistent"}[self.plays[shoe].ended]
        assert verification.verdict == wanted, f"shoe {shoe}: {verification.verdict}: {verification.why}"
        held = verification.check("receipts")
        assert held.status == "VALID", f"shoe {shoe}: {held.detail}"

    def live(self) -> list[str]:
        """The shoes that have not ended."""
        return [shoe for shoe, play in self.plays.items() if not play.ended]

    def _follow(self, record: Any, leaf: bytes, where: str) -> None:
        kind, shoe = record["type"], record["shoe"]
        if kind == "open":
            assert shoe not in self.plays, f"{where}: opened twice"
            self.plays[shoe] = Play(record)
        play = self.plays[shoe]
        assert not play.ended, f"{where}: after its {play.ended}"
        assert record["seq"] == len(play.records), f"{where}: seq {record['seq']} instead of {len(play.records)}"
        linked = not play.records or record["previous"] == hashlib.sha256(play.records[-1]).hexdigest()
        assert linked, f"{where}: does not follow the record before it"
        if kind == "seal":
            play.position = _burned(record["burn"])
        elif kind == "coup":
            _follow_coup(play, record, where)
        elif kind in ("reveal", "void"):
            assert record["coups"] == play.coups, f"{where}: counts {record['coups']} coups of {play.coups}"
            play.ended = kind
        play.records.append(leaf)

    def _check_logged(self, logged: Any, answer: Answer) -> None:
        index, record = logged["index"], logged["record"].encode()
        assert index < len(self.leaves), f"leaf {index} is lost: {answer}"
        assert self.leaves[index] == record, f"leaf {index} has other bytes than {answer}"
        assert index not in self.answered, f"leaf {index} answered twice: {self.answered[index]}\n and {answer}"
        self.answered[index] = answer
        self.receipts[json.loads(record).get("shoe", "")].append(logged["receipt"])
        line, _, proof = logged["receipt"].partition("\n")
        assert line.encode() == record, f"the receipt is another record's: {answer}"
        head, _, signed = proof.partition("\n\n")
        _, place, *path = head.split("\n")
        assert place == f"index {index}", f"the receipt is for {place}: {answer}"
        self.check_head(signed)
        checkpoint, hashes = self._checkpoint(signed), [decode_base64(each, "path") for each in path]
        leaf_hash = hashlib.sha256(b"\x00" + record).digest()
        reached = climb_inclusion(index, checkpoint.size, leaf_hash, hashes)
        assert reached == checkpoint.root, f"the path of leaf {index} leads elsewhere: {answer}"

    def _check_signed(self, text: str) -> Checkpoint:
        return check_checkpoint(text, [self.vkey], self.vkey.name)


def _follow_coup(play: Play, record: Any, where: str) -> None:
    assert record["number"] == play.coups, f"{where}: coup {record['number']} after {play.coups} coups"
    anew = play.opened["rules"]["shuffle"] == "coup"
    start = 0 if anew else play.position
    positions, wanted = [card["position"] for card in record["cards"]], range(start, start + len(record["cards"]))
    assert positions == list(wanted), f"{where}: coup {play.coups} shows cards {positions}, not {list(wanted)}"
    assert record["hand"] == (play.coups if anew else 0), f"{where}: from shuffle {record['hand']}"
    play.coups, play.position = play.coups + 1, wanted.stop


def _burned(burn: Any) -> int:
    """Cards burned: none, or the one shown and as many as it counts, T J Q K ten (protocol §6)."""
    return 0 if burn is None else 1 + min("A23456789TJQK".index(burn["card"][0]) + 1, 10)


def _inner(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


# --- the database beside it --------------------------------------------------------------------


def read_leaves(url: str, start: int = 0) -> list[bytes]:
    """Read the records' bytes from an index on, by a connection that is closed again.

    None may outlive the reading: SQLite recovers a file after a crash only once nobody holds it any more.
    """
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        query = text("SELECT log_index, record FROM leaves WHERE log_index >= :start ORDER BY log_index")
        rows = connection.execute(query, {"start": start}).all()
    indices = [index for index, _ in rows]
    assert indices == list(range(start, start + len(rows))), f"gaps among the leaves from {start} on"
    return [bytes(record) for _, record in rows]


def check_tables(url: str, audit: Audit) -> None:
    """Check what the database keeps beside the leaves: every checkpoint, every node, every coup, the head."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        checkpoints = connection.execute(text("SELECT size, text FROM checkpoints")).all()
        for size, signed in checkpoints:
            audit.check_head(signed)
            assert signed.split("\n")[1] == str(size), f"checkpoint {size} is of another size"
        (head,) = connection.execute(text("SELECT checkpoint FROM log_head")).scalars()
        audit.check_head(head)
        assert int(head.split("\n")[1]) == len(audit.leaves), "the head is not of the last leaf"
        _check_nodes(connection, audit.leaves)
        _check_coups(connection, audit.leaves)


def _check_nodes(connection: Connection, leaves: Sequence[bytes]) -> None:
    stored = {position: bytes(found) for position, found in connection.execute(text("SELECT * FROM log_nodes"))}
    level, hashes = 0, [hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves]
    expected: dict[int, bytes] = {}
    while hashes:
        expected.update({((2 * index + 1) << level) - 1: found for index, found in enumerate(hashes)})
        level, hashes = level + 1, [_inner(*pair) for pair in zip(hashes[::2], hashes[1::2], strict=False)]
    wrong = [position for position in expected | stored if expected.get(position) != stored.get(position)]
    assert not wrong, f"nodes at positions {wrong[:5]} are missing, wrong or too many"


def _check_coups(connection: Connection, leaves: Sequence[bytes]) -> None:
    dealt = {}
    for index, leaf in enumerate(leaves):
        record = json.loads(leaf)
        if record["type"] == "coup":
            dealt[record["shoe"], record["number"]] = (index, record["rule"], record["outcome"])
    rows = connection.execute(text("SELECT * FROM coups WHERE log_index IS NOT NULL")).mappings()
    kept = {(row["shoe_id"], row["number"]): (row["log_index"], row["rule"], row["outcome"]) for row in rows}
    assert kept == dealt, f"the table of coups differs from the log: {set(kept.items()) ^ set(dealt.items())}"
