"""The log as tiles, where C2SP's readers look for them: beside ``/checkpoint``, all that a proof needs."""

from __future__ import annotations

import gzip

from flask import Response, request

from api.access import ANYONE
from api.cases.tiles import read_entries, read_tile
from api.refusals import no_such
from api.routes.endpoint import Resource
from api.routes.exchange import answer_text, keep, service
from shoe.errors import NoteError
from shoe.proof.tiles import Tile, parse_tile_path

_BYTES = "application/octet-stream"

blueprint = Resource("tiles")


@blueprint.get("/tile/{place}", access=ANYONE, answers={200: _BYTES}, kept=True)
def show_tile(place: str) -> Response:
    """Give a tile's hashes or a bundle's entries; a partial one of any width that the tree has or had."""
    try:
        found = parse_tile_path(f"tile/{place}")
    except NoteError:
        raise no_such("tile of the log at", f"tile/{place}") from None
    with service().reading() as session:
        if isinstance(found, Tile):
            return keep(answer_text(read_tile(session, found), _BYTES))
        return keep(_packed(read_entries(session, found)))


def _packed(content: bytes) -> Response:
    """Answer with entries, compressed for whom that suits: they are JSON, some four times as long as they need be."""
    accepted = request.accept_encodings["gzip"] > 0
    response = answer_text(gzip.compress(content, mtime=0) if accepted else content, _BYTES)
    response.headers["Vary"] = "Accept-Encoding"
    if accepted:
        response.headers["Content-Encoding"] = "gzip"
    return response
