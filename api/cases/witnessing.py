"""Witnesses' cosignatures of the log's checkpoints: asked for, checked, kept for good, and given out (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.db.tables import CheckpointRow, CosignatureRow
from api.log import prove_extension, read_head
from api.refusals import no_such
from api.service import Service
from api.witness import WitnessClient
from api.world import read_time
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, ProofError, SignatureError, expected
from shoe.proof.checkpoint import Cosignature, parse_checkpoint
from shoe.proof.note import Note, Signature, VerifierKey, parse_note, print_note, signatures_by
from shoe.proof.witness import check_cosigned, print_lines

AHEAD_S: Final = 300
"""How far a witness's clock may be before ours, in seconds."""

SEARCHED: Final = 10_000
"""Cosignatures, from the newest, among which a checkpoint with several is looked for."""


def cosign_head(service: Service, client: WitnessClient) -> int | None:
    """Have a witness cosign the log's head, unless it has, and keep its line; give the head's size if it is new.

    No transaction is open while the witness is waited for. Raises WitnessFault where the witness gives no good line,
    and as `keep_cosigned` does.
    """
    vkey = client.witness.vkey
    with service.reading() as session:
        head, known = read_head(session), last_cosigned(session, vkey)
        size, checkpoint = head.size, head.checkpoint
    if known == size:
        return None

    def prove(old: int) -> tuple[bytes, ...]:
        with service.reading() as session:
            return prove_extension(session, old, size)

    line, _ = client.cosign(checkpoint, known, prove)
    note = parse_note(checkpoint)
    service.write(keep_cosigned(print_note(Note(note.text, (*note.signatures, line))), [vkey]))
    return size


def keep_cosigned(text: str, witnesses: Iterable[VerifierKey]) -> Step[list[Cosignature]]:
    """Keep the known witnesses' lines under a cosigned checkpoint; give what each states that is new.

    A witness's first line under a checkpoint stays. Lines of the log and of others are passed over. Raises NoteError
    for a text that is no signed checkpoint, SignatureError for a bad line by a known witness or where there is none,
    Refusal for a size that the log signed no checkpoint of, ProofError where it signed another text of this size, and
    InputError for a time over five minutes ahead of ours.
    """
    note = parse_note(text)
    size = parse_checkpoint(note.text).size
    named = dict.fromkeys(key for key, _ in signatures_by(note, witnesses))
    if not named:
        names = [line.name for line in note.signatures]
        raise SignatureError(expected("a cosignature by a witness that is known here", names, "cosigned checkpoint"))
    lines = {str(key): check_cosigned(text, note.signatures, key) for key in named}

    def step(writing: Writing) -> Finish[list[Cosignature]]:
        _require_kept(writing.session, size, note.text)
        latest_s = int(read_time(writing.time).timestamp()) + AHEAD_S
        for _, stated in lines.values():
            if stated.timestamp_s > latest_s:
                where = f"time of {stated.name}'s cosignature"
                raise InputError(expected(f"up to {latest_s} s", stated.timestamp_s, where))
        query = select(CosignatureRow.vkey).where(CosignatureRow.size == size, CosignatureRow.vkey.in_(list(lines)))
        held = set(writing.session.scalars(query))
        new = {vkey: line for vkey, line in lines.items() if vkey not in held}
        for vkey, (line, stated) in new.items():
            writing.insert(_row(size, vkey, line, stated))
        return lambda _: [stated for _, stated in new.values()]

    return step


def _require_kept(session: Session, size: int, text: str) -> None:
    kept = parse_note(_checkpoint(session, size)).text
    if kept != text:
        raise ProofError(expected(f"the checkpoint of {size} records, {kept!r}", text, "cosigned checkpoint"))


def _row(size: int, vkey: str, line: Signature, stated: Cosignature) -> CosignatureRow:
    return CosignatureRow(size=size, vkey=vkey, time_s=stated.timestamp_s, line=print_lines([line]))


def last_cosigned(session: Session, witness: VerifierKey) -> int:
    """Give the size of the last checkpoint that a witness has cosigned, 0 where there is none."""
    query = select(CosignatureRow.size).where(CosignatureRow.vkey == str(witness))
    return session.scalar(query.order_by(CosignatureRow.size.desc()).limit(1)) or 0


def cosigned_checkpoint(session: Session, size: int) -> str:
    """Give the checkpoint that was signed over `size` records, with all cosignatures that are kept of it.

    Raises Refusal where none was.
    """
    query = select(CosignatureRow.line).where(CosignatureRow.size == size).order_by(CosignatureRow.vkey)
    return _checkpoint(session, size) + "".join(session.scalars(query))


def newest_cosigned(session: Session, witnesses: int) -> str:
    """Give the newest checkpoint that so many witnesses, at least, have cosigned; with their cosignatures.

    Looks at the newest 10,000 cosignatures. Raises Refusal where there is none.
    """
    newest = select(CosignatureRow.size).order_by(CosignatureRow.size.desc()).limit(SEARCHED).subquery()
    query = select(newest.c.size).group_by(newest.c.size).having(func.count() >= witnesses)
    size = session.scalar(query.order_by(newest.c.size.desc()).limit(1))
    if size is None:
        raise no_such("checkpoint whose witnesses number at least", str(witnesses))
    return cosigned_checkpoint(session, size)


def _checkpoint(session: Session, size: int) -> str:
    row = session.get(CheckpointRow, size)
    if row is None:
        raise no_such("checkpoint that was signed over a number of records of", str(size))
    return row.text
