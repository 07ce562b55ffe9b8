"""What the journal may not show: seeds, masters, keys, tokens and passwords, in any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

MASKED: Final = "[secret]"

PUBLIC_HASHES: Final = frozenset({"root", "deck_root", "book_root", "record_hash", "bundle_hash", "plan_hash"})
"""Keys under which 32 bytes of hex are a hash that everyone may know."""

_SECRET_WORDS: Final = frozenset(
    {"seed", "seeds", "master", "masters", "secret", "secrets", "token", "tokens", "password", "passwd", "pwd", "pin"}
    | {"authorization", "cookie", "credential", "credentials", "bearer", "salt"}
)
_SECRET_PARTS: Final = (
    *("serverseed", "clientseed", "masterseed", "seatoken", "apikey", "vaultkey", "privatekey", "signingkey"),
    *("secretkey", "shufflekey", "saltkey", "passphrase", "authtoken", "accesstoken", "seattoken", "setcookie"),
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_PAIRS: Final = r"(?:[0-9a-fA-F]{2}[\s:_-]?){31,}[0-9a-fA-F]{2}"
_IN_TEXT: Final = (
    (re.compile(r"\bfs[kt]_[\w.~+/=-]*", re.IGNORECASE), MASKED),
    (re.compile(r"\b(bearer|basic|digest)\s+[\w.~+/=:\"-]+", re.IGNORECASE), rf"\1 {MASKED}"),
    (re.compile(r"(authorization|cookie)([\"']?\s*[:=]\s*).*", re.IGNORECASE), rf"\1\2{MASKED}"),
    (re.compile(r"(\bpin[\"']?\s*[:=]\s*[\"']?)\d+", re.IGNORECASE), rf"\1{MASKED}"),
    (re.compile(r"(\w://[^/\s:@]*):[^/\s]*@"), rf"\1:{MASKED}@"),
    (
        re.compile(
            r"(\b[\w-]*(?:password|passwd|pwd|secret|token|seed|master|api[_-]?key|vault[_-]?key)[\"']?\s*[=:]\s*)"
            r"(?:\"[^\"]*\"|'[^']*'|[^\s&,;}\"']+)",
            re.IGNORECASE,
        ),
        rf"\1{MASKED}",
    ),
)
_HEX: Final = re.compile(rf"(?:0[xX])?(?<![0-9a-fA-F]){_PAIRS}")
_BASE64: Final = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{43}=?(?![\w+/=-])")


def redact(value: Any, key: str = "") -> Any:
    """Give back a value fit to be shown under a key: what is or may be secret in it is masked, at any depth."""
    if _secret_name(key) and value is not None:
        return MASKED
    if isinstance(value, str):
        return _redact_text(value, key in PUBLIC_HASHES)
    if isinstance(value, Mapping):
        return {redact(str(name)): redact(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(inner, key) for inner in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    # Bytes are never shown, and of anything else only the kind is known to be harmless.
    return MASKED if isinstance(value, bytes | bytearray | memoryview) else f"<{type(value).__name__}>"


def _secret_name(key: str) -> bool:
    words = {word.lower() for word in _WORD.findall(key)}
    run_together = "".join(re.findall(r"[a-z]", key.lower()))
    return bool(words & _SECRET_WORDS) or any(part in run_together for part in _SECRET_PARTS)


def _redact_text(text: str, public: bool) -> str:
    for pattern, shown in _IN_TEXT:
        text = pattern.sub(shown, text)
    return text if public else _BASE64.sub(MASKED, _HEX.sub(MASKED, text))
