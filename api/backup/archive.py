"""The frame of a backup: a tar in gzip whose headers follow from names and sizes, so that nothing else can be in it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from tarfile import BLOCKSIZE, GNU_FORMAT, HeaderError, TarInfo
from typing import BinaryIO, Final

from shoe.errors import ImpossibleError, InputError, expected

_LEVEL: Final = 6
_MODE: Final = 0o600
_END: Final = bytes(2 * BLOCKSIZE)
_DAMAGE: Final = (EOFError, gzip.BadGzipFile, zlib.error)


class BackupError(InputError):
    """A file that is no backup, not a whole one, or not as it was made."""


class ArchiveWriter:
    """Writes members one after the other; the same members give the same bytes."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def add(self, name: str, size: int, blocks: Iterable[bytes]) -> None:
        """Add a member of `size` bytes; raises ImpossibleError where the blocks have another number of bytes."""
        self._packed.write(_header(name, size))
        written = 0
        for block in blocks:
            written += self._packed.write(block)
        if written != size:
            raise ImpossibleError(expected(f"{size} bytes", written, name))
        self._packed.write(bytes(-size % BLOCKSIZE))


@contextmanager
def write_archive(file: BinaryIO) -> Iterator[ArchiveWriter]:
    """Write an archive into a file, with its end once the block is left."""
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0) as packed:
        yield ArchiveWriter(packed)
        packed.write(_END)


class ArchiveReader:
    """Reads members one after the other, each asked for by its name and size; raises BackupError for anything else."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed

    def first(self, name: str, most: int) -> bytes:
        """Read the first member, of at most so many bytes: the one whose size isn't known before."""
        header = self._read(self._packed.read, BLOCKSIZE)
        try:
            size = TarInfo.frombuf(header, "ascii", "strict").size
        except (HeaderError, UnicodeDecodeError):
            raise BackupError(expected(f"the member {name}", header[:40], "start of the archive")) from None
        if size > most or header != _header(name, size):
            raise BackupError(expected(f"the member {name} of at most {most} bytes", header[:40], "start"))
        return b"".join(self._body(name, size))

    def lines(self, name: str, size: int) -> Iterator[bytes]:
        """Read the next member line by line, newlines included: all of it, before the next is asked for."""
        header = self._read(self._packed.read, BLOCKSIZE)
        if header != _header(name, size):
            raise BackupError(expected(f"the header of {name}, {size} bytes", header[:40], "archive"))
        return self._body(name, size)

    def end(self) -> None:
        """Check that there is nothing more; only then is the archive known to be whole."""
        if self._read(self._packed.read, len(_END)) != _END or self._read(self._packed.read, 1):
            raise BackupError("archive: expected its end, got something more or less")

    def _body(self, name: str, size: int) -> Iterator[bytes]:
        left = size
        while left > 0:
            line = self._read(self._packed.readline, left)
            if not line:
                raise BackupError(expected(f"{left} bytes more", "the end of the file", name))
            left -= len(line)
            yield line
        padding = -size % BLOCKSIZE
        if self._read(self._packed.read, padding) != bytes(padding):
            raise BackupError(f"{name}: expected zeros up to the next member, got other bytes")

    @staticmethod
    def _read(read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except _DAMAGE as error:
            raise BackupError(f"archive: expected a whole gzip file, got {error}") from None


@contextmanager
def read_archive(file: BinaryIO) -> Iterator[ArchiveReader]:
    """Read an archive from a file."""
    with gzip.GzipFile(mode="rb", fileobj=file) as packed:
        yield ArchiveReader(packed)


def _header(name: str, size: int) -> bytes:
    member = TarInfo(name)
    member.size, member.mode = size, _MODE
    return member.tobuf(GNU_FORMAT, "ascii", "strict")
