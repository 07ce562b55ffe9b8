"""``fairshoe certify``: exit codes, files, resuming, interruption, refusals, and the streams for a lab's programs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import certify as command
from api.cli import fairshoe
from api.cli.certify import fresh_seed
from api.cli.output import EnvironmentFault
from api.cli.outside import endless_words
from api.cli.workers import processors, serve_parent, workforce
from audit.findings import MOST_BYTES
from audit.paths import batch_key
from audit.plan import make_plan, parse_plan
from audit.run import run
from shoe.game.cards import card_names
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.proof.canonical import parse_object
from shoe.proof.shuffle import shuffle_hand
from shoe.proof.stream import below, keystream, words
from tests.audit.wrong_order import PLAYER_FIRST, engine

ROOT = Path(__file__).parents[2]
SEED = bytes(range(32)).hex()
RULES = NP_PUNTO_BANCO.rules
TABLE = ("--table", "np_punto_banco")
SHORT = (*TABLE, "--shoes", "60", "--seed", SEED)


def call(*args: str) -> Result:
    return CliRunner().invoke(fairshoe, ["certify", *args])


def command_line(args: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", "from api.cli import main; main()", "certify", *args]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("certified") / "deep" / "out"
    return out, call(*SHORT, "--workers", "1", "--out", str(out), "--json")


# --- what comes out ----------------------------------------------------------------------------


def test_a_pass_exits_with_0_and_prints_what_scripts_rely_on(certified: tuple[Path, Result]) -> None:
    out, result = certified
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert list(printed)[:6] == ["plan_hash", "findings_hash", "verdict", "coups", "seconds", "checks"]
    assert (printed["verdict"], printed["failed"]) == ("pass", [])
    assert printed["coups"] > 120 * 78
    assert {"name", "p", "p_adjusted", "rejected", "statistic", "n", "effect", "dof"} == set(printed["checks"][0])
    assert sorted(path.name for path in out.iterdir()) == ["checkpoint.npz", "findings.json", "plan.json"]


def test_the_files_hash_to_what_is_printed(certified: tuple[Path, Result]) -> None:
    out, result = certified
    printed = json.loads(result.stdout)
    assert hashlib.sha256((out / "plan.json").read_bytes()).hexdigest() == printed["plan_hash"]
    assert hashlib.sha256((out / "findings.json").read_bytes()).hexdigest() == printed["findings_hash"]
    plan = parse_plan((out / "plan.json").read_bytes())
    assert plan == make_plan("np_punto_banco", RULES, 60, bytes(range(32)))
    assert parse_object((out / "findings.json").read_bytes(), MOST_BYTES)["plan_hash"] == printed["plan_hash"]
    assert f"plan {printed['plan_hash']}\nseed {SEED}\n" in result.stderr


def test_the_same_command_goes_on_from_the_checkpoint_and_needs_no_seed(certified: tuple[Path, Result]) -> None:
    out, result = certified
    again = call(*TABLE, "--shoes", "60", "--workers", "1", "--out", str(out), "--json")
    one, other = (json.loads(each.stdout) for each in (result, again))
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_two_workers_come_to_the_same_findings(certified: tuple[Path, Result]) -> None:
    result = call(*SHORT, "--workers", "2", "--json")
    assert result.exit_code == 0
    one, other = (json.loads(each.stdout) for each in (certified[1], result))
    assert other["findings_hash"] == one["findings_hash"]


def test_people_read_a_short_table(certified: tuple[Path, Result]) -> None:
    printed = json.loads(certified[1].stdout)
    lines = call(*SHORT, "--workers", "1").stdout.splitlines()
    assert lines[1].split() == ["plan", printed["plan_hash"]]
    assert lines[2].split() == ["findings", printed["findings_hash"]]
    assert "60 by the batch path, 60 by that of production" in lines[3]
    assert lines[-1] == f"All {len(printed['checks'])} checks pass collectively at 99 % (Holm at 1/100)."
    shown = [float(line.split()[-2]) for line in lines if line.startswith(("batch_", "production_"))]
    assert shown == sorted(shown)
    assert len(shown) == 10


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A certification of a machine that deals player, player, banker, banker."""

    def wrongly(*args: Any, **further: Any) -> Any:
        return run(*args, **further, engine=engine(PLAYER_FIRST))

    out = tmp_path_factory.mktemp("failed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "run", wrongly)
        return out, call(*SHORT, "--workers", "1", "--json", "--out", str(out))


def test_a_failed_audit_exits_with_1(failed: tuple[Path, Result]) -> None:
    _, result = failed
    assert result.exit_code == 1
    printed = json.loads(result.stdout)
    assert (printed["verdict"], printed["failed"]) == ("fail", ["batch_replay", "production_replay"])


def test_a_failed_audit_may_be_confirmed_once(failed: tuple[Path, Result], tmp_path: Path) -> None:
    out, _ = failed
    args = ("--confirm", str(out), "--workers", "1", "--out", str(tmp_path), "--json")
    result = call(*args)
    assert result.exit_code == 0
    plan = parse_plan((tmp_path / "plan.json").read_bytes())
    assert plan.checks == ("batch_replay", "production_replay")
    assert plan.confirms == hashlib.sha256((out / "findings.json").read_bytes()).digest()
    assert (plan.batch.shoes, plan.batch.replayed) == (240, 240)
    again = call(*args)
    assert json.loads(again.stdout)["findings_hash"] == json.loads(result.stdout)["findings_hash"]


@pytest.mark.parametrize(
    ("seed", "said"),
    [(SEED, "seed: expected a new one, got the same"), ("00" * 31, "expected 64 characters")],
    ids=["same_seed", "short_seed"],
)
def test_a_confirmation_needs_a_seed_of_its_own(seed: str, said: str, failed: tuple[Path, Result]) -> None:
    result = call("--confirm", str(failed[0]), "--seed", seed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_certification_that_passed_is_not_confirmed(certified: tuple[Path, Result]) -> None:
    result = call("--confirm", str(certified[0]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "failed: expected failed checks of the plan, got []; give the folder of a certification" in result.stderr


def test_findings_of_another_plan_are_not_confirmed(
    certified: tuple[Path, Result], failed: tuple[Path, Result], tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_bytes(make_plan("np_punto_banco", RULES, 70, bytes(32)).to_bytes())
    (tmp_path / "findings.json").write_bytes((failed[0] / "findings.json").read_bytes())
    result = call("--confirm", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{tmp_path}: findings.json: expected findings of plan" in result.stderr


# --- seeds -------------------------------------------------------------------------------------


def test_without_a_seed_fresh_bytes_are_drawn_printed_and_planned(tmp_path: Path) -> None:
    seeds = set()
    for name in ("a", "b"):
        result = call(*TABLE, "--shoes", "10", "--workers", "1", "--out", str(tmp_path / name), "--json")
        seed = parse_plan((tmp_path / name / "plan.json").read_bytes()).seed.hex()
        assert f"seed {seed}\n" in result.stderr
        assert json.loads(result.stdout)["seed"] == seed
        seeds.add(seed)
    assert len(seeds) == 2


def test_a_seed_is_the_bytes_after_those_of_the_health_test() -> None:
    stream = iter([bytes(range(256)) * 4, b"\7\1" * 16])
    assert fresh_seed(lambda _: next(stream)) == b"\7\1" * 16


@pytest.mark.parametrize("source", [bytes, lambda n: b"\7" * n], ids=["zeros", "sevens"])
def test_a_dead_source_of_randomness_is_the_environments_fault(source: Callable[[int], bytes]) -> None:
    with pytest.raises(EnvironmentFault, match="randomness is not healthy: source: "):
        fresh_seed(source)


# --- refusals ----------------------------------------------------------------------------------

REFUSED = {
    "no_table": (["--shoes", "60"], "--table, --shoes, --confirm: expected the first two, or the last alone"),
    "unknown_table": (["--table", "reno", "--shoes", "60"], "Invalid value for '--table': preset: expected one of"),
    "no_shoes": ([*TABLE], "--table, --shoes, --confirm: expected"),
    "table_and_confirm": ([*SHORT, "--confirm", "x"], "--table, --shoes, --confirm: expected"),
    "nothing_to_confirm": (["--confirm", "no-such"], "no-such/plan.json: No such file or directory"),
    "zero_shoes": ([*TABLE, "--shoes", "0"], "Invalid value for '--shoes': expected a whole number 1"),
    "shoes_in_words": ([*TABLE, "--shoes", "1e6"], "Invalid value for '--shoes': expected a whole number 1"),
    "no_workers": ([*SHORT, "--workers", "0"], "Invalid value for '--workers': expected a whole number 1"),
    "short_seed": ([*TABLE, "--shoes", "60", "--seed", "00"], "Invalid value for '--seed': expected 64 characters"),
    "both": ([*SHORT, "--workers", "2", "--scheduler", "tcp://x:1"], "--workers and --scheduler: expected one of them"),
    "emit_json": ([*SHORT, "--emit", "raw", "--json"], "--emit: expected neither --json nor --out"),
    "emit_out": ([*SHORT, "--emit", "raw", "--out", "x"], "--emit: expected neither --json nor --out"),
    "emit_what": ([*SHORT, "--emit", "bits"], "Invalid value for '--emit': 'bits' is not one of 'raw', 'draws'"),
}


@pytest.mark.parametrize(("args", "begins"), REFUSED.values(), ids=REFUSED)
def test_bad_usage_is_refused_in_one_line(args: list[str], begins: str) -> None:
    result = call(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"fairshoe certify: {begins}")
    assert result.stderr.count("\n") == 1


def test_too_few_shoes_are_refused() -> None:
    result = call(*TABLE, "--shoes", "9")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "fairshoe: shoes: expected 10 to 1099511627776 shoes, got 9\n"


@pytest.mark.parametrize(
    "args",
    [
        (*TABLE, "--shoes", "61"),
        (*TABLE, "--shoes", "60", "--seed", "00" * 32),
    ],
    ids=["other_shoes", "other_seed"],
)
def test_a_folder_with_another_plan_is_refused_and_left_alone(
    args: tuple[str, ...], certified: tuple[Path, Result]
) -> None:
    out, _ = certified
    before = {path: path.read_bytes() for path in out.iterdir()}
    result = call(*args, "--out", str(out))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "plan.json: expected plan " in result.stderr
    assert result.stderr.endswith("choose another folder with --out\n")
    assert {path: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("text", [b"", b"{}", b'{"form":"x"}', b"\xff"])
def test_a_folder_with_a_spoilt_plan_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(text)
    result = call(*SHORT, "--out", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"fairshoe certify: {tmp_path}/plan.json: ")


def test_a_checkpoint_cut_short_is_refused(certified: tuple[Path, Result], tmp_path: Path) -> None:
    out, _ = certified
    (tmp_path / "plan.json").write_bytes((out / "plan.json").read_bytes())
    (tmp_path / "checkpoint.npz").write_bytes((out / "checkpoint.npz").read_bytes()[:-100])
    result = call(*SHORT, "--workers", "1", "--out", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith(f"fairshoe: {tmp_path}/checkpoint.npz: damaged or cut short")


def test_a_folder_that_can_not_be_written_is_the_environments_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = call(*SHORT, "--out", str(tmp_path / "file" / "out"))
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.endswith("choose another folder with --out\n")


def test_a_cluster_that_is_not_there_is_the_environments_fault() -> None:
    pytest.importorskip("distributed")
    result = call(*SHORT, "--scheduler", "nonsense://127.0.0.1:1")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.splitlines()[-1].startswith("fairshoe: --scheduler: nonsense://127.0.0.1:1: ")


# --- interruption ------------------------------------------------------------------------------


def interrupted(out: Path, workers: str, shoes: str) -> subprocess.CompletedProcess[str]:
    """Start a long run, and send Ctrl-C to its process group once the plan is out and some work has begun."""
    args = (*TABLE, "--shoes", shoes, "--seed", SEED, "--workers", workers, "--out", str(out))
    process = subprocess.Popen(
        command_line(args), stderr=subprocess.PIPE, text=True, env=environment(), cwd=ROOT, start_new_session=True
    )
    deadline = time.monotonic() + 100
    while not (out / "checkpoint.npz").exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=100)
    return subprocess.CompletedProcess(args, process.returncode, "", stderr)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_leaves_a_checkpoint_and_says_so(workers: str, tmp_path: Path) -> None:
    stopped = interrupted(tmp_path, workers, "20000")
    assert stopped.returncode == 130
    assert f"what is done is kept in {tmp_path}/checkpoint.npz: the same command goes on from there" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "findings.json").exists()
    went_on = call(*TABLE, "--shoes", "20000", "--workers", "2", "--out", str(tmp_path), "--json")
    straight = call(*TABLE, "--shoes", "20000", "--workers", "1", "--seed", SEED, "--json")
    assert (went_on.exit_code, straight.exit_code) == (0, 0)
    one, other = (json.loads(each.stdout) for each in (went_on, straight))
    assert one["findings_hash"] == other["findings_hash"]


def test_an_interruption_without_a_folder_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", stop)
    result = call(*SHORT, "--workers", "1")
    assert (result.exit_code, result.stdout) == (130, "")
    assert "nothing was kept, for there is no --out" in result.stderr


def test_a_worker_that_dies_is_the_environments_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def die(*_: object, **__: object) -> Any:
        with workforce(2, None) as hands:
            assert hands.executor is not None
            hands.executor.submit(os._exit, 1).result()

    monkeypatch.setattr(command, "run", die)
    result = call(*SHORT, "--workers", "1", "--out", str(tmp_path))
    assert (result.exit_code, result.stdout) == (3, "")
    assert "a worker process died; what is done is kept in" in result.stderr


# --- workers -----------------------------------------------------------------------------------


def test_one_worker_is_this_process_and_none_are_as_many_as_processors() -> None:
    with workforce(1, None) as hands:
        assert hands == (None, 1)
    with workforce(3, None) as hands:
        assert (hands.executor is not None, hands.abreast) == (True, 6)
    assert processors() >= 1


def test_workers_leave_ctrl_c_to_the_parent() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        serve_parent()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


PARENT = """
import os
from api.cli.workers import workforce
if __name__ == "__main__":
    with workforce(2, None) as hands:
        print(*{hands.executor.submit(os.getpid).result() for _ in range(20)}, flush=True)
        os.kill(os.getpid(), 9)
"""


def test_workers_leave_when_the_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    killed = subprocess.run(
        [sys.executable, str(tmp_path / "parent.py")], stdout=subprocess.PIPE, env=environment(), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    left = {int(pid) for pid in killed.stdout.split()}
    assert left
    while left and time.monotonic() < deadline:
        left = {pid for pid in left if alive(pid)}
        time.sleep(0.05)
    assert not left


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


# --- streams -----------------------------------------------------------------------------------


def emitted(stream: str, shoes: int) -> bytes:
    result = call(*TABLE, "--shoes", str(shoes), "--seed", SEED, "--emit", stream)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


def key() -> bytes:
    return batch_key(make_plan("np_punto_banco", RULES, 300, bytes(range(32))))


def test_raw_is_the_keystream_of_protocol_5_of_one_shoe_after_the_other() -> None:
    assert emitted("raw", 300) == b"".join(keystream(key(), hand, 4 * 415) for hand in range(300))


def test_draws_are_those_of_the_scalar_shuffle() -> None:
    lines = emitted("draws", 11).decode().splitlines()
    source = words(key(), 10)
    assert lines[415 * 10 :] == [f"{below(source, bound)} {bound}" for bound in range(416, 1, -1)]


def test_cards_are_those_of_the_scalar_shuffle() -> None:
    lines = emitted("cards", 300).decode().splitlines()
    assert len(lines) == 300
    for hand in (0, 255, 256, 299):
        assert lines[hand] == card_names(shuffle_hand(key(), RULES, hand).cards)


@pytest.mark.parametrize("stream", ["raw", "draws", "cards"])
def test_a_reader_that_has_had_enough_is_no_fault(stream: str) -> None:
    args = (*TABLE, "--shoes", "1000000", "--seed", SEED, "--emit", stream)
    with subprocess.Popen(
        command_line(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(1000)) == 1000
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(timeout=100) == 0
    assert "Error" not in said


def test_a_full_disk_is_the_environments_fault() -> None:
    args = (*TABLE, "--shoes", "1000", "--seed", SEED, "--emit", "cards")
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            command_line(args), stdout=full, stderr=subprocess.PIPE, env=environment(), cwd=ROOT, check=False
        )
    assert result.returncode == 3
    assert result.stderr.decode().splitlines()[-1] == (
        "fairshoe: standard output can't be written: No space left on device"
    )


# --- bench -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_bench_prints_ratios() -> None:
    printed = json.loads(CliRunner().invoke(fairshoe, ["bench", "--json"]).stdout)
    work = {each["name"]: each for each in printed["work"]}
    assert work["scalar shoe"]["times_faster"] is None
    assert work["kernel shoe"]["yardstick"] == "scalar shoe"
    assert work["kernel shoe"]["times_faster"] > 100
    assert CliRunner().invoke(fairshoe, ["bench"]).stdout.count(" x as fast as a ") == 3


def test_the_sample_that_a_power_needs_is_printed_and_nothing_is_dealt() -> None:
    done = CliRunner().invoke(fairshoe, ["certify", "--table", "np_punto_banco", "--power", ".9", "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["table"], found["power"], found["checks"]) == ("np_punto_banco", "0.9", 144)
    sizes = {size["fault"]: size for size in found["sizes"]}
    assert sizes["player_0_stands"] | {"words": ""} == {
        "fault": "player_0_stands", "words": "", "coups": 30, "shoes": 1, "impossible": True,
    }  # fmt: skip
    assert sizes["6_decks"]["shoes"] > 1_000_000


@pytest.mark.parametrize("power", ["9", "1", "1.0", "0", ".01", "-.9", ".9x", "٠.9", ".1234567", "nan", ""])
def test_a_power_that_is_none_is_refused(power: str) -> None:
    done = CliRunner().invoke(fairshoe, ["certify", "--table", "np_punto_banco", "--power", power])
    assert done.exit_code == 2
    assert "--power" in done.stderr


@pytest.mark.parametrize(
    "further", [["--shoes", "5"], ["--emit", "raw"], ["--out", "somewhere"], ["--confirm", "somewhere"]]
)
def test_a_power_beside_what_deals_is_refused(further: list[str]) -> None:
    done = CliRunner().invoke(fairshoe, ["certify", "--table", "np_punto_banco", "--power", ".9", *further])
    assert done.exit_code == 2
    assert "no shoe is dealt" in done.stderr


ENT = """#!/bin/sh
# As `ent -t` prints for this many bytes: a stand-in on the path, so that the pipe and the listing are driven for real.
n=$(wc -c)
echo "0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation"
echo "1,$n,7.999999,250.0,127.5,3.141592,0.000001"
"""


def test_an_outside_program_is_given_the_keystream_and_stands_beside_the_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ent").write_text(ENT)
    (tmp_path / "ent").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    plain = ["certify", "--table", "np_punto_banco", "--shoes", "10", "--seed", "ab" * 32, "--workers", "1"]
    alone = CliRunner().invoke(fairshoe, [*plain, "--json"])
    done = CliRunner().invoke(fairshoe, [*plain, "--outside", "ent", "--json"])
    assert (alone.exit_code, done.exit_code) == (0, 0)
    (found,) = json.loads(done.stdout)["outside"]
    assert (found["program"], found["status"], found["detail"]) == ("ent", "ran", "")
    assert json.loads(done.stdout)["findings_hash"] == json.loads(alone.stdout)["findings_hash"]
    assert "outside" not in json.loads(alone.stdout)
    listed = CliRunner().invoke(fairshoe, [*plain, "--outside", "ent"])
    assert "Outside programs, beside the findings" in listed.stdout


def test_an_outside_program_that_is_absent_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    plain = ["certify", "--table", "np_punto_banco", "--shoes", "10", "--workers", "1", "--outside", "rngtest"]
    done = CliRunner().invoke(fairshoe, [*plain, "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["outside"][0]["status"] == "not installed"


def test_the_endless_keystream_begins_as_the_shuffles_do_and_goes_on_past_the_plan() -> None:
    plan = make_plan("np_punto_banco", NP_PUNTO_BANCO.rules, 10, bytes(32))
    stream = endless_words(plan)
    first, second = next(stream), next(stream)
    size = 4 * (NP_PUNTO_BANCO.rules.size - 1)
    for chunk, hand in ((first, 0), (second, 1024)):
        assert chunk[:size] == keystream(batch_key(plan), hand, size)


@pytest.mark.parametrize("name", ["diehard", "", "ENT", "../ent"])
def test_only_known_programs_are_run(name: str) -> None:
    done = CliRunner().invoke(fairshoe, ["certify", "--table", "np_punto_banco", "--shoes", "2", "--outside", name])
    assert done.exit_code == 2
