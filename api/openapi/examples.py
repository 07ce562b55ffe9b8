"""Examples: real requests and answers of a played story, written by ``python -m tests.write_examples``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

FILE: Final = "examples.json"


@dataclass(frozen=True, slots=True)
class Example:
    """One request, and what it was answered: the first of each operation that succeeded."""

    path: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    status: int = 200
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of operations by their ids, and of problems by the ends of their types."""

    operations: dict[str, Example]
    problems: dict[str, Any]

    def of(self, operation: str) -> Example:
        """Give an operation's example, an empty one where there is none."""
        return self.operations.get(operation, Example(status=0))


@lru_cache(maxsize=1)
def read_examples() -> Examples:
    """Read the examples that the program brings with it."""
    kept = json.loads(files("api.openapi").joinpath(FILE).read_text("utf-8"))
    return Examples({name: Example(**found) for name, found in kept["operations"].items()}, kept["problems"])
