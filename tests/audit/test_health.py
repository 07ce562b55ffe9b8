"""Dead, stuck and lame sources, working ones, and algorithms that give a wrong answer."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audit.health import KNOWN_ANSWERS, WINDOW, Cutoffs, HealthError, HealthMonitor, KnownAnswer, cutoffs, self_test
from shoe.errors import FairshoeError, ImpossibleError, InputError
from shoe.game.cards import card_names
from shoe.proof.notation import sha256
from shoe.proof.shuffle import forward_shuffle
from shoe.proof.stream import words

VECTOR = json.loads((Path(__file__).parents[1] / "vectors" / "protocol.json").read_text())[0]


def sound(size: int, seed: int = 1) -> bytes:
    return np.random.Generator(np.random.PCG64(seed)).bytes(size)


@pytest.mark.parametrize(("entropy", "in_window"), [(0.5, 410), (1, 311), (2, 177), (4, 62), (8, 13)])
def test_cutoffs_of_windows_as_published(entropy: float, in_window: int) -> None:
    """SP 800-90B §4.4.2, table 2, for windows of 512 and a false alarm of 2^-20."""
    assert cutoffs(entropy, 20).in_window == in_window


def test_cutoffs_of_repetitions_as_published() -> None:
    """SP 800-90B §4.4.1: 1 + ⌈20/H⌉ at 2^-20; its example of 2 bits a sample and 2^-30 has 16."""
    assert cutoffs(2, 30).repeated == 16
    assert [cutoffs(entropy, 20).repeated for entropy in (1, 4, 8)] == [21, 6, 4]
    assert cutoffs() == Cutoffs(repeated=6, in_window=19)


@pytest.mark.parametrize("entropy", [0, -1, 8.01])
def test_bytes_have_no_such_entropy(entropy: float) -> None:
    with pytest.raises(InputError, match=r"^cutoffs: expected an entropy above 0, at most 8"):
        cutoffs(entropy)


def test_a_working_source_raises_no_alarm_in_a_million_bytes() -> None:
    monitor = HealthMonitor()
    monitor.start(sound(1024, 2))
    data = sound(1_000_000)
    assert b"".join(monitor.check(data[at : at + 32]) for at in range(0, len(data), 32)) == data


@pytest.mark.parametrize("stuck", [b"\0", b"\xff", b"A"])
def test_a_dead_source_is_seen_at_once(stuck: bytes) -> None:
    with pytest.raises(HealthError, match=r"^source: 6 equal bytes in a row$"):
        HealthMonitor().start(stuck * 1024)


def test_repetitions_go_on_over_draws() -> None:
    monitor = HealthMonitor()
    monitor.check(b"\1\7\7\7")
    assert monitor.check(b"\7\7") == b"\7\7"
    with pytest.raises(HealthError, match="6 equal bytes in a row"):
        monitor.check(b"\7\1")


@pytest.mark.parametrize(("alike", "alarm"), [(18, False), (19, True)])
def test_a_byte_that_comes_too_often_in_a_window(alike: int, alarm: bool) -> None:
    """The first byte of a window counts too; of the other 511, 18 more alike are too many."""
    others = [(at % 255) + 1 for at in range(WINDOW)]
    for at in range(alike):
        others[at * 20] = 0
    monitor = HealthMonitor()
    if not alarm:
        assert monitor.check(bytes(others)) == bytes(others)
        return
    with pytest.raises(HealthError, match=r"^source: 19 equal bytes in a window of 512$"):
        monitor.check(bytes(others))


def test_windows_begin_anew_after_512_bytes() -> None:
    """Eighteen in one window and eighteen in the next are no alarm; a new window counts its own first byte."""
    window = [0 if at % 20 == 0 and at < 360 else (at % 255) + 1 for at in range(WINDOW)]
    assert len(HealthMonitor().check(bytes(window * 3))) == 3 * WINDOW


def test_a_source_of_few_values_is_seen_in_a_window() -> None:
    few = bytes(np.random.Generator(np.random.PCG64(3)).permutation(np.arange(1024) % 16).astype(np.uint8))
    with pytest.raises(HealthError, match="window of 512"):
        HealthMonitor(Cutoffs(100, 19)).start(few)


def test_alarms_show_no_byte_and_are_errors_of_ours() -> None:
    assert issubclass(HealthError, FairshoeError)
    with pytest.raises(HealthError) as caught:
        HealthMonitor().check(b"Z" * 10)
    assert not re.search("Z|5a|90", str(caught.value))


def test_a_start_needs_1024_bytes() -> None:
    with pytest.raises(InputError, match=r"^start: expected 1024 or more bytes, got 1023$"):
        HealthMonitor().start(sound(1023))


def test_self_tests_name_what_was_tested_and_who_published_it() -> None:
    assert self_test() == tuple(f"{test.name} ({test.source})" for test in KNOWN_ANSWERS)
    assert {test.name for test in KNOWN_ANSWERS} >= {"AES-256", "SHA-256", "HMAC-SHA-256", "HKDF-SHA-256"}
    assert len(self_test()) == 8


@pytest.mark.parametrize("at", range(len(KNOWN_ANSWERS)))
def test_one_wrong_bit_of_any_answer_is_fatal(at: int) -> None:
    tests = list(KNOWN_ANSWERS)
    answer = tests[at].answer
    tests[at] = replace(tests[at], answer=answer[:-1] + bytes([answer[-1] ^ 1]))
    with pytest.raises(ImpossibleError, match=f"^self-test {re.escape(tests[at].name)}: expected the answer of "):
        self_test(tests)


def test_an_algorithm_that_answers_shortly_is_fatal() -> None:
    with pytest.raises(ImpossibleError, match=r"^self-test half:"):
        self_test([KnownAnswer("half", "nobody", lambda: b"\1", b"\1\2")])


def test_answers_of_the_protocol_are_those_of_its_vectors() -> None:
    answers = {test.name: test.answer for test in KNOWN_ANSWERS}
    assert answers["server seed"].hex() == VECTOR["server_seed"]
    assert answers["shuffle key"].hex() == VECTOR["shuffle_key"]
    cards = forward_shuffle(words(bytes.fromhex(VECTOR["shuffle_key"]), 0), 8)
    assert card_names(cards) == VECTOR["cards"]
    assert answers["shuffle of 8 decks"] == sha256(bytes(cards))
