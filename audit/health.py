"""Health of what randomness comes from: SP 800-90B's two tests of its bytes, and known answers of the algorithms.

The health tests notice a source that is dead or stuck, and no more; no claim is made under SP 800-90B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, comb
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shoe.errors import FairshoeError, ImpossibleError, InputError, expected
from shoe.proof.notation import sha256
from shoe.proof.seal import derive_keys
from shoe.proof.seeds import server_seed
from shoe.proof.shuffle import forward_shuffle
from shoe.proof.stream import keystream, words

WINDOW: Final = 512
START_BYTES: Final = 1024
"""What is tested before the first byte is used (SP 800-90B §4.3, requirement 4)."""


class HealthError(FairshoeError):
    """A source of randomness that repeats itself as a working one does not."""


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """How many equal bytes in a row, and how many like the first in a window of 512, show a dead source."""

    repeated: int
    in_window: int


def cutoffs(entropy: float = 8.0, false_alarm_bits: int = 40) -> Cutoffs:
    """Compute the cutoffs for a min-entropy (bits a byte, above 0, at most 8) and a chance 2^−bits of a false alarm.

    The chance is that of one byte, or of one window. Source: SP 800-90B §4.4.1, §4.4.2.
    """
    if not 0 < entropy <= 8:
        raise InputError(expected("an entropy above 0, at most 8", entropy, "cutoffs"))
    share, more, critical = Fraction(2.0**-entropy), Fraction(1), -1
    while more > Fraction(1, 2**false_alarm_bits):
        critical += 1
        more -= comb(WINDOW, critical) * share**critical * (1 - share) ** (WINDOW - critical)
    return Cutoffs(1 + ceil(false_alarm_bits / entropy), 1 + critical)


@dataclass(slots=True)
class HealthMonitor:
    """Watches every byte of a source, across draws. Not for two threads at once."""

    limits: Cutoffs = field(default_factory=cutoffs)
    _last: int = -1
    _repeated: int = 0
    _first: int = -1
    _alike: int = 0
    _seen: int = 0

    def start(self, data: bytes) -> None:
        """Test at least `START_BYTES` bytes, which must not be used. Raises InputError for fewer, HealthError."""
        if len(data) < START_BYTES:
            raise InputError(expected(f"{START_BYTES} or more bytes", len(data), "start"))
        self.check(data)

    def check(self, data: bytes) -> bytes:
        """Give back healthy bytes; raises HealthError, which shows none of them."""
        for byte in data:
            self._repeated = self._repeated + 1 if byte == self._last else 1
            self._last = byte
            if self._repeated >= self.limits.repeated:
                raise HealthError(f"source: {self._repeated} equal bytes in a row")
            self._count_in_window(byte)
        return data

    def _count_in_window(self, byte: int) -> None:
        if self._seen == 0:
            self._first, self._alike = byte, 0
        self._alike += byte == self._first
        self._seen = (self._seen + 1) % WINDOW
        if self._alike >= self.limits.in_window:
            raise HealthError(f"source: {self._alike} equal bytes in a window of {WINDOW}")


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """An algorithm, who published the answer, and the answer."""

    name: str
    source: str
    compute: Callable[[], bytes]
    answer: bytes


def _aes() -> bytes:
    key, block = bytes(range(32)), bytes.fromhex("00112233445566778899aabbccddeeff")
    return Cipher(algorithms.AES256(key), modes.CTR(block)).encryptor().update(bytes(16))


def _hmac() -> bytes:
    mac = HMAC(b"Jefe", hashes.SHA256())
    mac.update(b"what do ya want for nothing?")
    return mac.finalize()


def _hkdf() -> bytes:
    hkdf = HKDF(hashes.SHA256(), length=42, salt=bytes(range(13)), info=bytes(range(0xF0, 0xFA)))
    return hkdf.derive(b"\x0b" * 22)


_MASTER: Final = bytes.fromhex("fc2da91f34a36ff80a7181779cee66d41acd20b61b6c356d9c100e310c2a8698")
_SEED: Final = bytes.fromhex("1e759a9c1e6aa7935861f6e796cc4c36aaae2d63824ffd13be6feaed00db49af")
_SEAL: Final = bytes.fromhex("56878ef7c2bb83c711bd58504be6de8a697d28a6f97a32500d6486da8996d4cb")
_SHUFFLE_KEY: Final = bytes.fromhex("d044c32411404ef65a02566d14489267df9a33b244491f04108203b6f194f947")

KNOWN_ANSWERS: Final = (
    KnownAnswer("AES-256", "FIPS 197, C.3", _aes, bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")),
    KnownAnswer(
        "SHA-256",
        "FIPS 180-4, message abc",
        lambda: sha256(b"abc"),
        bytes.fromhex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ),
    KnownAnswer(
        "HMAC-SHA-256",
        "RFC 4231, 4.3",
        _hmac,
        bytes.fromhex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ),
    KnownAnswer(
        "HKDF-SHA-256",
        "RFC 5869, A.1",
        _hkdf,
        bytes.fromhex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
    ),
    KnownAnswer(
        "keystream",
        "AESAVS, VarTxt256, count 0",
        lambda: keystream(bytes(32), 1 << 63, 16),
        bytes.fromhex("ddc6bf790c15760d8d9aeb6f9a75fd4e"),
    ),
    KnownAnswer("server seed", "vectors of the protocol, 0", lambda: server_seed(_MASTER, 0), _SEED),
    KnownAnswer(
        "shuffle key", "vectors of the protocol, 0", lambda: derive_keys(_SEED, _SEAL).shuffle_key, _SHUFFLE_KEY
    ),
    KnownAnswer(
        "shuffle of 8 decks",
        "vectors of the protocol, 0: SHA-256 of the cards",
        lambda: sha256(bytes(forward_shuffle(words(_SHUFFLE_KEY, 0), 8))),
        bytes.fromhex("7e64129f5a4002bbeaa81269fcbad66c130c737aafe389643c430e9d7a199269"),
    ),
)
"""Published answers of every algorithm that a shuffle rests on, and the protocol's own vectors end to end."""


def self_test(tests: Iterable[KnownAnswer] = KNOWN_ANSWERS) -> tuple[str, ...]:
    """Compute every known answer and list the tests; raises ImpossibleError at the first that comes out wrong."""
    return tuple(_passed(test) for test in tests)


def _passed(test: KnownAnswer) -> str:
    if test.compute() != test.answer:
        raise ImpossibleError(f"self-test {test.name}: expected the answer of {test.source}, got another")
    return f"{test.name} ({test.source})"
