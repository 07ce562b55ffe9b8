"""Where a plan's keys come from: book, transcript, seal and HKDF, as in a shoe that is really played (protocol §3, §4).

Both paths have a master of their own, SHA-256 of a tag and the plan's seed. The batch is the one shoe of a book of one:
its key shuffles h = 0, 1, 2 …. The production path is a book with a seed for every shoe, each opened, sealed and
shuffled once, h = 0. No player contributes and there is no beacon: the seeds alone decide, and the seal says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from audit.battery import PathName
from audit.keystream import Keys
from audit.plan import Plan
from shoe.game.rules import Rules
from shoe.proof.notation import sha256, tag
from shoe.proof.seal import PROTOCOL, BookRef, Transcript, derive_keys, seal_transcript
from shoe.proof.seeds import commit_server_seed, seed_book, server_seed

LOG: Final = "certification.fairshoe"
"""The origin that stands in the transcripts; no log has it."""


def keys_of(plan: Plan, path: PathName, shoes: Sequence[int]) -> tuple[Keys, Sequence[int]]:
    """Give the keys of these shoes of a path, and the places in them that the kernel shall deal.

    The batch has one key and its places are the shoes themselves; in production every shoe has its own, about 0.1 ms
    each, and in each process the book once.
    """
    if path == "batch":
        return batch_key(plan), shoes
    return production_keys(plan, shoes), range(len(shoes))


def batch_key(plan: Plan) -> bytes:
    """Derive the shuffle key (32 bytes) of the batch path."""
    return _shuffle_key(plan.table, plan.rules, _master(plan.seed, "batch"), 1, 0)


def production_keys(plan: Plan, shoes: Sequence[int]) -> list[bytes]:
    """Derive the shuffle keys (32 bytes each) of these shoes of the production path."""
    master, size = _master(plan.seed, "production"), plan.production.shoes
    return [_shuffle_key(plan.table, plan.rules, master, size, shoe) for shoe in shoes]


def transcript_of(table: str, rules: Rules, master: bytes, size: int, index: int) -> Transcript:
    """Write the transcript of shoe `index` of a book under `master`, as it is sealed."""
    return Transcript(
        protocol=PROTOCOL,
        log=LOG,
        shoe=f"{table}-{index}",
        table=table,
        rules=rules,
        book=_book(master, size),
        index=index,
        commitment=commit_server_seed(server_seed(master, index)),
        client_seeds=(),
        beacon=None,
    )


def _shuffle_key(table: str, rules: Rules, master: bytes, size: int, index: int) -> bytes:
    seal = seal_transcript(transcript_of(table, rules, master, size, index))
    return derive_keys(server_seed(master, index), seal).shuffle_key


def _master(seed: bytes, path: PathName) -> bytes:
    return sha256(tag(f"fairshoe/1/certify/{path}") + seed)


@lru_cache(maxsize=4)
def _book(master: bytes, size: int) -> BookRef:
    return BookRef(seed_book(master, size).root, size)
