"""The OpenAPI document: sound by another's rules, complete, described throughout, its examples real answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.openapi import make_document
from api.openapi.examples import read_examples
from api.openapi.links import linked
from api.refusals import URN
from api.routes.endpoint import endpoints_of
from shoe.game.houses import HOUSES
from tests import write_examples
from tests.api.installation import Installation

NEVER_PLAYED = {
    "bad-request",
    "delivery-done",
    "exports-busy",
    "internal",
    "log-unproven",
    "outcome-unknown",
    "parquet-not-installed",
    "store-unavailable",
    "webhooks-full",
}
"""Problems that no caller brings about alone, or only with a receiver, a hundred webhooks or a missing extra."""

DOCUMENTS = {"documents.show_openapi", "documents.show_page"}
"""What answers with the document itself, examples and all."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(Path(tmp_path_factory.mktemp("openapi")) / "house")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def document(house: Installation) -> Any:
    return house.client.get("/openapi.json").json


def operations(document: Any) -> dict[str, Any]:
    return {
        operation["operationId"]: {**operation, "path": path, "method": method}
        for path, found in document["paths"].items()
        for method, operation in found.items()
    }


def validator(document: Any, schema: Any) -> Any:
    root = {**schema, "components": document["components"]}
    return jsonschema_rs.validator_for(root, validate_formats=True)


def nodes(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every object in a document with its place; what examples hold is none of the document's."""
    if isinstance(value, dict):
        yield path, value
        for key, each in value.items():
            if key not in ("example", "value"):
                yield from nodes(each, f"{path}/{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from nodes(each, f"{path}/{at}")


# --- soundness ---------------------------------------------------------------------------------


def test_another_validator_finds_the_document_sound(document: Any) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_that_validator_would_find_what_is_unsound(document: Any) -> None:
    for broken in (
        {**document, "openapi": "3.1"},
        {**document, "info": {"title": "fairshoe"}},
        {**document, "paths": {"/v1/tables/{table_id}": {"get": {"responses": {"200": {"description": "x"}}}}}},
    ):
        assert list(OpenAPIV31SpecValidator(broken).iter_errors())


def test_every_schema_is_a_json_schema(document: Any) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": document["jsonSchemaDialect"], **schema})


# --- completeness ------------------------------------------------------------------------------


def test_every_route_of_the_application_is_an_operation_and_every_operation_a_route(
    house: Installation, document: Any
) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in house.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    described = {(path, method) for path, found in document["paths"].items() for method in found}
    assert described == routes
    assert set(operations(document)) == set(endpoints_of(house.app))


def test_every_reference_leads_somewhere_and_every_component_is_used(document: Any) -> None:
    used = {node["$ref"] for _, node in nodes(document) if "$ref" in node}
    there = {f"#/components/{room}/{name}" for room, found in document["components"].items() for name in found}
    schemes = {
        f"#/components/securitySchemes/{name}"
        for operation in operations(document).values()
        for choice in operation["security"]
        for name in choice
    }
    assert used | schemes == there


def test_what_asks_for_a_credential_says_so_and_nothing_else_does(house: Installation, document: Any) -> None:
    """Right is what the running service answers to a request without one."""
    anonymous = FlaskClient(house.app)
    for name, operation in operations(document).items():
        address = re.sub(r"\{\w+\}", "1", operation["path"])
        answer = anonymous.open(address, method=operation["method"].upper())
        asks = {} not in operation["security"] and operation["security"] != []
        assert (answer.status_code == 401) == asks, name


def test_what_needs_an_idempotency_key_says_so_and_nothing_else_does(house: Installation, document: Any) -> None:
    for name, operation in operations(document).items():
        (required,) = [p["required"] for p in operation["parameters"] if p["name"] == "Idempotency-Key"] or [False]
        assert required == (endpoints_of(house.app)[name].claimed == "must"), name
        assert required == ("idempotency-key-missing" in types(document, operation).get("400", set())), name


def types(document: Any, operation: Any) -> dict[str, set[str]]:
    """The ends of the types of problem that an operation declares, by status."""
    found = {}
    for status, response in operation["responses"].items():
        if "$ref" in response:
            kept = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
            (content,) = kept["content"].values()
            found[status] = {kind.removeprefix(URN) for kind in content["schema"]["properties"]["type"]["enum"]}
    return found


@pytest.mark.parametrize(
    ("name", "status", "slugs"),
    [
        (
            "shoes.deal",
            "409",
            {"wrong-state", "deadline-passed", "choices-missing", "no-bets", "joined-late", "betting-closed"}
            | {"bets-locked", "coup-passed", "bet-laid", "purse-too-small", "bank-too-small"},
        ),
        ("shoes.deal", "404", {"not-found"}),
        ("shoes.deal", "403", {"forbidden"}),
        ("shoes.deal", "400", {"bad-request", "malformed-json", "idempotency-key-missing"}),
        ("tables.show_tables", "422", {"invalid"}),
        ("tables.show_tables", "401", {"unauthenticated"}),
        ("tables.show_tables", "429", {"rate-limited"}),
    ],
)
def test_an_operation_names_its_problems(document: Any, name: str, status: str, slugs: set[str]) -> None:
    assert types(document, operations(document)[name])[status] == slugs


def test_anyone_is_never_forbidden_and_no_read_has_a_body(document: Any) -> None:
    found = operations(document)
    assert "403" not in found["tables.show_tables"]["responses"]
    assert all("requestBody" not in operation for operation in found.values() if operation["method"] == "get")
    assert all("requestBody" in operation for operation in found.values() if operation["method"] == "post")


# --- descriptions ------------------------------------------------------------------------------


def test_everything_is_described(document: Any) -> None:
    silent = [tag["name"] for tag in document["tags"] if not tag["description"]]
    for name, operation in operations(document).items():
        silent += [name for key in ("summary", "description") if not operation[key].strip()]
        silent += [f"{name} {each['name']}" for each in operation["parameters"] if not each.get("description")]
    silent += [
        f"{path}/{name}"
        for path, node in nodes(document["components"]["schemas"])
        for name, field in (node.get("properties") or {}).items()
        if path.count("/") == 1
        and path[1:] not in ("BundleAnswer", "RecordAnswer")
        and isinstance(field, dict)
        and not field.get("description")
    ]
    silent += [name for name, schema in document["components"]["schemas"].items() if not schema.get("description")]
    assert silent == []


# --- examples ----------------------------------------------------------------------------------


def test_the_examples_are_what_the_story_tells() -> None:
    assert write_examples.TARGET.read_text("utf-8") == write_examples.tell().printed()


def test_every_json_answer_has_an_example_and_each_keeps_its_schema(document: Any) -> None:
    for name, operation in operations(document).items():
        for response in operation["responses"].values():
            for media, content in response.get("content", {}).items():
                if media != "application/json" or name in DOCUMENTS:
                    continue
                assert "example" in content, name
                assert validator(document, content["schema"]).is_valid(content["example"]), name


def test_every_example_of_a_request_keeps_its_schema(document: Any) -> None:
    for name, operation in operations(document).items():
        for parameter in operation["parameters"]:
            if "example" in parameter:
                assert validator(document, parameter["schema"]).is_valid(parameter["example"]), (name, parameter)
            assert parameter["in"] != "path" or "example" in parameter, (name, parameter["name"])
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            assert validator(document, content["schema"]).is_valid(content["example"]), name


def test_every_problem_has_an_example_but_those_that_nobody_brings_about(document: Any) -> None:
    declared = {
        slug
        for operation in operations(document).values()
        for slugs in types(document, operation).values()
        for slug in slugs
    }
    shown = set(document["components"]["examples"])
    assert declared - shown == NEVER_PLAYED
    for response in document["components"]["responses"].values():
        (content,) = response["content"].values()
        for slug in content.get("examples", ()):
            example = document["components"]["examples"][slug]["value"]
            assert validator(document, content["schema"]).is_valid(example), slug


def test_an_example_of_another_answer_would_be_noticed(document: Any) -> None:
    found = operations(document)
    answers = {
        name: found[name]["responses"]["201"]["content"]["application/json"]
        for name in ("shoes.deal", "shoes.lock", "tables.create_table")
    }
    for name, content in answers.items():
        for other in answers.keys() - {name}:
            assert not validator(document, content["schema"]).is_valid(answers[other]["example"]), (name, other)


# --- links -------------------------------------------------------------------------------------


def test_links_begin_and_end_at_operations(house: Installation) -> None:
    assert linked() <= set(endpoints_of(house.app))


def test_links_find_in_the_example_what_the_next_step_needs(document: Any) -> None:
    found = operations(document)
    for name, operation in found.items():
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                target = found[link["operationId"]]
                needed = {p["name"] for p in target["parameters"] if p["in"] == "path"}
                assert set(link["parameters"]) == needed, (name, link)
                example = response["content"]["application/json"]["example"]
                for expression in link["parameters"].values():
                    room, key = re.fullmatch(r"\$(response\.body#/|request\.path\.)(\w+)", expression).groups()
                    held = example if room.startswith("response") else read_examples().of(name).path
                    assert key in held, (name, expression)


def test_who_follows_the_links_plays_a_shoe_to_its_end(house: Installation, document: Any) -> None:
    found = operations(document)
    path: dict[str, Any] = {}
    answer: Any = None

    def follow(name: str) -> None:
        nonlocal path, answer
        operation = found[name]
        address = re.sub(r"\{(\w+)\}", lambda part: str(path[part[1]]), operation["path"])
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        response = house.client.open(address, method=operation["method"].upper(), json=body)
        assert response.status_code in (200, 201), (name, response.text)
        answer = response.json

    def go(source: str, link: str) -> str:
        nonlocal path
        declared = next(iter(found[source]["responses"].values()))["links"][link]
        before, held = path, answer
        path = {
            name: held[value.rsplit("/", 1)[1]] if "body" in value else before[value.rsplit(".", 1)[1]]
            for name, value in declared["parameters"].items()
        }
        follow(declared["operationId"])
        return str(declared["operationId"])

    follow("tables.create_table")
    at = "tables.create_table"
    for link in ("publish_its_seed_book", "open_a_shoe", "lock_it", "seal_it", "deal", "deal_on"):
        at = go(at, link)
    assert answer["ended"]
    ended, shoe = answer, path
    for link in ("read_the_coup_again", "read_all_coups", "draw_the_roads", "take_the_bundle", "reveal"):
        answer, path = ended, shoe
        go("shoes.deal", link)


def test_a_document_of_no_endpoints_has_no_paths() -> None:
    empty = make_document({}, "1")
    assert empty["paths"] == {}
    assert json.dumps(empty)


def test_the_document_may_be_asked_for_again_by_its_tag(house: Installation) -> None:
    first = house.client.get("/openapi.json")
    again = house.client.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.data) == (200, 304, b"")


def test_whoever_makes_a_table_reads_there_what_its_terms_are(document: Any) -> None:
    """The form of a table's rules, its terms too, as `tests/shoe/test_terms_schema.py` holds it to the reader."""
    asked, null = document["components"]["schemas"]["NewTable"]["properties"]["rules"]["anyOf"]
    validator = jsonschema_rs.validator_for(asked)
    assert null == {"type": "null"}
    assert all(validator.is_valid(house.rules.to_json()) for house in HOUSES.values())
    assert not validator.is_valid(HOUSES["vip"].rules.to_json() | {"combine": "all"})
