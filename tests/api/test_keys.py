"""The log's keys: added, retired, compromised; the heads that carry their lines, and who knows only one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from api.batch import Writer
from api.cases.books import publish_book
from api.cases.dealing import deal_coup
from api.cases.keys import MOST_ACTIVE, Ended, KeyLine, add_key, list_keys, revoke_key
from api.cases.tables import list_tables, make_table
from api.commits import Job
from api.db.tables import CheckpointRow, SigningKeyRow
from api.refusals import Refusal
from api.settings import SetupError
from api.vault import of_signing_key
from api.writing import Finish, Step, Writing
from shoe.errors import SignatureError
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import SignerKey, parse_note, parse_vkey
from shoe.proof.tlog import Receipt, check_receipt, parse_receipt
from shoe.proof.verify import Evidence, verify_bundle
from tests.api.installation import EVERY_COUP, HOUSE, ORIGIN, Chance, Installation
from tests.api.stored import everything_stored


def new(house: Installation) -> str:
    return house.service.write(add_key(house.service))[0]


def revoke(house: Installation, vkey: str, status: Ended = "retired") -> Receipt:
    return house.service.write(revoke_key(vkey, status))


def first(house: Installation) -> str:
    return keys(house)[0].vkey


def keys(house: Installation) -> list[KeyLine]:
    with house.service.reading() as session:
        return list_keys(session)


def lines(house: Installation, checkpoint: str | None = None) -> list[str]:
    """The keys whose lines a checkpoint carries, in its order: looked up by the ids that the note names."""
    known = {parse_vkey(key.vkey).key_id: key.vkey for key in keys(house)}
    return [known[line.key_id] for line in parse_note(checkpoint or house.checkpoint()).signatures]


def record(house: Installation, n: int = 0) -> str:
    """Add some record to the log; give its checkpoint."""
    house.post("/tables", {"id": f"r{n}", "preset": "np_punto_banco"})
    house.post(f"/tables/r{n}/books", {"size": 1})
    return house.checkpoint()


def verifies(vkey: str, checkpoint: str) -> bool:
    try:
        check_checkpoint(checkpoint, [parse_vkey(vkey)], ORIGIN)
    except SignatureError:
        return False
    return True


# --- a new key ---------------------------------------------------------------------------------


def test_a_new_key_is_logged_under_the_one_before_and_signs_from_the_next_head_on(house: Installation) -> None:
    old, added = first(house), new(house)
    logging = house.checkpoint()
    assert (lines(house), verifies(old, logging), verifies(added, logging)) == ([old], True, False)
    later = record(house)
    assert (lines(house), verifies(old, later), verifies(added, later)) == ([old, added], True, True)


def test_the_record_names_the_key_its_name_is_the_logs_and_its_seed_is_fresh(house: Installation) -> None:
    added, receipt = house.service.write(add_key(house.service))
    index, head = check_receipt(receipt, [parse_vkey(first(house))], ORIGIN)
    logged = json.loads(receipt.record)
    assert (logged["type"], logged["vkey"], logged["status"]) == ("key", added, "added")
    assert (index, head.size) == (1, 2)
    assert parse_vkey(added).name == ORIGIN
    seeds = [drawn for drawn in house.chance.drawn if len(drawn) == 32]
    assert str(SignerKey.from_seed(ORIGIN, seeds[-1]).vkey) == added


def test_only_the_vault_opens_its_seed(house: Installation) -> None:
    added = new(house)
    with house.service.reading() as session:
        row = session.get_one(SigningKeyRow, added)
    seed = house.service.vault.open(row.sealed_seed, of_signing_key(added))
    assert str(SignerKey.from_seed(ORIGIN, seed).vkey) == added
    assert seed not in row.sealed_seed


def test_it_signs_after_a_restart_too(house: Installation) -> None:
    old, added = first(house), new(house)
    house.stop()
    house.start()
    record(house)
    assert lines(house) == [old, added]


def test_there_is_an_end_to_new_keys(house: Installation) -> None:
    """A note has room for 100 lines; a log that had as many keys could sign no more."""
    for _ in range(MOST_ACTIVE - 1):
        new(house)
    before = everything_stored(house.service.store)
    with pytest.raises(Refusal, match=f"^{MOST_ACTIVE} keys sign the log.$"):
        new(house)
    assert everything_stored(house.service.store) == before
    revoke(house, first(house))
    new(house)
    record(house)
    assert len(lines(house)) == MOST_ACTIVE


# --- the end of a key --------------------------------------------------------------------------


def test_a_retired_key_signs_the_head_that_says_so_and_none_after(house: Installation) -> None:
    old, added = first(house), new(house)
    receipt = revoke(house, old)
    assert lines(house, receipt.proof.checkpoint) == [old, added]
    assert json.loads(receipt.record)["status"] == "retired"
    record(house)
    assert lines(house) == [added]


def test_a_compromised_key_does_not_even_sign_that(house: Installation) -> None:
    old, added = first(house), new(house)
    receipt = revoke(house, old, "compromised")
    assert lines(house, receipt.proof.checkpoint) == [added]
    assert json.loads(receipt.record)["status"] == "compromised"
    record(house)
    assert lines(house) == [added]


def test_the_newer_key_can_be_revoked_as_well(house: Installation) -> None:
    old, added = first(house), new(house)
    revoke(house, added, "compromised")
    record(house)
    assert lines(house) == [old]


def refused(house: Installation, vkey: str, status: Ended, detail: str) -> str:
    before = everything_stored(house.service.store)
    with pytest.raises(Refusal, match=detail) as error:
        revoke(house, vkey, status)
    assert everything_stored(house.service.store) == before
    return error.value.kind.next


@pytest.mark.parametrize("status", ["retired", "compromised"])
def test_the_last_key_stays(house: Installation, status: Ended) -> None:
    advice = refused(house, first(house), status, r"^No key but fairshoe\.example/log\+.* signs the log\.$")
    assert advice == "Make another first: fairshoe keys new."
    old, added = first(house), new(house)
    revoke(house, old)
    refused(house, added, status, "^No key but")


@pytest.mark.parametrize("status", ["retired", "compromised"])
@pytest.mark.parametrize("ended", ["retired", "compromised"])
def test_an_ended_key_ends_once(house: Installation, ended: Ended, status: Ended) -> None:
    old, _ = first(house), new(house)
    revoke(house, old, ended)
    assert refused(house, old, status, rf"is {ended} already\.$") == "See which there are: fairshoe keys list."


def test_only_the_logs_own_keys_can_be_revoked(house: Installation) -> None:
    new(house)
    others = str(SignerKey.from_seed(ORIGIN, bytes(32)).vkey)
    for vkey in (others, "", first(house).lower(), first(house) + "\n"):
        refused(house, vkey, "retired", "^No key of this log is ")


@pytest.mark.parametrize("change", [add_key, lambda service: revoke_key("x", "retired")], ids=["new", "revoke"])
def test_nothing_happens_while_nothing_may_be_signed(house: Installation, change: Callable[..., Step[Any]]) -> None:
    (house.folder / "halt").write_text("The auditor found leaf 3 changed.")
    before = everything_stored(house.service.store)
    with pytest.raises(Refusal, match=r"^The auditor found leaf 3 changed\.$"):
        house.service.write(change(house.service))
    assert everything_stored(house.service.store) == before


# --- what verifiers see ------------------------------------------------------------------------


def test_verifiers_of_either_key_follow_the_log_over_the_change(house: Installation) -> None:
    """Who knows only the old key verifies until it ends, who knows only the new one from then on at the latest."""
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    old = first(house)
    early = house.post(f"/shoes/{shoe}/coups")
    added = new(house)
    during = house.post(f"/shoes/{shoe}/coups")
    revoke(house, old)
    late = house.post(f"/shoes/{shoe}/coups")
    seen = {
        vkey: [verifies_receipt(vkey, answer["receipt"]) for answer in (early, during, late)] for vkey in (old, added)
    }
    assert seen == {old: [True, True, False], added: [False, True, True]}


def verifies_receipt(vkey: str, receipt: str) -> bool:
    try:
        check_receipt(parse_receipt(receipt), [parse_vkey(vkey)], ORIGIN)
    except SignatureError:
        return False
    return True


@pytest.mark.parametrize("status", ["retired", "compromised"])
def test_a_bundle_verifies_under_the_new_key_with_receipts_of_the_old_ones_time(
    house: Installation, status: Ended
) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    receipts = [house.post(f"/shoes/{shoe}/coups")["receipt"] for _ in range(2)]
    old, added = first(house), new(house)
    receipts.append(house.post(f"/shoes/{shoe}/coups")["receipt"])
    revoke(house, old, status)
    house.deal_out(shoe)
    kept, bundle = tuple(map(parse_receipt, receipts)), house.bundle(shoe)
    both = (parse_vkey(old), parse_vkey(added))
    assert verify_bundle(bundle, Evidence(both, kept)).verdict == "verified"
    assert verify_bundle(bundle, Evidence(both[1:], kept[2:])).verdict == "verified"
    assert verify_bundle(bundle, Evidence(both[:1], kept)).verdict == "invalid"


def test_every_checkpoint_there_ever_was_carries_the_lines_due_at_its_size(house: Installation) -> None:
    """Told by the records alone: a key is due from the head after the one that adds it, to the one that ends it."""
    vkeys = [first(house)]
    for n in range(3):
        vkeys.append(new(house))
        record(house, 2 * n)
        revoke(house, vkeys[-2], "compromised" if n == 1 else "retired")
        record(house, 2 * n + 1)
    with house.service.reading() as session:
        heads = session.execute(select(CheckpointRow.size, CheckpointRow.text).order_by(CheckpointRow.size)).all()
    told = {key.vkey: key for key in keys(house)}
    before = 0
    for size, text in heads:
        due = [vkey for vkey in vkeys if signs(told[vkey], before, size)]
        assert lines(house, text) == due
        check_checkpoint(text, [parse_vkey(vkey) for vkey in due], ORIGIN)
        before = size


def signs(key: KeyLine, before: int, size: int) -> bool:
    if key.added.index >= (before or 1):
        return False
    return key.ended is None or key.ended.index >= size - (key.status == "retired")


def test_the_log_gives_its_active_keys_a_line_each(house: Installation) -> None:
    old, added = first(house), new(house)
    assert house.client.get("/v1/log/key").text == f"{old}\n{added}\n"
    revoke(house, old)
    assert house.client.get("/v1/log/key").text == f"{added}\n"


def test_the_list_tells_of_each_key_what_the_log_does(house: Installation) -> None:
    house.clock.forward(1)
    old, added = first(house), new(house)
    house.clock.forward(1)
    revoke(house, old)
    time = "2026-01-31T12:00:0{}.000000Z".format
    told = [
        (key.vkey, key.status, (key.added.index, key.added.time), key.ended and (key.ended.index, key.ended.time))
        for key in keys(house)
    ]
    assert told == [(old, "retired", (0, time(0)), (2, time(2))), (added, "active", (1, time(1)), None)]
    assert [key.signs for key in keys(house)] == [True, True]
    record(house)
    assert [key.signs for key in keys(house)] == [False, True]


# --- in one transaction with others, and beside other processes ------------------------------------


def together(house: Installation, *steps: Step[Any]) -> list[Any]:
    """Run steps in one transaction under one head; each must succeed."""
    jobs: list[Job[Any]] = [Job(step) for step in steps]
    service = house.service
    Writer(service.store, service.log, service.world, service.permit).run(jobs)
    return [job.result() for job in jobs]


def asks(writing: Writing) -> Finish[None]:
    """A step that asks the database about something, so that what the steps before it changed is written first."""
    list_tables(writing.session, None, 1)
    writing.session.flush()
    return lambda _: None


@pytest.mark.parametrize("between", [[], [asks]], ids=["rows not written", "rows written"])
def test_in_one_transaction_with_others_the_same_keys_sign(house: Installation, between: list[Step[Any]]) -> None:
    """Whether the rows are in the database when the head is signed, is for the other steps to decide."""
    house.table(**HOUSE)
    shoe = house.sealed()
    old, service = first(house), house.service
    results = together(house, deal_coup(service, shoe), add_key(service), *between, publish_book(service, "t", 1))
    added = results[1][0]
    heads = {results[0].receipt.proof.checkpoint, results[1][1].proof.checkpoint, results[-1][0].proof.checkpoint}
    assert [lines(house, head) for head in heads] == [[old]]
    retired = together(house, revoke_key(old, "retired"), *between, deal_coup(service, shoe))[0]
    assert lines(house, retired.proof.checkpoint) == [old, added]
    third = new(house)
    record(house)
    compromised = together(house, deal_coup(service, shoe), revoke_key(added, "compromised"), *between)[1]
    assert lines(house, compromised.proof.checkpoint) == [third]
    assert house.verify(shoe).verdict == "consistent"


@pytest.mark.parametrize("between", [[], [asks]], ids=["rows not written", "rows written"])
@pytest.mark.parametrize("status", ["retired", "compromised"])
def test_a_key_of_the_same_transaction_is_not_there_to_sign_its_head(
    house: Installation, status: Ended, between: list[Step[Any]]
) -> None:
    """Or the head that logs a new key and the end of the only other one would have no line of a known key."""
    jobs: list[Job[Any]] = [Job(step) for step in (add_key(house.service), *between, revoke_key(first(house), status))]
    service = house.service
    Writer(service.store, service.log, service.world, service.permit).run(jobs)
    with pytest.raises(Refusal, match=r"^No key but "):
        jobs[-1].result()
    assert lines(house) == [first(house)]


def test_two_keys_that_end_in_one_transaction_leave_the_third(house: Installation) -> None:
    old, second, third = first(house), new(house), new(house)
    record(house)
    ended = together(house, revoke_key(second, "compromised"), revoke_key(old, "retired"))
    assert {tuple(lines(house, receipt.proof.checkpoint)) for receipt in ended} == {(old, third)}
    record(house, 1)
    assert lines(house) == [third]


def test_two_who_revoke_at_once_leave_a_key(house: Installation) -> None:
    old, second = first(house), new(house)
    record(house)
    jobs = [Job(revoke_key(vkey, "retired")) for vkey in (old, second)]
    service = house.service
    Writer(service.store, service.log, service.world, service.permit).run(jobs)
    assert jobs[0].result()
    with pytest.raises(Refusal, match=r"^No key but "):
        jobs[1].result()


@pytest.fixture
def beside(house: Installation) -> Installation:
    """The same installation in another process: its keys and its vault opened, and held by itself."""
    house.table(**HOUSE)
    other = Installation(house.folder, house.clock, Chance(10_000), database_url=house.database_url)
    other.post("/tables/t/books", {"size": 1})
    yield other
    other.stop()


def test_other_running_processes_sign_with_the_keys_of_the_moment(house: Installation, beside: Installation) -> None:
    shoe = house.sealed()
    old, added = first(house), new(house)
    receipts = [beside.post(f"/shoes/{shoe}/coups")["receipt"]]
    revoke(house, old)
    receipts += [process.post(f"/shoes/{shoe}/coups")["receipt"] for process in (beside, house)]
    heads = [parse_receipt(receipt).proof.checkpoint for receipt in receipts]
    assert [lines(house, head) for head in heads] == [[old, added], [added], [added]]


def test_a_key_that_its_name_does_not_fit_signs_nothing(house: Installation) -> None:
    """Somebody has exchanged two seeds, each opened as its own: the vault's binding to the name notices."""
    old, added = first(house), new(house)
    with house.service.store.writing() as session:
        rows = [session.get_one(SigningKeyRow, vkey) for vkey in (old, added)]
        rows[0].sealed_seed, rows[1].sealed_seed = rows[1].sealed_seed, rows[0].sealed_seed
    before = house.checkpoint()
    with pytest.raises(SetupError, match="does not open"):
        house.service.write(make_table_and_book(house))
    assert house.checkpoint() == before


def make_table_and_book(house: Installation) -> Step[Any]:
    house.service.write(make_table(house.service, "m", preset="np_punto_banco"))
    return publish_book(house.service, "m", 1)


def test_a_seed_of_another_key_signs_nothing(house: Installation) -> None:
    """Sealed for its place, but the seed of another key: what it makes is held against the name."""
    vkey = first(house)
    with house.service.store.writing() as session:
        row = session.get_one(SigningKeyRow, vkey)
        row.sealed_seed = house.service.vault.seal(bytes(32), of_signing_key(vkey))
    with pytest.raises(SetupError, match=r"^signing key in the vault: expected the key of "):
        house.service.write(make_table_and_book(house))


def test_keys_are_found_among_many_records_by_an_index(house: Installation) -> None:
    """The list must not read through all of the log for them."""
    statement = "SELECT log_index, record FROM leaves WHERE shoe IS NULL AND type = 'key'"
    with house.service.reading() as session:
        connection = session.connection()
        if house.database_url:
            connection.exec_driver_sql("SET LOCAL enable_seqscan TO off")  # as for a table that is large
            assert "Index Cond: (shoe IS NULL)" in str(connection.exec_driver_sql(f"EXPLAIN {statement}").all())
        else:
            plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all())
            assert "SEARCH leaves USING INDEX" in plan
            assert "(shoe=?)" in plan
