"""What keeps a rule of a house's page: names of tests, and the two kinds of sentence that no table's rule is in."""

from __future__ import annotations

from typing import NamedTuple

SCREEN = "on a screen or in a hall"
"""No rule of a table: what a program shows, plays or takes from a mouse, or how a hall is staffed; see its reading."""
DECISIONS = "in games with decisions"
"""No rule of punto banco, where nobody decides anything once the cards are dealt: np_var_1, np_var_2, chemin de fer.

Decisions are records of their own kind, in supplements to the protocol; none of the seven presets has any.
"""

CARDS = "tests/shoe/test_cards.py::"
TABLEAU = "tests/shoe/test_tableau.py::"
DEALING = "tests/shoe/test_dealing.py::"
ROADS = "tests/shoe/test_roads.py::"
SETTLING = "tests/shoe/test_bets_settling.py::"
LAYOUT = "tests/shoe/test_bets_layout.py::"
HOUSES = "tests/shoe/test_houses.py::"
EDGES = "tests/audit/test_bet_edges.py::"
BANK = "tests/audit/test_bank.py::"
STATISTICS = "tests/api/test_statistics.py::"
PAYOUTS = "tests/api/test_payouts.py::"
BETS = "tests/api/test_bets.py::"
PACE = "tests/api/test_pace.py::"
LOOPING = "tests/api/test_looping.py::"
WEEKS = "tests/api/test_weeks.py::"
EVERYWHERE = "tests/api/test_limits.py::test_it_holds_at_all_tables_and_at_all_later_seats_of_the_player"
BY_PIN = "tests/api/test_limits.py::test_a_limit_is_confirmed_by_pin_and_binds_the_next_bet"

POINTS = CARDS + "test_each_card_prints_parses_and_counts"
TOTALS = TABLEAU + "test_totals_drop_the_tens_before_the_decision"
HIGHER = TABLEAU + "test_the_higher_total_wins"
NATURAL = TABLEAU + "test_a_natural_ends_the_coup_after_four_cards"
PLAYER_CELL = TABLEAU + "test_player_cell"
BANKER_CELL = TABLEAU + "test_banker_cell"
CHART = TABLEAU + "test_every_decision_equals_the_printed_chart_and_reaches_the_15_rules_only"
ZERO = TABLEAU + "test_banker_3_draws_against_0_though_two_printed_tables_leave_it_out"
STOOD = TABLEAU + "test_banker_stands_on_6_and_draws_on_5_where_the_player_stood"
BY_HAND = SETTLING + "test_every_bet_on_coups_reckoned_by_hand"
NINETEEN = SETTLING + "test_nineteen_to_twenty_and_five_percent_are_one"
LAST = DEALING + "test_drawn_in_the_coup_that_takes_a_card_from_behind_the_cut_is_the_last"
EVERYTHING = SETTLING + "test_every_bet_on_everything_that_a_coup_can_show_equals_the_slow_reference"
TIED = SETTLING + "test_a_tied_stake_goes_where_the_house_says"
ROW = HOUSES + "test_a_preset_is_its_houses_row"
PAYS = HOUSES + "test_player_and_tie_pay_alike_at_every_house"
TAKEN = LAYOUT + "test_bets_that_a_table_takes"
REFUSED = LAYOUT + "test_bets_that_a_table_refuses"
OWN_LIMIT = LAYOUT + "test_an_own_limit_can_only_be_lowered"
COLUMNS = ROADS + "test_a_tie_stays_in_the_column_of_the_winner_before_it"
DOPPELGANGER = HOUSES + "test_only_the_doppelganger_house_has_side_bets_and_they_need_a_main_bet"
WITHDRAWN = BETS + "test_what_is_withdrawn_comes_back_and_is_not_closed"
CHOSEN = PACE + "test_a_coup_is_dealt_once_everyone_has_chosen_deal_or_pass"
SAT_OUT = PACE + "test_who_neither_bets_nor_passes_within_fifteen_seconds_sits_the_coup_out"
REBET = PACE + "test_rebet_lays_again_what_was_dealt_last"
TOLD = PACE + "test_a_seat_that_wins_is_told_what_went_to_its_purse"
NEXT = PACE + "test_a_stake_that_comes_during_a_coup_counts_from_the_next"
ASKED = PACE + "test_where_the_players_deal_deals_no_seat_waits"
PAIRS = SETTLING + "test_pairs_are_classed_by_the_first_two_cards"


COUNTERS = "tests/api/test_counters.py::test_every_column_is_what_the_cards_say"
COLUMN_BY_COLUMN = PAYOUTS + "test_every_bet_every_time_by_hand"
WHOLE = "tests/api/test_whole_shoes.py::"
FACE_UP = WHOLE + "test_cards_open_against_the_root_that_was_signed_before_the_first_bet"
SHUFFLED = WHOLE + "test_the_cards_are_the_shuffle_of_the_published_seed_and_the_coups_the_tableaus"
NO_NAMES = BETS + "test_no_stake_and_no_name_of_a_seat_enters_the_log"
PLAYED = "tests/api/test_bets_presets.py::test_a_preset_is_opened_bet_on_dealt_settled_verified_and_shown"
CHOICES = PACE + "test_a_game_client_sees_what_everyone_chose"
USE = STATISTICS + "test_counts_are_those_of_the_coups"
FOUR_CARDS = TABLEAU + "test_cards_go_to_player_and_banker_by_turns_then_the_players_third"
PUBLISHED = EDGES + "test_edges_of_eight_decks_are_the_published_ones"
OFTENER = "tests/audit/test_exact.py::test_the_banker_wins_oftener_because_of_its_draws"


class Rule(NamedTuple):
    """A rule of a page: some of its words, what keeps it, and the reading that holds where there is more than one."""

    words: str
    kept: str
    reading: str = ""
