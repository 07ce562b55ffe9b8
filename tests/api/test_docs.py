"""The documents page: whole, well formed, and alone: it asks for nothing from outside and runs nothing."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from api.openapi import make_document
from api.openapi.page import print_page
from api.routes.endpoint import endpoints_of
from tests.api.installation import Installation

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(Path(tmp_path_factory.mktemp("docs")) / "house")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def text(house: Installation) -> str:
    return house.client.get("/docs").text


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_is_html_with_every_element_closed(text: str, page: Page) -> None:
    assert text.startswith("<!DOCTYPE html>")
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    with pytest.raises(AssertionError):
        Page(text.replace("</article>", "", 1))


def test_it_has_every_operation_with_its_path_and_a_line_for_the_shell(
    house: Installation, text: str, page: Page
) -> None:
    articles = {attributes.get("id") for attributes in page.all("article")}
    targets = {attributes["href"] for attributes in page.all("a")}
    for name, endpoint in endpoints_of(house.app).items():
        assert name in articles
        assert f"#{name}" in targets
        assert endpoint.path in text
    lines = [piece for piece in page.text if piece.startswith('curl "$FAIRSHOE/')]
    assert len(lines) == len(endpoints_of(house.app))
    for line in lines:
        assert subprocess.run(["bash", "-n", "-c", line], capture_output=True, check=False).returncode == 0, line


def test_every_place_that_it_names_is_in_it_once(page: Page) -> None:
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert set(ids.values()) == {1}
    for attributes in page.all("a"):
        target = str(attributes["href"])
        assert target == "/openapi.json" or target.removeprefix("#") in ids, target
    for _, attributes in page.elements:
        assert attributes.get("aria-labelledby", next(iter(ids))) in ids


def test_it_asks_nobody_for_anything_and_runs_nothing(page: Page) -> None:
    assert not page.all("script", "link", "img", "iframe", "object", "embed", "form", "base")
    for _, attributes in page.elements:
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style")}
        assert not re.match(r"(?:\w+:)?//", attributes.get("href") or "")
    assert not re.search(r"url\(|@import", "".join(page.text))


def test_its_policy_allows_its_own_style_alone(house: Installation) -> None:
    answer = house.client.get("/docs")
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert answer.content_type == "text/html; charset=utf-8"


def test_it_has_the_landmarks_and_headings_that_a_reader_goes_by(page: Page) -> None:
    landmarks = Counter(tag for tag, _ in page.elements if tag in ("header", "nav", "main", "h1"))
    assert landmarks == {"header": 1, "nav": 1, "main": 1, "h1": 1}
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.all("nav")[0]["aria-label"]
    assert any("width=device-width" in str(attributes.get("content")) for attributes in page.all("meta"))
    assert all("tabindex" in attributes and attributes.get("aria-label") for attributes in page.all("pre"))


def colours(text: str) -> Iterator[dict[str, str]]:
    """The page's colours by name, the light ones and the dark."""
    for block in re.findall(r":root\{(.*?)\}", text):
        yield dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", block))


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_text_has_the_contrast_that_wcag_asks_for(text: str) -> None:
    assert contrast("#fff", "#000") == pytest.approx(21)
    schemes = list(colours(text))
    assert len(schemes) == 2
    for scheme in schemes:
        for ground in ("ground", "shade"):
            for ink in ("ink", "quiet", "link"):
                assert contrast(scheme[ground], scheme[ink]) >= 4.5, (ground, ink)
        assert min(contrast(scheme["badge"], scheme[ground]) for ground in ("get", "post")) >= 4.5


def test_what_stands_in_the_document_cannot_become_markup(house: Installation) -> None:
    document = make_document(endpoints_of(house.app), '"><script>alert(1)</script>')
    assert "<script" not in print_page(document)


def test_the_page_may_be_asked_for_again_by_its_tag(house: Installation) -> None:
    first = house.client.get("/docs")
    again = house.client.get("/docs", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")


def test_what_is_code_is_shown_as_code(text: str) -> None:
    """Backticks are for the document's readers; a shell's line and a real answer may have any character."""
    prose = re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)
    assert "<code>Authorization: Bearer</code>" in prose
    assert "`" not in prose
