"""Findings read back from their canonical bytes, and held against themselves before anything is printed from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeVar

from audit.battery import PATHS, PathName, find_check
from audit.findings import FORM, MOST_BYTES
from audit.multiple import holm
from audit.plan import Plan
from shoe.errors import InputError, expected
from shoe.proof.canonical import parse_object
from shoe.proof.forms import read_fields
from shoe.proof.notation import sha256

T = TypeVar("T")

_REAL: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|inf)")
_P: Final = re.compile(r"<1e-300|[01]|0\.[0-9]+|[0-9](?:\.[0-9]+)?e-[0-9]+")
_FRACTION: Final = re.compile(r"-?[0-9]+(?:/[1-9][0-9]*)?")


@dataclass(frozen=True, slots=True)
class Item:
    """One count beside its exact expectation; texts as the findings print them."""

    label: str
    observed: int
    expected: str
    deviation: str

    @property
    def error(self) -> float | None:
        """Give the standard error that the deviation was measured by, or None where it can't be told."""
        distance, deviation = self.observed - float(Fraction(self.expected)), float(self.deviation)
        return abs(distance / deviation) if deviation and distance else None


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval and the exact value; texts as the findings print them."""

    label: str
    estimate: str
    low: str
    high: str
    exact: str
    level: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check's result: the plan's name in two parts, and all that the findings say of it."""

    name: str
    path: PathName
    kind: str
    null: str
    statistic: str
    distribution: str
    dof: int | None
    n: int
    p: str
    p_adjusted: str
    rejected: bool
    effect: str
    effect_name: str
    items: tuple[Item, ...]
    intervals: tuple[Interval, ...]

    @property
    def p_number(self) -> float:
        """Give p as a number; 0 where it is below the smallest that is printed."""
        return 0.0 if self.p.startswith("<") else float(self.p)


@dataclass(frozen=True, slots=True)
class Source:
    """Findings as the report reads them: the plan, the checks in its order, and what was dealt beside them."""

    content: Mapping[str, Any]
    hash: bytes
    plan: Plan
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Say whether all checks pass collectively."""
        return not any(check.rejected for check in self.checks)

    def of(self, kind: str) -> tuple[Check, ...]:
        """List the checks of one kind, of either path."""
        return tuple(check for check in self.checks if check.kind == kind)

    def whole_shoes(self) -> Mapping[str, Mapping[str, Any]]:
        """Give what was dealt beyond the judged coups, by path."""
        return {part["path"]: part for part in self.content["whole_shoe"]}


def read_findings(data: bytes) -> Source:
    """Read the canonical bytes of a certification's findings.

    Raises CanonicalError for other bytes, and InputError, with the place, for another form, a value of the wrong form,
    checks that are not the plan's, or a verdict that does not follow from the p-values by the plan's rule.
    """
    content: Mapping[str, Any] = parse_object(data, MOST_BYTES)
    if content.get("form") != FORM:
        raise InputError(expected(FORM, content.get("form"), "form"))
    plan = Plan(**read_fields(Plan, _get(content, "plan", dict, "")))
    _require(content, "plan_hash", plan.hash.hex())
    checks = tuple(_read_list(content, "checks", "", _check))
    if tuple(check.name for check in checks) != plan.checks:
        raise InputError(expected("the plan's checks in its order", [check.name for check in checks], "checks"))
    for key in ("version", "counts_digest", "verdict_in_words"):
        _get(content, key, str, "")
    for key in ("coups", "judged_coups"):
        _get(content, key, int, "")
    for key in ("limitations", "self_tests"):
        _require_texts(content, key)
    _read_list(content, "whole_shoe", "", _whole_shoe)
    _require_verdict(content, plan, checks)
    return Source(content, sha256(data), plan, checks)


def _require_verdict(content: Mapping[str, Any], plan: Plan, checks: Iterable[Check]) -> None:
    """Judge the printed p-values once more: who changed a verdict by hand must change them too, and the hash."""
    verdict = holm({check.name: check.p_number for check in checks}, Fraction(plan.level))
    _require(content, "verdict", "pass" if verdict.passed else "fail")
    _require(content, "failed", list(verdict.rejected))
    for check in checks:
        if check.rejected != (check.name in verdict.rejected):
            raise InputError(expected(str(not check.rejected), check.rejected, f"{check.name}: rejected, by its p"))


def _check(value: Mapping[str, Any], where: str) -> Check:
    name = _text(value, "name", where)
    path, _ = find_check(name)
    dof = value.get("dof")
    if dof is not None:
        dof = _get(value, "dof", int, where)
    return Check(
        name=name,
        path=path,
        kind=name.removeprefix(f"{path}_"),
        null=_text(value, "null", where),
        statistic=_matching(_REAL, value, "statistic", where),
        distribution=_text(value, "distribution", where),
        dof=dof,
        n=_get(value, "n", int, where),
        p=_matching(_P, value, "p", where),
        p_adjusted=_matching(_P, value, "p_adjusted", where),
        rejected=_get(value, "rejected", bool, where),
        effect=_matching(_REAL, value, "effect", where),
        effect_name=_text(value, "effect_name", where),
        items=tuple(_read_list(value, "items", where, _item)),
        intervals=tuple(_read_list(value, "intervals", where, _interval)) if "intervals" in value else (),
    )


def _item(value: Mapping[str, Any], where: str) -> Item:
    return Item(
        _text(value, "label", where),
        _get(value, "observed", int, where),
        _matching(_FRACTION, value, "expected", where),
        _matching(_REAL, value, "deviation", where),
    )


def _interval(value: Mapping[str, Any], where: str) -> Interval:
    return Interval(
        label=_text(value, "label", where),
        estimate=_matching(_REAL, value, "estimate", where),
        low=_matching(_REAL, value, "low", where),
        high=_matching(_REAL, value, "high", where),
        exact=_matching(_REAL, value, "exact_decimal", where),
        level=_matching(_FRACTION, value, "level", where),
    )


def _whole_shoe(value: Mapping[str, Any], where: str) -> None:
    if value.get("path") not in PATHS:
        raise InputError(expected(" or ".join(PATHS), value.get("path"), f"{where}.path"))
    for key in ("shoes", "coups"):
        _get(value, key, int, where)
    for key in ("note", "noncentrality"):
        _text(value, key, where)
    for pair in _get(value, "coups_per_shoe", list, where):
        if not isinstance(pair, list) or [type(part) for part in pair] != [int, int]:
            raise InputError(expected("coups and shoes", pair, f"{where}.coups_per_shoe"))
    for key in ("outcomes", "rules"):
        _read_list(value, key, where, _beside)


def _beside(value: Mapping[str, Any], where: str) -> None:
    _text(value, "label", where)
    _get(value, "observed", int, where)
    for key in ("expected_decimal", "with_cut_card", "deviation", "deviation_with_cut_card"):
        _matching(_REAL, value, key, where)


def _read_list(value: Mapping[str, Any], key: str, where: str, read: Callable[[Mapping[str, Any], str], T]) -> list[T]:
    here, found = f"{where}.{key}".removeprefix("."), []
    for index, item in enumerate(_get(value, key, list, where)):
        if not isinstance(item, Mapping):
            raise InputError(expected("an object", item, f"{here}[{index}]"))
        found.append(read(item, f"{here}[{index}]"))
    return found


def _get(value: Mapping[str, Any], key: str, kind: type[T], where: str) -> T:
    found = value.get(key)
    if type(found) is not kind:
        raise InputError(expected(f"a value of type {kind.__name__}", found, f"{where}.{key}".removeprefix(".")))
    return found


def _text(value: Mapping[str, Any], key: str, where: str) -> str:
    return _get(value, key, str, where)


def _matching(form: re.Pattern[str], value: Mapping[str, Any], key: str, where: str) -> str:
    text = _text(value, key, where)
    if not form.fullmatch(text):
        raise InputError(expected("a number as findings print it", text, f"{where}.{key}"))
    return text


def _require(value: Mapping[str, Any], key: str, wanted: object) -> None:
    if value.get(key) != wanted:
        raise InputError(expected(repr(wanted), value.get(key), key))


def _require_texts(value: Mapping[str, Any], key: str) -> None:
    if not all(isinstance(text, str) for text in _get(value, key, list, "")):
        raise InputError(expected("a list of texts", value[key], key))
