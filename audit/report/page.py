"""A document as one HTML page: nothing is fetched, nothing runs, every plot has its numbers in a table."""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

from audit.report.document import Document
from audit.report.setting import set_document

_TEMPLATES: Final = files("audit.report") / "templates"


def print_page(document: Document) -> bytes:
    """Print the page as UTF-8. Its policy lets no browser load or run anything but the style in it."""
    style = _read("report.css")
    made = (
        _environment()
        .get_template("report.html")
        .render(
            document=set_document(document),
            style=style,
            style_hash=base64.b64encode(sha256(style.encode()).digest()).decode(),
        )
    )
    return made.encode()


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_read),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
