"""The file that ``fairshoe export`` writes, read from the database of the environment."""

from __future__ import annotations

from pathlib import Path

from api.cases.exporting import plan_span
from api.cli.database import database, file_named
from api.cli.output import BadInput, EnvironmentFault
from api.exports.formats import NO_PARQUET, FormatName, export_records
from api.log import holds_nothing
from api.newfile import PUBLIC, new_file
from api.refusals import Refusal
from shoe.errors import ProofError
from shoe.proof.span import Span


def write_span(
    out: Path, since: str | None, until: str | None, size: int | None, format_name: FormatName = "span"
) -> Span:
    """Write a span's records to a new file in a format; give the span as it was checked.

    Raises BadInput for a file that is there already or can't be written and for a size that no checkpoint has,
    EnvironmentFault where there is no database or no log in it, where the log doesn't prove its own head, and where
    the format's extra is not installed.
    """
    try:
        with (
            database() as (_, store),
            file_named(out, "is not there yet, in a folder that can be written"),
            new_file(out, PUBLIC) as file,
            store.reading() as session,
        ):
            if holds_nothing(session):
                raise EnvironmentFault(f"{store.name}: there is no log in it; the first start of the service makes one")
            return export_records(session, file, plan_span(session, since, until, size), format_name)
    except Refusal as error:
        if error.kind is NO_PARQUET:
            raise EnvironmentFault("--format parquet: pyarrow is not installed; install fairshoe[parquet]") from None
        raise BadInput(f"--checkpoint {size}: {error} Take the size that an earlier export printed.") from None
    except ProofError as error:
        raise EnvironmentFault(f"the log does not prove its head: {error}; run: fairshoe log check") from None
