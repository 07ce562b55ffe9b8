"""Schemathesis makes requests from the document, good and bad, and finds nothing: for anyone, and for each role.

What it takes for right comes from the document alone: statuses, media types, schemas and headers of answers; that what
the document forbids is refused, that what it allows is not refused for its form, that no answer is a 500, that an
operation which asks for a credential gives nothing without one, and that links lead where they say.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core import NotSet

from api.access import KEY_ROLES, ROLES
from api.openapi import make_document
from api.routes.endpoint import endpoints_of
from api.wiring import RESOURCES
from tests.api.contract import watch
from tests.api.installation import Installation

load_all_checks()

WHO = (None, *ROLES)
ENDPOINTS = {name: endpoint for room in RESOURCES for name, endpoint in room.blueprint.declared.items()}

BEYOND_A_SCHEMA = {
    "tables.create_table": "rules must be playable together",
    "tables.open_next": "deadlines must be in order",
    "log.show_checkpoint": "one of size and cosigned alone",
    "log.prove_inclusion": "an index below the size, a size that the log has",
    "log.prove_consistency": "sizes that the log has, in order",
    "bundles.show_bundle": "sizes that the log has",
    "bundles.verify_bundle": "receipts and keys are texts of their own grammar",
    "audits.create_audit": "times in order, receipts of their own grammar",
    "regulator.export_records": "times in order",
    "webhooks.create_webhook": "a URL that can be reached",
    "shoes.open_seed_of_seat": "a seed must open its commitment",
}
"""Operations that refuse as invalid what JSON Schema cannot say, and why."""

QUICK, LONG = 4, 200
STORIES, LONG_STORIES, STEPS = 2, 40, 20
"""Examples of an operation and stories, in make test and in make test-slow; and the steps of a story."""


@dataclass
class Played:
    """A service with a table in play, its document as schemathesis reads it, and a token for each role."""

    house: Installation
    schema: Any
    tokens: dict[str | None, str | None]

    def headers(self, who: str | None) -> dict[str, str]:
        token = self.tokens[who]
        return {} if token is None else {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    house = Installation(Path(tmp_path_factory.mktemp("schemathesis")) / "house")
    watch(house.app)
    house.table(entropy="house")
    house.deal_out(house.sealed())
    house.open()
    document = make_document(endpoints_of(house.app), "0")
    client = FlaskClient(house.app)

    def made(path: str, body: Any) -> str:
        headers = {"Authorization": f"Bearer {house.tokens.key}", "Idempotency-Key": str(uuid.uuid4())}
        answer = client.post(f"/v1{path}", json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        return str(answer.json["token"])

    tokens: dict[str | None, str | None] = {role: made("/keys", {"roles": [role]}) for role in KEY_ROLES}
    tokens |= {None: None, "player": made("/tables/t/seats", {})}
    schema = schemathesis.openapi.from_dict(document)
    schema.app = house.app
    yield Played(house, schema, tokens)
    house.stop()


def new_and_plain(case: Any) -> None:
    """Give a sound request a key of its own, as the document asks, and write its integers as such."""
    case.body = integers(case.body)
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())


def integers(value: Any) -> Any:
    """The same value with 8.0 written as 8: to JSON Schema both are integers, to canonical JSON the first is none."""
    if isinstance(value, dict):
        return {key: integers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [integers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def fuzz(played: Played, who: str | None, name: str, examples: int) -> None:
    """Send an operation so many requests, some of them such as the document forbids."""
    endpoint = ENDPOINTS[name]
    operation = played.schema[endpoint.path][endpoint.method]
    modes = [operation.as_strategy(mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)]
    excluded = [CHECKS.get_one("positive_data_acceptance")] if name in BEYOND_A_SCHEMA else []
    headers, rejection = played.headers(who), CHECKS.get_one("negative_data_rejection")

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(modes))
    def send(case: Any) -> None:
        if case.meta.generation.mode == GenerationMode.POSITIVE:
            new_and_plain(case)
            if isinstance(case.body, NotSet):
                # Touched, a sound request without the body that may be left out counts as a wrong one.
                case.call_and_validate(headers=headers, excluded_checks=[*excluded, rejection])
                return
        case.call_and_validate(headers=headers, excluded_checks=excluded)

    send()


@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("who", WHO, ids=str)
def test_nothing_is_found(played: Played, who: str | None, name: str) -> None:
    fuzz(played, who, name, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("who", WHO, ids=str)
def test_nothing_is_found_by_many(played: Played, who: str | None, name: str) -> None:
    fuzz(played, who, name, LONG)


def tell_story(played: Played, who: str | None, number: int) -> None:
    """Follow the document's links from answer to answer, in a story of its own: the service remembers the others."""
    machine = played.schema.as_state_machine()
    headers = played.headers(who)

    class Story(machine):  # type: ignore[misc, valid-type]
        def before_call(self, case: Any) -> None:
            if case.meta.generation.mode == GenerationMode.POSITIVE:
                new_and_plain(case)

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            # A link's values may take the place of just what was wrong in a request.
            excluded = [CHECKS.get_one(name) for name in ("positive_data_acceptance", "negative_data_rejection")]
            case.validate_response(response, headers=headers, excluded_checks=excluded)

    seed(number)(Story).run(
        settings=settings(
            max_examples=1,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
    )


@pytest.mark.parametrize("number", range(STORIES))
@pytest.mark.parametrize("who", ["client", "operator"])
def test_links_lead_where_they_say(played: Played, who: str, number: int) -> None:
    tell_story(played, who, number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(STORIES, LONG_STORIES))
@pytest.mark.parametrize("who", WHO, ids=str)
def test_links_lead_where_they_say_in_many_stories(played: Played, who: str | None, number: int) -> None:
    tell_story(played, who, number)
