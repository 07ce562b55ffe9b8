"""What can go wrong, in one tree.

    FairshoeError
    ├── InputError (also ValueError)     the caller's fault: bad text, bytes, numbers or rules
    │   ├── CardError                    not a card, or not a card number
    │   ├── RulesError                   a table's rules that can't be played
    │   ├── BetError                     a bet that a table's terms don't take
    │   ├── SeedError                    a seed, commitment or client name of the wrong form
    │   ├── CanonicalError               bytes that are not canonical JSON
    │   ├── RecordError                  a record of unknown type, or with a wrong key or value
    │   ├── BundleError                  a bundle or span archive of the wrong shape
    │   └── NoteError                    a note, checkpoint, key, tlog-proof or tile of the wrong form
    ├── ProofError                       well-formed evidence that proves something false
    │   └── SignatureError               a signature of a known key that does not verify, or none
    └── ImpossibleError (also RuntimeError)   our fault: a state the code rules out

`api` adds some of its own under FairshoeError: SetupError (an installation's files don't fit together), Refusal (a
request that a state or rule forbids), OutcomeUnknown (the database failed as it committed), WitnessFault
(a witness that answers wrongly), NotDelivered and Unreachable (a webhook's receiver), and ServiceProblem,
ServiceUnreachable and Unproven (what a client meets).

Every message says what was expected, what came instead and, where there is one, the place.
"""

from __future__ import annotations


class FairshoeError(Exception):
    """The root of every error that this project raises on purpose."""


class InputError(FairshoeError, ValueError):
    """The caller handed in something of the wrong form."""


class CardError(InputError):
    """Not a card or not a card number (protocol §2)."""


class RulesError(InputError):
    """Rules of a table that can't be played (protocol §6)."""


class BetError(InputError):
    """A bet, stake or limit that a table's terms don't take."""


class SeedError(InputError):
    """A seed, commitment or client name of the wrong form (protocol §3, §4)."""


class CanonicalError(InputError):
    """Bytes that are not canonical JSON (protocol §8)."""


class RecordError(InputError):
    """A record of unknown type, or with a wrong key or value (protocol §8)."""


class BundleError(InputError):
    """A bundle or span archive of the wrong shape (protocol §9, §10)."""


class NoteError(InputError):
    """A note, checkpoint, key, tlog-proof, tile or entry bundle of the wrong form (protocol §9)."""


class ProofError(FairshoeError):
    """Well-formed evidence that proves something else than claimed."""


class SignatureError(ProofError):
    """No good signature by the key that had to sign."""


class ImpossibleError(FairshoeError, RuntimeError):
    """A state that the code itself rules out: always a fault of ours."""


def expected(what: str, got: object, where: str = "") -> str:
    """Build the message every refusal uses: ``where: expected what, got got``.

    `got` is printed by repr and cut at 80 characters, so that no message carries a whole document.
    """
    shown = repr(got)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return f"{where}: expected {what}, got {shown}" if where else f"expected {what}, got {shown}"
