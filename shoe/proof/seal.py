"""The transcript of an opened shoe, its seal and the keys that follow from it (protocol §4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shoe.game.rules import Rules, parse_rules
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import (
    HASH,
    INDEX,
    NAME,
    ORIGIN,
    hexadecimal,
    integer,
    list_of,
    one_of,
    or_null,
    parsed,
    part,
    read_fields,
    secret_text,
    text,
    write_fields,
)
from shoe.proof.notation import sha256, tag
from shoe.proof.seeds import CLIENT_PATTERN, MAX_BOOK, MAX_CONTRIBUTIONS, SEED_BYTES, SEED_PATTERN, parse_seed

PROTOCOL: Final = "fairshoe/1"
CLIENT: Final = text(CLIENT_PATTERN, "1–36 characters a-z 0-9 -")
SEED: Final = secret_text(parse_seed, SEED_PATTERN)
RULES_SCHEMA: Final = {
    "type": "object",
    "required": ["burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle"],
    "properties": {
        "burn": {"enum": ["none", "first_card"]},
        "coups": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1, "maximum": 2**20}]},
        "cut": {
            "anyOf": [
                {"type": "null"},
                {
                    "type": "object",
                    "required": ["from", "to"],
                    "properties": {
                        "from": {"type": "integer", "minimum": 6},
                        "to": {"type": "integer", "minimum": 6},
                    },
                    "additionalProperties": False,
                },
            ]
        },
        "decks": {"type": "integer", "minimum": 1, "maximum": 16},
        "entropy": {"enum": ["two_phase", "beacon", "house"]},
        "game": {"const": "punto_banco"},
        "last_coup": {"enum": ["drawn_in", "one_more"]},
        "shuffle": {"enum": ["shoe", "coup"]},
    },
}
RULES: Final = parsed(parse_rules, Rules.to_json, RULES_SCHEMA)


@dataclass(frozen=True, slots=True)
class BookRef:
    """The seed book a shoe's seed comes from: its root (32 bytes) and size."""

    root: Annotated[bytes, HASH]
    size: Annotated[int, integer(1, MAX_BOOK)]


@dataclass(frozen=True, slots=True)
class BeaconPin:
    """The beacon round a shoe waits for, named when it opens: the chain's hash and the round."""

    chain: Annotated[bytes, HASH]
    round: Annotated[int, integer(1, 2**53 - 1)]


@dataclass(frozen=True, slots=True)
class BeaconRound:
    """A beacon round that has come: `signature` is a compressed G1 point (48 bytes)."""

    chain: Annotated[bytes, HASH]
    round: Annotated[int, integer(1, 2**53 - 1)]
    randomness: Annotated[bytes, HASH]
    signature: Annotated[bytes, hexadecimal(48)]

    @property
    def pin(self) -> BeaconPin:
        """The round that this is the outcome of."""
        return BeaconPin(self.chain, self.round)


@dataclass(frozen=True, slots=True)
class ClientSeed:
    """One player's seed, under the pseudonym that the service gave for this shoe."""

    client: Annotated[str, CLIENT]
    seed: Annotated[str, SEED] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Transcript:
    """Everything the shuffle depends on beside the server seed: eight keys of `open`, seeds in order, the beacon."""

    protocol: Annotated[str, one_of(PROTOCOL)]
    log: Annotated[str, ORIGIN]
    shoe: Annotated[str, NAME]
    table: Annotated[str, NAME]
    rules: Annotated[Rules, RULES]
    book: Annotated[BookRef, part(BookRef)]
    index: Annotated[int, INDEX]
    commitment: Annotated[bytes, HASH]
    client_seeds: Annotated[tuple[ClientSeed, ...], list_of(part(ClientSeed), 0, MAX_CONTRIBUTIONS)]
    beacon: Annotated[BeaconRound | None, or_null(part(BeaconRound))]

    def to_bytes(self) -> bytes:
        """Print T, the canonical bytes that are sealed. Source: protocol §4."""
        return print_canonical(write_fields(self))


@dataclass(frozen=True, slots=True)
class Keys:
    """What a server seed and a seal give: the keys (32 bytes each) of the shuffle and of the salts; secret."""

    shuffle_key: bytes = field(repr=False)
    salt_key: bytes = field(repr=False)


def parse_transcript(data: bytes) -> Transcript:
    """Read T from its canonical bytes; the inverse of `Transcript.to_bytes`. Raises RecordError, CanonicalError."""
    return Transcript(**read_fields(Transcript, parse_object(data)))


def seal_transcript(transcript: Transcript) -> bytes:
    """Hash T into the seal (32 bytes). Source: protocol §4."""
    return sha256(tag("fairshoe/1/seal") + transcript.to_bytes())


def derive_keys(server_seed: bytes, seal: bytes) -> Keys:
    """Derive the shuffle key and the salt key from a server seed and a seal (32 bytes each). Source: protocol §4."""
    return Keys(_derive(server_seed, seal, b"fairshoe/1/shuffle"), _derive(server_seed, seal, b"fairshoe/1/salt"))


def _derive(seed: bytes, seal: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=SEED_BYTES, salt=seal, info=info).derive(seed)
