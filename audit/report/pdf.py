"""The report as PDF, set by typst from the same document, with the fonts that its wheel holds and no date."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

import typst

from audit.report.build import Report
from audit.report.setting import set_document
from shoe.errors import ImpossibleError

STANDARD: Final = "ua-1"
"""PDF/UA-1: tagged, so that a screen reader meets headings, tables and the words of every plot."""


def print_pdf(report: Report) -> bytes:
    """Print the unsigned PDF: the same bytes for the same report.

    All texts reach typst as data, never as its markup. Takes some seconds.
    """
    shown = {**set_document(report.document), "findings_hash": report.source.hash.hex()}
    made = typst.compile(
        (files("audit.report") / "templates" / "report.typ").read_bytes(),
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"report": json.dumps(shown, sort_keys=True)},
        pdf_standards=[STANDARD],
    )
    if not isinstance(made, bytes):
        raise ImpossibleError(f"typst gave {type(made).__name__} for one PDF")
    return made
