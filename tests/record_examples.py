"""Records written by hand, one of every class, and for each field values that it must refuse (protocol §8)."""

from __future__ import annotations

import json
from typing import Any

H0, H1 = "0a" * 32, "1b" * 32
TIME = "2026-01-31T09:30:00.123456Z"
VKEY = "fairshoe.example/log+f5ae834d+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"  # of 32 bytes 0x01
RECORD = {"protocol": "fairshoe/1", "log": "fairshoe.example/log", "time": TIME}
IN_SHOE = RECORD | {"shoe": "shoe-1", "seq": 3, "previous": H0}
BOOK = {"root": H1, "size": 4}
RULES: dict[str, Any] = {
    "burn": "first_card", "coups": None, "cut": {"from": 14, "to": 14}, "decks": 8, "entropy": "two_phase",
    "game": "punto_banco", "last_coup": "one_more", "shuffle": "shoe",
}  # fmt: skip
TRANSCRIPT: dict[str, Any] = {
    "protocol": "fairshoe/1", "log": "fairshoe.example/log", "shoe": "shoe-1", "table": "t", "rules": RULES,
    "book": BOOK, "index": 3, "commitment": H1, "client_seeds": [{"client": "guest-0", "seed": "17.x"}],
    "beacon": None,
}  # fmt: skip
CARDS = [
    {"position": at, "card": card, "salt": "5a" * 16} for at, card in enumerate(["As", "Td", "7c", "9h"], start=11)
]
END = {"server_seed": H1, "coups": 80, "book": BOOK, "index": 3}

EXAMPLES: dict[str, dict[str, Any]] = {
    "key": RECORD | {"type": "key", "vkey": VKEY, "status": "added"},
    "book": RECORD | {"type": "book", "table": "t", "root": H1, "size": 4},
    "book_end": RECORD | {"type": "book_end", "table": "t", "root": H1, "master": H0},
    "open": IN_SHOE
    | {"type": "open", "table": "t", "rules": RULES, "book": BOOK, "index": 3, "commitment": H1}
    | {"beacon": {"chain": H0, "round": 1000}, "lock_by": TIME, "seal_by": TIME, "reveal_by": TIME},
    "entropy, two_phase": IN_SHOE | {"type": "entropy", "position": 63, "client": "guest-0", "seed_commitment": H1},
    "entropy, beacon": IN_SHOE | {"type": "entropy", "position": 0, "client": "guest-0", "seed": "17.x"},
    "lock": IN_SHOE | {"type": "lock", "count": 64},
    "seed": IN_SHOE | {"type": "seed", "position": 1, "seed": "17.x"},
    "seal": IN_SHOE | {"type": "seal", "transcript": TRANSCRIPT, "seal": H1, "deck_root": H0, "burn": CARDS[0]},
    "bets": IN_SHOE | {"type": "bets", "number": 5, "count": 2, "bets_root": H1},
    "coup": IN_SHOE
    | {"type": "coup", "number": 5, "hand": 0, "cards": CARDS, "player_total": 8, "banker_total": 9}
    | {"outcome": "banker", "rule": "both_natural", "next_deck_root": None},
    "reveal": IN_SHOE | {"type": "reveal"} | END,
    "void": IN_SHOE | {"type": "void"} | END | {"reason": "seed_missing", "in_row": 1},
    "report": RECORD | {"type": "report", "kind": "certification", "plan_hash": H0, "findings_hash": H1},
    "alarm": RECORD | {"type": "alarm", "table": "t", "monitor": "m", "evidence": "1234.5", "threshold": "1e3"},
}
FURTHER_EXAMPLES = [
    ("open", {"beacon": None}),
    ("open", {"rules": RULES | {"shuffle": "coup", "burn": "none", "cut": None, "coups": 1, "last_coup": "drawn_in"}}),
    ("open", {"rules": RULES | {"bets": {"tie": [8, 1]}, "limits": None}}),
    ("seal", {"burn": None}),
    ("coup", {"next_deck_root": H1, "cards": [*CARDS, CARDS[0], CARDS[0]], "hand": 2**20 - 1, "number": 2**20 - 1}),
    ("book", {"size": 2**20, "table": "~" * 128, "time": "2024-02-29T23:59:59.999999Z"}),
    ("lock", {"count": 0, "seq": 2**53 - 1}),
    ("alarm", {"evidence": "0", "threshold": "1.25e-17"}),
]


def printed(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


# What each field refuses.

BAD_TEXT = ["", "x" * 129, 1, None, True, ["t"]]
BAD_HASH = ["", "0a" * 31, "0a" * 33, "0A" * 32, "0g" * 32, "0x" + "0a" * 31, " " + "0a" * 31 + "0", 10, None, [H0]]
BAD_COUNT = [-1, True, False, "1", None, [0]]
BAD_INDEX = [*BAD_COUNT]
BAD_NUMBER = [*BAD_COUNT, 2**20]
BAD_TOTAL = [*BAD_COUNT, 10]
BAD_TIME = [
    "2026-01-31T09:30:00.12345Z",  # five decimals
    "2026-01-31T09:30:00.1234567Z",
    "2026-01-31T09:30:00Z",
    "2026-01-31T09:30:00,123456Z",
    "2026-01-31T09:30:00.123456z",
    "2026-01-31t09:30:00.123456Z",
    "2026-01-31 09:30:00.123456Z",
    "2026-01-31T09:30:00.123456",
    "2026-01-31T09:30:00.123456+00:00",
    "2026-13-01T09:30:00.123456Z",
    "2026-00-01T09:30:00.123456Z",
    "2026-02-30T09:30:00.123456Z",
    "2026-02-29T09:30:00.123456Z",  # no leap year
    "2026-01-00T09:30:00.123456Z",
    "2026-01-31T24:00:00.000000Z",
    "2026-01-31T09:60:00.123456Z",
    "2016-12-31T23:59:60.000000Z",  # a real leap second
    "0000-01-31T09:30:00.123456Z",
    "26-01-31T09:30:00.123456Z",
    "+2026-01-31T09:30:00.12345Z",
    "2026-W05-6T09:30:00.123456Z",
    " 2026-01-31T09:30:00.123456Z",
    "",
    1769851800,
    None,
    True,
]
BAD_CLIENT = ["", "c" * 37, "Guest", "guest_0", "guest 0", "guest.0", 0, None]
BAD_SEED = ["", "s" * 129, "s s", "s+", "s/", 17, None, ["s"]]
BAD_BOOK = [None, H1, {}, {"root": H1}, {"size": 4}, BOOK | {"x": 1}, BOOK | {"root": "1B" * 32}, BOOK | {"size": 0}]
BAD_OPENING = [
    {},
    "As",
    CARDS[0] | {"card": "as"},
    CARDS[0] | {"card": 51},
    CARDS[0] | {"card": "10s"},
    CARDS[0] | {"position": -1},
    CARDS[0] | {"position": 832},
    CARDS[0] | {"salt": "5a" * 15},
    CARDS[0] | {"salt": "5A" * 16},
    CARDS[0] | {"path": []},
]
BAD_TRANSCRIPT = [
    None,
    {},
    TRANSCRIPT | {"protocol": "fairshoe/2"},
    TRANSCRIPT | {"client_seeds": [{"client": "guest-0", "seed": ""}]},
    TRANSCRIPT | {"beacon": {"chain": H0, "round": 1}},
    TRANSCRIPT | {"reveal_by": TIME},
]
BAD_DECIMAL = ["", "+1", "-1", "01", "1.", ".5", "1e", "1e03", "1E3", "1e+3", "1,5", "NaN", "inf", "0x1", " 1", 1, None]

WITNESS_VKEY = "witness.example/w+a9087eff+BDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"

BAD_OF_RECORD = {"log": [*BAD_TEXT, "a b", "a+b"], "time": BAD_TIME}
BAD_IN_SHOE = BAD_OF_RECORD | {"shoe": BAD_TEXT, "seq": BAD_INDEX, "previous": BAD_HASH}
BAD_END = BAD_IN_SHOE | {
    "server_seed": BAD_HASH, "coups": [*BAD_COUNT, 2**20 + 1], "book": BAD_BOOK, "index": BAD_INDEX,
}  # fmt: skip
BAD: dict[str, dict[str, list[Any]]] = {
    "key": BAD_OF_RECORD
    | {
        "vkey": ["", "x", VKEY[:-1], VKEY.replace("+f5", "+f6"), VKEY.replace("+AQ", "+AR"), WITNESS_VKEY, 1, None],
        "status": ["Added", "lost", "", None, 0, ["added"]],
    },
    "book": BAD_OF_RECORD | {"table": BAD_TEXT, "root": BAD_HASH, "size": [*BAD_COUNT, 0, 2**20 + 1]},
    "book_end": BAD_OF_RECORD | {"table": BAD_TEXT, "root": BAD_HASH, "master": BAD_HASH},
    "open": BAD_IN_SHOE
    | {
        "table": BAD_TEXT,
        "book": BAD_BOOK,
        "index": BAD_INDEX,
        "commitment": BAD_HASH,
        "beacon": [{}, H0, False, 1, {"chain": H0}, {"chain": H0, "round": 0}, {"chain": "0A" * 32, "round": 1}],
        "lock_by": BAD_TIME,
        "seal_by": BAD_TIME,
        "reveal_by": BAD_TIME,
    },
    "entropy, two_phase": BAD_IN_SHOE
    | {"position": [*BAD_COUNT, 64], "client": BAD_CLIENT, "seed_commitment": BAD_HASH},
    "entropy, beacon": BAD_IN_SHOE | {"position": [*BAD_COUNT, 64], "client": BAD_CLIENT, "seed": BAD_SEED},
    "lock": BAD_IN_SHOE | {"count": [*BAD_COUNT, 65]},
    "seed": BAD_IN_SHOE | {"position": [*BAD_COUNT, 64], "seed": BAD_SEED},
    "seal": BAD_IN_SHOE
    | {"transcript": BAD_TRANSCRIPT, "seal": BAD_HASH, "deck_root": BAD_HASH, "burn": [[], False, *BAD_OPENING]},
    "bets": BAD_IN_SHOE | {"number": BAD_NUMBER, "count": BAD_COUNT, "bets_root": BAD_HASH},
    "coup": BAD_IN_SHOE
    | {
        "number": BAD_NUMBER,
        "hand": BAD_NUMBER,
        "cards": [None, {}, CARDS[:3], CARDS[:3] * 3, *([*CARDS[:3], bad] for bad in BAD_OPENING)],
        "player_total": BAD_TOTAL,
        "banker_total": BAD_TOTAL,
        "outcome": ["Banker", "draw", "", None, 0, ["tie"]],
        "rule": ["natural", "one_sided_natural", "", None, 0],
        "next_deck_root": [bad for bad in BAD_HASH if bad is not None],
    },
    "reveal": BAD_END,
    "void": BAD_END | {"reason": ["", "Operator", "other", None, 0], "in_row": [*BAD_COUNT, 0]},
    "report": BAD_OF_RECORD | {"kind": BAD_TEXT, "plan_hash": BAD_HASH, "findings_hash": BAD_HASH},
    "alarm": BAD_OF_RECORD
    | {"table": BAD_TEXT, "monitor": BAD_TEXT, "evidence": BAD_DECIMAL, "threshold": BAD_DECIMAL},
}
LINE: dict[str, Any] = {
    "bet": "banker", "client": "guest-0", "number": 5, "salt": "5a" * 16, "shoe": "shoe-1", "stake": 100,
}  # fmt: skip
BAD_LINE: dict[str, list[Any]] = {
    "bet": BAD_TEXT,
    "client": BAD_CLIENT,
    "number": BAD_NUMBER,
    "salt": ["", "5a" * 15, "5A" * 16, "5a" * 17, 0, None],
    "shoe": BAD_TEXT,
    "stake": [*BAD_COUNT, 0],
}
