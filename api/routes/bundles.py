"""Bundles: to be had of any shoe, and to be verified for anyone."""

from __future__ import annotations

from flask import Blueprint, Response

from api.cases.bundles import make_bundle
from api.cases.verifying import verify
from api.payloads import BundleQuery, VerifyRequest
from api.routes.exchange import answer, answer_text, read_body, read_query, service
from shoe.proof.bundle import print_bundle
from shoe.proof.verify import HeldCheckpoint

blueprint = Blueprint("bundles", __name__, url_prefix="/v1")


@blueprint.get("/shoes/<shoe_id>/bundle")
def show(shoe_id: str) -> Response:
    """Give all that a verifier of a shoe needs."""
    query = read_query(BundleQuery)
    with service().reading() as session:
        bundle = make_bundle(service(), session, shoe_id, query.earlier, query.size)
    return answer_text(print_bundle(bundle), "application/json")


@blueprint.post("/verify")
def check() -> Response:
    """Verify a bundle; nothing of it is kept."""
    asked = read_body(VerifyRequest)
    held = None if asked.held is None else HeldCheckpoint(asked.held.checkpoint, asked.held.since)
    verification = verify(
        service(),
        asked.bundle,
        receipts=asked.receipts,
        vkeys=asked.vkeys,
        held=held,
        witnesses=asked.witnesses,
        now=asked.now,
    )
    return answer(verification.to_json())
