"""Checks of how a shoe was opened and sealed: book, index, entropy, beacon, transcript (protocol §3, §4)."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

from shoe.errors import InputError, ProofError, expected
from shoe.proof.beacon import check_round, lock_before_s, time_of
from shoe.proof.records import Book, BookEnd, CommittedEntropy, End, Open, OpenEntropy, parse_record
from shoe.proof.seal import ClientSeed, Transcript, seal_transcript
from shoe.proof.seeds import check_book_entry, check_seed, check_server_seed, server_seed
from shoe.proof.verify.case import Case
from shoe.proof.verify.result import Missing, NotYet

_OWN_KEYS = ("client_seeds", "beacon")


def check_book(case: Case) -> str:
    """The seed's commitment stands in a book of this table that is in the log."""
    opened, book = case.history.open, case.book
    if not isinstance(book, Book):
        raise ProofError(expected("a book record", book.type, "book_record"))
    named = (book.log, book.table, book.root, book.size)
    if named != (opened.log, opened.table, opened.book.root, opened.book.size):
        raise ProofError("book_record: another log, table, root or size than open names")
    if book.time > opened.time:
        raise ProofError(expected(f"a time up to {opened.time}", book.time, "book_record.time"))
    try:
        check_book_entry(opened.commitment, opened.index, book.size, case.bundle.book_proof, opened.book.root)
    except (ProofError, InputError) as error:
        raise ProofError(f"book_proof: {error}") from None
    end = case.history.end
    if end is not None and end.book != opened.book:
        raise ProofError(f"{end.type}.book: another book than open names")
    return f"index {opened.index} of a book of {book.size}, logged at {book.time}"


def check_index(case: Case) -> str:
    """The seed's index follows the previous shoe's, and the log has everything in that order."""
    opened, bundle = case.history.open, case.bundle
    for index, (before, after) in enumerate(pairwise(bundle.log_indices), start=1):
        if before >= after:
            raise ProofError(expected(f"a log index over {before}", after, f"log_indices[{index}]"))
    end = case.history.end
    if end is not None and end.index != opened.index:
        raise ProofError(expected(f"index {opened.index}", end.index, f"{end.type}.index"))
    for name, placed in (("book_record", bundle.book_record), ("previous_shoe", bundle.previous_shoe)):
        if placed is not None and placed.index >= bundle.log_indices[0]:
            raise ProofError(expected(f"a log index under {bundle.log_indices[0]}", placed.index, f"{name}.index"))
    previous = case.previous
    if bundle.book_record is None:
        raise Missing("the book record")
    if previous is None:
        if opened.index != 0:
            raise ProofError(expected("index 0 at a table's first shoe", opened.index, "records[0].index"))
        return "index 0: the table's first shoe"
    if not isinstance(previous, End):
        raise ProofError(expected("a reveal or void", previous.type, "previous_shoe"))
    if previous.shoe == opened.shoe:
        raise ProofError(expected("another shoe", previous.shoe, "previous_shoe.shoe"))
    return _check_follows(case, opened, previous)


def _check_follows(case: Case, opened: Open, previous: End) -> str:
    if previous.book == opened.book:
        if opened.index != previous.index + 1:
            got = opened.index
            raise ProofError(expected(f"index {previous.index + 1} after {previous.index}", got, "records[0].index"))
        return f"index {opened.index} follows {previous.index} in the same book"
    if opened.index != 0:
        raise ProofError(expected("index 0 of a new book", opened.index, "records[0].index"))
    if previous.index == previous.book.size - 1:
        return "index 0 of a new book, after the old one's last"
    for receipt in case.evidence.receipts:
        ended = parse_record(receipt.record)
        if isinstance(ended, BookEnd) and (ended.table, ended.root) == (opened.table, previous.book.root):
            return _check_book_end(case, receipt.proof.index, ended, previous)
    raise Missing("a receipt of the old book's book_end record: it was left before its last index")


def _check_book_end(case: Case, index: int, ended: BookEnd, previous: End) -> str:
    first = case.bundle.log_indices[0]
    if index >= first:
        raise ProofError(expected(f"a log index under {first}", index, "book_end: the old book was still open"))
    if server_seed(ended.master, previous.index) != previous.server_seed:
        raise ProofError("book_end.master: not the master of the old book, whose last shoe had another seed")
    return f"index 0 of a new book: the old one was ended at {ended.time}"


def check_entropy(case: Case) -> str:
    """Contributions stand in order, one a client, in the form of the table's mode; opened seeds are the committed."""
    history = case.history
    forms = {"two_phase": CommittedEntropy, "beacon": OpenEntropy, "house": None}
    form = forms[history.open.rules.entropy]
    clients: set[str] = set()
    for position, entropy in enumerate(history.entropies):
        where = f"entropy {position}"
        if form is None or not isinstance(entropy, form):
            raise ProofError(f"{where}: not of the form that mode {history.open.rules.entropy} has")
        if entropy.position != position:
            raise ProofError(expected(f"position {position}", entropy.position, where))
        if entropy.client in clients:
            raise ProofError(f"{where}: client {entropy.client} contributes twice")
        clients.add(entropy.client)
    seeds = _opened_seeds(case)
    if history.seal is not None:
        _check_client_seeds(case, seeds, history.seal.transcript)
    return f"{len(history.entropies)} contributions, {len(seeds)} seeds open"


def _opened_seeds(case: Case) -> dict[int, str]:
    history = case.history
    seeds = {e.position: e.seed for e in history.entropies if isinstance(e, OpenEntropy)}
    for seed in history.seeds:
        committed = history.entropies[seed.position] if seed.position < len(history.entropies) else None
        if not isinstance(committed, CommittedEntropy):
            raise ProofError(f"seed of position {seed.position}: nobody committed to it")
        if seed.position in seeds:
            raise ProofError(f"seed of position {seed.position}: opened twice")
        try:
            seeds[seed.position] = check_seed(seed.seed, committed.seed_commitment)
        except ProofError as error:
            raise ProofError(f"seed of position {seed.position}: {error}") from None
    return seeds


def _check_client_seeds(case: Case, seeds: dict[int, str], transcript: Transcript) -> None:
    entropies = case.history.entropies
    for entropy in entropies:
        if entropy.position not in seeds:
            raise ProofError(f"sealed without the seed of position {entropy.position}")
    wanted = tuple(ClientSeed(entropy.client, seeds[entropy.position]) for entropy in entropies)
    if transcript.client_seeds != wanted:
        got = f"{len(transcript.client_seeds)} others"
        raise ProofError(expected(f"the {len(wanted)} seeds contributed", got, "seal.transcript.client_seeds"))


def check_lock(case: Case) -> str:
    """The lock closes the list at the number of contributions it holds."""
    history = case.history
    if history.lock is None:
        raise NotYet("the list of contributions is still open")
    if history.lock.count != len(history.entropies):
        raise ProofError(expected(f"count {len(history.entropies)}", history.lock.count, "lock"))
    return f"locked with {history.lock.count} contributions at {history.lock.time}"


def check_beacon(case: Case) -> str:
    """Where a beacon round is mixed in, it is the pinned one, was locked before, and the beacon signed it."""
    opened, seal = case.history.open, case.history.seal
    pin = opened.beacon
    if (pin is not None) != (opened.rules.entropy == "beacon"):
        raise ProofError("records[0].beacon: expected a round in mode beacon only")
    came = None if seal is None else seal.transcript.beacon
    if pin is None:
        if came is not None:
            raise ProofError("seal.transcript.beacon: expected null, as in open")
        return f"mode {opened.rules.entropy} needs no beacon"
    latest = time_of(lock_before_s(pin))
    if opened.lock_by > latest:
        raise ProofError(expected(f"lock_by up to {latest}", opened.lock_by, "records[0].lock_by"))
    if seal is None:
        raise NotYet(f"waits for round {pin.round}")
    if came is None:
        raise ProofError(f"seal.transcript.beacon: expected round {pin.round}, got null")
    check_round(came, pin)
    if case.evidence.check_signature is None:
        raise Missing("a verifier of beacon signatures")
    case.evidence.check_signature(came.round, came.signature)
    return f"round {came.round}, signed by the beacon"


def check_seal(case: Case) -> str:
    """The transcript repeats the opening, and the seal is its hash."""
    opened, seal = case.history.open, case.sealed
    for key in (each.name for each in fields(Transcript) if each.name not in _OWN_KEYS):
        if key != "protocol" and getattr(seal.transcript, key) != getattr(opened, key):
            raise ProofError(f"seal.transcript.{key}: differs from open's")
    if seal.seal != seal_transcript(seal.transcript):
        raise ProofError("seal.seal: not the hash of the transcript")
    return f"sealed at {seal.time}"


def check_commitment(case: Case) -> str:
    """The published server seed opens the commitment that the shoe was opened with."""
    try:
        check_server_seed(case.ended.server_seed, case.history.open.commitment)
    except ProofError as error:
        raise ProofError(f"{case.ended.type}.server_seed: {error}") from None
    return "the server seed opens the commitment"
