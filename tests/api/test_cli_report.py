"""`fairshoe report`: the same bytes in two processes, keys from files, exit codes, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from api.cli import fairshoe
from api.provenance import package_digest
from api.settings import VAULT_KEY
from api.world import real_world
from audit.checkpoint import Done, save
from audit.report.certificates import self_signed
from audit.report.pades import check_pdf
from audit.report.signing import check_report_note
from shoe.proof.note import parse_vkey
from shoe.proof.records import Report as LoggedReport
from shoe.proof.records import parse_as
from shoe.proof.tlog import check_receipt, parse_receipt
from tests.api.installation import ORIGIN, Found, Installation
from tests.api.test_cli import ROOT
from tests.audit.reported import PLAN, changed, counts, findings, reject

NAMES = ["report.json", "report.html", "report.pdf"]
P256 = ec.derive_private_key(7, ec.SECP256R1())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small certification, as `fairshoe certify --out` leaves it."""
    folder = tmp_path_factory.mktemp("certificate")
    (folder / "findings.json").write_bytes(findings().to_bytes())
    save(folder / "checkpoint.npz", PLAN, Done(frozenset(range(len(PLAN.tasks()))), counts()))
    return folder


def call(*args: object) -> Result:
    return CliRunner().invoke(fairshoe, ["report", *map(str, args)])


def pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_two_fresh_processes_print_the_same_bytes(certificate: Path, tmp_path: Path) -> None:
    """JSON, page and unsigned PDF: other hash seeds, other time zones, another folder, another time."""
    runs = []
    for place, zone in (("one", "UTC"), ("other", "Asia/Tokyo")):
        command = ["report", str(certificate / "findings.json"), "--out", str(tmp_path / place), "--json"]
        program = f"import sys; sys.argv[1:] = {command!r}; from api.cli import main; main()"
        env = {**os.environ, "PYTHONHASHSEED": str(len(place)), "TZ": zone, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout))
    one, other = ([(tmp_path / place / name).read_bytes() for name in NAMES] for place in ("one", "other"))
    assert one == other
    assert runs[0] == runs[1]
    assert runs[0]["files"] == {name: sha256(content).hexdigest() for name, content in zip(NAMES, one, strict=True)}
    assert b"plot-heat-batch" in one[1]


def test_a_sandbox_signs_with_keys_that_say_so(certificate: Path, tmp_path: Path) -> None:
    done = call(certificate / "findings.json", "--out", tmp_path, "--sandbox", "--json")
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert (
        set(written)
        == {*NAMES, "report.note", "report.signed.pdf", "sandbox.pem", "sandbox.vkey"}
        == {*printed["files"]}
    )
    vkey = parse_vkey(written["sandbox.vkey"].decode().strip())
    assert printed["vkey"] == str(vkey)
    assert vkey.name == "fairshoe-sandbox-signed-by-nobody"
    assert check_report_note(written["report.note"].decode(), {name: written[name] for name in NAMES}, [vkey]) == vkey
    made = x509.load_pem_x509_certificate(written["sandbox.pem"])
    assert check_pdf(written["report.signed.pdf"], [made], real_world().now()) == made
    assert written["report.signed.pdf"].startswith(written["report.pdf"])
    assert not any(b"PRIVATE KEY" in content for content in written.values())


def test_keys_come_from_files(certificate: Path, tmp_path: Path) -> None:
    key = self_signed(P256, real_world().now())
    (tmp_path / "signer.pem").write_bytes(pem(P256) + key.certificate.public_bytes(Encoding.PEM))
    (tmp_path / "note.pem").write_bytes(pem(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))))
    out = tmp_path / "out"
    done = call(
        certificate / "findings.json", "--out", out, "--key", tmp_path / "note.pem", "--signer", "lab.example",
        "--certificate", tmp_path / "signer.pem",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} == {*NAMES, "report.note", "report.signed.pdf"}
    check_pdf((out / "report.signed.pdf").read_bytes(), [key.certificate], real_world().now())
    assert "Clauses: " in done.stdout


# --- the log -----------------------------------------------------------------------------------


@pytest.fixture
def running(found: Found) -> Installation:
    """A service that runs while the command works beside it, by the same clock."""
    return found(clock=real_world().now)


def call_at(house: Installation, *args: object) -> Result:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    runner = CliRunner(env={"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given})
    return runner.invoke(fairshoe, ["report", *map(str, args)])


def test_the_receipt_proves_that_plan_and_findings_are_in_the_log(
    running: Installation, certificate: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = call_at(running, certificate / "findings.json", "--out", out, "--log", "--json")
    assert done.exit_code == 0, done.output
    text = (out / "report.receipt").read_text()
    receipt = parse_receipt(text)
    vkey = parse_vkey(running.client.get("/v1/log/key").text.strip())
    index, _ = check_receipt(receipt, [vkey], ORIGIN)
    logged = parse_as(LoggedReport, receipt.record)
    made = json.loads((out / "report.json").read_bytes())
    assert logged.kind == "certification"
    assert [logged.plan_hash.hex(), logged.findings_hash.hex()] == [made["plan_hash"], made["findings_hash"]]
    assert running.client.get(f"/v1/log/entries/{index}").data == receipt.record
    assert json.loads(done.stdout)["files"]["report.receipt"] == sha256(text.encode()).hexdigest()


def test_without_a_log_the_report_is_there_and_the_exit_code_says_so(certificate: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    runner = CliRunner(env={"FAIRSHOE_DATA": str(tmp_path / "none"), "DATABASE_URL": None, VAULT_KEY: None})
    done = runner.invoke(fairshoe, ["report", str(certificate / "findings.json"), "--out", str(out), "--log"])
    assert (done.exit_code, done.stdout) == (3, "")
    assert "there is no database; set FAIRSHOE_DATA" in done.stderr.splitlines()[-1]
    assert {path.name for path in out.iterdir()} == {*NAMES}


def test_findings_that_fail_give_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_bytes(changed(reject("batch_runs")))
    done = call(tmp_path / "f.json", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 1
    printed = json.loads(done.stdout)
    assert (printed["verdict"], printed["non_compliances"]) == ("fail", ["batch_runs"])
    assert printed["clauses"]["fail"] > 0


Change = Callable[[Path], list[object]]


def written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


REFUSED: dict[str, tuple[Change, str]] = {
    "no file": (lambda to: [to / "none.json"], "none.json: No such file or directory"),
    "no findings": (lambda to: [written(to, "f", b"{}")], "f: form: expected fairshoe/findings/1, got None; give the"),
    "a plan": (lambda to: [written(to, "f", PLAN.to_bytes())], "form: expected fairshoe/findings/1"),
    "changed findings": (
        lambda to: [written(to, "f", findings().to_bytes().replace(b'"pass"', b'"fail"'))],
        "verdict: expected 'pass'",
    ),
    "counts that are none": (
        lambda to: [written(to, "f", findings().to_bytes()), "--counts", written(to, "c", b"PK")],
        "damaged or cut short",
    ),
    "no counts": (
        lambda to: [written(to, "f", findings().to_bytes()), "--counts", to / "c"],
        "c: No such file or directory",
    ),
    "a key without a name": (lambda to: ["f", "--key", written(to, "k", b"")], "--key, --signer: expected both"),
    "a name without a key": (lambda _: ["f", "--signer", "x"], "--key, --signer: expected both"),
    "a key that is none": (
        lambda to: ["f", "--key", written(to, "k", b"secret"), "--signer", "x"],
        "signing key: expected PEM",
    ),
    "a certificate that is none": (lambda to: ["f", "--certificate", written(to, "k", b"secret")], "expected PEM or"),
    "a password for nothing": (
        lambda to: ["f", "--password-file", written(to, "p", b"x")],
        "--password-file: expected",
    ),
    "sandbox and a key": (
        lambda to: ["f", "--sandbox", "--key", written(to, "k", b""), "--signer", "x"],
        "--sandbox: expected neither",
    ),
    "sandbox and a certificate": (
        lambda to: ["f", "--sandbox", "--certificate", written(to, "k", b"")],
        "--sandbox: expected neither",
    ),
}


@pytest.mark.parametrize(("change", "says"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_used_is_refused_in_one_line(change: Change, says: str, tmp_path: Path) -> None:
    done = call(*change(tmp_path), "--out", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.output
    assert "secret" not in done.output
    assert not (tmp_path / "out").exists()


def test_counts_of_an_unfinished_run_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "checkpoint.npz", PLAN, Done())
    done = call(written(tmp_path, "findings.json", findings().to_bytes()), "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "counts: expected counts with the digest" in done.output


def test_a_folder_that_can_not_be_written_is_the_environments_fault(certificate: Path, tmp_path: Path) -> None:
    done = call(certificate / "findings.json", "--out", written(tmp_path, "file", b"") / "out")
    assert done.exit_code == 3
    assert "Not a directory; choose another folder with --out" in done.output


def test_a_packages_digest_is_what_the_report_says_it_is(tmp_path: Path) -> None:
    """The definition in the report's own words, on a tree of three files; caches do not count."""
    for name, content in {
        "b.py": b"x = 1\n",
        "a/c.txt": b"",
        "__pycache__/b.pyc": b"?",
        "migrations/m.py": b"?",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    made = package_digest("p", tmp_path)
    assert (made.name, made.size) == ("p", 2)
    assert made.sha256 == sha256(b"a/c.txt\x000\x00" + b"b.py\x006\x00x = 1\n").digest()
