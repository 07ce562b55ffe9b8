"""The log: checkpoint, key, entries and proofs."""

from __future__ import annotations

from flask import Blueprint, Response

from api.cases.history import read_entry, show_consistency, show_inclusion
from api.cases.witnessing import cosigned_checkpoint, newest_cosigned
from api.keyring import active_vkeys
from api.log import read_head
from api.payloads import CheckpointQuery, ConsistencyQuery, InclusionQuery
from api.refusals import no_such
from api.routes.exchange import answer, answer_text, keep, print_hashes, read_number, read_query, service

blueprint = Blueprint("log", __name__, url_prefix="/v1/log")


@blueprint.get("/checkpoint")
def show_checkpoint() -> Response:
    """Give the log's signed checkpoint; or one that was signed before, with its witnesses' cosignatures."""
    query = read_query(CheckpointQuery)
    with service().reading() as session:
        if query.cosigned is not None:
            return answer_text(newest_cosigned(session, query.cosigned))
        if query.size is not None:
            return answer_text(cosigned_checkpoint(session, query.size))
        return answer_text(read_head(session).checkpoint)


@blueprint.get("/key")
def show_key() -> Response:
    """Give the verifier keys that sign the log, a line each, for people to compare with what they hold."""
    with service().reading() as session:
        return answer_text("".join(f"{vkey}\n" for vkey in active_vkeys(session)))


@blueprint.get("/entries/<index>")
def show_entry(index: str) -> Response:
    """Give the bytes of the record at an index."""
    number = read_number(index)
    if number is None:
        raise no_such("entry of the log at index", index)
    with service().reading() as session:
        return keep(answer_text(read_entry(session, number), "application/json"))


@blueprint.get("/proof/inclusion")
def prove_inclusion() -> Response:
    """Give the audit path of a leaf."""
    query = read_query(InclusionQuery)
    with service().reading() as session:
        size, path = show_inclusion(session, query.index, query.size)
    return answer({"index": query.index, "size": size, "path": print_hashes(path)})


@blueprint.get("/proof/consistency")
def prove_consistency() -> Response:
    """Give the consistency path between two sizes."""
    query = read_query(ConsistencyQuery)
    with service().reading() as session:
        new, path = show_consistency(session, query.old, query.new)
    return answer({"old": query.old, "new": new, "path": print_hashes(path)})
