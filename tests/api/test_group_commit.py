"""Several jobs in one transaction: one checkpoint, a receipt each, and a refusal or failure that hurts nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import func, select

from api.access import ANONYMOUS
from api.batch import Writer
from api.cases.books import end_book, publish_book
from api.cases.dealing import deal_coup
from api.cases.ending import void_shoe
from api.cases.entropy import contribute, lock_shoe, open_seed
from api.cases.opening import Plan, open_shoe
from api.cases.sealing import seal_shoe
from api.cases.tables import make_table
from api.commits import Commits, Job
from api.credentials import Known
from api.db.tables import CheckpointRow, TableRow
from api.refusals import READ_ONLY, Refusal
from api.writing import Finish, Step, Writing
from shoe.errors import FairshoeError, ProofError
from shoe.proof.checkpoint import parse_checkpoint
from shoe.proof.note import parse_note
from tests.api.installation import EVERY_COUP, HOUSE, Installation
from tests.api.stored import everything_stored


def together(house: Installation, *steps: Step[Any]) -> list[Any]:
    """Run steps in one transaction; give each result, or the error that it failed with."""
    jobs: list[Job[Any]] = [Job(step) for step in steps]
    service = house.service
    Writer(service.store, service.log, service.world, service.permit).run(jobs)
    return [outcome(job) for job in jobs]


def outcome(job: Job[Any]) -> Any:
    try:
        return job.result()
    except Exception as error:  # noqa: BLE001  # the outcome is what is looked at
        return error


def checkpoints(house: Installation) -> int:
    with house.service.reading() as session:
        return session.scalar(select(func.count()).select_from(CheckpointRow)) or 0


def failing(error: Exception) -> Step[None]:
    """A step that fails after it has changed something."""

    def step(writing: Writing) -> Finish[None]:
        writing.insert(TableRow(id="lost", rules="{}", decks=1, shuffle="shoe", created=writing.time))
        writing.session.flush()
        raise error

    return step


def test_jobs_together_share_one_checkpoint_and_each_has_its_receipt(house: Installation) -> None:
    shoes = [house.sealed(house.table(f"t{n}", **HOUSE)) for n in range(5)]
    before = checkpoints(house)
    dealt = together(house, *(deal_coup(house.service, shoe) for shoe in shoes), deal_coup(house.service, shoes[0]))
    assert checkpoints(house) == before + 1
    assert [each.number for each in dealt] == [0, 0, 0, 0, 0, 1]
    heads = {each.receipt.proof.checkpoint for each in dealt}
    assert len(heads) == 1
    head = parse_checkpoint(parse_note(heads.pop()).text)
    indices = [each.receipt.proof.index for each in dealt]
    assert indices == list(range(head.size - 6, head.size))
    assert all(house.verify(shoe).verdict == "consistent" for shoe in shoes)


def refusing(house: Installation) -> dict[str, Callable[[], Step[Any]]]:
    """A refusal of every use case that writes, each in a shoe or table of its own where it needs one."""
    service = house.service
    house.table("none", book=1, **HOUSE)
    house.table("two", book=2, decks=1)
    locked = house.open("two")
    house.commit(locked, "seed-of-guest-0")
    house.post(f"/shoes/{locked}/lock")
    opened = house.open(house.table("open", **HOUSE))
    sealed = house.sealed(house.table("sealed", **HOUSE))
    house.deal_out(house.sealed(house.table("used", book=1, **EVERY_COUP)))
    plan = Plan(60, 120, 3600)
    author = Known(house.service.store).find(house.tokens.seats[locked, 0], house.clock(), writes=False)
    root = house.get("/tables/none/books")["books"][0]["root"]
    return {
        "table": lambda: make_table(service, "none", preset="np_punto_banco"),
        "book": lambda: publish_book(service, "nowhere", 4),
        "end of a book": lambda: end_book(service, "none", root),
        "shoe": lambda: open_shoe(service, "used", plan),
        "second shoe": lambda: open_shoe(service, "open", plan),
        "entropy": lambda: contribute(opened, ANONYMOUS, seed_commitment=bytes(32), seed=None),
        "lock": lambda: lock_shoe(locked),
        "seed": lambda: open_seed(locked, author, 0, "seed-of-another"),
        "seed of nobody": lambda: open_seed(locked, author, 7, "seed-of-guest-0"),
        "seal": lambda: seal_shoe(service, locked, None),
        "coup": lambda: deal_coup(service, opened),
        "void": lambda: void_shoe(service, sealed, "deadline"),
    }


def test_a_refusal_changes_nothing_and_lets_the_others_through(house: Installation) -> None:
    cases = refusing(house)
    shoe = house.sealed(house.table("t", **HOUSE))
    for name, refused in cases.items():
        before = everything_stored(house.service.store)
        alone = together(house, refused())
        assert isinstance(alone[0], Refusal | ProofError), name
        assert everything_stored(house.service.store) == before, name
        count, size = checkpoints(house), house.size()
        first, again, second = together(
            house, deal_coup(house.service, shoe), refused(), deal_coup(house.service, shoe)
        )
        assert isinstance(again, type(alone[0])), name
        assert second.number == first.number + 1, name
        assert (checkpoints(house), house.size()) == (count + 1, size + 2), name


def test_a_failure_undoes_the_transaction_and_the_others_run_alone(house: Installation) -> None:
    shoe = house.sealed(house.table(**HOUSE))
    before = checkpoints(house)
    first, failed, second = together(
        house, deal_coup(house.service, shoe), failing(ZeroDivisionError("x")), deal_coup(house.service, shoe)
    )
    assert isinstance(failed, ZeroDivisionError)
    assert [first.number, second.number] == [0, 1]
    assert checkpoints(house) == before + 2
    with house.service.reading() as session:
        assert session.get(TableRow, "lost") is None
    assert house.verify(shoe).verdict == "consistent"


def test_a_refusal_after_a_change_is_a_failure_too(house: Installation) -> None:
    shoe = house.sealed(house.table(**HOUSE))
    late = Refusal(READ_ONLY, "too late")
    failed, dealt = together(house, failing(late), deal_coup(house.service, shoe))
    assert failed is late
    assert dealt.number == 0
    with house.service.reading() as session:
        assert session.get(TableRow, "lost") is None


def test_a_result_that_can_not_be_made_undoes_its_own_step_alone(house: Installation) -> None:
    shoe = house.sealed(house.table(**HOUSE))

    def step(writing: Writing) -> Finish[None]:
        deal_coup(house.service, shoe)(writing)
        return lambda receipts: receipts[9]  # type: ignore[return-value]

    failed, dealt = together(house, step, deal_coup(house.service, shoe))
    assert isinstance(failed, IndexError)
    assert dealt.number == 0


def test_two_tables_of_one_name_in_one_transaction_are_one_table(house: Installation) -> None:
    make = make_table(house.service, "twice", preset="np_punto_banco")
    made = together(house, make, make)
    assert sorted(type(each).__name__ for each in made) == ["Refusal", "TableRow"]


# --- the queue ---------------------------------------------------------------------------------


def nothing(writing: Writing) -> Finish[None]:
    return lambda receipts: None


def test_who_comes_while_one_leads_is_led_by_the_next(house: Installation) -> None:
    entered, go = threading.Event(), threading.Event()
    batches: list[int] = []

    def run(jobs: Sequence[Job[Any]]) -> None:
        batches.append(len(jobs))
        entered.set()
        go.wait(10)
        for job in jobs:
            job.succeed(len(batches))

    commits, results = Commits(run, most=4), []
    threads = [threading.Thread(target=lambda: results.append(commits.submit(Job(nothing)))) for _ in range(8)]
    threads[0].start()
    assert entered.wait(10)
    for thread in threads[1:]:
        thread.start()
    while len(commits._waiting) < 7:  # seen from outside there is nothing to wait for
        pass
    go.set()
    for thread in threads:
        thread.join(10)
    assert batches == [1, 4, 3]
    assert sorted(results) == [1, 2, 2, 2, 2, 3, 3, 3]


def test_a_leader_that_breaks_down_leaves_nobody_waiting() -> None:
    def run(jobs: Sequence[Job[Any]]) -> None:
        raise KeyboardInterrupt

    commits = Commits(run)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            commits.submit(Job(nothing))


def test_a_job_that_was_left_without_a_result_says_so() -> None:
    with pytest.raises(FairshoeError, match="left without a result"):
        Commits(lambda jobs: None).submit(Job(nothing))
