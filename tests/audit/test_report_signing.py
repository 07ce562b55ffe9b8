"""What is signed verifies; a changed byte, another key and another kind of key do not. The PDF holds what it should."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from audit.report.build import build
from audit.report.certificates import SANDBOX_NAME, PdfKey, read_pdf_key, self_signed
from audit.report.pades import check_pdf, sign_pdf
from audit.report.page import print_page
from audit.report.pdf import print_pdf
from audit.report.signing import HEADING, Documents, check_report_note, note_text, read_signing_key, sign_report
from audit.report.source import read_findings
from shoe.errors import InputError, NoteError, ProofError, SignatureError
from shoe.proof.note import SignerKey, sign_note
from tests.audit.reported import MADE_BY, changed, reject, report
from tests.audit.test_report import evil

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
P256 = ec.derive_private_key(7, ec.SECP256R1())
KEY = SignerKey.from_seed("lab.example/reports", bytes(range(32)))
OTHER = SignerKey.from_seed("lab.example/reports", bytes(32))
DOCUMENTS = Documents(b"{}", b"<html>", b"%PDF")


@pytest.fixture(scope="module")
def pdf() -> bytes:
    return print_pdf(report().document)


@pytest.fixture(scope="module")
def key() -> PdfKey:
    return self_signed(P256, NOW)


@pytest.fixture(scope="module")
def signed(pdf: bytes, key: PdfKey) -> bytes:
    return sign_pdf(pdf, key, NOW)


@pytest.fixture(autouse=True)
def quiet() -> None:
    """pyHanko logs what it refuses, whole tracebacks; the tests look at what is raised."""
    logging.getLogger("pyhanko").setLevel(logging.CRITICAL)


# --- the PDF -----------------------------------------------------------------------------------


def test_the_pdf_is_tagged_has_a_title_and_no_date_and_runs_nothing(pdf: bytes) -> None:
    assert pdf.startswith(b"%PDF-1.7")
    assert b"/MarkInfo" in pdf
    assert b"pdfuaid:part" in pdf
    for word in (b"/CreationDate", b"/ModDate", b"/JavaScript", b"/URI", b"/Launch", b"xmp:CreateDate"):
        assert word not in pdf


def test_names_that_are_markup_are_set_as_text() -> None:
    """Typst's own markup, code, math and references in every name: it compiles, and nothing of it is run."""
    made = print_pdf(build(read_findings(changed(evil)), MADE_BY).document)
    assert made.startswith(b"%PDF-1.7")


# --- its signature -----------------------------------------------------------------------------


def test_the_signature_verifies_and_leaves_the_pdf_as_it_was(pdf: bytes, signed: bytes, key: PdfKey) -> None:
    assert signed.startswith(pdf)
    assert check_pdf(signed, [key.certificate], NOW) == key.certificate
    assert b"ETSI.CAdES.detached" in signed
    assert b"20261130120000Z" in signed


@pytest.mark.parametrize("place", [0.01, 0.25, 0.5, 0.75, 0.99])
def test_a_changed_byte_does_not_verify(pdf: bytes, signed: bytes, key: PdfKey, place: float) -> None:
    wrong = bytearray(signed)
    wrong[int(place * len(pdf))] ^= 1
    with pytest.raises(SignatureError, match="PDF: "):
        check_pdf(bytes(wrong), [key.certificate], NOW)


def test_what_is_put_behind_the_signature_does_not_verify(signed: bytes, key: PdfKey) -> None:
    with pytest.raises(SignatureError, match="over the whole file"):
        check_pdf(signed + b"\n% more", [key.certificate], NOW)


def test_another_certificate_is_not_trusted(signed: bytes) -> None:
    other = self_signed(ec.derive_private_key(8, ec.SECP256R1()), NOW)
    for trusted in ([other.certificate], []):
        with pytest.raises(SignatureError, match="a good signature"):
            check_pdf(signed, trusted, NOW)


def test_a_sandbox_certificate_ends(signed: bytes, key: PdfKey) -> None:
    for now in (NOW - timedelta(days=1), NOW + timedelta(days=31)):
        with pytest.raises(SignatureError):
            check_pdf(signed, [key.certificate], now)


def test_an_unsigned_pdf_and_none_at_all_do_not_verify(pdf: bytes, key: PdfKey) -> None:
    for wrong in (pdf, b"", b"hello"):
        with pytest.raises(SignatureError, match="PDF: "):
            check_pdf(wrong, [key.certificate], NOW)
    with pytest.raises(InputError, match="PDF: "):
        sign_pdf(b"hello", key, NOW)


def test_a_sandbox_certificate_says_that_nobody_stands_behind_it(key: PdfKey) -> None:
    assert key.certificate.subject == key.certificate.issuer
    assert key.certificate.subject.rfc4514_string() == f"CN={SANDBOX_NAME}"
    assert "private" not in repr(key)


# --- keys from files ---------------------------------------------------------------------------


def issued() -> tuple[x509.Certificate, x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A root and a signer's certificate that it issued, made by cryptography alone."""
    root_key, key = ec.derive_private_key(11, ec.SECP256R1()), ec.derive_private_key(12, ec.SECP256R1())
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("Root", "Signer")]

    def made(subject: int, public: ec.EllipticCurvePublicKey, ca: bool) -> x509.Certificate:
        return (
            x509.CertificateBuilder()
            .subject_name(names[subject])
            .issuer_name(names[0])
            .public_key(public)
            .serial_number(subject + 1)
            .not_valid_before(NOW - timedelta(days=1))
            .not_valid_after(NOW + timedelta(days=90))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(not ca, not ca, False, False, False, ca, ca, False, False), critical=True)
            .sign(root_key, hashes.SHA256())
        )

    return made(0, root_key.public_key(), True), made(1, key.public_key(), False), key


def test_a_key_in_pem_or_pkcs12_signs_under_its_issuer(pdf: bytes) -> None:
    root, certificate, key = issued()
    encrypted = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"pw"))
    pem = encrypted + certificate.public_bytes(Encoding.PEM) + root.public_bytes(Encoding.PEM)
    p12 = pkcs12.serialize_key_and_certificates(b"x", key, certificate, [root], BestAvailableEncryption(b"pw"))
    for data in (pem, p12):
        read = read_pdf_key(data, b"pw")
        assert (read.certificate, read.chain) == (certificate, (root,))
        assert check_pdf(sign_pdf(pdf, read, NOW), [root], NOW) == certificate
        for password in (None, b"", b"wrong"):
            with pytest.raises(InputError, match="certificate: expected PEM or PKCS#12 with a key that the password"):
                read_pdf_key(data, password)


def pem_of(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (lambda cert: pem_of(ec.derive_private_key(9, ec.SECP256R1())) + cert, "that of the private key"),
        (lambda cert: pem_of(ec.derive_private_key(9, ec.SECP384R1())) + cert, "on the curve P-256"),
        (lambda cert: pem_of(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))) + cert, "on the curve P-256"),
        (lambda cert: cert, "expected PEM or PKCS#12"),
        (lambda _: pem_of(P256), "expected PEM or PKCS#12"),
        (lambda _: b"", "expected PEM or PKCS#12"),
        (lambda _: b"-----BEGIN NOTHING-----", "expected PEM or PKCS#12"),
        (lambda _: b"\x30\x82\x01\x01junk", "expected PEM or PKCS#12"),
    ],
    ids=["another's", "P-384", "Ed25519", "no key", "no certificate", "nothing", "broken PEM", "broken PKCS#12"],
)
def test_other_keys_are_refused(key: PdfKey, data: Callable[[bytes], bytes], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        read_pdf_key(data(key.certificate.public_bytes(Encoding.PEM)))
    assert "BEGIN" not in str(refused.value)


# --- the note ----------------------------------------------------------------------------------


def test_the_note_verifies_for_the_documents_it_names() -> None:
    text = sign_report(report(), DOCUMENTS, KEY)
    assert text.startswith(f"{HEADING}\nplan {report().source.plan.hash.hex()}\nfindings ")
    assert "\nverdict pass\n" in text
    assert check_report_note(text, DOCUMENTS.by_name(), [KEY.vkey]) == KEY.vkey
    assert check_report_note(text, {"report.json": b"{}"}, [OTHER.vkey, KEY.vkey]) == KEY.vkey
    assert sign_report(report(), DOCUMENTS, KEY) == text


@pytest.mark.parametrize("name", DOCUMENTS.by_name())
def test_a_changed_document_does_not_verify(name: str) -> None:
    text = sign_report(report(), DOCUMENTS, KEY)
    with pytest.raises(ProofError, match=f"note: expected {name} with SHA-256"):
        check_report_note(text, {**DOCUMENTS.by_name(), name: DOCUMENTS.by_name()[name] + b" "}, [KEY.vkey])


def test_a_note_of_another_key_text_or_form_does_not_verify() -> None:
    text = sign_report(report(), DOCUMENTS, KEY)
    files = DOCUMENTS.by_name()
    with pytest.raises(SignatureError):
        check_report_note(text, files, [OTHER.vkey])
    with pytest.raises(SignatureError):
        check_report_note(text.replace("verdict pass", "verdict fail"), files, [KEY.vkey])
    with pytest.raises(NoteError):
        check_report_note(text[:40], files, [KEY.vkey])
    with pytest.raises(InputError, match="note: expected fairshoe/report-note/1"):
        check_report_note(sign_note("fairshoe/other\n", [KEY]), files, [KEY.vkey])
    with pytest.raises(InputError, match="files: expected at least one"):
        check_report_note(text, {}, [KEY.vkey])
    for name in ("verdict", "report.txt"):
        with pytest.raises(InputError, match=r"files: expected report\.json"):
            check_report_note(text, {name: b""}, [KEY.vkey])


def test_a_failing_report_is_signed_as_failing() -> None:
    made = build(read_findings(changed(reject("batch_runs"))), MADE_BY)
    assert "\nverdict fail\n" in note_text(made, Documents(made.to_bytes(), print_page(made.document), b""))


def test_a_signing_key_is_read_from_pem() -> None:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    assert str(read_signing_key(pem_of(key), "lab.example/reports").vkey) == str(KEY.vkey)
    with pytest.raises(InputError, match="signing key: expected an Ed25519 key"):
        read_signing_key(pem_of(P256), "x")
    encrypted = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"pw"))
    for wrong in (b"", b"hello", bytes(32), encrypted):
        with pytest.raises(InputError, match="signing key: expected PEM, PKCS#8, without a password"):
            read_signing_key(wrong, "x")
    for name in ("", "a b", "a+b"):
        with pytest.raises(NoteError):
            read_signing_key(pem_of(key), name)
