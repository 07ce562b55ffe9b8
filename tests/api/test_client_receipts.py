"""A client with its log's keys takes no receipt that is not the step's own, and no checkpoint of a log that forked."""

from __future__ import annotations

import json
import secrets
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from api.client import Client, ServiceProblem, ServiceUnreachable, Unproven
from api.client.receipts import KnownDecks
from api.demo import first_key
from shoe.errors import InputError, NoteError, ProofError
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import SignerKey, parse_vkey
from shoe.proof.records import Coup, Seal, parse_record
from shoe.proof.seal import seal_transcript
from shoe.proof.seeds import commit_seed
from shoe.proof.tlog import check_receipt
from tests.api.installation import DEADLINES, EVERY_COUP, HOUSE, Installation
from tests.api.misbehaving import QUICK, Handler, Waiting, answer, drop_after, given, misbehaving, problem, spoil
from tests.operator import Operator, rules, secret

SEED = "0123456789abcdef0123456789abcdef"
SMALL = {"entropy": "house", "decks": 1}


@pytest.fixture
def database():
    """One of the two: what is looked at is the client, for which they are the same."""
    return "sqlite"


def vkey_of(house):
    return parse_vkey(house.client.get("/v1/log/key").text.strip())


def client_of(server, house, **more):
    more.setdefault("vkeys", [vkey_of(house)])
    around = replace(Waiting().surroundings(), chance=secrets.token_bytes)
    return Client(server.url, first_key(house.folder), patience=QUICK, surroundings=around, **more)


def player_of(client, house, table="t"):
    """The client of a player, who has just taken a seat."""
    return Client(client._transport.url, client.make_seat(table).token, vkeys=[vkey_of(house)])


@pytest.fixture
def at(house):
    """A server before a real service, and a client of it that holds the log's key."""
    with misbehaving(house) as server:
        client = client_of(server, house)
        yield server, client
        client.close()


def opened(client, table="t", **overrides):
    client.make_table("np_punto_banco", table, overrides=overrides)
    client.publish_book(table, 4)
    return client.open_shoe(table, **DEADLINES).shoe


def sealed(client, table="t", **overrides):
    shoe = opened(client, table, **overrides)
    client.lock(shoe)
    client.seal(shoe)
    return shoe


def refused(server, call, match):
    """Run what must end in a ProofError, and was asked for once."""
    before = [asked.method for asked in server.asked].count("POST")
    with pytest.raises(ProofError, match=match):
        call()
    assert [asked.method for asked in server.asked].count("POST") <= before + 1


def instead(*paths):
    """Have the service do another step than the one asked for, each path a request of its own; answer with the last."""

    def act(handler: Handler) -> None:
        for path, body in paths:
            sent = json.dumps(body).encode()
            headers = {k: v for k, v in handler.asked.headers.items() if k != "Content-Length"}
            headers["Idempotency-Key"] += path
            handler.asked = handler.asked._replace(path=path, body=sent, headers=headers)
            made = handler.forward()
        handler.give(made)

    return act


def meddle(**changes):
    """Ask the service for another thing than the client did: its receipt is as good as any."""

    def act(handler: Handler) -> None:
        body = {**json.loads(handler.asked.body), **changes}
        handler.asked = handler.asked._replace(body=json.dumps(body).encode())
        handler.asked.headers.replace_header("Content-Length", str(len(handler.asked.body)))
        handler.give(handler.forward())

    return act


# --- an honest service -----------------------------------------------------------------------------


def test_an_honest_shoe_passes_to_its_end(at):
    server, client = at
    shoe = sealed(client, **SMALL)
    dealt = []
    while not dealt or dealt[-1].reveal is None:
        dealt.append(client.deal(shoe))
    assert all(each.checked for each in dealt)
    assert [each.number for each in dealt] == list(range(len(dealt)))
    assert client.reveal(shoe).record == dealt[-1].reveal.record
    assert client.coup(shoe, 0).checked
    head = check_checkpoint(client.checkpoint(), [vkey_of(server.house)])
    assert client.held == server.house.checkpoint()
    assert head.size == server.house.size() == client._receipts.size
    assert client.verifies


def test_every_coup_of_its_own_shuffle_is_checked_against_its_own_root(at):
    _, client = at
    shoe = sealed(client, **EVERY_COUP)
    dealt = [client.deal(shoe) for _ in range(5)]
    assert [each.checked for each in dealt] == [True] * 5
    assert {parse_record(each.receipt.record).hand for each in dealt} == set(range(5))


def test_players_contribute_and_open_their_seeds(at):
    server, client = at
    shoe = opened(client, decks=1)
    players = [player_of(client, server.house) for _ in range(2)]
    taken = [player.contribute(shoe, commit_seed(SEED)) for player in players]
    assert [each.position for each in taken] == [0, 1]
    client.lock(shoe)
    assert players[0].open_seed(shoe, taken[0].client, SEED).client == taken[0].client
    assert players[1].open_seed(shoe, 1, SEED).position == 1
    client.seal(shoe)
    assert client.deal(shoe).checked
    assert parse_record(client.void(shoe, "operator").record).reason == "operator"
    for player in players:
        player.close()


def test_many_threads_deal_by_one_client(at):
    server, client = at
    shoe = sealed(client, **SMALL)
    with ThreadPoolExecutor(8) as threads:
        dealt = list(threads.map(lambda _: client.deal(shoe), range(8)))
    assert sorted(each.number for each in dealt) == list(range(8))
    assert all(each.checked for each in dealt)
    assert client._receipts.size == server.house.size()


def test_a_step_whose_answer_was_lost_is_proved_by_its_first_receipt(at):
    server, client = at
    shoe = sealed(client, **SMALL)

    def lose_and_go_on(handler: Handler) -> None:
        drop_after(handler)
        server.house.table("u", **SMALL)

    server.plan[:] = [lose_and_go_on]
    dealt = client.deal(shoe)
    assert (dealt.number, dealt.checked) == (0, True)
    assert client.deal(shoe).number == 1


# --- a receipt of something else -------------------------------------------------------------------


def test_a_receipt_of_another_shoe_is_refused(at):
    server, client = at
    one, other = opened(client, "t", **HOUSE), opened(client, "u", **HOUSE)
    server.plan[:] = [instead((f"/v1/shoes/{other}/lock", {}))]
    refused(server, lambda: client.lock(one), "another shoe than was asked for")
    assert client.state(one).state == "open"


def test_a_receipt_of_another_type_is_refused(at):
    server, client = at
    shoe = opened(client, **HOUSE)
    server.plan[:] = [instead((f"/v1/shoes/{shoe}/lock", {}), (f"/v1/shoes/{shoe}/seal", {}))]
    refused(server, lambda: client.lock(shoe), "receipt: type: expected a lock record")


def test_a_receipt_of_before_is_refused(at):
    server, client = at
    shoe = sealed(client, **SMALL)
    kept = []

    def as_before(handler: Handler) -> None:
        if handler.asked.method == "POST":
            kept.append(kept[0] if kept else handler.forward())
        handler.give(kept[0] if handler.asked.method == "POST" else handler.forward())

    server.otherwise = as_before
    client.deal(shoe)
    refused(server, lambda: client.deal(shoe), r"record \d+ was in the log of \d+ before it was asked for")


def test_a_receipt_of_another_log_is_refused(at, found):
    server, client = at
    shoe = sealed(client, **SMALL)
    for origin, match in (("elsewhere.example/log", "signature|key"), (None, "signature|key")):
        elsewhere = found(f"house of {origin}", origin=origin)
        with misbehaving(elsewhere) as theirs:
            honest = client_of(theirs, elsewhere)
            lent = honest._transport.post
            other = sealed(honest, **SMALL)
            dealt = json.loads(lent(f"/v1/shoes/{other}/coups"))
            honest.close()
        server.plan[:] = [answer(given(201, json.dumps(dealt)))]
        refused(server, lambda: client.deal(shoe), match)


def altered_record(said):
    changed = said["record"].replace('"outcome":"', '"outcome":"x', 1)
    return {**said, "record": changed, "receipt": said["receipt"].replace(said["record"], changed)}


@pytest.mark.parametrize(
    ("alter", "match"),
    [
        (altered_record, "inclusion"),
        (lambda said: {**said, "record": said["record"] + " "}, "not those of the receipt"),
        (lambda said: {**said, "index": said["index"] + 1}, "not those of the receipt"),
        (
            lambda said: {
                **said,
                "index": said["index"] - 1,
                "receipt": said["receipt"].replace(f"index {said['index']}\n", f"index {said['index'] - 1}\n"),
            },
            "inclusion",
        ),
        (lambda said: {**said, "number": said["number"] + 1}, "another number than the answer"),
        (lambda said: {**said, "paths": said["paths"][:-1]}, "paths"),
        (lambda said: {**said, "paths": said["paths"][::-1]}, "inclusion"),
        (lambda said: {**said, "paths": [["00" * 32, *path[1:]] for path in said["paths"]]}, "inclusion"),
    ],
    ids=["record", "record beside", "index beside", "index", "number", "path missing", "paths exchanged", "path"],
)
def test_an_altered_answer_is_refused(at, alter, match):
    server, client = at
    shoe = sealed(client, **SMALL)
    server.plan[:] = [spoil(alter)]
    refused(server, lambda: client.deal(shoe), match)
    assert client.state(shoe).next_coup == 1, "it was dealt: not to be asked for again"


@pytest.mark.parametrize(
    "receipt", ["nonsense", "", 7, None, "{}\nc2sp.org/tlog-proof@v1\nindex 0\n\nlog\n1\nAAAA\n\n— x y\n"]
)
def test_a_receipt_that_is_none_is_no_answer_of_the_service(at, receipt):
    server, client = at
    shoe = opened(client, **HOUSE)
    server.plan[:] = [spoil(lambda said: {**said, "receipt": receipt})]
    with pytest.raises(ServiceUnreachable, match="receipt"):
        client.lock(shoe)


@pytest.mark.parametrize(
    ("change", "call", "match"),
    [
        ({"size": 5}, lambda c, s: c.publish_book("t", 4), "another size"),
        ({"reason": "operator"}, lambda c, s: c.void(s, "seed_missing"), "another reason"),
        ({"seed_commitment": "00" * 32}, lambda c, s: c.contribute(s, bytes([1]) * 32), "another seed_commitment"),
    ],
)
def test_another_thing_than_was_asked_for_is_refused(at, change, call, match):
    server, client = at
    shoe = opened(client, decks=1)
    asking = player_of(client, server.house) if "seed_commitment" in change else client
    server.plan[:] = [meddle(**change)]
    refused(server, lambda: call(asking, shoe), match)


@pytest.mark.parametrize("name", ["lock", "seal", "reveal"])
def test_another_deadline_than_was_asked_for_is_refused(at, name):
    server, client = at
    client.make_table("np_punto_banco", "t", overrides=HOUSE)
    client.publish_book("t", 4)
    server.plan[:] = [meddle(**{f"{name}_in_s": DEADLINES[f"{name}_in_s"] + 1})]
    refused(server, lambda: client.open_shoe("t", **DEADLINES), f"another {name}_by than was asked for")


def test_another_seed_than_was_opened_is_refused_and_not_shown(at):
    server, client = at
    shoe = opened(client, decks=1)
    first, second = player_of(client, server.house), player_of(client, server.house)
    first.contribute(shoe, commit_seed(SEED))
    other = "f" * 32
    second.contribute(shoe, commit_seed(other))
    client.lock(shoe)
    token = {"Authorization": f"Bearer {second._transport._token}"}

    def of_another(handler: Handler) -> None:
        headers = {k: v for k, v in handler.asked.headers.items() if k not in ("Content-Length", "Authorization")}
        body = json.dumps({"position": 1, "seed": other}).encode()
        handler.asked = handler.asked._replace(headers={**headers, **token}, body=body)
        handler.give(handler.forward())

    server.plan[:] = [of_another]
    with pytest.raises(ProofError, match="another seed than was asked for") as told:
        first.open_seed(shoe, 0, SEED)
    assert SEED not in str(told.value)
    assert other not in str(told.value)


@pytest.mark.parametrize(
    ("alter", "call", "match"),
    [
        (lambda a: {**a, "root": "00" * 32}, lambda c: c.publish_book("t", 4), "another root"),
        (lambda a: {**a, "shoe": a["shoe"][::-1]}, lambda c: c.open_shoe("t", **DEADLINES), "another shoe"),
    ],
)
def test_an_answer_at_odds_with_its_record_is_refused(at, alter, call, match):
    server, client = at
    client.make_table("np_punto_banco", "t", overrides=HOUSE)
    client.publish_book("t", 4)
    server.plan[:] = [spoil(alter)]
    refused(server, lambda: call(client), match)


@pytest.mark.parametrize("change", [{"client": "guest-9"}, {"position": 1}])
def test_a_contribution_at_odds_with_its_record_is_refused(at, change):
    server, client = at
    shoe = opened(client, decks=1)
    player = player_of(client, server.house)
    server.plan[:] = [spoil(lambda said: {**said, **change})]
    refused(server, lambda: player.contribute(shoe, commit_seed(SEED)), "than the answer")


# --- cards -------------------------------------------------------------------------------------------


def test_cards_are_checked_once_the_seal_is_known(at):
    server, client = at
    shoe = opened(client, **SMALL)
    client.lock(shoe)
    seal = client.seal(shoe).receipt
    later = client_of(server, server.house)
    assert not later.deal(shoe).checked
    later.know_seal(seal)
    assert later.deal(shoe).checked
    assert later.coup(shoe, 0).checked
    later.close()


def test_a_seal_of_another_log_teaches_nothing(at):
    _, client = at
    elsewhere = Operator(origin="elsewhere.example/log")
    story = elsewhere.publish(elsewhere.play_shoe(rules(), players=1))
    with pytest.raises(ProofError):
        client.know_seal(elsewhere.receipt(story.indices[story.find(Seal)]))


def forged(**changes):
    """The first coup of an operator's shoe with changes, its paths, and decks that know the seal."""
    operator = Operator()
    story = operator.play_shoe(rules(), players=1)
    coup = story.records[story.find(Coup)]
    story.change(Coup, **{name: make(coup) for name, make in changes.items()})
    operator.publish(story)
    decks = KnownDecks()
    decks.learn(parse_record(story.data[story.find(Seal)]))
    return decks, parse_record(story.data[story.find(Coup)]), operator.paths(story).coups[0]


def test_an_operators_coup_is_checked():
    decks, coup, paths = forged()
    assert decks.check(coup, paths)
    assert not KnownDecks().check(coup, paths)


@pytest.mark.parametrize(
    "changes",
    [
        {"player_total": lambda c: (c.player_total + 1) % 10},
        {"outcome": lambda c: "banker" if c.outcome != "banker" else "player"},
        {"rule": lambda c: "stood_stands" if c.rule != "stood_stands" else "both_natural"},
        {"cards": lambda c: (replace(c.cards[0], card=(c.cards[0].card + 13) % 52), *c.cards[1:])},
        {"cards": lambda c: (c.cards[1], c.cards[0], *c.cards[2:])},
    ],
    ids=["total", "outcome", "rule", "card", "order"],
)
def test_an_operators_coup_that_was_not_dealt_so_is_refused(changes):
    decks, coup, paths = forged(**changes)
    with pytest.raises(ProofError):
        decks.check(coup, paths)


def test_a_seal_that_is_not_its_transcripts_teaches_nothing():
    operator = Operator()
    story = operator.play_shoe(rules(), players=1)
    story.change(Seal, seal=secret("another"))
    operator.publish(story)
    with pytest.raises(ProofError, match="not the hash"):
        KnownDecks().learn(parse_record(story.data[story.find(Seal)]))


def test_the_decks_known_are_limited():
    operator = Operator()
    story = operator.publish(operator.play_shoe(rules(), players=1))
    seal, coup = (parse_record(story.data[story.find(kind)]) for kind in (Seal, Coup))
    transcript = replace(seal.transcript, shoe="another")
    decks = KnownDecks(limit=1)
    decks.learn(seal)
    decks.learn(replace(seal, shoe="another", transcript=transcript, seal=seal_transcript(transcript)))
    assert not decks.check(coup, operator.paths(story).coups[0])


# --- the log only grows --------------------------------------------------------------------------


@pytest.fixture
def fork(house, tmp_path):
    """A service, and another from a copy of its folder: one key, one beginning, and from there what each likes."""
    with misbehaving(house) as server:
        client = client_of(server, house)
        shoe = sealed(client, **SMALL)
        client.close()
        house.stop()
        shutil.copytree(house.folder, tmp_path / "fork")
        house.start()
        forked = Installation(tmp_path / "fork")
        forked.chance.count = 10**6
        forked.clock.forward(1)
        yield server, house, forked, shoe
        forked.stop()


def test_a_fork_of_the_same_size_is_refused(fork):
    server, house, forked, _ = fork
    client = client_of(server, house)
    client.publish_book("t", 3)
    server.house = forked
    elsewhere = client_of(server, house)
    elsewhere.publish_book("t", 3)
    assert house.size() == forked.size()
    assert house.checkpoint() != forked.checkpoint()
    with pytest.raises(ProofError, match="consistency"):
        client.checkpoint()


def test_a_larger_fork_is_refused(fork):
    server, house, forked, _ = fork
    client = client_of(server, house)
    client.publish_book("t", 3)
    held = client.held
    server.house = forked
    elsewhere = client_of(server, house)
    for _ in range(3):
        elsewhere.publish_book("t", 3)
    with pytest.raises(ProofError, match="consistency"):
        client.checkpoint()
    refused(server, lambda: client.publish_book("t", 3), "consistency")
    assert client.held == held, "what does not hold is not remembered"


def test_a_service_set_back_is_refused(fork):
    server, house, forked, shoe = fork
    client = client_of(server, house)
    for _ in range(3):
        client.publish_book("t", 3)
    server.house = forked
    with pytest.raises(ProofError, match="checkpoint size"):
        client.checkpoint()
    refused(server, lambda: client.deal(shoe), "before it was asked for")


def test_what_was_held_before_binds_the_next_client(fork):
    server, house, forked, _ = fork
    client = client_of(server, house)
    client.publish_book("t", 3)
    held = client.held
    later = client_of(server, house, held=held)
    assert later.held == held
    later.publish_book("t", 3)
    server.house = forked
    again = client_of(server, house, held=held)
    with pytest.raises(ProofError):
        again.checkpoint()


def test_an_older_checkpoint_asked_for_must_be_of_the_same_log(fork):
    server, house, forked, _ = fork
    client = client_of(server, house)
    size = check_checkpoint(client.checkpoint(), [vkey_of(house)]).size
    client.publish_book("t", 3)
    middle = client._receipts.size
    client.publish_book("t", 3)
    assert client.checkpoint(size=middle).split("\n")[1] == str(middle)
    assert client._receipts.size == middle + 1
    server.house = forked
    elsewhere = client_of(server, house)
    for _ in range(2):
        elsewhere.publish_book("t", 3)
    with pytest.raises(ProofError, match="consistency"):
        client.checkpoint(size=middle)
    assert size == middle - 1


@pytest.mark.parametrize(
    ("says", "match"),
    [
        (answer(problem(404)), "shows no way"),
        (answer(problem(422)), "shows no way"),
        (answer(given(200, '{"old":1,"new":2,"path":[]}')), "consistency"),
    ],
    ids=["404", "422", "no path"],
)
def test_a_service_that_does_not_show_its_growth_is_refused(at, says, match):
    server, client = at
    client.make_table("np_punto_banco", "t", overrides=HOUSE)
    client.publish_book("t", 3)
    server.otherwise = _on_consistency(says)
    refused(server, lambda: client.publish_book("t", 3), match)


@pytest.mark.parametrize(
    "says",
    [
        answer(problem(503)),
        answer(problem(429, Retry_After="3600")),
        answer(problem(500)),
        answer(given(200, '{"path":["xx"]}')),
        lambda handler: setattr(handler, "close_connection", True),
    ],
    ids=["503", "429", "500", "no hashes", "drops"],
)
def test_a_step_that_could_not_be_proved_to_the_end_hands_over_its_receipt(at, says):
    server, client = at
    client.make_table("np_punto_banco", "t", overrides=HOUSE)
    client.publish_book("t", 3)
    before = client.held
    server.otherwise = _on_consistency(says)
    with pytest.raises(Unproven, match="the step was taken") as told:
        client.publish_book("t", 2)
    server.otherwise = None
    index, _ = check_receipt(told.value.receipt, [vkey_of(server.house)])
    assert index == server.house.size() - 1
    assert client.held == before
    assert [book.size for book in client.books("t")] == [3, 2]
    client.publish_book("t", 3)


def _on_consistency(says):
    def act(handler: Handler) -> None:
        if "/consistency" in handler.asked.path:
            says(handler)
        else:
            handler.give(handler.forward())

    return act


# --- without keys, and with others ---------------------------------------------------------------


def test_without_keys_nothing_is_verified_and_it_says_so(at):
    server, verifying = at
    shoe = sealed(verifying, **SMALL)
    client = client_of(server, server.house, vkeys=())
    assert (client.verifies, client.held) == (False, None)
    assert "verifies=False" in repr(client)
    server.plan[:] = [spoil(altered_record)]
    assert not client.deal(shoe).checked
    client.know_seal(client.deal(shoe).receipt)
    assert not client.deal(shoe).checked
    assert client.checkpoint() == server.house.checkpoint()
    server.plan[:] = [spoil(lambda said: {**said, "index": said["index"] + 1})]
    with pytest.raises(ProofError, match="not those of the receipt"):
        client.deal(shoe)


def test_with_another_key_nothing_passes(at):
    server, honest = at
    honest.make_table("np_punto_banco", "t", overrides=HOUSE)
    stranger = SignerKey.from_seed("fairshoe.example/log", secret("another")).vkey
    client = client_of(server, server.house, vkeys=[stranger])
    with pytest.raises(ProofError):
        client.checkpoint()
    refused(server, lambda: client.publish_book("t", 3), "signature")


def test_a_checkpoint_held_without_keys_is_bad_input(at):
    server, client = at
    with pytest.raises(InputError, match="held: expected the log's keys"):
        Client(server.url, held=client.checkpoint())


@pytest.mark.parametrize("held", ["", "x", "fairshoe.example/log\n1\nAAAA\n"])
def test_a_checkpoint_held_that_is_none_is_bad_input(at, held):
    server, _ = at
    with pytest.raises(NoteError):
        Client(server.url, vkeys=[vkey_of(server.house)], held=held)


def test_a_head_that_is_none_is_no_answer_of_the_service(at):
    server, client = at
    server.plan[:] = [answer(given(200, "no checkpoint", "text/plain"))]
    with pytest.raises(ServiceUnreachable, match="no checkpoint"):
        client.checkpoint()


def test_a_refusal_changes_nothing_that_is_believed(at):
    _, client = at
    client.checkpoint()
    held = client.held
    with pytest.raises(ServiceProblem):
        client.lock("no-such-shoe")
    assert client.held == held
