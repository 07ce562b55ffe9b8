"""The house rules as checkers: each takes one source or path and yields complaints ``path:line: what is wrong``."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

PACKAGES = ("shoe", "audit", "api")
FUNCTION_LINES = 60
FILE_LINES = 400

# What each package may import beside the standard library: its own rooms, those to its left, and these.
MAY_IMPORT = {
    "shoe": {"shoe", "cryptography"},
    "audit": {"shoe", "audit", "cryptography", "numpy", "scipy"},
    "api": {"shoe", "audit", "api", "cryptography", "numpy", "scipy", "py_ecc"}
    | {"flask", "werkzeug", "jinja2", "markupsafe", "pydantic", "pydantic_core", "sqlalchemy", "alembic"}
    | {"gunicorn", "click", "rich", "urllib3"},
}
MAY_IMPORT_HERE = {
    "audit/kernel.py": {"numba"},
    "audit/report/page.py": {"jinja2"},
    "audit/report/pdf.py": {"typst"},
    "audit/report/pades.py": {"asn1crypto", "pyhanko", "pyhanko_certvalidator"},
    "api/cli/workers.py": {"distributed"},
    "api/db/postgresql.py": {"psycopg"},
    "api/journal.py": {"structlog"},
    "api/meters.py": {"prometheus_client"},
    "api/metrics.py": {"prometheus_client"},
    "api/exports/parquet.py": {"pyarrow"},
    "api/graceful.py": {"_typeshed"},
}
"""What one file alone may import: compiled code, the cluster and PostgreSQL's driver stand in one place each."""

# The shoe has no clock, no chance, no file, no network and no other process.
IMPURE_MODULES = {"os", "pathlib", "tempfile", "shutil", "glob", "sqlite3", "logging", "importlib"}
IMPURE_MODULES |= {"time", "secrets", "random", "uuid", "socket", "ssl", "http", "urllib", "subprocess"}
IMPURE_MODULES |= {"threading", "multiprocessing", "asyncio", "concurrent"}
IMPURE_NAMES = {"open", "print", "input"}
IMPURE_METHODS = {"now", "utcnow", "today", "urandom", "generate"}

VAGUE_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "misc"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|tmp|home|root)/")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E)\b")

UNTRACKED = {".git", ".venv", "__pycache__", "build", "dist", "node_modules", ".hypothesis", "fairshoe-data"}
UNTRACKED |= {".mypy_cache", ".ruff_cache", ".pytest_cache"}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LAYOUT |= {tokenize.ENCODING, tokenize.ENDMARKER}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root with forward slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    @cached_property
    def package(self) -> str:
        return self.path.split("/", maxsplit=1)[0]

    @cached_property
    def code_lines(self) -> set[int]:
        """Lines with a token that is neither comment nor docstring."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in LAYOUT:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Expr) and _is_text(node.value):
                lines.difference_update(_span(node))
        return lines

    def length(self, node: ast.stmt) -> int:
        return len(self.code_lines.intersection(_span(node)))

    def complaint(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


# --- what is in the tree -----------------------------------------------------------------------


def project_files(root: Path) -> list[str]:
    """Files that are or would be committed; without Git, all files outside of caches and environments."""
    if (root / ".git").exists():
        listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(listing, capture_output=True, check=False)
        if listed.returncode == 0:
            names = listed.stdout.decode().split("\0")
            return sorted({name for name in names if name and (root / name).is_file()})
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and not UNTRACKED.intersection(path.relative_to(root).parts)
    )


def read_text(path: Path) -> str | None:
    """The text of a file, or None where it is binary."""
    content = path.read_bytes()
    try:
        return None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


# --- imports -----------------------------------------------------------------------------------


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything imported, at any depth, relative or by a call."""
    folders = source.path.split("/")[:-1]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folders[: len(folders) - node.level + 1] if node.level else []
            parts = [*base, *([node.module] if node.module else [])]
            yield from ((node.lineno, ".".join([*parts, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in {"import_module", "__import__"}:
            yield node.lineno, ast.literal_eval(node.args[0]) if _is_text(node.args[0]) else "a computed name"


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rsplit(".", maxsplit=1)[-1]


def imports_outside_the_layers(source: Source) -> Iterator[str]:
    allowed = MAY_IMPORT[source.package] | sys.stdlib_module_names | MAY_IMPORT_HERE.get(source.path, set())
    for line, name in imports(source):
        if name.split(".")[0] not in allowed:
            yield source.complaint(line, f"{source.package} may not import {name}")


def wildcard_imports(source: Source) -> Iterator[str]:
    for line, name in imports(source):
        if name.endswith("*"):
            yield source.complaint(line, f"wildcard import {name}")


# --- chance, clock and files -------------------------------------------------------------------


def unpromised_random_numbers(source: Source) -> Iterator[str]:
    """Module random, numpy.random by any name, and the rvs methods of scipy, which draw from it."""
    numpy_names = {"numpy"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            numpy_names |= {alias.asname or alias.name for alias in node.names if alias.name == "numpy"}
    for line, name in imports(source):
        if name.split(".")[0] == "random" or name.startswith("numpy.random"):
            yield source.complaint(line, f"draws from {name}")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute):
            of_numpy = node.attr == "random" and ast.unparse(node.value) in numpy_names
            if of_numpy or node.attr == "rvs":
                yield source.complaint(node.lineno, f"draws from {ast.unparse(node)}")


def impurities(source: Source) -> Iterator[str]:
    for line, name in imports(source):
        if name.split(".")[0] in IMPURE_MODULES:
            yield source.complaint(line, f"impure: imports {name}")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            plain = isinstance(node.func, ast.Name)
            if _called(node) in (IMPURE_NAMES if plain else IMPURE_METHODS):
                yield source.complaint(node.lineno, f"impure: calls {ast.unparse(node.func)}")


# --- shape -------------------------------------------------------------------------------------


def long_functions(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, Function) and source.length(node) > FUNCTION_LINES:
            yield source.complaint(node.lineno, f"{node.name} has {source.length(node)} code lines")


def long_files(source: Source) -> Iterator[str]:
    if len(source.code_lines) > FILE_LINES:
        yield source.complaint(1, f"file has {len(source.code_lines)} code lines")


def missing_docstrings(source: Source) -> Iterator[str]:
    """Of modules with code and of their public classes, functions and methods."""
    if source.code_lines and ast.get_docstring(source.tree) is None:
        yield source.complaint(1, "module has no docstring")
    for node in _public(source.tree.body):
        if ast.get_docstring(node) is None:
            yield source.complaint(node.lineno, f"{node.name} has no docstring")


def _public(body: list[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _public([*node.body, *node.orelse])
        elif isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            decorators = {ast.unparse(decorator).rsplit(".", maxsplit=1)[-1] for decorator in node.decorator_list}
            if not decorators & {"overload", "setter", "deleter"}:
                yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body)


def assertions(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assert):
            yield source.complaint(node.lineno, "assert vanishes under python -O")


# --- any text and any name ---------------------------------------------------------------------


def machine_paths(source: Source) -> Iterator[str]:
    yield from _lines_with(source, MACHINE_PATH, "path of a machine")


def unfinished_notes(source: Source) -> Iterator[str]:
    yield from _lines_with(source, UNFINISHED, "unfinished")


def _lines_with(source: Source, pattern: re.Pattern[str], what: str) -> Iterator[str]:
    for number, line in enumerate(source.text.split("\n"), start=1):
        if found := pattern.search(line):
            yield source.complaint(number, f"{what}: {found[0]}")


def vague_names(path: str) -> Iterator[str]:
    for part in PurePosixPath(path).parts:
        if part.split(".")[0].strip("_").lower() in VAGUE_NAMES:
            yield f"{path}: {part} says nothing"
