"""Server seeds, the book that fixes them, and players' seeds (protocol §3, §4)."""

from __future__ import annotations

import re
from typing import Final

from cryptography.hazmat.primitives import constant_time, hashes
from cryptography.hazmat.primitives.hmac import HMAC

from shoe.errors import ProofError, SeedError, expected
from shoe.proof.merkle import Tree, check_inclusion, leaf_hash
from shoe.proof.notation import sha256, tag, u64

SEED_BYTES: Final = 32
MAX_BOOK: Final = 2**20
MAX_CONTRIBUTIONS: Final = 64
SEED_PATTERN: Final = r"[0-9A-Za-z._:-]{1,128}"
CLIENT_PATTERN: Final = r"[a-z0-9-]{1,36}"
_SEED: Final = re.compile(SEED_PATTERN)


def server_seed(master: bytes, index: int) -> bytes:
    """Derive seed `index` (32 bytes) of the book under `master` (32 bytes). Source: protocol §3."""
    if len(master) != SEED_BYTES:
        raise SeedError(expected("32 bytes", f"{len(master)} bytes", "master"))
    mac = HMAC(master, hashes.SHA256())
    mac.update(tag("fairshoe/1/seed") + u64(index))
    return mac.finalize()


def commit_server_seed(seed: bytes) -> bytes:
    """Commit to a server seed (32 bytes): the hash that `open` shows and `reveal` must open. Source: protocol §3."""
    if len(seed) != SEED_BYTES:
        raise SeedError(expected("32 bytes", f"{len(seed)} bytes", "server seed"))
    return sha256(tag("fairshoe/1/commit") + seed)


def check_server_seed(seed: bytes, commitment: bytes) -> bytes:
    """Give back a server seed that opens `commitment`; raises ProofError for any other."""
    if not constant_time.bytes_eq(commit_server_seed(seed), commitment):
        raise ProofError("the server seed does not open the commitment")
    return seed


def seed_book(master: bytes, size: int) -> Tree:
    """Build the tree of the commitments of seeds 0…size−1; its root is the book's. Source: protocol §3.

    Raises SeedError unless 1 ≤ size ≤ 2^20. Costs 2·size hashes and size HMACs.
    """
    if not 1 <= size <= MAX_BOOK:
        raise SeedError(expected(f"a size 1…{MAX_BOOK}", size, "book"))
    return Tree.of([commit_server_seed(server_seed(master, index)) for index in range(size)])


def check_book_entry(commitment: bytes, index: int, size: int, path: tuple[bytes, ...], book_root: bytes) -> None:
    """Check that `commitment` stands at `index` of the book (root, size); raises ProofError. Source: protocol §3."""
    check_inclusion(leaf_hash(commitment), index, size, path, book_root)


def parse_seed(seed: str) -> str:
    """Give back a player's seed of the right form, 1–128 characters ``[0-9A-Za-z._:-]``, else raise SeedError.

    Taken as given: no trimming, folding or decoding. Source: protocol §4. The message never shows the seed.
    """
    if not isinstance(seed, str) or not _SEED.fullmatch(seed):
        raise SeedError("seed: expected 1–128 characters 0-9 A-Z a-z . _ : -, got something else")
    return seed


def commit_seed(seed: str) -> bytes:
    """Commit to a player's seed (two_phase). Source: protocol §4."""
    return sha256(tag("fairshoe/1/entropy") + parse_seed(seed).encode("ascii"))


def check_seed(seed: str, commitment: bytes) -> str:
    """Give back a player's seed that opens `commitment`; raises ProofError for any other, without showing it."""
    if not constant_time.bytes_eq(commit_seed(seed), commitment):
        raise ProofError("the seed does not open its commitment")
    return seed
