"""``fairshoe book``: seed books, from the command line."""

from __future__ import annotations

from pathlib import Path

import click

from api.cases.books import publish_book
from api.cli.database import file_named
from api.cli.inputs import read_by, whole
from api.cli.output import examples, json_option, print_object, print_text
from api.cli.service import service_here
from api.newfile import PUBLIC, new_file
from api.payloads import MAX_BOOK_SIZE
from shoe.proof.tlog import Receipt, print_receipt


@click.group(epilog=examples("fairshoe book new t1 --size 1000", "fairshoe book new t1 --size 1000 --json"))
def book() -> None:
    """Publish seed books.

    Works on the installation of the environment, as fairshoe serve has it, while servers run.
    """


@book.command(
    epilog=examples(
        "fairshoe book new t1 --size 1000 --receipt book.receipt",
        "FAIRSHOE_DATA=/srv/fairshoe fairshoe book new t1 --size 1000 --json",
    )
)
@click.argument("table", metavar="TABLE")
@click.option("--size", required=True, metavar="N", callback=read_by(whole(1, MAX_BOOK_SIZE)), help="Seeds in it.")
@click.option("--receipt", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the receipt there; FILE must not be there yet.")  # fmt: skip
@json_option
def new(*, table: str, size: int, file: Path | None, as_json: bool) -> None:
    """Publish a seed book for TABLE.

    Its master comes from fresh entropy and stays in the vault; its root is logged. Without --receipt the receipt is
    printed.
    """
    receipt, root = _publish(table, size) if file is None else _publish_into(file, table, size)
    text, index = print_receipt(receipt), receipt.proof.index
    if as_json:
        print_object({"table": table, "root": root.hex(), "size": size, "index": index, "receipt": text})
        return
    print_text(f"Book {root.hex()} of {size} seeds for table {table} is record {index}")
    print_text(f"Its receipt is in {file}" if file else f"Its receipt:\n\n{text}")


def _publish(table: str, size: int) -> tuple[Receipt, bytes]:
    with service_here() as service:
        return service.write(publish_book(service, table, size))


def _publish_into(path: Path, table: str, size: int) -> tuple[Receipt, bytes]:
    with file_named(path, "is not there yet, in a folder that can be written"), new_file(path, PUBLIC) as file:
        made = _publish(table, size)
        file.write(print_receipt(made[0]).encode())
    return made
