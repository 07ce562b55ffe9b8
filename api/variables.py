"""One variable of the environment: its name and meaning, and the form that its text must have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from shoe.errors import InputError, expected

_DIGITS: Final = re.compile(r"0|[1-9][0-9]{0,17}")
_WEB_ORIGIN: Final = re.compile(r"https?://(?:[a-z0-9.-]{1,253}|\[[0-9a-f:]{2,39}\])(?::[1-9][0-9]{0,4})?")
_ORIGINS_MAX: Final = 64


class Form(Protocol):
    """The form of a variable's text: `said` tells it to people, `read` keeps to it."""

    @property
    def said(self) -> str:
        """What is allowed, for the table of variables and for refusals."""

    def read(self, text: str) -> Any:
        """Read the text; raises ValueError for any other form."""

    def check(self, value: Any) -> None:
        """Raise ValueError for a value that no text of the form gives."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number of ASCII digits, `low` to `high`."""

    low: int
    high: int

    @property
    def said(self) -> str:
        """Print the bounds."""
        return f"a whole number {self.low}…{self.high}"

    def read(self, text: str) -> int:
        """Read digits that print back the same."""
        if not _DIGITS.fullmatch(text):
            raise ValueError
        self.check(number := int(text))
        return number

    def check(self, value: Any) -> None:
        """Keep the bounds."""
        if not isinstance(value, int) or isinstance(value, bool) or not self.low <= value <= self.high:
            raise ValueError


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words, each standing for a value."""

    values: tuple[tuple[str, str | bool], ...]

    @property
    def said(self) -> str:
        """Print the words."""
        return " or ".join(word for word, _ in self.values)

    def read(self, text: str) -> str | bool:
        """Read a word as it is spelled here."""
        for word, value in self.values:
            if word == text:
                return value
        raise ValueError

    def check(self, value: Any) -> None:
        """Keep to the words' values."""
        if not any(value is known or (isinstance(value, str) and value == known) for _, known in self.values):
            raise ValueError


def choice(*words: str) -> Choice:
    """Make the form of words that stand for themselves."""
    return Choice(tuple((word, word) for word in words))


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a pattern describes, read by `make`; an empty text is never one."""

    said: str
    pattern: re.Pattern[str]
    make: Callable[[str], Any] = str

    def read(self, text: str) -> Any:
        """Read a text that matches as a whole."""
        if not self.pattern.fullmatch(text):
            raise ValueError
        return self.make(text)

    def check(self, value: Any) -> None:
        """Keep to the pattern; a value that was left out is for the variable's user to judge."""
        if value is not None and not self.pattern.fullmatch(str(value)):
            raise ValueError


@dataclass(frozen=True, slots=True)
class WebOrigins:
    """Origins of web pages, ``scheme://host[:port]`` separated by commas; or ``*`` for all, or ``none``."""

    said: str = "`*`, `none`, or origins separated by commas"

    def read(self, text: str) -> tuple[str, ...]:
        """Read the origins in their order; ``none`` gives none at all."""
        origins = () if text == "none" else tuple(text.split(","))
        self.check(origins)
        return origins

    def check(self, value: Any) -> None:
        """Refuse what no browser sends as an origin, an origin twice, and ``*`` beside others."""
        if not isinstance(value, tuple) or len(value) > _ORIGINS_MAX or len(set(value)) < len(value):
            raise ValueError
        if value != ("*",) and not all(isinstance(origin, str) and _WEB_ORIGIN.fullmatch(origin) for origin in value):
            raise ValueError


PATH: Final = Text("a path", re.compile(r"[^\0]+", re.DOTALL), Path)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment.

    `field` is the setting that it gives, `default` its text where it is not set; None where there is no such text, and
    then `absent` says what holds instead. A `secret` one is taken out of the environment and shown in no refusal.
    """

    name: str
    field: str
    meaning: str
    form: Form
    default: str | None = None
    absent: str = "none"
    secret: bool = False

    @property
    def row(self) -> str:
        """Print its row of the table of variables, in Markdown."""
        without = self.absent if self.default is None else f"`{self.default}`"
        return f"| `{self.name}` | {self.meaning} | {self.form.said} | {without} |"

    def read(self, text: str) -> Any:
        """Read its text; raises InputError with the name, what is expected and what to do."""
        try:
            return self.form.read(text)
        except ValueError as error:
            raise self._refusal(text, error) from None

    def check(self, value: Any) -> None:
        """Raise InputError, as `read` does, for a value that no text of its form gives."""
        try:
            self.form.check(value)
        except ValueError as error:
            raise self._refusal(value, error) from None

    def _refusal(self, got: Any, error: ValueError) -> InputError:
        if isinstance(error, InputError):
            return error
        without = f"{self.default!r} holds" if self.default is not None else f"{self.absent} holds"
        shown = f"{len(str(got))} characters" if self.secret else got
        return InputError(f"{expected(self.form.said, shown, self.name)}; mend or unset it: {without} without it")
