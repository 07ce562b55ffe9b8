"""The acceptance of certification: a hundred million coups, and one hash on a cluster of which a worker is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from audit.battery import Sizes
from audit.encoding import digest
from audit.findings import find
from audit.plan import Blocks, Plan, make_plan
from audit.run import Progress, run
from shoe.game.houses import NP_PUNTO_BANCO
from tests.audit.plans import EIGHT_DECKS, plan_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.filterwarnings("default"),  # what a cluster says when a worker of it is killed is no fault of ours
]

MIDDLING = plan_of(Sizes(20_000, 1000, 4, 60), Sizes(2000, 500, 1, 20), rules=EIGHT_DECKS, blocks=Blocks(1000, 200))


@contextmanager
def cluster() -> Iterator[tuple[Executor, list[int]]]:
    """Two Dask workers in processes of their own, and their process ids."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        pids = sorted(client.run(os.getpid).values())
        yield client.get_executor(pure=False), pids


def test_a_cluster_comes_to_the_same_sum_though_a_worker_is_killed_in_mid_run() -> None:
    killed = []

    with cluster() as (executor, pids):

        def progress(at: Progress) -> None:
            if at.done == 8 and not killed:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

        counts = run(MIDDLING, executor, progress=progress)
    assert killed
    assert digest(counts) == digest(run(MIDDLING))


def test_a_run_begun_on_a_cluster_goes_on_without_it(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(at: Progress) -> None:
        if at.done == 10:
            raise Stop

    with cluster() as (executor, _), pytest.raises(Stop):
        run(MIDDLING, executor, checkpoint=tmp_path / "c", progress=stop)
    assert find(MIDDLING, run(MIDDLING, checkpoint=tmp_path / "c")).hash == find(MIDDLING, run(MIDDLING)).hash


def certification() -> Plan:
    seed = bytes.fromhex("5eed" + "0" * 59 + "1")
    return make_plan("np_punto_banco", NP_PUNTO_BANCO.rules, 1_450_000, seed)


def test_a_hundred_million_coups_and_a_hundred_thousand_sealed_shoes_pass_collectively() -> None:
    """The seed is fixed here before any run, and no other was tried."""
    plan = certification()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        findings = find(plan, run(plan, executor))
    assert findings.plan.production.shoes == 100_000
    assert findings.judged_coups == 69 * 1_550_000
    assert 69 * plan.batch.shoes >= 100_000_000
    assert findings.passed, findings.words
