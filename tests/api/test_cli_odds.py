"""``fairshoe odds`` against published figures: counts of every deal for 1, 6 and 8 decks, and the main bets' edges."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from audit.edges import percent
from shoe.game.bets.wagers import CATALOGUE
from shoe.game.houses import HOUSES
from shoe.game.tableau import RULES

VECTORS = Path(__file__).parents[1] / "vectors"
RULE_CLASSES = json.loads((VECTORS / "exact_rule_classes.json").read_text())
EXACT = {decks: json.loads((VECTORS / f"exact_{decks}decks.json").read_text()) for decks in (1, 8)}
PUBLISHED_BETS = {"player": "player_1:1", "banker": "banker_5pct (19:20)", "tie": "tie_8:1"}


def call(*args: str) -> Result:
    return CliRunner().invoke(fairshoe, ["odds", *args])


def odds(*args: str) -> dict[str, Any]:
    result = call(*args, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert isinstance(printed, dict)
    return printed


@pytest.mark.parametrize("decks", EXACT)
class TestPublishedCounts:
    def test_outcomes_and_cards(self, decks: int) -> None:
        printed, published = odds("--decks", str(decks)), EXACT[decks]
        assert printed["decks"] == decks
        assert printed["total"] == published["total"]
        for key, theirs in (("outcomes", "outcomes"), ("cards", "cards_used")):
            assert printed[key] == {name: {"combinations": count} for name, count in published[theirs].items()}

    def test_joint_totals(self, decks: int) -> None:
        assert odds("--decks", str(decks))["joint_totals"] == EXACT[decks]["joint_totals"]

    def test_edges(self, decks: int) -> None:
        bets, published = odds("--decks", str(decks))["bets"], EXACT[decks]["house_edge_pct"]
        assert {name: bets[name]["edge_percent"] for name in PUBLISHED_BETS} == {
            name: published[theirs] for name, theirs in PUBLISHED_BETS.items()
        }


@pytest.mark.parametrize("decks", ["1", "6", "8"])
def test_rule_classes(decks: str) -> None:
    """The classes stand in the same order there, under longer names."""
    printed, published = odds("--decks", decks), RULE_CLASSES[decks]
    assert list(printed["rules"]) == list(RULES)
    counts = [rule["combinations"] for rule in printed["rules"].values()]
    assert counts == list(published["classes"].values())
    assert sum(counts) == printed["total"] == published["total"]


@pytest.mark.parametrize("decks", ["2", "16"])
def test_every_partition_sums_to_all_deals(decks: str) -> None:
    printed = odds("--decks", decks)
    size = 52 * int(decks)
    total = size * (size - 1) * (size - 2) * (size - 3) * (size - 4) * (size - 5)
    assert printed["total"] == total
    for key in ("outcomes", "rules", "cards"):
        assert sum(cell["combinations"] for cell in printed[key].values()) == total
    assert sum(map(sum, printed["joint_totals"])) == total
    ties = sum(printed["joint_totals"][equal][equal] for equal in range(10))
    assert printed["outcomes"]["tie"]["combinations"] == ties


def test_the_eight_deck_edges_are_those_everyone_quotes() -> None:
    """Banker 1.057905784, player 1.235081329, tie 14.359628779 percent, to nine decimals as published."""
    quoted = {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"}
    bets = odds()["bets"]
    assert list(bets)[:4] == ["player", "banker", "tie", "player_pair"]
    for name, edge in quoted.items():
        assert abs(float(bets[name]["edge_percent"]) - float(edge)) < 6e-10
        assert len(bets[name]["edge_percent"].split(".")[1]) == 12


def test_a_shoe_without_a_table_has_every_ready_made_bet() -> None:
    bets = odds("--decks", "8")["bets"]
    assert list(bets) == list(CATALOGUE)
    assert all(list(bet) == ["edge_percent"] for bet in bets.values())
    assert bets["dragon_7"]["edge_percent"] == "7.611334472443"  # Wizard of Odds: 7.611334 %
    assert bets["perfect_pair_25_250"]["edge_percent"] == "6.623516912159"  # 1 − (26·56032 + 251·481)/1689465
    assert odds() == odds("--decks", "8")


@pytest.mark.parametrize("name", HOUSES)
def test_a_table_has_its_own_decks_and_bets(name: str) -> None:
    printed, house = odds("--table", name), HOUSES[name]
    without = odds("--decks", str(house.rules.decks))
    for key in ("decks", "total", "outcomes", "rules", "cards", "joint_totals"):
        assert printed[key] == without[key]
    assert list(printed["bets"]) == [bet.name for bet in house.terms.bets]
    for bet in printed["bets"].values():
        assert list(bet) == ["edge_percent", "minimum_minor", "edge_at_minimum_percent"]
        assert bet["minimum_minor"] == house.terms.limits.min_minor
        assert len(bet["edge_at_minimum_percent"].split(".")[1]) == 12
    assert printed["bets"]["player"]["edge_percent"] == without["bets"]["player"]["edge_percent"]


def test_a_tables_own_pay_is_what_its_edge_is_of() -> None:
    """Six decks by 19:20; and a house that takes no commission has the player's edge against it."""
    edges = {name: odds("--table", name)["bets"] for name in ("doppelganger", "intercasino_as_printed")}
    assert edges["doppelganger"]["banker"]["edge_percent"] == "1.055848695482"
    assert edges["doppelganger"]["player_doppelganger"]["edge_percent"] == percent(Fraction(19, 311))
    assert edges["intercasino_as_printed"]["banker"]["edge_percent"] == "-1.235081328917"


def test_a_bank_that_can_be_broken_stands_beside_its_houses_claim() -> None:
    bank = odds("--table", "np_punto_banco")["bank"]
    assert bank["claim"].endswith("97% sure to explode the Bank")
    assert bank["claimed_percent"] == 97
    assert (bank["stake_minor"], bank["purse_minor"], bank["bank_minor"]) == (100, 100_000, 1_000_000)
    assert bank["broken"] == {"player": "2.71141953e-119", "banker": "1.33465925e-107", "tie": "7.55327747e-164"}
    assert bank["any_play_at_most_percent"] == percent(Fraction(100_000, 1_099_906))
    three = odds("--table", "np_punto_banco_three")["bank"]
    assert (three["claim"], three["claimed_percent"]) == (None, None)
    assert three["broken"] == bank["broken"]


def test_only_a_finite_bank_is_spoken_of() -> None:
    for name in ("vip", "chance", "doppelganger", "intercasino"):
        assert "bank" not in odds("--table", name)


def test_people_read_a_tables_bets_and_its_bank() -> None:
    text = call("--table", "np_punto_banco").stdout
    _, _, _, _, bets, bank, joint = text.split("\n\n")
    assert [line.split() for line in bets.splitlines()[1:]] == [
        ["player", "1.2350813289", "1.2350813289", "1:1"],
        ["banker", "1.0579057842", "1.0579057842", "1:1", "less", "5", "%"],
        ["tie", "14.3596287787", "14.3596287787", "8:1"],
    ]
    said, quoted, asked, *odds_of, most = bank.splitlines()
    assert said == "The house's page says 97 %:"
    assert quoted.endswith("97% sure to explode the Bank”")
    assert asked == "Odds that a purse of 1,000 breaks the bank of 10,000, always staking 1 on one bet:"
    assert [line.split()[0] for line in odds_of] == ["bet", "player", "banker", "tie"]
    assert most == "However it is staked, at most 9.0917 %"
    assert joint.startswith("Both totals")


def test_keys_are_those_that_scripts_rely_on() -> None:
    keys = ["decks", "total", "outcomes", "rules", "cards", "bets", "joint_totals"]
    assert list(odds()) == list(odds("--table", "vip")) == keys
    assert list(odds("--table", "np_punto_banco")) == [*keys, "bank"]
    assert list(odds()["outcomes"]) == ["banker", "player", "tie"]
    assert list(odds()["cards"]) == ["4", "5", "6"]


def test_people_read_counts_and_percents() -> None:
    text = call("--decks", "8").stdout
    assert "full shoe of 8 decks: 4,998,398,275,503,360 ordered six-card deals\n" in text
    outcomes, cards, rules, bets, joint = text.split("\n\n")[1:]
    assert [line.split() for line in outcomes.splitlines()[1:]] == [
        ["player", "2,230,518,282,592,256", "44.6246609344"],
        ["banker", "2,292,252,566,437,888", "45.8597422633"],
        ["tie", "475,627,426,473,216", "9.5155968024"],
    ]
    assert len(cards.splitlines()) == 4
    assert [line.split()[0] for line in rules.splitlines()[1:]] == list(RULES)
    assert bets.splitlines()[2].split() == ["banker", "1.0579057842", "1:1", "less", "5", "%"]
    assert abs(sum(float(cell) for row in joint.splitlines()[2:] for cell in row.split()[1:]) - 100) < 100 * 5e-5


def test_one_deck_is_no_plural() -> None:
    assert "full shoe of 1 deck: " in call("--decks", "1").stdout


@pytest.mark.parametrize("decks", ["0", "17", "-1", "+8", "8.0", "1_0", "٨", " 8", "08", "", "eight", "9" * 4301])
def test_another_number_of_decks_is_refused(decks: str) -> None:
    result = call("--decks", decks)
    assert (result.exit_code, result.stdout) == (2, "")
    said = "fairshoe odds: Invalid value for '--decks': expected a whole number 1…16, got "
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["", "NP_PUNTO_BANCO", "reno", "np_punto_banco "])
def test_an_unknown_table_is_refused(name: str) -> None:
    result = call("--table", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        "fairshoe odds: Invalid value for '--table': preset: expected one of np_punto_banco"
    )


def test_decks_and_table_together_are_refused() -> None:
    result = call("--table", "np_punto_banco", "--decks", "8")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("fairshoe odds: --decks and --table: expected one of them")
