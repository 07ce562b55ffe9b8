"""The signed note under a report: Ed25519 over the digests of its JSON, page and unsigned PDF (protocol §9's notes)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from audit.report.build import Report
from audit.report.recorded import RecordsReport
from shoe.errors import InputError, ProofError, expected
from shoe.proof.notation import sha256
from shoe.proof.note import ED25519, SignerKey, VerifierKey, check_note, sign_note

HEADING: Final = "fairshoe/report-note/1"
JSON: Final = "report.json"
PAGE: Final = "report.html"
PDF: Final = "report.pdf"
"""The names of a report's files; the note lists them in this order."""


@dataclass(frozen=True, slots=True)
class Documents:
    """A report's bytes: canonical JSON, the page, and the unsigned PDF."""

    json: bytes
    page: bytes
    pdf: bytes

    def by_name(self) -> dict[str, bytes]:
        """List the bytes under the files' names."""
        return {JSON: self.json, PAGE: self.page, PDF: self.pdf}


def read_signing_key(data: bytes, name: str) -> SignerKey:
    """Read an Ed25519 key from PEM (PKCS#8, not encrypted), to sign under a name.

    Raises InputError for anything else, NoteError for a name that notes do not take; no message shows what was read.
    """
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError):
        raise InputError("signing key: expected PEM, PKCS#8, without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(expected("an Ed25519 key", type(key).__name__, "signing key"))
    return SignerKey.from_seed(name, key.private_bytes_raw())


def note_text(report: Report | RecordsReport, documents: Documents) -> str:
    """Write what is signed: plan, findings, verdict, and a line for each document with its SHA-256."""
    lines = [
        HEADING,
        f"plan {report.source.plan.hash.hex()}",
        f"findings {report.source.hash.hex()}",
        f"verdict {report.verdict}",
        *(f"{name} {sha256(content).hex()}" for name, content in documents.by_name().items()),
    ]
    return "\n".join(lines) + "\n"


def sign_report(report: Report | RecordsReport, documents: Documents, key: SignerKey) -> str:
    """Sign a report's documents: a C2SP signed note, always the same for the same report and key."""
    return sign_note(note_text(report, documents), [key])


def check_report_note(text: str, files: Mapping[str, bytes], keys: Iterable[VerifierKey]) -> VerifierKey:
    """Check a report's note and the files at hand against it, and give back the key that signed it.

    `files` are any of the three documents by name, at least one. Raises NoteError for a text of another form,
    SignatureError where no given key signed it, ProofError for a file that is another than the signed one, InputError
    for one that the note does not name.
    """
    trusted = tuple(key for key in keys if key.algorithm == ED25519)
    note, signers = check_note(text, trusted)
    heading, *lines = note.text.removesuffix("\n").split("\n")
    if heading != HEADING:
        raise InputError(expected(HEADING, heading, "note"))
    signed = dict(line.split(" ", 1) for line in lines if " " in line)
    if not files:
        raise InputError("files: expected at least one of the report's documents, got none")
    for name, content in files.items():
        if name not in (JSON, PAGE, PDF) or name not in signed:
            raise InputError(expected(f"{JSON}, {PAGE} or {PDF}", name, "files"))
        if signed[name] != sha256(content).hex():
            raise ProofError(expected(f"{name} with SHA-256 {signed[name]}", sha256(content).hex(), "note"))
    return signers[0]
