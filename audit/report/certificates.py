"""Keys that sign PDFs: P-256 with a certificate, read from a file or made for a sandbox.

PDF readers refuse Ed25519, so the PDF has a key of its own kind; the signed JSON is the authority.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from shoe.errors import InputError, expected

SANDBOX_NAME: Final = "fairshoe sandbox: signed by nobody"
SANDBOX_DAYS: Final = 30


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
