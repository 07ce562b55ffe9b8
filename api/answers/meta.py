"""What the service says of itself, and the one form of everything it refuses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.answers.terms import Origin
from api.payloads import Payload
from api.refusals import URN


class Status(Payload):
    """That the service lives, or is ready."""

    status: Annotated[Literal["ok"], Field(description="Always ok: what is not is answered as a problem.")]


class Version(Payload):
    """The program, its version, the protocol that it keeps and the log that it writes."""

    name: Annotated[Literal["fairshoe"], Field(description="The program.")]
    version: Annotated[str, Field(min_length=1, max_length=64, description="Its version.")]
    protocol: Annotated[str, Field(pattern="^fairshoe/[0-9]+$", description="The protocol that its records keep.")]
    log: Origin


class ProblemAnswer(Payload):
    """A refusal, as RFC 9457 has it."""

    type: Annotated[str, Field(pattern=f"^{URN}[a-z0-9-]+$", description="The kind of problem; never changes.")]
    title: Annotated[str, Field(min_length=1, description="The kind of problem in words.")]
    status: Annotated[int, Field(ge=400, le=599, description="The answer's HTTP status.")]
    detail: Annotated[str, Field(min_length=1, description="What was wrong, and where.")]
    next: Annotated[str, Field(min_length=1, description="What to do about it.")]


class OpenApiAnswer(Payload):
    """An OpenAPI 3.1 document; its form is that of the OpenAPI Specification."""

    model_config = ConfigDict(extra="allow")

    openapi: Annotated[str, Field(pattern=r"^3\.1\.[0-9]+$", description="The specification's version.")]
