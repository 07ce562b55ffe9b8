"""The report on an audit of records: its findings read back, held against themselves, and set as a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit.multiple import COLLECTIVE_LEVEL, holm
from audit.records.findings import FORM as FINDINGS_FORM
from audit.records.plan import MOST_BYTES, Plan
from audit.report.document import Document, Fact
from audit.report.provenance import Provenance
from audit.report.sections import records, stored
from audit.report.sections.opening import Judgements, versions
from shoe.errors import InputError, expected
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import read_fields
from shoe.proof.notation import sha256

FORM: Final = "fairshoe/audit-report/1"
SHOWN: Final = {"pass": "PASS", "fail": "FAIL", "not_judged": "MANUAL"}
"""The word of a verdict: what is not judged is for a human."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An audit's findings: all that they say, their SHA-256 (32 bytes), and the plan in them."""

    content: Mapping[str, Any]
    hash: bytes
    plan: Plan


@dataclass(frozen=True, slots=True)
class RecordsReport:
    """A report on an audit of records: the findings, what it was made by, and the document that shows them."""

    source: Recorded
    made_by: Provenance
    document: Document

    @property
    def verdict(self) -> str:
        """Give the findings' verdict."""
        return str(self.source.content["verdict"])

    @property
    def non_compliances(self) -> tuple[str, ...]:
        """Name the checks of records that found something wrong, and the statistics that are rejected."""
        return tuple(self.source.content["failed"])

    @property
    def judgements(self) -> Judgements:
        """Give the clauses that are judged: none, for they ask for more than records show."""
        return ()

    @property
    def passed(self) -> bool:
        """Say whether all records are as they should be, and all checks pass."""
        return self.verdict == "pass"

    def to_json(self) -> dict[str, Any]:
        """List everything under its name, findings included."""
        return {
            "form": FORM,
            "plan_hash": self.source.plan.hash.hex(),
            "findings_hash": self.source.hash.hex(),
            "verdict": self.verdict,
            "non_compliances": list(self.non_compliances),
            "provenance": self.made_by.to_json(),
            "document": self.document.to_json(),
            "findings": dict(self.source.content),
        }

    def to_bytes(self) -> bytes:
        """Print the report as canonical JSON (protocol §8, but for its limit of 65,535 bytes)."""
        return print_canonical(self.to_json(), MOST_BYTES)


def read_recorded(data: bytes) -> Recorded:
    """Read an audit's findings from their canonical bytes.

    Raises InputError for another form, a plan that is not the hashed one, and a verdict that does not follow from the
    faults and the p-values.
    """
    content = parse_object(data, MOST_BYTES)
    if content.get("form") != FINDINGS_FORM:
        raise InputError(expected(FINDINGS_FORM, content.get("form"), "form"))
    try:
        return _read(content, sha256(data))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"findings: they lack what an audit writes: {type(error).__name__}") from None


def _read(content: Mapping[str, Any], digest: bytes) -> Recorded:
    plan = Plan(**read_fields(Plan, content["plan"]))
    _require("plan_hash", plan.hash.hex(), content)
    wrong = [each["name"] for each in content["records"] if each["wrong"]]
    wanting = [each["name"] for each in content["records"] if each["unverified"]]
    numbers = {each["name"]: 0.0 if each["p"].startswith("<") else float(each["p"]) for each in content["checks"]}
    failed = [*wrong, *(holm(numbers, COLLECTIVE_LEVEL).rejected if numbers else ())]
    _require("failed", failed, content)
    _require("verdict", "fail" if failed else "pass" if numbers and not wanting else "not_judged", content)
    return Recorded(content, digest, plan)


def _require(name: str, wanted: object, content: Mapping[str, Any]) -> None:
    if content[name] != wanted:
        raise InputError(expected(str(wanted), content[name], name))


def build_recorded(source: Recorded, made_by: Provenance) -> RecordsReport:
    """Build the report on an audit's findings; raises InputError for findings that lack what an audit writes."""
    content, plan = source.content, source.plan
    try:
        sections = (
            records.identification(content, plan, source.hash),
            versions(content["version"], made_by),
            records.summary(content),
            records.non_compliances(content),
            records.scope(plan),
            stored.statistics(content),
            stored.outcomes(content),
            stored.live(content, plan),
            stored.voids(content),
            stored.seeds(content),
            records.provenance(plan),
            records.limitations(content),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"findings: they lack what an audit writes: {type(error).__name__}") from None
    document = Document(
        title="Report on an audit of records",
        subtitle=f"Log {plan.log}: " + ("all tables" if plan.table is None else f"table {plan.table}"),
        verdict=SHOWN[content["verdict"]],
        words=content["verdict_in_words"],
        sections=sections,
        foot=Fact("Findings, SHA-256", source.hash.hex(), "code"),
    )
    return RecordsReport(source, made_by, document)
