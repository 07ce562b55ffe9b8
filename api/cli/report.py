"""``fairshoe report``: a certification's or an audit's findings as JSON, page and PDF, signed where a key is given."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from api.cases.reports import log_report
from api.cli.inputs import read_file
from api.cli.output import BadInput, EnvironmentFault, columns, examples, json_option, note, print_object, print_text
from api.cli.service import service_here
from api.newfile import replace_file
from api.provenance import made_by
from api.world import real_world
from audit.checkpoint import load
from audit.counts import RunCounts
from audit.records.findings import FORM as RECORDS
from audit.records.plan import MOST_BYTES
from audit.report.build import Report, build
from audit.report.certificates import PdfKey, read_pdf_key, self_signed
from audit.report.page import print_page
from audit.report.recorded import RecordsReport, build_recorded, read_recorded
from audit.report.signing import Documents, read_signing_key, sign_report
from audit.report.source import Source, read_findings
from shoe.errors import InputError
from shoe.proof.canonical import parse_object
from shoe.proof.notation import sha256
from shoe.proof.note import SignerKey
from shoe.proof.tlog import print_receipt

COUNTS: Final = "checkpoint.npz"
NOTE: Final = "report.note"
SIGNED: Final = "report.signed.pdf"
RECEIPT: Final = "report.receipt"
KIND: Final = "certification"
AUDIT: Final = "audit"

Made = Report | RecordsReport
SANDBOX: Final = "fairshoe-sandbox-signed-by-nobody"


@click.command(
    epilog=examples(
        "fairshoe report certificate/findings.json --out report",
        "fairshoe report certificate/findings.json --out report --sandbox --json",
        "fairshoe report certificate/findings.json --out report --log",
        "fairshoe report audit/findings.json --out report --sandbox",
        "fairshoe report certificate/findings.json --out report --key ed25519.pem --signer lab.example/reports --certificate signer.p12 --password-file password",  # noqa: E501
    )
)
@click.argument("findings", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Write the report's files there, in the place of older ones.")  # fmt: skip
@click.option("--counts", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help=f"The certification's checkpoint, for maps of cards, if not {COUNTS} beside it.")  # fmt: skip
@click.option("--key", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Sign the digests of all documents with this Ed25519 key (PEM).")  # fmt: skip
@click.option("--signer", metavar="NAME", help="The name that --key signs under.")
@click.option("--certificate", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Sign the PDF with this P-256 key and certificate (PEM or PKCS#12).")  # fmt: skip
@click.option("--password-file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="A file that holds the password of --certificate.")  # fmt: skip
@click.option("--log", "logs", is_flag=True,
              help=f"Put the hashes of plan and findings into the service's log; {RECEIPT} proves it.")  # fmt: skip
@click.option("--sandbox", is_flag=True, help="Sign with keys that are made now and thrown away; their names say so.")
@json_option
def report(
    *,
    findings: Path,
    out: Path,
    counts: Path | None,
    key: Path | None,
    signer: str | None,
    certificate: Path | None,
    password_file: Path | None,
    logs: bool,
    sandbox: bool,
    as_json: bool,
) -> int:
    """Report on a certification or an audit: JSON, page, PDF.

    Of its FINDINGS it writes report.json, which is the authority, report.html and report.pdf: the same bytes for the
    same findings, counts, version and libraries. With keys also report.note, a signed note over the digests of all
    three, and report.signed.pdf. With --log it works on the installation of the environment, while servers run.
    """
    for library in ("typst", "pyhanko"):
        if find_spec(library) is None:
            raise EnvironmentFault(f"{library} is not installed; install fairshoe[report]")
    from audit.report.pdf import print_pdf  # noqa: PLC0415  an extra

    signing = _note_key(key, signer, sandbox)
    pdf_key = _pdf_key(certificate, password_file, sandbox)
    made = _build(findings, counts)
    note("printing page and PDF")
    documents = Documents(made.to_bytes(), print_page(made.document), print_pdf(made.document))
    files = dict(documents.by_name())
    if signing is not None:
        files[NOTE] = sign_report(made, documents, signing).encode()
    if pdf_key is not None:
        files |= _signed(documents.pdf, pdf_key, sandbox)
    if sandbox and signing is not None:
        files["sandbox.vkey"] = f"{signing.vkey}\n".encode()
    _write(out, files)
    if logs:
        files[RECEIPT] = _log(made).encode()
        _write(out, {RECEIPT: files[RECEIPT]})
    if as_json:
        print_object(_object(made, files, signing))
    else:
        print_text(*_listing(made, out, files))
    return 0 if made.passed else 1


def _build(findings: Path, counts: Path | None) -> Made:
    content = read_file(str(findings))
    if _form(content) == RECORDS:
        return _build_recorded(findings, content, counts)
    try:
        source = read_findings(content)
    except InputError as error:
        raise BadInput(f"{findings}: {error}; give the findings.json of a certification or an audit") from None
    beside = counts if counts is not None else findings.with_name(COUNTS)
    counted = None
    if counts is not None or beside.exists():
        read_file(str(beside))
        counted = _counts(beside, source)
    note(f"findings {source.hash.hex()}")
    try:
        return build(source, made_by({"findings.json": content}), counted)
    except InputError as error:
        raise BadInput(f"{beside}: {error}; give the checkpoint of these findings' run") from None


def _form(content: bytes) -> object:
    try:
        return parse_object(content, MOST_BYTES).get("form")
    except InputError:
        return None


def _build_recorded(findings: Path, content: bytes, counts: Path | None) -> RecordsReport:
    if counts is not None:
        raise BadInput("--counts: expected it beside the findings of a certification only")
    try:
        source = read_recorded(content)
        note(f"findings {source.hash.hex()}")
        return build_recorded(source, made_by({"findings.json": content}))
    except InputError as error:
        raise BadInput(f"{findings}: {error}; give the findings.json of a certification or an audit") from None


def _counts(path: Path, source: Source) -> RunCounts:
    try:
        return load(path, source.plan).counts
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; name a file that can be read") from None


def _note_key(key: Path | None, signer: str | None, sandbox: bool) -> SignerKey | None:
    if sandbox and key is not None:
        raise BadInput("--sandbox: expected neither --key nor --certificate beside it, for it makes its own")
    if (key is None) != (signer is None):
        raise BadInput("--key, --signer: expected both or neither")
    if key is not None and signer is not None:
        return read_signing_key(read_file(str(key)), signer)
    return SignerKey.from_seed(SANDBOX, Ed25519PrivateKey.generate().private_bytes_raw()) if sandbox else None


def _pdf_key(certificate: Path | None, password_file: Path | None, sandbox: bool) -> PdfKey | None:
    if certificate is None:
        if password_file is not None:
            raise BadInput("--password-file: expected --certificate beside it")
        return self_signed(generate_private_key(SECP256R1()), real_world().now()) if sandbox else None
    if sandbox:
        raise BadInput("--sandbox: expected neither --key nor --certificate beside it, for it makes its own")
    password = None if password_file is None else read_file(str(password_file)).removesuffix(b"\n")
    return read_pdf_key(read_file(str(certificate)), password)


def _signed(pdf: bytes, key: PdfKey, sandbox: bool) -> dict[str, bytes]:
    """Sign, and check what was signed by the validator before it is written."""
    from audit.report.pades import check_pdf, sign_pdf  # noqa: PLC0415  an extra

    now = real_world().now()
    signed = sign_pdf(pdf, key, now)
    check_pdf(signed, [key.certificate], now)
    own = {"sandbox.pem": key.certificate.public_bytes(Encoding.PEM)} if sandbox else {}
    return {SIGNED: signed, **own}


def _log(made: Made) -> str:
    with service_here() as service:
        return print_receipt(
            service.write(
                log_report(KIND if isinstance(made, Report) else AUDIT, made.source.plan.hash, made.source.hash)
            )
        )


def _write(out: Path, files: dict[str, bytes]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            replace_file(out / name, content)
    except OSError as error:
        raise EnvironmentFault(f"{error.filename or out}: {error.strerror}; choose another folder with --out") from None


def _statuses(made: Made) -> Counter[str]:
    return Counter(judged.status for _, clauses in made.judgements for judged in clauses)


def _object(made: Made, files: dict[str, bytes], signing: SignerKey | None) -> dict[str, Any]:
    statuses = _statuses(made)
    return {
        "verdict": made.verdict,
        "plan_hash": made.source.plan.hash.hex(),
        "findings_hash": made.source.hash.hex(),
        "non_compliances": list(made.non_compliances),
        "clauses": {status.lower(): statuses[status] for status in ("PASS", "FAIL", "PARTIAL", "MANUAL")},
        "vkey": None if signing is None else str(signing.vkey),
        "files": {name: sha256(content).hex() for name, content in files.items()},
    }


def _listing(made: Made, out: Path, files: dict[str, bytes]) -> list[str]:
    statuses = _statuses(made)
    clauses = ", ".join(f"{statuses[status]} {status}" for status in ("PASS", "FAIL", "PARTIAL", "MANUAL"))
    colour = "green" if made.passed else "red"
    return [
        *columns(
            [(str(out / name), f"{len(content):,}", sha256(content).hex()) for name, content in files.items()], "<><"
        ),
        "",
        *([f"Clauses: {clauses}"] if statuses else []),
        click.style(made.document.words, fg=colour),
    ]
