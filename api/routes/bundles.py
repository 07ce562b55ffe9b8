"""Bundles: to be had of any shoe, and to be verified for anyone."""

from __future__ import annotations

from flask import Response

from api.access import ANYONE
from api.answers import BundleAnswer, VerificationAnswer
from api.cases.bundles import make_bundle
from api.cases.verifying import verify
from api.payloads import BundleQuery, VerifyRequest
from api.problems import PROOF_FAILED
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, answer_text, principal, service
from shoe.proof.bundle import print_bundle
from shoe.proof.verify import HeldCheckpoint

blueprint = Resource("bundles", "/v1")


@blueprint.get("/shoes/{shoe_id}/bundle", access=ANYONE, query=BundleQuery, answers={200: BundleAnswer})
def show_bundle(shoe_id: str, asked: BundleQuery) -> Response:
    """Give all that a verifier of a shoe needs; to a seat also its own bets in it, with their paths."""
    with service().reading() as session:
        bundle = make_bundle(service(), session, shoe_id, asked.earlier, asked.size, holder=principal().seat)
    return answer_text(print_bundle(bundle), "application/json")


@blueprint.post(
    "/verify", access=ANYONE, body=VerifyRequest, answers={200: VerificationAnswer}, refuses=(PROOF_FAILED,)
)
def verify_bundle(asked: VerifyRequest) -> Response:
    """Verify a bundle; nothing of it is kept."""
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
    return answer_privately(verification.to_json())
