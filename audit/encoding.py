"""Counts as JSON and arrays: what a checkpoint holds, and what the digest of all counts is taken over.

Every value has one encoding, whatever the order in which mappings were filled: two runs that counted the same have
the same digest. Nothing is pickled, so that a checkpoint of a stranger can't run code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audit.checks.bits.evidence import Classes, Deviation, Squares
from audit.checks.bits.second_level import BitsTally, LabelTally
from audit.checks.bits.serial import Patterns, PatternStatistic
from audit.counts import Dealt, PathCounts, RunCounts
from audit.draw_counts import DrawCounts, StepCounts
from audit.replay import Replayed
from audit.shuffle_counts import ShuffleCounts
from shoe.errors import InputError, expected

Arrays = dict[str, npt.NDArray[Any]]

_COUNTED: Final = (RunCounts, PathCounts, Dealt, ShuffleCounts, DrawCounts, StepCounts, Replayed)
_EVIDENCE: Final = (BitsTally, LabelTally, Classes, Deviation, Squares, Patterns)
_CLASSES: Final[Mapping[str, type]] = {cls.__name__: cls for cls in (*_COUNTED, *_EVIDENCE)}
_ENUMS: Final[Mapping[str, type[Enum]]] = {PatternStatistic.__name__: PatternStatistic}


def digest(value: object) -> bytes:
    """Hash a value of the counts' types: SHA-256 of its encoding, arrays included."""
    arrays: Arrays = {}
    summary = hashlib.sha256(_text(encode(value, arrays)))
    for array in arrays.values():
        portable = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        summary.update(_text([portable.dtype.str, list(portable.shape)]))
        summary.update(portable.data)
    return summary.digest()


def encode(value: Any, arrays: Arrays) -> Any:
    """Turn a value into JSON, and put its arrays beside it under numbered names.

    Raises InputError for a value of another type than counts have.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, Enum):
        return {"enum": [type(value).__name__, value.name]}
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple):
        return {"tuple": [encode(item, arrays) for item in value]}
    if isinstance(value, Mapping):
        keyed = sorted((_text(encode(key, arrays)), key) for key in value)
        return {"map": [[encode(key, arrays), encode(value[key], arrays)] for _, key in keyed]}
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        of = {each.name: encode(getattr(value, each.name), arrays) for each in fields(value)}
        return {"class": type(value).__name__, "fields": of}
    raise InputError(expected("a value that counts are made of", type(value).__name__, "encode"))


def decode(encoded: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Invert `encode`; tuples with names come back without them, mappings as dictionaries.

    Raises InputError, KeyError, TypeError or ValueError for what `encode` does not write.
    """
    if not isinstance(encoded, dict):
        return encoded
    if "class" in encoded:
        of = {name: decode(value, arrays) for name, value in encoded["fields"].items()}
        return _CLASSES[encoded["class"]](**of)
    ((kind, value),) = encoded.items()
    match kind:
        case "float":
            return float.fromhex(value)
        case "fraction":
            return Fraction(value)
        case "enum":
            return _ENUMS[value[0]][value[1]]
        case "array":
            return arrays[value]
        case "tuple":
            return tuple(decode(item, arrays) for item in value)
        case "map":
            return {decode(key, arrays): decode(item, arrays) for key, item in value}
    raise InputError(expected("an encoded value", kind, "decode"))


def _text(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")
