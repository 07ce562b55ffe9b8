"""The PDF's signature: PAdES baseline B-B by pyHanko under a P-256 certificate, and its validation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from typing import Any, Final

from asn1crypto import keys
from asn1crypto import x509 as certificates
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import signers
from pyhanko.sign.fields import SigSeedSubFilter
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.errors import SignatureValidationError
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.registry import SimpleCertificateStore

from audit.report.certificates import PdfKey
from shoe.errors import InputError, SignatureError, expected

FIELD: Final = "Signature"
REASON: Final = "Certification report"


def sign_pdf(pdf: bytes, key: PdfKey, now: datetime) -> bytes:
    """Sign a PDF at a time (UTC), by an increment that leaves its bytes as they are.

    The signature's bytes differ from one time to the next, for ECDSA draws a number for each. Raises InputError for
    what is no PDF.
    """
    store = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    store.register_multiple([certificates.Certificate.load(one.public_bytes(Encoding.DER)) for one in key.chain])
    private = key.private_key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    signer = signers.SimpleSigner(
        signing_cert=certificates.Certificate.load(key.certificate.public_bytes(Encoding.DER)),
        signing_key=keys.PrivateKeyInfo.load(private),
        cert_registry=store,
    )
    meta = signers.PdfSignatureMetadata(
        field_name=FIELD, md_algorithm="sha256", reason=REASON, subfilter=SigSeedSubFilter.PADES
    )
    try:
        out = _SignerAtTime(meta, signer, now).sign_pdf(IncrementalPdfFileWriter(BytesIO(pdf)))
    except PdfError as error:
        raise InputError(f"PDF: {error}") from None
    return bytes(out.getvalue())


def check_pdf(pdf: bytes, trusted: Sequence[x509.Certificate], now: datetime) -> x509.Certificate:
    """Check a signed PDF by pyHanko's validator at a time (UTC), and give back the certificate that signed it.

    Good is one signature over the whole file, PAdES, by a certificate that leads to a trusted one. Raises
    SignatureError, saying what is wrong, for anything else.
    """
    roots = [certificates.Certificate.load(one.public_bytes(Encoding.DER)) for one in trusted]
    try:
        found = PdfFileReader(BytesIO(pdf)).embedded_regular_signatures
        if len(found) != 1:
            raise SignatureError(expected("one signature", len(found), "PDF"))
        status = validate_pdf_signature(found[0], ValidationContext(trust_roots=roots, moment=now))
    except (PdfError, SignatureValidationError, ValueError) as error:
        raise SignatureError(f"PDF: {error}") from None
    if not status.bottom_line or status.coverage is not SignatureCoverageLevel.ENTIRE_FILE:
        raise SignatureError(expected("a good signature over the whole file", status.summary(), "PDF"))
    signer = x509.load_der_x509_certificate(status.signing_cert.dump())
    if not signer.not_valid_before_utc <= now <= signer.not_valid_after_utc:
        # The validator does not ask this of a certificate that is trusted by itself.
        raise SignatureError(expected("a certificate that is good at the time", str(now), "PDF"))
    return signer


class _SignerAtTime(signers.PdfSigner):
    """pyHanko's signer, at a time given from outside instead of the machine's."""

    def __init__(self, meta: signers.PdfSignatureMetadata, signer: signers.Signer, now: datetime) -> None:
        super().__init__(meta, signer)
        self._now = now

    def init_signing_session(self, *args: Any, **further: Any) -> Any:
        session = super().init_signing_session(*args, **further)
        session.system_time = self._now
        return session
