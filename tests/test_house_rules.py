"""The rules of the house, kept by tests; and each rule's checker, shown to fail on what it forbids."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house import rules
from tests.house.rules import Source

ROOT = Path(__file__).parents[1]
FILES = rules.project_files(ROOT)
TEXTS = [Source(name, text) for name in FILES if (text := rules.read_text(ROOT / name)) is not None]
CODE = [source for source in TEXTS if source.path.endswith(".py") and source.package in rules.PACKAGES]
MIGRATIONS = [source for source in TEXTS if source.path.endswith(".py") and source.package == "migrations"]

Checker = Callable[[Source], Iterator[str]]


def complaints(checker: Checker, sources: list[Source]) -> list[str]:
    return [complaint for source in sources for complaint in checker(source)]


# --- the tree keeps the rules ------------------------------------------------------------------


def test_the_packages_are_read() -> None:
    paths = {source.path for source in CODE}
    assert {"shoe/errors.py", "shoe/game/cards.py", "audit/__init__.py", "api/__init__.py"} <= paths
    assert {"pyproject.toml", "README.md"} <= {source.path for source in TEXTS}


@pytest.mark.parametrize(
    "checker",
    [
        rules.imports_outside_the_layers,
        rules.wildcard_imports,
        rules.unpromised_random_numbers,
        rules.missing_docstrings,
        rules.assertions,
    ],
)
def test_packages_keep(checker: Checker) -> None:
    assert complaints(checker, CODE) == []


def test_the_shoe_is_pure() -> None:
    assert complaints(rules.impurities, [source for source in CODE if source.package == "shoe"]) == []


@pytest.mark.parametrize("checker", [rules.long_functions, rules.long_files])
def test_packages_and_migrations_keep(checker: Checker) -> None:
    assert complaints(checker, CODE + MIGRATIONS) == []


@pytest.mark.parametrize("checker", [rules.machine_paths, rules.unfinished_notes])
def test_every_text_keeps(checker: Checker) -> None:
    assert complaints(checker, TEXTS) == []


def test_names_say_what_is_inside() -> None:
    assert [complaint for name in FILES for complaint in rules.vague_names(name)] == []


# --- the checkers can fail ---------------------------------------------------------------------


def function(code_lines: int) -> str:
    """A documented function of so many code lines, with as many comments and blank lines between."""
    body = "".join(f"    # why\n\n    x = {n}\n" for n in range(code_lines - 1))
    return f'def f():\n    """Say.\n\n    More.\n    """\n{body}'


BROKEN: list[tuple[Checker, str, str, str]] = [
    (rules.imports_outside_the_layers, "shoe/x.py", "import numpy", "1: shoe may not import numpy"),
    (rules.imports_outside_the_layers, "shoe/x.py", "import audit", "1: shoe may not import audit"),
    (rules.imports_outside_the_layers, "shoe/x.py", "import json, flask", "1: shoe may not import flask"),
    (rules.imports_outside_the_layers, "shoe/x.py", "\nfrom api.db import y", "2: shoe may not import api.db.y"),
    (rules.imports_outside_the_layers, "shoe/x.py", "from .. import audit", "1: shoe may not import audit"),
    (
        rules.imports_outside_the_layers,
        "shoe/game/x.py",
        "def f():\n    from ...audit import odds",
        "2: shoe may not import audit.odds",
    ),
    (
        rules.imports_outside_the_layers,
        "shoe/x.py",
        "if TYPE_CHECKING:\n    import scipy.stats as s",
        "2: shoe may not import scipy.stats",
    ),
    (
        rules.imports_outside_the_layers,
        "shoe/x.py",
        "importlib.import_module('api.db')",
        "1: shoe may not import api.db",
    ),
    (rules.imports_outside_the_layers, "shoe/x.py", "__import__('audit')", "1: shoe may not import audit"),
    (
        rules.imports_outside_the_layers,
        "api/x.py",
        "import_module('a' + 'b')",
        "1: api may not import a computed name",
    ),
    (rules.imports_outside_the_layers, "audit/x.py", "from api import db", "1: audit may not import api.db"),
    (rules.imports_outside_the_layers, "audit/x.py", "import flask", "1: audit may not import flask"),
    (rules.imports_outside_the_layers, "audit/checks/x.py", "from ... import api", "1: audit may not import api"),
    (rules.imports_outside_the_layers, "api/x.py", "import tests", "1: api may not import tests"),
    (rules.imports_outside_the_layers, "api/x.py", "import requests", "1: api may not import requests"),
    (rules.wildcard_imports, "api/x.py", "from shoe import *", "1: wildcard import shoe.*"),
    (rules.wildcard_imports, "api/db/x.py", "from . import *", "1: wildcard import api.db.*"),
    (rules.unpromised_random_numbers, "audit/x.py", "import random", "1: draws from random"),
    (rules.unpromised_random_numbers, "audit/x.py", "from random import choice", "1: draws from random.choice"),
    (rules.unpromised_random_numbers, "audit/x.py", "from numpy import random", "1: draws from numpy.random"),
    (
        rules.unpromised_random_numbers,
        "audit/x.py",
        "from numpy.random import Generator",
        "1: draws from numpy.random.Generator",
    ),
    (
        rules.unpromised_random_numbers,
        "audit/x.py",
        "import numpy as n\nn.random.default_rng(1)",
        "2: draws from n.random",
    ),
    (rules.unpromised_random_numbers, "audit/x.py", "chi2.rvs(3)", "1: draws from chi2.rvs"),
    (rules.impurities, "shoe/x.py", "import os.path", "1: impure: imports os.path"),
    (rules.impurities, "shoe/x.py", "from secrets import token_bytes", "1: impure: imports secrets.token_bytes"),
    (rules.impurities, "shoe/x.py", "def f():\n    import time", "2: impure: imports time"),
    (rules.impurities, "shoe/x.py", "open('x')", "1: impure: calls open"),
    (rules.impurities, "shoe/x.py", "datetime.now()", "1: impure: calls datetime.now"),
    (rules.impurities, "shoe/x.py", "Key.generate()", "1: impure: calls Key.generate"),
    (rules.long_functions, "api/x.py", function(61), "1: f has 61 code lines"),
    (rules.long_functions, "api/x.py", "async " + function(62), "1: f has 62 code lines"),
    (rules.long_files, "api/x.py", "x = 1\n" * 401, "1: file has 401 code lines"),
    (rules.missing_docstrings, "api/x.py", "x = 1", "1: module has no docstring"),
    (rules.missing_docstrings, "api/x.py", '"""M."""\ndef f(): ...', "2: f has no docstring"),
    (rules.missing_docstrings, "api/x.py", '"""M."""\nasync def f(): ...', "2: f has no docstring"),
    (rules.missing_docstrings, "api/x.py", '"""M."""\nclass C: ...', "2: C has no docstring"),
    (
        rules.missing_docstrings,
        "api/x.py",
        '"""M."""\nclass C:\n    """C."""\n    @property\n    def p(self): ...',
        "5: p has no docstring",
    ),
    (rules.assertions, "api/x.py", "def f(x):\n    assert x", "2: assert vanishes under python -O"),
    (
        rules.machine_paths,
        "README.md",
        "see\n" + "/".join(["", "work", "shared"]),
        f"2: path of a machine: {'/'.join(['', 'work', ''])}",
    ),
    (
        rules.machine_paths,
        "x.py",
        f'open("{"/".join(["", "home", "me"])}")',
        f"1: path of a machine: {'/'.join(['', 'home', ''])}",
    ),
    (rules.unfinished_notes, "x.md", "# TO" + "DO: later", "1: unfinished: TO" + "DO"),
    (rules.unfinished_notes, "x.js", "// FIX" + "ME", "1: unfinished: FIX" + "ME"),
]


@pytest.mark.parametrize(
    ("checker", "path", "text", "complaint"),
    BROKEN,
    ids=[f"{checker.__name__}-{n}" for n, (checker, *_) in enumerate(BROKEN)],
)
def test_a_broken_snippet_is_complained_of(checker: Checker, path: str, text: str, complaint: str) -> None:
    assert list(checker(Source(path, text))) == [f"{path}:{complaint}"]


@pytest.mark.parametrize(
    ("checker", "path", "text"),
    [
        (
            rules.imports_outside_the_layers,
            "shoe/game/x.py",
            "from ..errors import E\nfrom . import cards\nimport json",
        ),
        (rules.imports_outside_the_layers, "audit/x.py", "from shoe.game import cards\nimport numpy as np"),
        (rules.imports_outside_the_layers, "api/x.py", "from audit import odds\nimport shoe, flask"),
        (rules.unpromised_random_numbers, "audit/x.py", "import numpy as np\nx.random\nnp.cov"),
        (rules.impurities, "shoe/x.py", "from datetime import datetime\nopening.open()\nhashlib.sha256(b'')"),
        (rules.long_functions, "api/x.py", function(60)),
        (rules.long_files, "api/x.py", "x = 1\n\n# why\n" * 400),
        (rules.missing_docstrings, "api/__init__.py", ""),
        (rules.missing_docstrings, "api/x.py", '"""M."""\ndef _f(): ...\nclass _C:\n    def g(self): ...'),
        (rules.missing_docstrings, "api/x.py", '"""M."""\ndef f():\n    """F."""\n    def inner(): ...'),
        (rules.machine_paths, "x.md", "GET /tables, https://example.org/home/, deck_root/x, net/work/"),
    ],
)
def test_a_sound_snippet_passes(checker: Checker, path: str, text: str) -> None:
    assert list(checker(Source(path, text))) == []


@pytest.mark.parametrize(
    "path", ["api/utils.py", "api/helpers/x.py", "tests/_helper.py", "audit/Manager.py", "docs/misc"]
)
def test_a_vague_name_is_complained_of(path: str) -> None:
    assert len(list(rules.vague_names(path))) == 1
    assert list(rules.vague_names("audit/miscount.py")) == []


@pytest.mark.parametrize("with_git", [True, False])
def test_environments_and_caches_are_no_project_files(tmp_path: Path, with_git: bool) -> None:
    for name in ("shoe/x.py", ".ci/run", ".venv/lib/y.py", "shoe/__pycache__/x.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    if with_git:
        (tmp_path / ".gitignore").write_text(".venv/\n__pycache__/\n.gitignore\n")
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert rules.project_files(tmp_path) == [".ci/run", "shoe/x.py"]


def test_binary_files_have_no_text(tmp_path: Path) -> None:
    for name, content in {"zero": b"a\0b", "latin": b"\xe9", "text": "é".encode()}.items():
        (tmp_path / name).write_bytes(content)
    assert [rules.read_text(tmp_path / name) for name in ("zero", "latin", "text")] == [None, None, "é"]


# --- the wheel ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("fairshoe-*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheels_top_level_is_the_three_packages(wheel: zipfile.ZipFile) -> None:
    top = {name.split("/")[0] for name in wheel.namelist()}
    (metadata,) = top - set(rules.PACKAGES)
    assert top == {*rules.PACKAGES, metadata}
    assert metadata.startswith("fairshoe-")
    assert metadata.endswith(".dist-info")


def test_the_wheel_holds_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    """Specification, methods, schemas, templates and type marker included, not the modules alone."""
    wanted = {name for name in FILES if name.split("/")[0] in rules.PACKAGES}
    assert wanted - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_migrations_inside_api(wheel: zipfile.ZipFile) -> None:
    wanted = {f"api/{name}" for name in FILES if name.startswith("migrations/")}
    assert "api/migrations/env.py" in wheel.namelist()
    assert wanted - set(wheel.namelist()) == set()


def test_the_wheel_names_the_command(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert "fairshoe = api.cli:main" in wheel.read(entry_points).decode().splitlines()
