"""The drand quicknet beacon: when a round is due and what it must look like (protocol §4).

The BLS signature itself is checked by a callable handed to the verifier, so that this package needs no pairing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from shoe.errors import ProofError, expected
from shoe.proof.notation import sha256
from shoe.proof.seal import BeaconPin, BeaconRound

QUICKNET: Final = bytes.fromhex("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
GENESIS_S: Final = 1_692_803_367
PERIOD_S: Final = 3

CheckSignature = Callable[[int, bytes], None]
"""Takes a round's number and its signature (48 bytes); raises ProofError unless the beacon signed that round."""

_COMPRESSED: Final = 0x80
_INFINITY: Final = 0x40


def due_s(pin: BeaconPin) -> int:
    """Say when a round is due, in Unix seconds. Raises ProofError for another chain than quicknet."""
    if pin.chain != QUICKNET:
        raise ProofError(expected(f"drand quicknet {QUICKNET.hex()}", pin.chain.hex(), "beacon.chain"))
    return GENESIS_S + (pin.round - 1) * PERIOD_S


def lock_before_s(pin: BeaconPin) -> int:
    """Say by when, in Unix seconds, the lock must be: one period before the round is due."""
    return due_s(pin) - PERIOD_S


def time_of(seconds: int) -> str:
    """Print Unix seconds as a record's time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def check_round(came: BeaconRound, pin: BeaconPin) -> None:
    """Check that a round is the pinned one and hangs together; the signature is checked elsewhere.

    Raises ProofError for another round or chain, a point not in compressed form, or a randomness that is not the
    signature's hash.
    """
    due_s(pin)
    if came.pin != pin:
        raise ProofError(expected(f"round {pin.round}", f"round {came.round}", "transcript.beacon"))
    if came.signature[0] & (_COMPRESSED | _INFINITY) != _COMPRESSED:
        raise ProofError("transcript.beacon.signature: expected a compressed point other than infinity")
    if came.randomness != sha256(came.signature):
        raise ProofError("transcript.beacon.randomness: expected the hash of the signature")
