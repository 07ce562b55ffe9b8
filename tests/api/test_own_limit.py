"""Own limits: lowered only, by PIN, once a week that turns Friday 00:00 US Eastern; and the PIN's hash."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from api.own_limit import MOST_WRONG, Held, Tried, ask_lower, blocked_until, kept_under, try_pin
from api.passcode import hash_pin, same_pin
from shoe.errors import BetError, ImpossibleError, InputError
from shoe.game.bets.layout import accept_stake
from shoe.game.houses import HOUSES

VIP = HOUSES["vip"].terms  # 5.00 to 300.00
WEDNESDAY = datetime(2026, 1, 28, 12, tzinfo=UTC)
TURN = datetime(2026, 1, 30, 5, tzinfo=UTC)  # Friday 00:00 in New York
PIN = "4711"
SECOND = timedelta(seconds=1)


def ask(held: Held, asked: int, moment: datetime = WEDNESDAY, pin: str = PIN):
    return ask_lower(held, VIP, asked, try_pin(pin, held.pin, secrets.token_bytes), moment=moment)


@pytest.fixture(scope="module")
def lowered() -> Held:
    return ask(Held(), 20_000).held


# --- the limit ---------------------------------------------------------------------------------


def test_the_first_limit_takes_its_pin_and_binds_stakes(lowered: Held) -> None:
    assert (lowered.maximum_minor, lowered.week, lowered.wrong) == (20_000, "2026-01-23", 0)
    assert accept_stake(VIP, "player", 20_000, lowered.maximum_minor) == 20_000
    with pytest.raises(BetError, match="the player's own limit"):
        accept_stake(VIP, "player", 20_500, lowered.maximum_minor)


def test_once_a_week(lowered: Held) -> None:
    for moment in (WEDNESDAY, TURN - SECOND):
        asked = ask(lowered, 10_000, moment)
        assert (asked.answer, asked.again, asked.held) == ("already_this_week", TURN, lowered)
    again = ask(lowered, 10_000, TURN)
    assert (again.answer, again.again) == ("lowered", None)
    assert (again.held.maximum_minor, again.held.week) == (10_000, "2026-01-30")
    assert again.held.pin == lowered.pin


@pytest.mark.parametrize("asked", [20_000, 20_001, 30_000, 30_001, 499, 0, -1, True, 100.0])
def test_lower_only_and_not_below_the_tables_least(lowered: Held, asked: int) -> None:
    with pytest.raises(BetError):
        ask(lowered, asked, TURN)


@pytest.mark.parametrize("asked", [30_000, 40_000])
def test_the_first_is_below_the_tables_own(asked: int) -> None:
    with pytest.raises(BetError, match="own limit: expected a limit below 30000, and at least 500"):
        ask(Held(), asked)


def test_a_limit_that_was_refused_does_not_use_up_the_week(lowered: Held) -> None:
    with pytest.raises(BetError):
        ask(lowered, 25_000, TURN)
    assert ask(lowered, 19_000, TURN).answer == "lowered"


def test_the_week_is_that_of_daylight_saving() -> None:
    """In July New York's Friday begins at 04:00 UTC."""
    july = datetime(2026, 7, 1, 12, tzinfo=UTC)
    held, turn = ask(Held(), 20_000, july).held, datetime(2026, 7, 3, 4, tzinfo=UTC)
    assert ask(held, 10_000, turn - SECOND).answer == "already_this_week"
    assert ask(held, 10_000, turn).answer == "lowered"


def test_where_a_limit_holds() -> None:
    assert VIP.own_limit is not None
    assert kept_under(VIP, "ann", "t") == kept_under(VIP, "ann", "u") == ("ann", None)
    here = replace(VIP, own_limit=replace(VIP.own_limit, holds_for="table"))
    assert kept_under(here, "ann", "t") == ("ann", "t")


def test_a_table_without_own_limits() -> None:
    none = HOUSES["doppelganger"].terms
    with pytest.raises(BetError, match="own limit: expected a table that has own limits"):
        ask_lower(Held(), none, 100, Tried(None, "", right=True), moment=WEDNESDAY)
    with pytest.raises(BetError, match="own limit: expected a table that has own limits"):
        kept_under(none, "ann", "t")


# --- wrong PINs --------------------------------------------------------------------------------


def test_a_wrong_pin_changes_nothing_but_the_count(lowered: Held) -> None:
    asked = ask(lowered, 10_000, TURN, "4712")
    assert asked.answer == "wrong_pin"
    assert asked.held == replace(lowered, wrong=1, wrong_week="2026-01-30")
    right = ask(asked.held, 10_000, TURN)
    assert (right.answer, right.held.wrong) == ("lowered", 0)


def test_a_wrong_pin_learns_nothing_of_the_limit(lowered: Held) -> None:
    """Neither whether it was set this week, nor whether the amount would do."""
    answers = {
        ask(lowered, amount, moment, "0000").answer for amount in (1, 10_000, 10**6) for moment in (WEDNESDAY, TURN)
    }
    assert answers == {"wrong_pin"}


def test_after_five_wrong_ones_none_is_looked_at_until_the_week_turns(lowered: Held) -> None:
    held = lowered
    for tries in range(MOST_WRONG):
        asked = ask(held, 10_000, WEDNESDAY, f"000{tries}")
        assert asked.answer == "wrong_pin"
        held = asked.held
    assert held.wrong == MOST_WRONG
    for pin in ("0005", PIN):
        blocked = ask(held, 10_000, TURN - SECOND, pin)
        assert (blocked.answer, blocked.again, blocked.held) == ("too_many_wrong_pins", TURN, held)
    assert ask(held, 10_000, TURN).answer == "lowered"
    assert ask(held, 10_000, TURN, "0005").held.wrong == 1


def test_tries_are_not_had_anew_at_a_table_whose_week_turns_on_another_day(lowered: Held) -> None:
    assert VIP.own_limit is not None
    monday = replace(VIP, own_limit=replace(VIP.own_limit, day="monday", zone="UTC"))
    held = lowered
    for tries in range(MOST_WRONG):
        wrong = try_pin("0000", held.pin, secrets.token_bytes)
        held = ask_lower(held, (VIP, monday)[tries % 2], 10_000, wrong, moment=WEDNESDAY).held
    assert blocked_until(held, WEDNESDAY) == TURN
    assert [ask_lower(held, terms, 10_000, wrong, moment=WEDNESDAY).answer for terms in (VIP, monday)] == [
        "too_many_wrong_pins"
    ] * 2


def test_a_try_counts_against_the_hash_that_it_was_made_on(lowered: Held) -> None:
    """Or whoever asks twice at first, by two PINs, would have both taken."""
    first = try_pin("9999", None, secrets.token_bytes)
    with pytest.raises(ImpossibleError, match="tried on another hash"):
        ask_lower(lowered, VIP, 10_000, first, moment=TURN)
    assert "scrypt" not in repr(first)


@pytest.mark.parametrize("pin", ["", "123", "1234567890123", "12a4", "１２３４", " 1234", "1234\n", "+123"])
def test_what_can_not_be_a_pin_is_refused_and_not_shown(lowered: Held, pin: str) -> None:
    for held in (Held(), lowered):
        with pytest.raises(InputError, match=r"^pin: expected 4 to 12 digits 0-9, got \d+ characters$") as refused:
            ask(held, 10_000, TURN, pin)
        assert not pin or pin.strip() not in str(refused.value).replace("4 to 12", "")


# --- the hash ----------------------------------------------------------------------------------


def test_the_hash_is_scrypts() -> None:
    """By the standard library's own scrypt, OpenSSL's, of RFC 7914."""
    kept = hash_pin(PIN, lambda size: bytes(range(size)))
    scheme, cost, blocks, lanes, salt, digest = kept.split("$")
    assert (scheme, cost, blocks, lanes) == ("scrypt", "15", "8", "1")
    unprinted = [base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) for text in (salt, digest)]
    assert unprinted[0] == bytes(range(16))
    wanted = hashlib.scrypt(PIN.encode(), salt=unprinted[0], n=2**15, r=8, p=1, maxmem=2**26, dklen=32)
    assert unprinted[1] == wanted


def test_every_hash_has_a_salt_of_its_own() -> None:
    one, other = (hash_pin(PIN, secrets.token_bytes) for _ in range(2))
    assert one != other
    assert same_pin(PIN, one)
    assert same_pin(PIN, other)
    assert not same_pin("04711", one)


def test_nothing_prints_the_hash(lowered: Held) -> None:
    asked = ask(lowered, 10_000, TURN, "0000")
    for shown in (repr(lowered), repr(asked), str(asked.held)):
        assert "scrypt" not in shown
        assert str(lowered.pin) not in shown


@pytest.mark.parametrize(
    "change", [lambda k: k[:-1], lambda k: k.replace("$15$", "$14$"), lambda k: k + "$", lambda _: ""]
)
def test_a_hash_that_was_never_kept_is_our_fault(change, lowered: Held) -> None:
    with pytest.raises(ImpossibleError, match="pin: expected a hash that was kept"):
        same_pin(PIN, change(str(lowered.pin)))
