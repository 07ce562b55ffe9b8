"""The campaigns' own auditor: its tree against published roots, and one complaint for each thing that may go wrong."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from shoe.errors import SignatureError
from shoe.proof.note import parse_vkey
from tests.api.installation import DEADLINES, Chance, Clock, Installation
from tests.campaign.audit import Audit, GrowingTree, check_tables, read_leaves
from tests.campaign.ledger import Answer, Draws, Request
from tests.campaign.load import PLAYED
from tests.reference import merkle_reference

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "merkle.json").read_text())

Leaves = list[bytes]


@dataclass(frozen=True)
class Story:
    """What a small installation was asked and answered, and the log that it left."""

    folder: Path
    vkey: str
    leaves: Leaves
    answers: list[Answer]
    bundles: dict[str, bytes]

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'fairshoe.sqlite3'}"

    def at(self, kind: str, number: int = 0) -> int:
        """The index of a kind's leaf, by its number among them."""
        return [index for index, leaf in enumerate(self.leaves) if json.loads(leaf)["type"] == kind][number]

    def audit(self, leaves: Leaves | None = None, answers: list[Answer] | None = None) -> Audit:
        audit = Audit(parse_vkey(self.vkey))
        audit.take(self.leaves if leaves is None else leaves)
        for answer in self.answers if answers is None else answers:
            audit.check(answer)
        return audit


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    house, answers = Installation(tmp_path_factory.mktemp("story") / "house", clock=Clock()), []

    def post(path: str, body: Any = None) -> Any:
        request = Request(f"/v1{path}", json.dumps(body or {}).encode(), f"key-{len(answers)}")
        headers = {"Content-Type": "application/json", "Idempotency-Key": request.key}
        response = house.client.post(request.path, data=request.body, headers=headers)
        answers.append(Answer(request, response.status_code, response.data, 1))
        return response.json

    for table in ("house", "coups"):
        post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": PLAYED[table]})
        post(f"/tables/{table}/books", {"size": 1})
        shoe = post(f"/tables/{table}/shoes", DEADLINES)["shoe"]
        post(f"/shoes/{shoe}/lock")
        post(f"/shoes/{shoe}/seal")
        while not post(f"/shoes/{shoe}/coups").get("ended"):
            pass
    shoes = {answer.json["shoe"] for answer in answers if answer.step == "shoes"}
    bundles = {shoe: house.client.get(f"/v1/shoes/{shoe}/bundle").data for shoe in shoes}
    vkey = house.client.get("/v1/log/key").text.strip()
    house.stop()
    leaves = read_leaves(f"sqlite:///{house.folder / 'fairshoe.sqlite3'}")
    return Story(house.folder, vkey, leaves, answers, bundles)


# --- the tree ----------------------------------------------------------------------------------


def test_the_tree_has_the_published_roots() -> None:
    """The leaves and roots of transparency-dev/merkle."""
    tree = GrowingTree()
    for leaf in VECTORS["leaves"]:
        tree.append(bytes.fromhex(leaf))
    assert [root.hex() for root in tree.roots] == [VECTORS["empty_root"], *VECTORS["roots"]]


def test_the_tree_is_the_rfcs_at_every_size() -> None:
    tree, leaves = GrowingTree(), [b"%d" % number for number in range(70)]
    for size, leaf in enumerate(leaves, start=1):
        tree.append(leaf)
        assert tree.roots[size] == merkle_reference.mth(leaves[:size])


# --- what holds, and what does not -------------------------------------------------------------


def test_an_honest_log_holds(story: Story) -> None:
    audit = story.audit()
    audit.check_all_asked_for()
    check_tables(story.url, audit)
    for shoe, bundle in story.bundles.items():
        audit.check_bundle(shoe, bundle)
    assert [play.ended for play in audit.plays.values()] == ["reveal", "reveal"]
    assert sum(play.coups for play in audit.plays.values()) == sum(answer.step == "coups" for answer in story.answers)


def edited(leaf: bytes, change: Callable[[Any], object]) -> bytes:
    record = json.loads(leaf)
    change(record)
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def test_editing_without_a_change_changes_nothing(story: Story) -> None:
    assert [edited(leaf, lambda record: None) for leaf in story.leaves] == story.leaves


def shift(record: Any) -> None:
    for card in record["cards"]:
        card["position"] += 1


EDITS: dict[str, tuple[str, int, Callable[[Any], object], str]] = {
    "a coup's number skipped": ("coup", 1, lambda record: record.update(number=2), "coup 2 after 1 coups"),
    "a coup's number again": ("coup", 1, lambda record: record.update(number=0), "coup 0 after 1 coups"),
    "a card skipped": ("coup", 0, shift, "coup 0 shows cards"),
    "a card of the coup before": ("coup", 1, lambda record: record["cards"].insert(0, {"position": 0}), "shows cards"),
    "a hand skipped": ("coup", -1, lambda record: record.update(hand=99), "from shuffle 99"),
    "a record of the chain skipped": ("lock", 0, lambda record: record.update(seq=2), "seq 2 instead of 1"),
    "another record before": ("seal", 0, lambda record: record.update(previous="00" * 32), "does not follow"),
    "coups miscounted": ("reveal", 0, lambda record: record.update(coups=1), "counts 1 coups of"),
}


@pytest.mark.parametrize(("kind", "number", "change", "complaint"), EDITS.values(), ids=EDITS.keys())
def test_an_edited_record_is_named(
    story: Story, kind: str, number: int, change: Callable[[Any], object], complaint: str
) -> None:
    leaves, index = list(story.leaves), story.at(kind, number)
    leaves[index] = edited(leaves[index], change)
    with pytest.raises(AssertionError, match=f"leaf {index}, {kind} of shoe .*{re.escape(complaint)}"):
        story.audit(leaves)


def test_a_coup_dealt_twice_is_named(story: Story) -> None:
    index = story.at("coup", 2)
    leaves = [*story.leaves[: index + 1], story.leaves[index]]
    with pytest.raises(AssertionError, match=f"leaf {index + 1}, coup of shoe"):
        story.audit(leaves)


def test_a_shoe_opened_twice_is_named(story: Story) -> None:
    with pytest.raises(AssertionError, match="opened twice"):
        story.audit([*story.leaves, story.leaves[story.at("open")]])


def test_a_record_after_the_end_is_named(story: Story) -> None:
    with pytest.raises(AssertionError, match="after its reveal"):
        story.audit([*story.leaves, story.leaves[story.at("coup")]])


def test_a_lost_tail_is_named(story: Story) -> None:
    """The last coup, and the reveal that its answer brought too."""
    last = len(story.leaves) - 1
    with pytest.raises(AssertionError, match=f"leaf {last - 1} is lost: POST .*/coups"):
        story.audit(story.leaves[: last - 1])
    with pytest.raises(AssertionError, match=f"signed {last + 1} leaves of {last}"):
        story.audit(story.leaves[:last])


def test_other_bytes_than_those_answered_are_named(story: Story) -> None:
    leaves, index = list(story.leaves), story.at("book")
    leaves[index] = edited(leaves[index], lambda record: record.update(size=2))
    with pytest.raises(AssertionError, match=f"leaf {index} has other bytes than POST .*/books"):
        story.audit(leaves)


def test_another_root_than_the_one_signed_is_named(story: Story) -> None:
    """The `key` record is answered to nobody: only the root can tell that it was changed."""
    leaves = [edited(story.leaves[0], lambda record: record.update(status="retired")), *story.leaves[1:]]
    with pytest.raises(AssertionError, match="another root at 2 leaves"):
        story.audit(leaves)


def test_swapped_leaves_are_named(story: Story) -> None:
    """Two books of two tables follow no chain."""
    leaves, (first, second) = list(story.leaves), (story.at("book", 0), story.at("book", 1))
    leaves[first], leaves[second] = leaves[second], leaves[first]
    with pytest.raises(AssertionError, match=f"leaf {first} has other bytes"):
        story.audit(leaves)


def test_a_signature_of_another_key_is_refused(story: Story, tmp_path: Path) -> None:
    other = Installation(tmp_path / "other", chance=Chance(1000))
    head = other.checkpoint()
    other.stop()
    with pytest.raises(SignatureError):
        story.audit().check_head(head)


# --- answers -----------------------------------------------------------------------------------


def test_one_leaf_answered_to_two_requests_is_named(story: Story) -> None:
    with pytest.raises(AssertionError, match="answered twice"):
        story.audit(answers=[*story.answers, story.answers[-1]])


def test_a_record_that_nobody_asked_for_is_named(story: Story) -> None:
    audit = story.audit(answers=[answer for answer in story.answers if answer.step != "seal"])
    with pytest.raises(AssertionError, match="seal: in the log, and answered to nobody"):
        audit.check_all_asked_for()


def changed(answer: Answer, **changes: Any) -> Answer:
    return replace(answer, data=json.dumps({**answer.json, **changes}).encode())


def test_a_receipt_of_another_record_is_named(story: Story) -> None:
    first, second = [answer for answer in story.answers if answer.step == "coups"][:2]
    with pytest.raises(AssertionError, match="the receipt is another record's"):
        story.audit(answers=[changed(first, receipt=second.json["receipt"])])


def test_a_path_that_leads_elsewhere_is_named(story: Story) -> None:
    answer = story.answers[-1]
    lines = answer.json["receipt"].split("\n")
    lines[3], lines[4] = lines[4], lines[3]
    with pytest.raises(AssertionError, match="leads elsewhere"):
        story.audit(answers=[changed(answer, receipt="\n".join(lines))])


def test_a_bundle_of_other_records_is_named(story: Story) -> None:
    """Another shoe's verifies too, and so do all receipts: they are in the same log."""
    (shoe, _), (_, other) = story.bundles.items()
    with pytest.raises(AssertionError, match=f"shoe {shoe}: the bundle has other records than the log"):
        story.audit().check_bundle(shoe, other)


def test_a_bundle_that_does_not_verify_is_named(story: Story) -> None:
    shoe, bundle = next(iter(story.bundles.items()))
    elsewhere = json.dumps({**json.loads(bundle), "log_indices": [0] * len(json.loads(bundle)["records"])})
    with pytest.raises(AssertionError, match=f"shoe {shoe}: invalid: "):
        story.audit().check_bundle(shoe, elsewhere.encode())


def test_a_void_that_the_operator_gave_is_asked_for_and_a_deadlines_is_not(story: Story) -> None:
    audit = story.audit()
    for reason in ("deadline", "seed_missing"):
        audit.leaves.append(json.dumps({"type": "void", "reason": reason}).encode())
    audit.check_all_asked_for()
    audit.leaves.append(json.dumps({"type": "void", "reason": "operator"}).encode())
    with pytest.raises(AssertionError, match="void: in the log, and answered to nobody"):
        audit.check_all_asked_for()


# --- the tables beside the leaves --------------------------------------------------------------

DAMAGE = {
    "a node": ("UPDATE log_nodes SET hash = zeroblob(32) WHERE position = 1", "nodes at positions [1] are"),
    "no node": ("DELETE FROM log_nodes WHERE position = 3", "nodes at positions [3] are"),
    "one node more": ("INSERT INTO log_nodes VALUES (999999, zeroblob(32))", "nodes at positions [999999] are"),
    "a coup": ("UPDATE coups SET outcome = 'none' WHERE number = 1", "the table of coups differs"),
    "no coup": ("DELETE FROM coups WHERE number = 1", "the table of coups differs"),
    "a checkpoint": ("UPDATE checkpoints SET size = 999 WHERE size = 5", "checkpoint 999 is of another size"),
    "the head": (
        "UPDATE log_head SET checkpoint = (SELECT text FROM checkpoints WHERE size = 5)",
        "the head is not of the last leaf",
    ),
    "a leaf": ("DELETE FROM leaves WHERE log_index = 4", "gaps among the leaves"),
}


@pytest.mark.parametrize(("damage", "complaint"), DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_to_the_database_is_named(story: Story, tmp_path: Path, damage: str, complaint: str) -> None:
    """The triggers that would forbid it are taken away first."""
    file = Path(shutil.copy(story.folder / "fairshoe.sqlite3", tmp_path / "fairshoe.sqlite3"))
    with closing(sqlite3.connect(file)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        assert connection.execute(damage).rowcount > 0
        connection.commit()
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        check_tables(f"sqlite:///{file}", story.audit(read_leaves(f"sqlite:///{file}")))


# --- chance ------------------------------------------------------------------------------------


def test_draws_come_again_from_the_same_seed_and_name() -> None:
    first, again, other = Draws("s", "a"), Draws("s", "a"), Draws("s", "b")
    drawn = [first.below(1000) for _ in range(20)]
    assert drawn == [again.below(1000) for _ in range(20)]
    assert drawn != [other.below(1000) for _ in range(20)]
    moments = [first.between(0.02, 0.6) for _ in range(1000)]
    assert 0.02 <= min(moments) < 0.03
    assert 0.59 < max(moments) <= 0.6
