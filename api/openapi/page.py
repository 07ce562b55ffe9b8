"""The documents page: the OpenAPI document as one page of plain HTML, which asks nobody for anything."""

from __future__ import annotations

import base64
import json
import re
import shlex
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from api.openapi.operations import RESPONSES
from shoe.proof.notation import sha256

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


def print_page(document: dict[str, Any]) -> str:
    """Print a document as HTML; whatever stands in it is escaped."""
    # The page asks for keys that an operation or a schema may lack, and shows nothing for them.
    environment = Environment(
        loader=PackageLoader("api.openapi", "."), autoescape=select_autoescape(default=True), trim_blocks=True
    )
    environment.filters["pretty"], environment.filters["prose"] = _pretty, _prose
    schemas = document["components"]["schemas"]
    template = environment.get_template("page.html")
    return template.render(info=document["info"], style=Markup(_style()), tags=_tags(document), schemas=schemas)  # noqa: S704


def _prose(text: str) -> Markup:
    """Print a text with what stands between backticks as code; everything is escaped."""
    parts = (
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(text.split("`"))
    )
    return Markup("").join(parts)


def page_policy() -> str:
    """Give the page's Content-Security-Policy: its own style and nothing else."""
    digest = base64.b64encode(sha256(_style().encode())).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _style() -> str:
    return files("api.openapi").joinpath("page.css").read_text("utf-8")


def _tags(document: dict[str, Any]) -> list[dict[str, Any]]:
    shown = [
        (operation["tags"][0], _operation(document, method.upper(), path, operation))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    return [{**tag, "operations": [each for name, each in shown if name == tag["name"]]} for tag in document["tags"]]


def _operation(document: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = operation.get("requestBody", {})
    content = body.get("content", {}).get("application/json")
    answers, problems = _answers(document, operation["responses"])
    return {
        "id": operation["operationId"],
        "method": method,
        "path": path,
        "description": operation["description"].split("\n\n"),
        "parameters": operation["parameters"],
        "body": content and {"schema": content["schema"], "description": body["description"]},
        "curl": _curl(method, path, operation, content),
        "answers": answers,
        "problems": problems,
    }


def _answers(document: dict[str, Any], responses: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    answers, problems = [], []
    for status, response in responses.items():
        if "$ref" in response:
            problems.append({"status": status, **_problem(document, response["$ref"].removeprefix(RESPONSES))})
            continue
        found: dict[str, dict[str, Any]] = response.get("content", {})
        content = next(iter(found.values()), dict[str, Any]())
        example = content.get("example")
        answers.append(
            {
                "status": status,
                "description": response["description"],
                "media": ", ".join(found),
                "schema": content.get("schema"),
                "example": example if isinstance(example, str) else example and _pretty(example),
            }
        )
    return answers, problems


def _problem(document: dict[str, Any], name: str) -> dict[str, Any]:
    response = document["components"]["responses"][name]
    (content,) = response["content"].values()
    kept = document["components"]["examples"]
    return {
        "description": response["description"],
        "examples": [(slug, _pretty(kept[slug]["value"])) for slug in content.get("examples", ())],
    }


def _curl(method: str, path: str, operation: dict[str, Any], content: dict[str, Any] | None) -> str:
    """Print a request as a line for a shell, with the values of the example."""
    values = {each["name"]: each.get("example", each["name"].upper()) for each in operation["parameters"]}
    address = _PARAMETER.sub(lambda found: str(values[found[1]]), path)
    asked = [
        f"{each['name']}={each['example']}"
        for each in operation["parameters"]
        if each["in"] == "query" and "example" in each
    ]
    words = [f'curl "$FAIRSHOE{address}{"?" if asked else ""}{"&".join(asked)}"']
    if operation["security"]:
        words.append('-H "Authorization: Bearer $TOKEN"')
    if "Idempotency-Key" in values:
        words.append(f'-H "Idempotency-Key: {values["Idempotency-Key"]}"')
    if method == "POST":
        body = json.dumps((content or {}).get("example", {}), ensure_ascii=False)
        words.append(f'-H "Content-Type: application/json" -d {shlex.quote(body)}')
    return " \\\n  ".join(words)


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
