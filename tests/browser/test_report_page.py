"""The page in a real Chromium, held to axe-core; the signed PDF in poppler's pdfsig."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from audit.report.certificates import self_signed
from audit.report.pades import sign_pdf
from audit.report.page import print_page
from audit.report.pdf import print_pdf
from tests.audit.reported import report

pytestmark = pytest.mark.browser

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: apt-get install chromium poppler-utils"
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  an extra

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program("chromium"), args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(print_page(report()))
    return path.as_uri()


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["desk", "phone"])
def test_axe_finds_nothing_and_nothing_is_fetched(browser: Any, address: str, width: int, height: int) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  an extra

    context = browser.new_context(viewport={"width": width, "height": height}, bypass_csp=True)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    found = Axe().run(page)
    assert found.response["violations"] == [], found.generate_report()
    assert len(found.response["passes"]) > 10
    assert asked == [address]
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_the_style_is_let_in_by_the_pages_own_policy(browser: Any, address: str) -> None:
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    assert page.evaluate("getComputedStyle(document.querySelector('caption')).textAlign") == "left"
    assert said == []
    page.close()


def test_axe_can_fail(browser: Any, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  an extra

    worse = print_page(report()).replace(b' lang="en"', b"", 1).replace(b"<svg ", b'<svg aria-label="" ', 1)
    (tmp_path / "worse.html").write_bytes(worse)
    page = browser.new_page(bypass_csp=True)
    page.goto((tmp_path / "worse.html").as_uri())
    assert "html-has-lang" in {one["id"] for one in Axe().run(page).response["violations"]}
    page.close()


# --- the PDF -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def signed() -> bytes:
    now = datetime.now(UTC)
    return sign_pdf(print_pdf(report()), self_signed(ec.derive_private_key(7, ec.SECP256R1()), now), now)


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
    (tmp_path / "r.pdf").write_bytes(print_pdf(report()))
    command = [program("pdftotext"), "-layout", str(tmp_path / "r.pdf"), "-"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for section in report().document.sections:
        assert section.title in text
    assert text.count("PARTIAL") > 5
    assert report().source.hash.hex() in text
