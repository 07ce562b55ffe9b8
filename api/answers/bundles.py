"""Bundles, and what verifying one answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from api.payloads import Payload
from shoe.proof.bundle import bundle_schema
from shoe.proof.verify.result import Fairness, Status, Verdict


class BundleAnswer(Payload):
    """All that a verifier of a shoe needs (protocol §10)."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Give the published schema of bundles (shoe/schemas)."""
        return {"title": "BundleAnswer", "description": (cls.__doc__ or "").strip(), **bundle_schema()}


class CheckAnswer(Payload):
    """One check of a verification."""

    name: Annotated[str, Field(min_length=1, max_length=64, description="The check's name (protocol §10).")]
    status: Annotated[Status, Field(description="Whether it holds; UNVERIFIABLE where something is missing for it.")]
    detail: Annotated[str, Field(description="What was found, or what is missing.")]


class VerificationAnswer(Payload):
    """A bundle's verdict and fairness, why, and every check behind them."""

    verdict: Annotated[Verdict, Field(description="What the bundle proves; verified, consistent and void are sound.")]
    fairness: Annotated[Fairness | None, Field(description="How fair the shoe was; null where the bundle is invalid.")]
    why: Annotated[str, Field(description="The reason, in plain words.")]
    checks: Annotated[list[CheckAnswer], Field(min_length=1, max_length=64, description="Every check, in order.")]
