"""The log: checkpoint, key, entries and proofs."""

from __future__ import annotations

from typing import Final

from flask import Response

from api.access import ANYONE
from api.answers import Consistency, Inclusion, RecordAnswer
from api.cases.history import read_entry, show_consistency, show_inclusion
from api.cases.witnessing import cosigned_checkpoint, newest_cosigned
from api.keyring import active_vkeys
from api.log import read_head
from api.payloads import CheckpointQuery, ConsistencyQuery, InclusionQuery
from api.refusals import NOT_FOUND, no_such
from api.routes.endpoint import Resource
from api.routes.exchange import answer, answer_text, keep, print_hashes, service
from api.routes.reading import read_number

TEXT: Final = "text/plain"

blueprint = Resource("log", "/v1/log")


@blueprint.get("/checkpoint", access=ANYONE, query=CheckpointQuery, answers={200: TEXT}, refuses=(NOT_FOUND,))
def show_checkpoint(asked: CheckpointQuery) -> Response:
    """Give the log's signed checkpoint; or one that was signed before, with its witnesses' cosignatures."""
    with service().reading() as session:
        if asked.cosigned is not None:
            return answer_text(newest_cosigned(session, asked.cosigned))
        if asked.size is not None:
            return answer_text(cosigned_checkpoint(session, asked.size))
        return answer_text(read_head(session).checkpoint)


@blueprint.get("/key", access=ANYONE, answers={200: TEXT})
def show_log_keys() -> Response:
    """Give the verifier keys that sign the log, a line each, for people to compare with what they hold."""
    with service().reading() as session:
        return answer_text("".join(f"{vkey}\n" for vkey in active_vkeys(session)))


@blueprint.get("/entries/{index}", access=ANYONE, answers={200: RecordAnswer}, kept=True)
def show_entry(index: str) -> Response:
    """Give the bytes of the record at an index."""
    number = read_number(index)
    if number is None:
        raise no_such("entry of the log at index", index)
    with service().reading() as session:
        return keep(answer_text(read_entry(session, number), "application/json"))


@blueprint.get("/proof/inclusion", access=ANYONE, query=InclusionQuery, answers={200: Inclusion})
def prove_inclusion(asked: InclusionQuery) -> Response:
    """Give the audit path of a leaf."""
    with service().reading() as session:
        size, path = show_inclusion(session, asked.index, asked.size)
    return answer({"index": asked.index, "size": size, "path": print_hashes(path)})


@blueprint.get("/proof/consistency", access=ANYONE, query=ConsistencyQuery, answers={200: Consistency})
def prove_consistency(asked: ConsistencyQuery) -> Response:
    """Give the consistency path between two sizes."""
    with service().reading() as session:
        new, path = show_consistency(session, asked.old, asked.new)
    return answer({"old": asked.old, "new": new, "path": print_hashes(path)})
