"""Our log by other people's verifiers, and other people's logs by ours.

metamorphic-log (Rust) and tlog-scales (Python) are not ours and know nothing of this project: they check heads,
cosignatures, proofs and tiles made here, and their own are checked here. `tests/vectors/outside_logs.json` holds what
three public logs gave out, each with its source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import metamorphic_log
import pytest
from cryptography.exceptions import InvalidSignature
from tlog_scales.reader import TilesReader
from tlog_scales.signing import PlainEd25519Signer, Vkey
from tlog_scales.tlog import Checkpoint as OutsideCheckpoint
from tlog_scales.tlog import ConsistencyProof, ConsistencyProofInvalid, InclusionProof, InclusionProofInvalid
from tlog_scales.writer import TilesWriter

from shoe.errors import ProofError, SignatureError
from shoe.proof.checkpoint import Checkpoint, Cosignature, check_checkpoint, cosign, cosignatures, print_checkpoint
from shoe.proof.merkle import (
    EMPTY_ROOT,
    Tree,
    check_consistency,
    check_inclusion,
    leaf_hash,
    prove_inclusion,
    root,
)
from shoe.proof.note import COSIGNATURE, SignerKey, decode_base64, parse_note, parse_vkey, sign_note
from shoe.proof.tiles import (
    EntryBundle,
    hash_reader,
    parse_entries,
    print_entries,
    print_hashes,
    tiles_of,
)
from shoe.proof.tlog import TlogProof, check_tlog_proof, print_tlog_proof

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "outside_logs.json").read_text("utf-8"))
ARGON: dict[str, Any] = VECTORS["argon"]

ORIGIN = "log.example/shoes"
LOG = SignerKey.from_seed(ORIGIN, bytes(range(32)))
STRANGER = SignerKey.from_seed(ORIGIN, bytes(range(1, 33)))
WITNESS = SignerKey.from_seed("witness.example/w1", bytes(range(2, 34)), COSIGNATURE)
VKEY, WITNESS_VKEY = str(LOG.vkey), str(WITNESS.vkey)

LARGEST = 40
RECORDS = [b'{"seq":%d}' % seq for seq in range(700)]
TREES = [Tree.of(RECORDS[:size]) for size in range(LARGEST + 1)]


def head(tree: Tree, signer: SignerKey = LOG) -> str:
    return sign_note(print_checkpoint(Checkpoint(ORIGIN, tree.size, tree.root)), [signer])


HEADS = [head(tree) for tree in TREES]


def hashes(texts: Sequence[str]) -> tuple[bytes, ...]:
    return tuple(decode_base64(text, "hash") for text in texts)


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def altered(path: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Every path with one hash changed, dropped or repeated."""
    for at, found in enumerate(path):
        for put in ([bytes([found[0] ^ 1]) + found[1:]], [], [found, found]):
            yield [*path[:at], *put, *path[at + 1 :]]
    yield [*path, EMPTY_ROOT]


# --- our heads and proofs by metamorphic-log -------------------------------------------------


@pytest.mark.parametrize("size", range(1, LARGEST + 1))
def test_metamorphic_log_checks_every_inclusion_under_our_heads(size: int) -> None:
    tree, note = TREES[size], HEADS[size]
    for index in range(size):
        leaf = leaf_hash(RECORDS[index])
        metamorphic_log.checkpoint_verify_inclusion(note, [VKEY], index, leaf, list(tree.inclusion(index)))
        for path in altered(tree.inclusion(index)):
            with pytest.raises(metamorphic_log.VerifyError):
                metamorphic_log.checkpoint_verify_inclusion(note, [VKEY], index, leaf, path)
        if size > 1:
            with pytest.raises(metamorphic_log.VerifyError):
                metamorphic_log.checkpoint_verify_inclusion(note, [VKEY], index ^ 1, leaf, list(tree.inclusion(index)))


@pytest.mark.parametrize("new", range(1, LARGEST + 1))
def test_metamorphic_log_checks_every_consistency_of_our_heads(new: int) -> None:
    for old in range(1, new + 1):
        path = TREES[new].consistency(old)
        metamorphic_log.checkpoint_verify_consistency(HEADS[old], HEADS[new], [VKEY], list(path))
        for wrong in altered(path):
            with pytest.raises(metamorphic_log.VerifyError):
                metamorphic_log.checkpoint_verify_consistency(HEADS[old], HEADS[new], [VKEY], wrong)


def test_metamorphic_log_reads_our_heads_and_refuses_changed_ones() -> None:
    for tree, note in zip(TREES, HEADS, strict=True):
        found = metamorphic_log.checkpoint_verify(note, [VKEY])
        assert (found.origin, found.size, found.root, found.extensions) == (ORIGIN, tree.size, tree.root, [])
    changed = [HEADS[7].replace("\n7\n", "\n8\n"), HEADS[7].replace(HEADS[7].split("\n")[2], HEADS[8].split("\n")[2])]
    for note in [*changed, head(TREES[7], STRANGER)]:
        with pytest.raises(metamorphic_log.VerifyError):
            metamorphic_log.checkpoint_verify(note, [VKEY])


def test_metamorphic_log_accepts_either_key_while_a_log_changes_its_key() -> None:
    note = sign_note(print_checkpoint(Checkpoint(ORIGIN, 7, TREES[7].root)), [LOG, STRANGER])
    for key in (LOG, STRANGER):
        assert metamorphic_log.checkpoint_verify(note, [str(key.vkey)]).size == 7
        assert check_checkpoint(note, [key.vkey]).size == 7


# --- our heads, cosignatures and proofs by tlog-scales ---------------------------------------


@pytest.mark.parametrize("new", range(1, LARGEST + 1))
def test_tlog_scales_checks_every_proof_of_ours(new: int) -> None:
    tree = TREES[new]
    for index in range(new):
        leaf, path = leaf_hash(RECORDS[index]), tree.inclusion(index)
        InclusionProof(index, new, list(path)).check(leaf, tree.root)
        for wrong in altered(path):
            with pytest.raises(InclusionProofInvalid):
                InclusionProof(index, new, wrong).check(leaf, tree.root)
    for old in range(new + 1):
        path = tree.consistency(old)
        ConsistencyProof(old, new, list(path)).check(TREES[old].root, tree.root)
        for wrong in altered(path):
            with pytest.raises(ConsistencyProofInvalid):
                ConsistencyProof(old, new, wrong).check(TREES[old].root, tree.root)


def test_tlog_scales_checks_our_heads_and_cosignatures() -> None:
    cosigned = cosign(HEADS[7], WITNESS, 1_769_851_800)
    found = OutsideCheckpoint.from_text(cosigned)
    assert (found.origin, found.size, found.root_hash) == (ORIGIN, 7, TREES[7].root)
    assert found.serialize() == cosigned
    for vkey in (VKEY, WITNESS_VKEY):
        found.verify(Vkey.from_string(vkey))
        assert Vkey.from_string(vkey).serialize() == vkey
        with pytest.raises(InvalidSignature):
            OutsideCheckpoint.from_text(cosigned.replace("\n7\n", "\n8\n")).verify(Vkey.from_string(vkey))
    with pytest.raises(RuntimeError, match="no signature matched vkey"):
        found.verify(Vkey.from_string(str(STRANGER.vkey)))


def test_heads_that_tlog_scales_signs_are_checked_here() -> None:
    signer = PlainEd25519Signer(ORIGIN, bytes(range(32)))
    note = OutsideCheckpoint.make_signed(ORIGIN, 7, TREES[7].root, [signer]).serialize()
    assert note == HEADS[7]
    assert check_checkpoint(note, [parse_vkey(signer.vkey.serialize())]) == Checkpoint(ORIGIN, 7, TREES[7].root)


# --- tiles both ways -------------------------------------------------------------------------


class Served:
    """A log's tiles, bundles and head at their paths, as a web server has them."""

    def __init__(self, records: Sequence[bytes]) -> None:
        tree = Tree.of(records)
        self.files = {"checkpoint": head(tree).encode()}
        for tile in tiles_of(tree.size):
            self.files[tile.path] = print_hashes(tree.read(tile.nodes))
            if tile.level == 0:
                bundle = EntryBundle(tile.index, tile.width)
                self.files[bundle.path] = print_entries([records[index] for index in bundle.records])

    def get(self, *path: str) -> bytes | None:
        return self.files.get("/".join(path))


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 700])
def test_tlog_scales_reads_our_tiles(size: int) -> None:
    tree, reader = Tree.of(RECORDS[:size]), TilesReader(Served(RECORDS[:size]))
    checkpoint = reader.get_checkpoint()
    checkpoint.verify(Vkey.from_string(VKEY))
    assert reader.calculate_root_hash() == checkpoint.root_hash == tree.root
    for index in {0, size // 3, size // 2, size - 1}:
        assert reader.get_entry(index) == RECORDS[index]
        assert tuple(reader.get_inclusion_proof(index, size).node_hashes) == tree.inclusion(index)
        assert tuple(reader.get_consistency_proof(index + 1, size).node_hashes) == tree.consistency(index + 1)


def audit(served: Served) -> None:
    """Read every record by tlog-scales, and check it under the head."""
    reader = TilesReader(served)
    checkpoint = reader.get_checkpoint()
    for index in range(checkpoint.size):
        proof = reader.get_inclusion_proof(index, checkpoint.size)
        proof.check(leaf_hash(reader.get_entry(index)), checkpoint.root_hash)


def test_tlog_scales_sees_a_changed_tile_and_a_changed_bundle() -> None:
    audit(Served(RECORDS[:300]))
    paths = ["tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1", "tile/entries/000", "tile/entries/001.p/44"]
    assert sorted(Served(RECORDS[:300]).files) == ["checkpoint", *paths]
    for path in paths:
        changed = Served(RECORDS[:300])
        changed.files[path] = changed.files[path][:-1] + bytes([changed.files[path][-1] ^ 1])
        with pytest.raises(InclusionProofInvalid):
            audit(changed)


def test_a_log_that_tlog_scales_writes_is_read_here(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    writer = TilesWriter.create(folder, ORIGIN)
    for size in (3, 256, 300, 700):
        for record in RECORDS[writer.size : size]:
            writer.add_leaf(record)
        writer.commit([PlainEd25519Signer(ORIGIN, bytes(range(32)))])
        ours = Served(RECORDS[:size]).files
        assert {path: (folder / path).read_bytes() for path in ours} == ours
        checkpoint = check_checkpoint((folder / "checkpoint").read_text("utf-8"), [LOG.vkey])
        read = hash_reader(lambda tile: (folder / tile.path).read_bytes(), size)
        assert root(read, size) == checkpoint.root
        bundle = EntryBundle((size - 1) // 256, (size - 1) % 256 + 1)
        records = parse_entries(bundle, (folder / bundle.path).read_bytes())
        for index, record in zip(bundle.records, records, strict=True):
            check_inclusion(leaf_hash(record), index, size, prove_inclusion(read, index, size), checkpoint.root)


# --- other people's logs ---------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["logs"], ids=lambda case: case["name"])
def test_a_record_of_a_public_log(case: dict[str, Any]) -> None:
    record, note, vkey = decode_base64(case["record"], "record"), joined(case["note"]), parse_vkey(case["vkey"])
    proof = TlogProof(case["index"], hashes(case["path"]), note)
    index, checkpoint = check_tlog_proof(record, print_tlog_proof(proof), [vkey])
    assert (index, checkpoint.origin) == (case["index"], vkey.name)
    metamorphic_log.checkpoint_verify_inclusion(note, [case["vkey"]], index, leaf_hash(record), list(proof.path))
    for path in altered(proof.path):
        with pytest.raises(ProofError, match=f"^inclusion of leaf {index} in {checkpoint.size}: "):
            check_tlog_proof(record, print_tlog_proof(TlogProof(index, tuple(path), note)), [vkey])
    with pytest.raises(ProofError, match=f"^inclusion of leaf {index} in {checkpoint.size}: root: "):
        check_tlog_proof(record + b" ", print_tlog_proof(proof), [vkey])
    larger = note.replace(f"\n{checkpoint.size}\n", f"\n{checkpoint.size + 1}\n")
    with pytest.raises(SignatureError, match=f"^signature of {vkey.name}"):
        check_checkpoint(larger, [vkey])


def test_the_witnesses_of_a_public_log() -> None:
    case = next(case for case in VECTORS["logs"] if case["witnesses"])
    note, witnesses = joined(case["note"]), [parse_vkey(text) for text in case["witnesses"]]
    names = [key.name for key in witnesses]
    assert cosignatures(note, witnesses) == list(map(Cosignature, names, case["timestamps_s"]))
    size = parse_note(note).text.split("\n")[1]
    for key in witnesses:
        with pytest.raises(SignatureError, match=f"^signature of {key.name}"):
            cosignatures(note.replace(f"\n{size}\n", f"\n{int(size) + 1}\n"), [key])


def test_a_certificate_in_a_log_of_certificate_transparency() -> None:
    size, claimed, path = ARGON["size"], decode_base64(ARGON["root"], "root"), hashes(ARGON["path"])
    leaf = leaf_hash(decode_base64(ARGON["record"], "record"))
    check_inclusion(leaf, ARGON["index"], size, path, claimed)
    for wrong in altered(path):
        with pytest.raises(ProofError, match=f"^inclusion of leaf 10000 in {size}: "):
            check_inclusion(leaf, ARGON["index"], size, wrong, claimed)


def test_two_heads_of_a_log_of_certificate_transparency() -> None:
    older, size, path = ARGON["older"], ARGON["size"], hashes(ARGON["consistency"])
    roots = decode_base64(older["root"], "root"), decode_base64(ARGON["root"], "root")
    check_consistency(older["size"], roots[0], size, roots[1], path)
    for wrong in altered(path):
        with pytest.raises(ProofError, match=f"^consistency of {older['size']} with {size}: "):
            check_consistency(older["size"], roots[0], size, roots[1], wrong)
