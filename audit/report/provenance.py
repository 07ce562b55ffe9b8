"""What a report was made by and from: versions, and the SHA-256 of the code and of each input, told by who made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Digest:
    """One named thing and its SHA-256 (32 bytes): an input with its size in bytes, or a package with its files."""

    name: str
    size: int
    sha256: bytes

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256.hex()}


@dataclass(frozen=True, slots=True)
class Provenance:
    """The version that makes the report, its code by package, the libraries beside it, and the inputs."""

    version: str
    code: tuple[Digest, ...]
    libraries: tuple[tuple[str, str], ...]
    inputs: tuple[Digest, ...]

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {
            "version": self.version,
            "code": [digest.to_json() for digest in self.code],
            "libraries": [{"name": name, "version": version} for name, version in self.libraries],
            "inputs": [digest.to_json() for digest in self.inputs],
        }
