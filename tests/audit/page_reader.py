"""A page read as a strict reader does: every element closed in its order, with its attributes and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


@dataclass
class Element:
    """One element: its name, attributes, children and the text directly in it."""

    name: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *names: str) -> list[Element]:
        """Every element of these names below this one, in the page's order."""
        found = []
        for child in self.children:
            found += [child] if not names or child.name in names else []
            found += child.all(*names)
        return found

    @property
    def words(self) -> str:
        """All text below, in order but for mixed content."""
        return " ".join([self.text, *(child.words for child in self.children)])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute twice in {tag}"
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data


def read_page(page: bytes) -> Element:
    """Read a page; fails where an element is closed out of order or left open."""
    reader = _Reader()
    reader.feed(page.decode())
    reader.close()
    assert reader.open == [reader.root], [element.name for element in reader.open]
    return reader.root
