"""Whether the service lives, and which it is; and the log's checkpoint where C2SP's readers look for it."""

from __future__ import annotations

from importlib.metadata import version

from flask import Response

from api.access import ANYONE, OPERATOR
from api.answers import Status, Version
from api.log import read_head
from api.metrics import MEDIA_TYPE, print_metrics
from api.refusals import READ_ONLY, Refusal
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, answer_text, service
from shoe.proof.seal import PROTOCOL

blueprint = Resource("meta")


@blueprint.get("/livez", access=ANYONE, answers={200: Status})
def live() -> Response:
    """Say that the process answers."""
    return answer_privately({"status": "ok"})


@blueprint.get("/readyz", access=ANYONE, answers={200: Status})
def ready() -> Response:
    """Say that the service reads and signs; where it does not, the problem gives every reason."""
    with service().reading() as session:
        read_head(session)
    reasons = service().permit.reasons()
    if reasons:
        raise Refusal(READ_ONLY, " ".join(reasons))
    return answer_privately({"status": "ok"})


@blueprint.get("/version", access=ANYONE, answers={200: Version})
def show_version() -> Response:
    """Name the program, its version, the protocol it keeps and the log it writes."""
    return answer_privately(
        {"name": "fairshoe", "version": version("fairshoe"), "protocol": PROTOCOL, "log": service().log.origin}
    )


@blueprint.get("/metrics", access=OPERATOR, answers={200: "text/plain"})
def show_metrics() -> Response:
    """Give what Prometheus collects of this installation: all processes together."""
    return Response(print_metrics(), content_type=MEDIA_TYPE)


@blueprint.get("/checkpoint", access=ANYONE, answers={200: "text/plain"})
def show_head() -> Response:
    """Give the log's signed checkpoint."""
    with service().reading() as session:
        return answer_text(read_head(session).checkpoint)
