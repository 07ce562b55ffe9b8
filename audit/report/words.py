"""Words and numbers as a report prints them: ASCII in the document (protocol §8), real signs where set in type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from shoe.game.tableau import RULE_WORDS

PATH_WORDS: Final = {"batch": "the batch path", "production": "the path of production"}

_SPELLED: Final = {
    "\u2013": "-",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2026": "...",
    "\u2212": "-",
    "\u2265": ">=",
}
_SET: Final = (
    (re.compile(r"\+-(?=\d)"), "\u00b1"),
    (re.compile(r">="), "\u2265"),
    (re.compile(r"<="), "\u2264"),
    (re.compile(r"\.\.\."), "\u2026"),
    (re.compile(r" - "), " \u2013 "),
    (re.compile(r"(?<![\w-])(\d)-(\d)(?![\w-])"), "\\1\u2013\\2"),
    (re.compile(r"(?<![\w.-])-(?=[\d.])"), "\u2212"),
    (re.compile(r"(?<=\w)'"), "\u2019"),
    (re.compile(r'"(?=\w)'), "\u201c"),
    (re.compile(r'"'), "\u201d"),
    (re.compile(r"\b(\d+(?:\.\d+)?)e([+-]?)0*(\d+)\b"), "\\1\u00b710^\\2\\3"),
    (re.compile(r"(?<=\d) %"), "\u00a0%"),
)
_RAISED: Final = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_POWER: Final = re.compile(r"\^\+?(-?\d+)")


def plain(text: str) -> str:
    """Spell a text in ASCII; what has no spelling becomes a question mark."""
    for sign, spelled in _SPELLED.items():
        text = text.replace(sign, spelled)
    return text.encode("ascii", "replace").decode("ascii")


def typeset(text: str) -> str:
    """Set an ASCII text in type: real minus signs, dashes, quotation marks, powers. For prose and numbers, not code."""
    for pattern, sign in _SET:
        text = pattern.sub(sign, text)
    return _POWER.sub(lambda found: found[1].translate(_RAISED), text)


def label_of(label: str) -> str:
    """Say a count's label in words, where it is a rule class; else as it stands, capital first."""
    words = plain(RULE_WORDS.get(label, label.replace("_", " ")))
    return words[:1].upper() + words[1:]


def check_words(kind: str) -> str:
    """Write a check's name without underscores."""
    return kind.replace("_", " ")


def percent(share: float, digits: int = 3) -> str:
    """Print a share in percent, without the sign."""
    return f"{100 * share:.{digits}f}"


def signed(value: float, digits: int) -> str:
    """Print a number with its sign, and zero without."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if not text.strip("+-0.") else text


def short(number: str) -> str:
    """Print a number of the findings with six digits at most; what is no plain number as it stands."""
    if number.startswith("<") or number.lstrip("-") == "inf":
        return number
    return f"{float(number):.6g}" if abs(float(number)) < 1e6 else f"{float(number):,.0f}"


def short_p(p: str) -> str:
    """Print a p-value with three digits."""
    return p if p.startswith("<") else f"{float(p):.3g}"


def span(numbers: Sequence[int]) -> str:
    """Print the least and the greatest of some numbers, or the one they are."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
