"""The fifteen tests of NIST SP 800-22 rev. 1a, with its errors mended: each gives p-values with labels.

Every function takes bits as an array of uint8, 0 and 1, and raises InputError where there are too few. What NIST has
wrong, and what each test can see, is in METHODS.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from audit.checks.bits.evidence import Bits, Score, require_bits
from audit.checks.bits.excursions import random_excursions, random_excursions_variant
from audit.checks.bits.frequency import block_frequency, cumulative_sums, frequency, longest_run, runs
from audit.checks.bits.linear_complexity import linear_complexity
from audit.checks.bits.rank import rank
from audit.checks.bits.serial import approximate_entropy, serial
from audit.checks.bits.spectral import spectral
from audit.checks.bits.templates import non_overlapping, overlapping
from audit.checks.bits.universal import universal


@dataclass(frozen=True, slots=True)
class BitTest:
    """One of the fifteen tests: its section of SP 800-22 and the least number of bits its reference law fits."""

    name: str
    section: str
    least: int
    null: str
    score: Callable[[Bits], tuple[Score, ...]]

    def __call__(self, bits: Bits) -> tuple[Score, ...]:
        """Give the p-values of one sequence, () where the test does not apply; InputError below `least` bits."""
        require_bits(bits, self.least, self.name)
        return self.score(bits)


_TESTS: Final = (
    BitTest("frequency", "2.1", 100, "ones and zeros are as many", frequency),
    BitTest("block_frequency", "2.2", 12_800, "ones and zeros are as many in each block", block_frequency),
    BitTest("runs", "2.3", 1_000, "given the number of ones, every order of bits is equally likely", runs),
    BitTest("longest_run", "2.4", 6_272, "the longest runs of ones in blocks are those of random bits", longest_run),
    BitTest("rank", "2.5", 38_912, "matrices of 32 by 32 bits have the rank of random ones", rank),
    BitTest("spectral", "2.6", 1_000, "no frequency stands out", spectral),
    BitTest("non_overlapping", "2.7", 100_000, "patterns of 9 bits are as many in each block", non_overlapping),
    BitTest("overlapping", "2.8", 74_304, "nine ones in a row are as many as in random bits", overlapping),
    BitTest("universal", "2.9", 387_840, "blocks come back after as long as random ones", universal),
    BitTest(
        "linear_complexity",
        "2.10",
        240_000,
        "shift registers for blocks are as long as for random bits",
        linear_complexity,
    ),
    BitTest("serial", "2.11", 1_000, "all patterns of m bits are as many", serial),
    BitTest("approximate_entropy", "2.12", 2_048, "a bit does not depend on those before it", approximate_entropy),
    BitTest(
        "cumulative_sums", "2.13", 10_000, "the walk of ones and zeros strays as far as a random one", cumulative_sums
    ),
    BitTest(
        "random_excursions",
        "2.14",
        100_000,
        "cycles of the walk visit places as often as random ones",
        random_excursions,
    ),
    BitTest(
        "random_excursions_variant",
        "2.15",
        100_000,
        "the walk visits places as often as a random one",
        random_excursions_variant,
    ),
)

SP80022: Final[Mapping[str, BitTest]] = {test.name: test for test in _TESTS}
"""The fifteen tests under their names, in NIST's order."""

SEQUENCE: Final = 1_000_000
"""The bits of a sequence in a certification: every test applies, with the parameters of NIST's published values."""
