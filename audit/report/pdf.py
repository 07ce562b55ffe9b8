"""A document as PDF, set by typst, with the fonts that its wheel holds and no date."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

import typst

from audit.report.document import Document
from audit.report.setting import set_document
from shoe.errors import ImpossibleError

STANDARD: Final = "ua-1"
"""PDF/UA-1: tagged, so that a screen reader meets headings, tables and the words of every plot."""


def print_pdf(document: Document) -> bytes:
    """Print the unsigned PDF: the same bytes for the same document.

    All texts reach typst as data, never as its markup. Takes some seconds.
    """
    made = typst.compile(
        (files("audit.report") / "templates" / "report.typ").read_bytes(),
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"report": json.dumps(set_document(document), sort_keys=True)},
        pdf_standards=[STANDARD],
    )
    if not isinstance(made, bytes):
        raise ImpossibleError(f"typst gave {type(made).__name__} for one PDF")
    return made
