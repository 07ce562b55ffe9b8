"""A log's side of tlog-witness over HTTP: it carries a head to a witness, and believes no answer that it can't check.

A witness is somebody else's server: it may be slow, wrong, or lie. Its answers are limited in size and time, and it is
never followed elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import urllib3

from api.settings import SetupError
from shoe.errors import FairshoeError, InputError, NoteError, SignatureError, expected
from shoe.proof.checkpoint import Cosignature, parse_checkpoint
from shoe.proof.note import COSIGNATURE, Signature, VerifierKey, parse_note, parse_vkey, require_type
from shoe.proof.witness import (
    REFUSALS,
    AddCheckpoint,
    Answer,
    Cosigned,
    Refused,
    Stale,
    check_cosigned,
    parse_answer,
    print_add_checkpoint,
)

MAX_WITNESSES: Final = 64
"""Witnesses of one log, at most: a note has up to 100 signatures."""

MAX_ANSWER_BYTES: Final = 65_536
CONNECT_S: Final = 5.0
SILENCE_S: Final = 10.0
TOTAL_S: Final = 20.0
"""How long a connection may take, a witness may say nothing, and the body of an answer may take, in seconds."""

_ADD: Final = "/add-checkpoint"
_PRINTABLE: Final = frozenset(map(chr, range(0x21, 0x7F)))

Prove = Callable[[int], tuple[bytes, ...]]
"""Gives the consistency path from a size to the head."""


class WitnessFault(FairshoeError):
    """A witness gave no answer, none that is good, or says that it knows another log than this one."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness: the key that its cosignatures are checked with, and where it takes checkpoints (a URL's prefix)."""

    vkey: VerifierKey
    url: str


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a witness is waited for, in seconds: to connect, between two bytes, and for the body of an answer."""

    connect_s: float = CONNECT_S
    silence_s: float = SILENCE_S
    total_s: float = TOTAL_S


def read_witnesses(path: Path | None) -> tuple[Witness, ...]:
    """Read the file of witnesses, a line ``vkey URL`` each; empty lines and those beginning with ``#`` are passed over.

    No file is no witness. Raises SetupError, naming file and line, for anything else: a log's key, a key twice, a URL
    that isn't http or https, or over 64 witnesses.
    """
    if path is None:
        return ()
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise SetupError(f"FAIRSHOE_WITNESSES: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SetupError(f"FAIRSHOE_WITNESSES: {path}: expected text in UTF-8, got other bytes") from None
    witnesses: dict[VerifierKey, Witness] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            try:
                witness = _read_line(line)
                if witness.vkey in witnesses or len(witnesses) == MAX_WITNESSES:
                    raise InputError(expected(f"up to {MAX_WITNESSES} witnesses, each once", str(witness.vkey)))
            except InputError as error:
                raise SetupError(f"FAIRSHOE_WITNESSES: {path}, line {number}: {error}") from None
            witnesses[witness.vkey] = witness
    return tuple(witnesses.values())


def _read_line(line: str) -> Witness:
    parts = line.split()
    if len(parts) != 2:
        raise InputError(expected("a witness's vkey and its URL", line))
    vkey = parse_vkey(parts[0])
    require_type([vkey], COSIGNATURE)
    return Witness(vkey, _read_url(parts[1]))


def _read_url(text: str) -> str:
    wanted = "a URL http://… or https://… without user, query and fragment"
    try:
        parts = urlsplit(text)
        # Out of 0…65535 it raises only when it is asked for.
        good = parts.port is None or parts.port > 0
    except ValueError:
        raise InputError(expected(wanted, text)) from None
    good = good and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    if not good or set("?#") & set(text) or set(text) - _PRINTABLE:
        raise InputError(expected(wanted, text))
    return text.rstrip("/")


class WitnessClient:
    """Asks one witness for cosignatures; its connection is kept open between requests."""

    def __init__(self, witness: Witness, patience: Patience | None = None) -> None:
        self.witness = witness
        self._patience = patience or Patience()
        timeout = urllib3.Timeout(connect=self._patience.connect_s, read=self._patience.silence_s)
        self._pool = urllib3.PoolManager(timeout=timeout, retries=False)

    def close(self) -> None:
        """Close the connection that is kept open."""
        self._pool.clear()

    def cosign(self, checkpoint: str, known: int, prove: Prove) -> tuple[Signature, Cosignature]:
        """Have a signed checkpoint cosigned; `known` is the size that the witness cosigned last, as far as we know.

        Where it says another, asks once more from there. The line that comes is good under the witness's key and this
        checkpoint. Raises WitnessFault for everything else, with the reason.
        """
        size = parse_checkpoint(parse_note(checkpoint).text).size
        old = known
        for _ in range(2):
            answer = self._ask(AddCheckpoint(old, prove(old), checkpoint))
            match answer:
                case Cosigned():
                    return self._check(checkpoint, answer)
                case Refused(status):
                    raise self._fault(f"it refuses with {status}: {REFUSALS[status]}")
                case Stale(held) if held > size:
                    raise self._fault(f"it has cosigned {held} records of this log, which has {size}: was it set back?")
                case Stale(held) if held == old:
                    raise self._fault(f"it has cosigned another log's {held} records under this log's name")
                case Stale(held):
                    old = held
        raise self._fault("it says another size each time that it is asked")

    def _check(self, checkpoint: str, answer: Cosigned) -> tuple[Signature, Cosignature]:
        try:
            return check_cosigned(checkpoint, answer.signatures, self.witness.vkey)
        except SignatureError as error:
            raise self._fault(f"its answer is no cosignature of this checkpoint: {error}") from None

    def _ask(self, request: AddCheckpoint) -> Answer:
        try:
            status, body = self._post(print_add_checkpoint(request).encode())
            return parse_answer(status, body.decode())
        except urllib3.exceptions.HTTPError as error:
            raise self._fault(f"no answer from {self.witness.url}: {type(error).__name__}") from None
        except UnicodeDecodeError:
            raise self._fault("its answer is not UTF-8") from None
        except NoteError as error:
            raise self._fault(f"its answer can't be read: {error}") from None

    def _post(self, body: bytes) -> tuple[int, bytes]:
        latest = time.monotonic() + self._patience.total_s
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        url = self.witness.url + _ADD
        response = self._pool.request(
            "POST", url, body=body, headers=headers, redirect=False, preload_content=False, decode_content=False
        )
        try:
            answer = self._read(response, latest)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return response.status, answer

    def _read(self, response: urllib3.BaseHTTPResponse, latest: float) -> bytes:
        answer = b""
        while part := response.read1(MAX_ANSWER_BYTES):
            answer += part
            if len(answer) > MAX_ANSWER_BYTES:
                raise self._fault(f"its answer is over {MAX_ANSWER_BYTES} bytes")
            if time.monotonic() > latest:
                raise self._fault(f"its answer takes over {self._patience.total_s:g} s")
        return answer

    def _fault(self, reason: str) -> WitnessFault:
        return WitnessFault(f"witness {self.witness.vkey.name}: {reason}")
