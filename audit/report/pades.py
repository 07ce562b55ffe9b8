"""The PDF's signature: PAdES baseline B-B by pyHanko under a P-256 certificate, and its validation.

PDF readers refuse Ed25519, so the PDF has a key of its own kind; the signed JSON is the authority.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key, pkcs12
from cryptography.hazmat.primitives.serialization import NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from shoe.errors import InputError, SignatureError, expected

FIELD: Final = "Signature"
REASON: Final = "Certification report"
SANDBOX_NAME: Final = "fairshoe sandbox: signed by nobody"
SANDBOX_DAYS: Final = 30
_MISSING: Final = "the PDF's signature needs pyHanko: pip install 'fairshoe[report]'"


@dataclass(frozen=True, slots=True)
class PdfKey:
    """A P-256 key with its certificate and those that lead to its issuer; shown by no repr.

    Raises InputError for a key of another kind, or a certificate of another key.
    """

    certificate: x509.Certificate
    private_key: EllipticCurvePrivateKey = field(repr=False)
    chain: tuple[x509.Certificate, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        if not isinstance(self.private_key, EllipticCurvePrivateKey) or not isinstance(
            self.private_key.curve, SECP256R1
        ):
            raise InputError(expected("a private key on the curve P-256", type(self.private_key).__name__, "key"))
        public = self.certificate.public_key()
        if not isinstance(public, EllipticCurvePublicKey) or public != self.private_key.public_key():
            raise InputError("certificate: expected that of the private key, got another's")


def read_pdf_key(data: bytes, password: bytes | None = None) -> PdfKey:
    """Read key and certificates from PEM, the signer's certificate first, or from PKCS#12.

    Raises InputError for anything else, a wrong password included; no message shows what was read.
    """
    try:
        if data.lstrip().startswith(b"-----BEGIN"):
            key = load_pem_private_key(data, password)
            certificate, *chain = x509.load_pem_x509_certificates(data)
        else:
            found = pkcs12.load_pkcs12(data, password)
            if found.key is None or found.cert is None:
                raise InputError("certificate: expected a key and its certificate in the PKCS#12 file")
            key, certificate = found.key, found.cert.certificate
            chain = [one.certificate for one in found.additional_certs]
    except (ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("certificate: expected PEM or PKCS#12 with a key that the password opens") from None
    if not isinstance(key, EllipticCurvePrivateKey):
        raise InputError(expected("a private key on the curve P-256", type(key).__name__, "key"))
    return PdfKey(certificate, key, tuple(chain))


def self_signed(private_key: EllipticCurvePrivateKey, now: datetime) -> PdfKey:
    """Make a certificate that a P-256 key signs for itself, good from `now` (UTC) for 30 days: for a sandbox alone.

    Its name says that nobody stands behind it.
    """
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SANDBOX_NAME)])
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=SANDBOX_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(private_key, hashes.SHA256())
    )
    return PdfKey(made, private_key)


def sign_pdf(pdf: bytes, key: PdfKey, now: datetime) -> bytes:
    """Sign a PDF at a time (UTC), by an increment that leaves its bytes as they are; raises InputError where it can't be.

    The signature's bytes differ from one time to the next, for ECDSA draws a number for each.
    """
    try:
        from asn1crypto import keys as asn1_keys
        from asn1crypto import x509 as asn1_x509
        from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
        from pyhanko.pdf_utils.misc import PdfError
        from pyhanko.sign import fields, signers
        from pyhanko_certvalidator.registry import SimpleCertificateStore
    except ImportError:
        raise InputError(_MISSING) from None
    store = SimpleCertificateStore()
    store.register_multiple(asn1_x509.Certificate.load(one.public_bytes(Encoding.DER)) for one in key.chain)
    der = key.private_key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    signer = _signer_at(now)(
        signing_cert=asn1_x509.Certificate.load(key.certificate.public_bytes(Encoding.DER)),
        signing_key=asn1_keys.PrivateKeyInfo.load(der),
        cert_registry=store,
    )
    meta = signers.PdfSignatureMetadata(
        field_name=FIELD, md_algorithm="sha256", reason=REASON, subfilter=fields.SigSeedSubFilter.PADES
    )
    try:
        out = signers.sign_pdf(IncrementalPdfFileWriter(BytesIO(pdf)), meta, signer)
    except PdfError as error:
        raise InputError(f"PDF: {error}") from None
    return bytes(out.getvalue())
