"""Verifying bundles for those who send them: nothing is read or kept but the service's own key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from api.keyring import active_vkeys
from api.service import Service
from api.world import print_time
from shoe.errors import NoteError
from shoe.proof.note import VerifierKey, parse_vkey
from shoe.proof.tlog import parse_receipt
from shoe.proof.verify import Evidence, HeldCheckpoint, Verification, verify_bundle

T = TypeVar("T")


def verify(
    service: Service,
    bundle: Mapping[str, Any],
    *,
    receipts: Sequence[str],
    vkeys: Sequence[str] | None,
    held: HeldCheckpoint | None,
    witnesses: Sequence[str],
    now: str | None,
) -> Verification:
    """Verify a bundle with what its holder knows; without vkeys under this log's own, without a time as of now.

    A bundle is never refused, however wrong: its verdict says so. Raises InputError for receipts and keys that
    are none.
    """
    evidence = Evidence(
        vkeys=_own_vkeys(service) if vkeys is None else _read(parse_vkey, vkeys, "vkeys"),
        receipts=_read(parse_receipt, receipts, "receipts"),
        held=held,
        witnesses=_read(parse_vkey, witnesses, "witnesses"),
        now=now or print_time(service.world.now()),
        check_signature=service.check_signature,
    )
    return verify_bundle(bundle, evidence)


def _own_vkeys(service: Service) -> tuple[VerifierKey, ...]:
    with service.reading() as session:
        return active_vkeys(session)


def _read(parse: Callable[[str], T], texts: Sequence[str], where: str) -> tuple[T, ...]:
    read = []
    for at, text in enumerate(texts):
        try:
            read.append(parse(text))
        except NoteError as error:
            raise NoteError(f"{where}[{at}]: {error}") from None
    return tuple(read)
