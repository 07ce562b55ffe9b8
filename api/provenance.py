"""What a report is made by: versions, and the SHA-256 of the installed code and of the inputs."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from audit.report.provenance import Digest, Provenance
from shoe.errors import ImpossibleError

PACKAGES: Final = ("shoe", "audit", "api")
LIBRARIES: Final = ("cryptography", "numpy", "scipy", "numba", "Jinja2", "typst", "pyHanko")
_LEFT_OUT: Final = frozenset({"__pycache__", "migrations"})


def made_by(inputs: Mapping[str, bytes]) -> Provenance:
    """Tell the versions and digests of this installation, and those of the inputs by their names."""
    return Provenance(
        version=version("fairshoe"),
        code=tuple(package_digest(name, _folder(name)) for name in PACKAGES),
        libraries=(("Python", platform.python_version()), *((name, _version(name)) for name in LIBRARIES)),
        inputs=tuple(Digest(name, len(content), sha256(content).digest()) for name, content in inputs.items()),
    )


def package_digest(name: str, folder: Path) -> Digest:
    """Hash a package's files in order of their names: each one's name, 0x00, size in decimal, 0x00, and bytes.

    Names are relative, with forward slashes. Compiled caches, and the migrations that only a wheel keeps there, are
    left out.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not _LEFT_OUT.intersection(path.relative_to(folder).parts)
    )
    whole = sha256()
    for relative in names:
        content = (folder / relative).read_bytes()
        whole.update(f"{relative}\0{len(content)}\0".encode() + content)
    return Digest(name, len(names), whole.digest())


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImpossibleError(f"package {package} has no folder")
    return Path(spec.origin).parent


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
