"""The page in a real Chromium, held to axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.report.page import print_page
from tests.audit.reported import report
from tests.browser.programs import program

pytestmark = pytest.mark.browser

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


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
    path.write_bytes(print_page(report().document))
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

    worse = print_page(report().document).replace(b' lang="en"', b"", 1).replace(b"<svg ", b'<svg aria-label="" ', 1)
    (tmp_path / "worse.html").write_bytes(worse)
    page = browser.new_page(bypass_csp=True)
    page.goto((tmp_path / "worse.html").as_uri())
    assert "html-has-lang" in {one["id"] for one in Axe().run(page).response["violations"]}
    page.close()
