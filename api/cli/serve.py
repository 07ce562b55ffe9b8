"""``fairshoe serve``: the service over HTTP, on a socket that is bound before anything is said."""

from __future__ import annotations

import socket

import click

from api.cli.inputs import read_by, whole
from api.cli.installation import installation
from api.cli.output import EnvironmentFault, examples, json_option, note, print_object
from api.db.sessions import shown as name_of
from api.serve import run

HOST = "127.0.0.1"
PORT = 8000


@click.command(
    epilog=examples("fairshoe serve", "FAIRSHOE_DATA=/srv/fairshoe fairshoe serve --port 0 --workers 2 --json")
)
@click.option("--host", default=HOST, show_default=True, metavar="HOST", help="The address to listen on.")
@click.option("--port", default=str(PORT), show_default=True, metavar="PORT", callback=read_by(whole(0, 65_535)),
              help="The port; 0 takes a free one.")  # fmt: skip
@click.option("--workers", metavar="N", callback=read_by(whole(1, 64)),
              help="Processes; without it FAIRSHOE_WORKERS, else 1.")  # fmt: skip
@click.option("--threads", metavar="N", callback=read_by(whole(1, 256)),
              help="Threads of each process; without it FAIRSHOE_THREADS, else 32.")  # fmt: skip
@json_option
def serve(*, host: str, port: int, workers: int | None, threads: int | None, as_json: bool) -> None:
    """Serve over HTTP.

    Database and keys lie in the folder that FAIRSHOE_DATA names, fairshoe-data without it; the first start makes them.
    DATABASE_URL names a PostgreSQL to be used instead of the database in the folder. FAIRSHOE_ORIGIN names the log,
    FAIRSHOE_WITNESSES a file of witnesses, a line "vkey URL" each, that are asked to cosign it. README lists all
    variables. The journal goes to standard error, a JSON object a line. Runs until SIGTERM, after which requests have
    FAIRSHOE_GRACE_S seconds to finish in, or Ctrl-C; SIGHUP renews the processes. With --json it first prints url and
    folder.
    """
    with installation() as settings:
        listening = _listen(host, port)
        shown = f"[{host}]" if listening.family == socket.AF_INET6 else host
        url, folder = f"http://{shown}:{listening.getsockname()[1]}", settings.folder.resolve()
        database = f"database {name_of(settings.database)}, keys" if settings.database_url else "database and keys"
        note(f"Serving on {url}; {database} in {folder}; Ctrl-C ends it.")
        if as_json:
            print_object({"url": url, "folder": str(folder)})
        if not settings.operator_key.exists():
            note(f"The first start makes an API key with every role: {settings.operator_key.resolve()}")
        run(settings, listening.detach(), workers, threads)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = (error.strerror or str(error)).split(" (while")[0]
        raise EnvironmentFault(f"{host} port {port}: {reason}; choose another with --host and --port") from None
