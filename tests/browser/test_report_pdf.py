"""The signed PDF, and its text, in poppler: a second reader.

In a file of its own, for Playwright's loop runs while its tests do, and pyHanko starts one.
"""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from audit.report.certificates import self_signed
from audit.report.pades import sign_pdf
from audit.report.pdf import print_pdf
from tests.audit.reported import report
from tests.browser.programs import program

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def signed() -> bytes:
    now = datetime.now(UTC)
    return sign_pdf(print_pdf(report().document), self_signed(ec.derive_private_key(7, ec.SECP256R1()), now), now)


def pdfsig(pdf: bytes, folder: Path) -> str:
    (folder / "signed.pdf").write_bytes(pdf)
    command = [program("pdfsig"), "-nocert", str(folder / "signed.pdf")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_pdfsig_verifies_the_signature(signed: bytes, tmp_path: Path) -> None:
    said = pdfsig(signed, tmp_path)
    assert "Signature Type: ETSI.CAdES.detached" in said
    assert "Total document signed" in said
    assert "Signature Validation: Signature is Valid." in said


def test_pdfsig_does_not_verify_a_changed_byte(signed: bytes, tmp_path: Path) -> None:
    wrong = bytearray(signed)
    wrong[len(signed) // 2] ^= 1
    said = pdfsig(bytes(wrong), tmp_path)
    assert "Signature Validation: Digest Mismatch." in said


def test_poppler_reads_the_text_in_its_order(tmp_path: Path) -> None:
    """A second reader finds the verdict, every section's title and the clauses' statuses."""
    (tmp_path / "r.pdf").write_bytes(print_pdf(report().document))
    command = [program("pdftotext"), "-layout", str(tmp_path / "r.pdf"), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for section in report().document.sections:
        assert section.title in text
    assert text.count("PARTIAL") > 5
    assert report().source.hash.hex() in text
