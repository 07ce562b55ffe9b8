"""Endpoints: one declaration each, from which come its route, who may use it, what it takes, and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, Literal

from flask import Blueprint, Flask, Response

from api.access import Role
from api.payloads import NoBody, NoQuery, Payload
from api.refusals import Kind
from api.routes.reading import read_body, read_query
from api.settings import SetupError

ENDPOINTS: Final = "fairshoe endpoints"

View = Callable[..., Response]
Method = Literal["GET", "POST"]
Claimed = Literal["may", "must"]
Answers = Mapping[int, "type[Payload] | str | tuple[str, ...]"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of the interface.

    `path` is as OpenAPI writes it. `access` are the roles that may use it, none for anyone. `answers` are by status: a
    model of JSON, a media type, or several to choose from. `refuses` are the problems of its own, beyond those that any
    endpoint has. `claimed` says of a write whether it may or must carry an Idempotency-Key, None of what changes
    nothing. `kept` marks answers that can become immutable, and `secret` those that hold what is shown once, or answer
    a body that holds what nobody else may know.
    """

    name: str
    method: Method
    path: str
    view: View
    access: frozenset[Role]
    tag: str
    body: type[Payload]
    query: type[Payload]
    answers: Answers
    refuses: tuple[Kind, ...]
    claimed: Claimed | None
    kept: bool
    secret: bool

    @property
    def summary(self) -> str:
        """The first sentence of what the endpoint does."""
        return (self.view.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")

    @property
    def description(self) -> str:
        """What the endpoint does, whole."""
        return "\n".join(line.strip() for line in (self.view.__doc__ or "").strip().splitlines())


class Resource(Blueprint):
    """A blueprint whose every route is declared as an endpoint."""

    def __init__(self, name: str, prefix: str = "") -> None:
        super().__init__(name, __name__, url_prefix=prefix or None)
        self._prefix = prefix
        self.declared: dict[str, Endpoint] = {}

    def get(  # type: ignore[override]  # every endpoint says who may use it
        self, path: str, *, access: frozenset[Role], answers: Answers, query: type[Payload] = NoQuery, **further: Any
    ) -> Callable[[View], View]:
        """Declare a GET; its view is given the query as `asked`, unless it takes none, and the path's parameters."""
        return self._declare("GET", path, access=access, body=NoBody, query=query, answers=answers, **further)

    def post(  # type: ignore[override]
        self, path: str, *, access: frozenset[Role], answers: Answers, body: type[Payload] = NoBody, **further: Any
    ) -> Callable[[View], View]:
        """Declare a POST; its view is given the body as `asked`, unless it takes none, and the path's parameters."""
        return self._declare("POST", path, access=access, body=body, query=NoQuery, answers=answers, **further)

    def _declare(
        self,
        method: Method,
        path: str,
        *,
        access: frozenset[Role],
        body: type[Payload],
        query: type[Payload],
        answers: Answers,
        refuses: tuple[Kind, ...] = (),
        claimed: Claimed | None = None,
        kept: bool = False,
        secret: bool = False,
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            name = view.__name__
            self.declared[f"{self.name}.{name}"] = Endpoint(
                name=name,
                method=method,
                path=self._prefix + path,
                view=view,
                access=access,
                tag=self.name,
                body=body,
                query=query,
                answers=answers,
                refuses=refuses,
                claimed=claimed,
                kept=kept,
                secret=secret,
            )
            self.add_url_rule(_rule(path), name, _reading(view, method, body, query), methods=[method])
            return view

        return declare


def _rule(path: str) -> str:
    """Write an OpenAPI path as werkzeug does; `place` is the rest of an address, slashes and all."""
    return path.replace("{place}", "<path:place>").replace("{", "<").replace("}", ">")


def _reading(view: View, method: Method, body: type[Payload], query: type[Payload]) -> View:
    """Read query and body before the view: what is not declared is refused."""

    @wraps(view)
    def read_first(**path: str) -> Response:
        asked: Payload = read_query(query)
        if method == "POST":
            asked = read_body(body)
        return view(**path) if isinstance(asked, NoBody | NoQuery) else view(**path, asked=asked)

    return read_first


def endpoints_of(app: Flask) -> Mapping[str, Endpoint]:
    """Give an application's endpoints by their names in its routing."""
    found: Mapping[str, Endpoint] = app.extensions[ENDPOINTS]
    return found


def register(app: Flask, resources: Iterable[Resource]) -> None:
    """Put resources into an application; raises SetupError for a route of it that no endpoint declares."""
    declared: dict[str, Endpoint] = {}
    for resource in resources:
        app.register_blueprint(resource)
        declared |= resource.declared
    app.extensions[ENDPOINTS] = declared
    require_marks(app)


def require_marks(app: Flask) -> None:
    """Refuse to serve a route that does not say who may use it; raises SetupError naming each."""
    unmarked = [rule.rule for rule in app.url_map.iter_rules() if rule.endpoint not in endpoints_of(app)]
    if unmarked:
        raise SetupError(f"{', '.join(sorted(unmarked))}: expected an endpoint with an access mark, got a bare route")
