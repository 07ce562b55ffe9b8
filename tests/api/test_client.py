"""The client at a real service, over real HTTP: every call gives, typed, what the service's own JSON says."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import time
import urllib.request
from pathlib import Path

import pytest

from api.client import Client, ServiceProblem, ServiceUnreachable
from api.client.fields import parse_fields
from api.demo import first_key, running_service
from shoe.errors import InputError, ProofError
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.proof.bundle import parse_bundle
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.merkle import check_consistency, check_inclusion, leaf_hash
from shoe.proof.note import parse_vkey
from shoe.proof.records import CommittedEntropy, Open, parse_record
from shoe.proof.seeds import commit_seed
from shoe.proof.tlog import check_receipt, print_receipt
from shoe.proof.verify import Evidence, HeldCheckpoint, verify_bundle
from tests.api.test_beside import eventually

HOUSE = {"entropy": "house", "decks": 1}
DEADLINES = {"lock_in_s": 600, "seal_in_s": 1200, "reveal_in_s": 3600}
SEED = "0123456789abcdef0123456789abcdef"


class Place:
    """A running service, its first key, and a table with a whole shoe dealt by the client."""

    def __init__(self, url, key):
        self.url, self.key = url, key
        self.vkey = parse_vkey(Client(url).vkeys()[0])
        self.client = self.holding(key)
        self.made = self.client.make_table("np_punto_banco", "t-1", overrides=HOUSE)
        self.book = self.client.publish_book("t-1", 4)
        self.opened = self.client.open_shoe("t-1", **DEADLINES)
        self.shoe = self.opened.shoe
        self.lock = self.client.lock(self.shoe)
        self.seal = self.client.seal(self.shoe)
        self.dealt = [self.client.deal(self.shoe)]
        while self.dealt[-1].reveal is None:
            self.dealt.append(self.client.deal(self.shoe))

    def holding(self, token=None):
        return Client(self.url, token, vkeys=[self.vkey])

    def raw(self, path):
        """What the service says, by another way than the client's."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:  # noqa: S310  # the service's own URL
            return json.load(answer)


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    folder = Path(tmp_path_factory.mktemp("client")) / "service"
    with running_service(folder) as url:
        place = Place(url, first_key(folder))
        yield place
        place.client.close()


@pytest.fixture
def client(at):
    return at.client


def plain(result):
    """A result as JSON would have it: hashes and records as text."""
    if dataclasses.is_dataclass(result):
        return {each.name: plain(getattr(result, each.name)) for each in dataclasses.fields(result)}
    if isinstance(result, tuple | list):
        return [plain(each) for each in result]
    return result


def refused(call, status, slug):
    with pytest.raises(ServiceProblem) as told:
        call()
    assert (told.value.status, told.value.type) == (status, f"urn:fairshoe:problem:{slug}")
    assert told.value.next
    assert told.value.request_id
    return told.value


# --- steps ---------------------------------------------------------------------------------------


def test_what_the_service_gives_verifies(at):
    receipts = [at.book.receipt, at.opened.receipt, at.lock, at.seal.receipt]
    receipts += [each.receipt for each in at.dealt] + [at.dealt[-1].reveal]
    indices = [check_receipt(receipt, (at.vkey,))[0] for receipt in receipts]
    assert indices == sorted(indices)
    kinds = [parse_record(receipt.record).type for receipt in receipts]
    assert kinds == ["book", "open", "lock", "seal", *["coup"] * len(at.dealt), "reveal"]
    assert all(each.checked for each in at.dealt)
    assert at.client.reveal(at.shoe).record == at.dealt[-1].reveal.record


def test_the_clients_bundle_verifies_offline_and_by_the_service(at):
    text = at.client.bundle(at.shoe)
    own = verify_bundle(text, Evidence((at.vkey,), (at.lock,)))
    told = at.client.verify(text, receipts=[at.lock])
    assert (own.verdict, own.fairness) == ("verified", "committed")
    assert [(c.name, c.status) for c in told.checks] == [(c.name, c.status) for c in own.checks]
    assert (told.verdict, told.fairness) == (own.verdict, own.fairness)
    assert len(parse_bundle(text).records) == len(list(at.client.records(at.shoe)))


def test_the_service_verifies_with_what_its_caller_holds(at):
    head = at.client.checkpoint(size=3)
    text = at.client.bundle(at.shoe, earlier=3)
    told = at.client.verify(text, vkeys=[at.vkey], held=HeldCheckpoint(head), now="2090-01-01T00:00:00.000000Z")
    assert told.check("consistency").status == "VALID"
    assert told.verdict == verify_bundle(text, Evidence((at.vkey,), held=HeldCheckpoint(head))).verdict
    altered = text.replace('\\"decks\\":1', '\\"decks\\":2')
    assert at.client.verify(altered).verdict == "invalid"


def test_a_table_of_whole_rules(at):
    rules = NP_PUNTO_BANCO.rules
    made = at.client.make_table(rules=rules)
    assert (made.rules, made.preset) == (rules, None)
    assert at.client.table(made.id).table == made


def test_a_book_is_ended_after_the_next_is_published(at):
    at.client.make_table("np_punto_banco", "t-ended", overrides=HOUSE)
    first = at.client.publish_book("t-ended", 2)
    refused(lambda: at.client.end_book("t-ended", first.root), 409, "no-next-book")
    second = at.client.publish_book("t-ended", 3)
    ended = parse_record(at.client.end_book("t-ended", first.root).record)
    assert (ended.type, ended.root) == ("book_end", first.root)
    assert [(book.root, book.size, book.state) for book in at.client.books("t-ended")] == [
        (first.root, 2, "ended"),
        (second.root, 3, "published"),
    ]


def test_a_shoe_is_voided(at):
    at.client.make_table("np_punto_banco", "t-void", overrides=HOUSE)
    at.client.publish_book("t-void", 2)
    shoe = at.client.open_shoe("t-void", **DEADLINES).shoe
    assert at.client.table("t-void").live_shoe == shoe
    assert parse_record(at.client.void(shoe, "operator").record).reason == "operator"
    assert (at.client.state(shoe).state, at.client.shoe(shoe).state) == ("void", "void")
    shown = at.client.table("t-void")
    assert (shown.live_shoe, shown.last_shoe) == (None, shoe)


# --- reading ---------------------------------------------------------------------------------------


def test_tables_are_as_the_service_says(at):
    tables = {table.id: table for table in at.client.tables()}
    raw = at.raw("/v1/tables")["tables"]
    assert list(tables) == [each["id"] for each in raw]
    for each in raw:
        table = tables[each["id"]]
        assert {"id": table.id, "preset": table.preset, "created": table.created, "guests": table.guests} == {
            name: each[name] for name in ("id", "preset", "created", "guests")
        }
        assert table.rules.to_json() == each["rules"]


def test_lists_are_gone_through_page_by_page(at, monkeypatch):
    whole = list(at.client.coups(at.shoe))
    read = []
    get = at.client._transport.get

    def small_pages(path, query=None, media_type="application/json"):
        read.append(query)
        return get(path, {**(query or {}), "limit": "3"}, media_type)

    monkeypatch.setattr(at.client._transport, "get", small_pages)
    assert list(at.client.coups(at.shoe)) == whole
    assert [query.get("after") for query in read] == [None, *(str(n) for n in range(2, len(whole), 3))]
    assert [coup.number for coup in whole] == list(range(len(at.dealt)))
    assert [coup.record for coup in whole] == [each.receipt.record for each in at.dealt]


@pytest.mark.parametrize("second", [{"next": "7"}, {"next": "8", "records": []}])
def test_a_list_without_an_end_is_given_up(at, monkeypatch, second):
    page = {"records": [{"seq": 7, "index": 1, "record": "{}"}], "next": "7"}
    answers = [json.dumps(page), json.dumps({**page, **second})]
    monkeypatch.setattr(at.client._transport, "get", lambda *_: answers.pop(0))
    with pytest.raises(ServiceUnreachable, match="does not come to an end"):
        list(at.client.records("s"))


def test_a_shoe_is_as_the_service_says(at):
    raw = at.raw(f"/v1/shoes/{at.shoe}")
    shoe = at.client.shoe(at.shoe)
    own = {**plain(shoe), **{name: getattr(shoe, name).hex() for name in ("book", "commitment", "seal")}}
    assert own.pop("beacon_round") is None
    assert raw.pop("beacon") is None
    assert own == raw
    state = at.client.state(at.shoe)
    assert (state.ended, state.next_coup, state.last_record) == (True, len(at.dealt), at.dealt[-1].reveal.record)
    assert state.last_index == at.dealt[-1].reveal.proof.index


def test_records_and_coups_are_as_the_service_says(at):
    raw = at.raw(f"/v1/shoes/{at.shoe}/records")["records"]
    assert [{**plain(each), "record": each.record.decode()} for each in at.client.records(at.shoe)] == raw
    raw = at.raw(f"/v1/shoes/{at.shoe}/coups")["coups"]
    assert [{**plain(each), "record": each.record.decode()} for each in at.client.coups(at.shoe)] == raw
    shown = at.client.coup(at.shoe, 1)
    assert (shown.receipt.record, shown.number, shown.paths) == (at.dealt[1].receipt.record, 1, at.dealt[1].paths)


def test_roads_are_as_the_service_says(at):
    raw = at.raw(f"/v1/shoes/{at.shoe}/roads")
    roads = at.client.roads(at.shoe)
    assert {**plain(roads), "sums": roads.sums._asdict()} == raw
    letters = {"player": "P", "banker": "B", "tie": "T"}
    assert roads.outcomes == "".join(letters[coup.outcome] for coup in at.client.coups(at.shoe))


@pytest.mark.parametrize("what", ["rules", "outcomes"])
def test_statistics_are_as_the_service_says(at, what):
    raw = at.raw(f"/v1/statistics/{what}?shoe={at.shoe}")
    call = {"rules": at.client.rule_statistics, "outcomes": at.client.outcome_statistics}[what]
    told = call(shoe=at.shoe)
    assert told.scope == raw["scope"]
    (counts,), (said,) = told.decks, raw["decks"]
    assert (counts.decks, counts.shuffles, counts.judged_coups) == (
        1,
        said["judged"]["shuffles"],
        said["judged"]["coups"],
    )
    assert counts.dealt_coups == said["dealt"]["coups"] == len(at.dealt)
    for name, lines in counts.judged.items():
        fields = ("label", "observed", "expected", "deviation")
        assert [plain(line) for line in lines] == [{f: line[f] for f in fields} for line in said["judged"][name]]
        dealt = [(line["label"], line["observed"]) for line in said["dealt"][name]]
        assert [(line.label, line.observed) for line in counts.dealt[name]] == dealt
    assert [each.dealt_coups for each in call(table="t-1", since="2090-01-01T00:00:00.000000Z").decks] == [0]
    assert call(table="t-1", to="2090-01-01T00:00:00.000000Z").decks == told.decks


def test_payouts_are_as_the_service_says(at):
    (raw,) = at.raw(f"/v1/statistics/payouts?shoe={at.shoe}")["terms"]
    (told,) = at.client.payout_statistics(shoe=at.shoe)
    assert (told.decks, told.tables, told.stake_minor) == (raw["decks"], raw["tables"], raw["stake_minor"])
    assert (told.judged_coups, told.dealt_coups) == (raw["judged"]["coups"], len(at.dealt))
    for lines, said in (
        (told.judged, raw["judged"]["bets"]),
        (told.dealt, [*raw["dealt"]["bets"], raw["dealt"]["sum"]]),
    ):
        assert [plain(line) for line in lines] == [{name: line.get(name) for name in plain(lines[0])} for line in said]
    assert [
        each.dealt_coups for each in at.client.payout_statistics(table="t-1", since="2090-01-01T00:00:00.000000Z")
    ] == [0]
    assert at.client.payout_statistics(table="t-1", to="2090-01-01T00:00:00.000000Z") == (told,)


def test_the_log_proves_itself(at):
    client = at.client
    head = check_checkpoint(client.checkpoint(), [at.vkey])
    old = check_checkpoint(client.checkpoint(size=2), [at.vkey])
    entry = client.entry(1)
    assert entry == at.book.receipt.record
    shown = client.inclusion(1, head.size)
    assert (shown.index, shown.size) == (1, head.size)
    check_inclusion(leaf_hash(entry), 1, head.size, shown.path, head.root)
    shown = client.consistency(2, head.size)
    check_consistency(2, old.root, head.size, head.root, shown.path)
    assert client.inclusion(1).size >= head.size
    assert client.consistency(2).size >= head.size
    refused(lambda: client.checkpoint(cosigned=1), 404, "not-found")


def test_the_service_says_what_it_is(at):
    assert plain(at.client.version()) == at.raw("/version")


# --- accounts --------------------------------------------------------------------------------------


def test_a_key_does_what_it_was_made_for_and_no_more(at):
    made = at.client.make_key(["client"], "table 1", 3600)
    assert made.token.startswith(made.prefix)
    assert made.token not in repr(made)
    holder = at.holding(made.token)
    assert (holder.me().id, holder.me().kind, holder.me().roles) == (made.id, "key", ("client",))
    problem = refused(lambda: holder.make_table("np_punto_banco"), 403, "forbidden")
    assert made.token not in str(problem)
    refused(lambda: list(holder.api_keys()), 403, "forbidden")
    (listed,) = [key for key in at.client.api_keys() if key.id == made.id]
    assert (listed.name, listed.roles, listed.expires, listed.revoked) == ("table 1", ("client",), made.expires, None)
    assert at.client.revoke_key(made.id).revoked is not None
    refused(holder.me, 401, "unauthenticated")
    refused(lambda: at.client.revoke_key(made.id), 409, "credential-revoked")
    holder.close()


def test_webhooks_are_as_the_service_says(at):
    client = at.client
    made = client.make_webhook("https://hooks.invalid/shoes", ["shoe.opened", "shoe.voided"], "t-1")
    assert (made.webhook.url, made.webhook.table, made.webhook.state) == (
        "https://hooks.invalid/shoes",
        "t-1",
        "active",
    )
    assert made.secret not in repr(made)
    opened = client.open_shoe("t-1", **DEADLINES)
    voided = client.void(opened.shoe, "operator")
    sent = list(client.deliveries(made.webhook.id))
    assert [each.type for each in sent] == ["shoe.opened", "shoe.voided"]
    assert [each.index for each in sent] == [opened.receipt.proof.index, voided.proof.index]
    rotated = client.rotate_webhook(made.webhook.id)
    assert rotated.secret != made.secret
    assert client.disable_webhook(made.webhook.id).reason == "operator"
    assert client.enable_webhook(made.webhook.id) == made.webhook
    assert made.webhook in list(client.webhooks())
    assert client.redeliver_dead(made.webhook.id) == 0
    assert list(client.deliveries(made.webhook.id, "dead")) == []
    assert client.redeliver(made.webhook.id, sent[0].id).state == "pending"
    client.disable_webhook(made.webhook.id)


def test_nobody_is_nobody_and_reads(at):
    nobody = at.holding()
    assert plain(nobody.me()) == {"id": "", "kind": None, "roles": [], "table": None}
    assert nobody.shoe(at.shoe).id == at.shoe
    refused(lambda: nobody.publish_book("t-1", 1), 401, "unauthenticated")
    refused(lambda: nobody.make_seat("t-1"), 401, "unauthenticated")
    nobody.close()


def test_two_seats_play_a_shoe(at):
    at.client.make_table("np_punto_banco", "t-seats", overrides={"decks": 1})
    at.client.publish_book("t-seats", 1)
    opened = at.client.open_shoe("t-seats", **DEADLINES)
    seats = [at.client.make_seat("t-seats") for _ in range(2)]
    assert all(seat.token not in repr(seat) for seat in seats)
    players = [at.holding(seat.token) for seat in seats]
    assert [player.me().table for player in players] == ["t-seats"] * 2
    taken = [player.contribute(opened.shoe, commit_seed(SEED)) for player in players]
    kept = [parse_record(each.receipt.record) for each in taken]
    assert [(type(r), r.client, r.position) for r in kept] == [
        (CommittedEntropy, each.client, position) for position, each in enumerate(taken)
    ]
    refused(lambda: players[0].lock(opened.shoe), 403, "forbidden")
    at.client.lock(opened.shoe)
    problem = refused(lambda: players[0].open_seed(opened.shoe, 0, "f" * 32), 422, "proof-failed")
    assert "f" * 32 not in str(problem)
    for player, each in zip(players, taken, strict=True):
        assert player.open_seed(opened.shoe, each.client, SEED).position == each.position
    at.client.seal(opened.shoe)
    assert at.client.deal(opened.shoe).checked
    assert at.client.revoke_seat(seats[0].seat).revoked is not None
    refused(players[0].me, 401, "unauthenticated")
    for player in players:
        player.close()


def test_anyone_takes_a_seat_at_a_table_open_to_guests(at):
    made = at.client.make_table("np_punto_banco", "t-guests", overrides=HOUSE, guests=True)
    assert made.guests
    nobody = at.holding()
    seat = nobody.make_seat("t-guests")
    assert seat.table == "t-guests"
    guest = at.holding(seat.token)
    assert (guest.me().id, guest.me().kind, guest.me().roles) == (seat.seat, "seat", ("player",))
    for each in (nobody, guest):
        each.close()


# --- refusals --------------------------------------------------------------------------------------


def test_a_refusal_carries_type_status_and_detail(client):
    told = refused(lambda: client.deal("no-such-shoe"), 404, "not-found")
    assert "no-such-shoe" in str(told)


@pytest.mark.parametrize("name", ["../tables", "..", ".", "a/b", "a?b", "a#b", "a%2Fb", "ü"])
def test_whatever_a_name_is_it_stays_one_name(client, name):
    refused(lambda: list(client.records(name)), 404, "not-found")


def test_an_empty_name_is_bad_input(client):
    with pytest.raises(InputError, match="expected an id"):
        client.shoe("")


def test_rules_that_cannot_be_played_are_refused(client):
    refused(lambda: client.make_table("no_such_house", "t-2"), 422, "invalid")


def test_opening_records_what_was_asked(at):
    opening = parse_record(at.opened.receipt.record)
    assert (type(opening), opening.table, opening.shoe) == (Open, "t-1", at.shoe)


# --- answers of another form -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{}", lambda f: f.text("a")),
        ('{"a":1}', lambda f: f.text("a")),
        ('{"a":"1"}', lambda f: f.number("a")),
        ('{"a":true}', lambda f: f.number("a")),
        ('{"a":1}', lambda f: f.flag("a")),
        ('{"a":"XY"}', lambda f: f.hash("a")),
        ('{"a":"AB"}', lambda f: f.hash("a")),
        ('{"a":"a b "}', lambda f: f.hash("a")),
        ('{"a":{}}', lambda f: f.texts("a")),
        ('{"a":[1]}', lambda f: f.texts("a")),
        ('{"a":["x"]}', lambda f: f.hashes("a")),
        ('{"a":[["0"]]}', lambda f: f.paths("a")),
        ('{"a":["00"]}', lambda f: f.paths("a")),
        ('{"a":[["B"]]}', lambda f: f.rows("a", str, int)),
        ('{"a":[["B","1"]]}', lambda f: f.rows("a", str, int)),
        ('{"a":[]}', lambda f: f.part("a")),
        ('{"a":[1]}', lambda f: f.parts("a")),
        ('{"a":5}', lambda f: f.maybe("a", f.text)),
        ('{"receipt":"x"}', lambda f: f.receipt()),
        ('{"receipt":"x","record":"x","index":0}', lambda f: f.receipt()),
        ("[]", lambda f: f.plain()),
        ('{"a":1,"a":1}', lambda f: f.plain()),
        ('{"a":1.5}', lambda f: f.plain()),
    ],
)  # fmt: skip
def test_a_field_of_another_form_is_no_answer_of_the_service(text, read):
    with pytest.raises(ServiceUnreachable, match="answer"):
        read(parse_fields(text))


def test_a_wrong_value_is_not_shown():
    with pytest.raises(ServiceUnreachable) as told:
        parse_fields('{"token":["fst_secret"]}').text("token")
    assert "fst_secret" not in str(told.value)


def test_a_record_beside_another_receipt_is_no_evidence(at):
    receipt = at.lock
    answer = {"receipt": print_receipt(receipt), "record": receipt.record.decode(), "index": receipt.proof.index}
    assert parse_fields(json.dumps(answer)).receipt() == receipt
    with pytest.raises(ProofError):
        parse_fields(json.dumps({**answer, "index": answer["index"] + 1})).receipt()


# --- monitors ------------------------------------------------------------------------------------


def test_monitors_are_read_as_the_service_shows_them(at):
    """The service's own keeper goes past the coups meanwhile."""
    dealt = len(at.dealt)
    until = time.monotonic() + 60
    while min(each.coups for each in at.client.monitors("t-1")) < dealt:
        assert time.monotonic() < until
        time.sleep(0.1)
    shown = at.client.monitors("t-1")
    assert {(each.coups, each.alarms, each.alarm_index, each.changed_after) for each in shown} == {
        (dealt, 0, None, None)
    }
    for monitor in shown:
        path = at.client.monitor_path("t-1", monitor.name)
        assert path[-1].coups == dealt
        assert path[-1].evidence == monitor.evidence
        drawing = at.client.monitor_plot("t-1", monitor.name)
        (line,) = re.findall(r'<polyline points="([^"]+)"', drawing)
        assert len(line.split()) == dealt + 1
    refused(lambda: at.client.monitor_plot("t-1", "evil"), 404, "not-found")


# --- audits ------------------------------------------------------------------------------------


def test_an_audit_is_asked_for_followed_and_read(at, client):
    asked = client.ask_audit(table="t-1", receipts=[print_receipt(at.dealt[0].receipt)])
    assert (asked.state, asked.total, asked.verdict) == ("queued", None, None)
    eventually(lambda: client.audit(asked.id).state == "done")
    shown, said = client.audit(asked.id), at.raw(f"/v1/audits/{asked.id}")
    assert plain(shown) == {name: said[name] for name in ("id", "state", "done", "total", "verdict")}
    assert (shown.done, shown.verdict) == (shown.total, "pass")
    findings = client.audit_findings(asked.id)
    assert hashlib.sha256(findings.encode()).hexdigest() == said["findings_hash"]
    assert json.loads(findings)["plan"]["receipts"]
    assert shown in list(client.audits())


def test_what_an_audit_cannot_be_of_is_refused(client):
    refused(lambda: client.ask_audit(table="nowhere"), 404, "not-found")
    refused(lambda: client.ask_audit(receipts=["none"]), 422, "invalid")
    refused(lambda: client.audit("019c1000-0000-7000-8000-000000000000"), 404, "not-found")
