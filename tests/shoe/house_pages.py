"""Every sentence of the five houses' pages that states a rule, in a few of its words, and what keeps it.

A row has the words, where the rule is kept, and the reading that holds where the page contradicts itself, another page
or the game. It is kept by a test, or by the service, or by games with decisions, which have supplements of their own.
The houses: NP Baccarat; CHANCE (last revised 6 June 2003); InterCasino; Punto Banco with DoppelGanger; VIP Casino.
"""

from __future__ import annotations

from typing import NamedTuple

API = "in the API"
DECISIONS = "in the games with decisions"

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


class Rule(NamedTuple):
    """A rule of a page: some of its words, what keeps it, and the reading that holds where there is more than one."""

    words: str
    kept: str
    reading: str = ""


NP = (
    Rule("you play with 2 to 3 cards", CHART),
    Rule("Ace is always worth 1, cards from 2 - 9 are worth their number", POINTS),
    Rule("10, J, Q and K do not have any value", POINTS),
    Rule("rightmost digit of the sum of all cards", TOTALS),
    Rule("as near 9 as possible", HIGHER),
    Rule("you try to guess the result, and set bets on it", BY_HAND),
    Rule("three possible results, Player, Tie and Banker", HIGHER),
    Rule("Losing bets will be collected", BY_HAND),
    Rule("1–1 will be paid to the player and 95% to the 'Banker'", BY_HAND),
    Rule("In the long run, the bank has more victories", EDGES + "test_the_law_is_that_of_the_cells_split_by_pairs"),
    Rule("All tie bets will be paid at 8 to 1 odds", BY_HAND),
    Rule("remain in place and active for the next game", TIED, "The stake stays, and the player may take it back."),
    Rule("may or may not be able to retract these bets", TIED, "He may: the table says may_stay."),
    Rule("1 to 1 from the victory of Player", PAYS),
    Rule("minus 5 % commission from your winning", ROW, "Of the win alone: the wager is “returned as whole”."),
    Rule("8 to 1 from ties", PAYS),
    Rule("bet only one option per game", REFUSED),
    Rule("Loop option for creating stats from the games", LOOPING + "test_a_loop_deals_and_settles_every_coup"),
    Rule("allowed to set wagers for all three option", TAKEN, "A table of its own: np_punto_banco_three."),
    Rule(
        "you are, at some point you are 97% sure to explode the Bank",
        BANK + "test_no_way_to_stake_comes_near_the_claim",
        "At most 1 in 11 however the purse is staked, and beyond all hope with the default stake.",
    ),
    Rule("small default wager gives you buffer", BANK + "test_the_players_bet_by_the_closed_form_of_gamblers_ruin"),
    Rule(
        "When Loop option is enabled, limits for losses are disabled",
        LOOPING + "test_what_the_purse_lacks_is_lent_and_what_comes_back_pays_it_first",
        "The house lends what the purse lacks; what comes back pays that first.",
    ),
    Rule("8 or 9 in initial deal, the game ends immediately", NATURAL),
    Rule("A cut-card is placed in front of the seventh-last card", ROW),
    Rule("drawing of the cut-card indicates the last coup", LAST, "The coup that draws it is the last, not one more."),
    Rule("initial total of 0-5, he draws a third card", PLAYER_CELL),
    Rule("initial total of 6 or 7, he stands", PLAYER_CELL),
    Rule("Banker regards only his own hand", STOOD),
    Rule("drew a 2 or 3, the Banker draws if he has 0–4", BANKER_CELL),
    Rule("drew a 4 or 5, the Banker draws if he has 0–5", BANKER_CELL),
    Rule("drew a 6 or 7, the Banker draws if he has 0–6", BANKER_CELL),
    Rule("drew an 8, the Banker draws if he has 0–2", BANKER_CELL),
    Rule("ace, 9, 10, or face-card, the Banker draws if he has 0–3", BANKER_CELL),
    Rule("The player can bet his victory, bankers victory or tie", BY_HAND),
    Rule(
        "Croupier deals two cards for the player, and two cards",
        TABLEAU + "test_cards_go_to_player_and_banker_by_turns_then_the_players_third",
    ),
    Rule("All cards are dealt face up", API),
    Rule(
        "you must set the wager, and select result",
        BETS + "test_a_malformed_bet_is_refused",
        "Loop play and a preserved wager set them again by themselves.",
    ),
    Rule("After the game is over, you click the deck", ASKED),
    Rule("You can do changes to the wager and other things during the game", NEXT),
    Rule("taken to notice in the next game you play", NEXT),
    Rule(
        "The cash reserves of the NP Casino are limited", LAYOUT + "test_a_bet_that_the_bank_could_not_pay_is_refused"
    ),
    Rule("possible to explode the whole casino", LAYOUT + "test_a_bank_is_broken_by_play"),
    Rule("re-shuffling of the deck is fully automated", API),
    Rule(
        "By default the program clears your previous wagers",
        PACE + "test_a_wager_is_cleared_after_a_coup_unless_it_is_preserved",
    ),
    Rule("Preserve wager", PACE + "test_a_preserved_wager_lies_on_the_next_coup"),
    Rule("games you have played are not saved to anywhere", API, "Here every coup is a record; who bet is in none."),
    Rule("Player = The games you have played betting on Player's victory", API),
    Rule("Total = Shows the totals for each column", API),
    Rule("Games = The total number number of victories", API, "All games: “victories” are the next column."),
    Rule("Lost = Then number of games, where you lost your money", API),
    Rule("Four columns in green, money table", API, "Five are listed: games, wins, ties, bets, total."),
    Rule("Ties = The total from wagers which were returned", API),
    Rule("all money was set on a single target, all the time", PAYOUTS + "test_every_bet_every_time_by_hand"),
    Rule(
        "When you win, your wager is always returned back",
        SETTLING + "test_what_comes_back_and_stays_is_the_stake_and_the_net",
    ),
    Rule("When the result is tie, and you didn't bet on it, your wager is returned", TIED),
    Rule(
        "There are 15 rules with what the game is played",
        TABLEAU + "test_there_are_15_rules_and_14_where_one_sided_naturals_are_merged",
    ),
    Rule(
        "these games are gathered under single rule",
        TABLEAU + "test_merging_joins_the_one_sided_naturals_and_nothing_else",
    ),
    Rule("literal descriptions for each rule", TABLEAU + "test_each_rule_has_words"),
    Rule(
        "There aren't any existing formulas or stats",
        STATISTICS + "test_expectations_are_the_published_laws",
        "There are: each rule's frequency is exact, by enumeration.",
    ),
    Rule("victory goes always to the one, who got 8 or 9", NATURAL),
    Rule("you switch the turns with NP Assisted Virtual Player", DECISIONS),
    Rule("opens it's turn as banker it the follows your previous wager", DECISIONS),
    Rule("banker has lost a sum which is equal to initial wager", DECISIONS),
    Rule("The banker can also retire from his turn", DECISIONS),
    Rule("banker is not allowed to add money to the pot", DECISIONS),
    Rule("outstanding wager act's as maximum wager for punter", DECISIONS),
    Rule("cut-card is placed in random position near the end", DECISIONS),
    Rule("Has always a freedom to choose", DECISIONS),
    Rule("initial deal is 0-4, the banker stands with 5-7", DECISIONS, "The virtual punter stands on 5–7."),
    Rule("third card if his hand is weaker than the players hand", DECISIONS),
    Rule("played with one deck only", DECISIONS),
    Rule("In variation II the cards are dealt face down", DECISIONS),
    Rule("the cards are shown after drawings", DECISIONS),
    Rule("On confirmed cheat, the player loses half of the bet", DECISIONS),
    Rule("Six decks of cards are used, shuffled together", DECISIONS),
    Rule("Players are seated in random order", DECISIONS),
    Rule("continues counterclockwise", DECISIONS),
    Rule("all players shuffle the cards in play order", DECISIONS),
    Rule("the player to his left cuts the deck", DECISIONS),
    Rule("The player with the highest bet is the banker", DECISIONS),
    Rule('shout "Banco" or "Go bank"', DECISIONS),
    Rule("gather a bet, which is equal to the banker's bet", DECISIONS),
    Rule("make decisions about taking the third card", DECISIONS),
)

CHANCE = (
    Rule("a minimum of 2 and a maximum of 3 cards", CHART),
    Rule("closest total to 9 where all 10s and face cards count as zero", POINTS),
    Rule("counts as the total minus 10", TOTALS),
    Rule("no further cards are dealt", NATURAL),
    Rule("determined by the total of the first 2 cards in the Player's hand", PLAYER_CELL),
    Rule("The Player must hit (draw another card) on 0,1,2,3,4,5", PLAYER_CELL),
    Rule(
        "Banker must hit on 0,1,2,3,4,5,6 and stand on 7,8 and 9",
        BANKER_CELL,
        "As the full instructions say, by the third card.",
    ),
    Rule("clicking repeatedly to increase the bet", API),
    Rule("click on CLEAR BETS to remove the bet", WITHDRAWN),
    Rule("or any combination of these", TAKEN),
    Rule("The bet amount must be set before the cards are dealt", NEXT),
    Rule("The default bet amount and minimum bet amount is $1", ROW),
    Rule("The maximum chip amount is $500", ROW, "It bounds a chip, not a stake: no greatest stake is said."),
    Rule("select and place different bet amounts", TAKEN),
    Rule("only possible if you have not yet begun to play", NEXT),
    Rule("A Win on the Banker's hand pays 19 - 20", NINETEEN),
    Rule("Player's hand pays 1 - 1 or even money", PAYS),
    Rule("A Tie pays 8 - 1", PAYS),
    Rule('click the "Deal" button to start dealing', ASKED),
    Rule("After the first 2 cards are dealt to each hand", NATURAL),
    Rule('value of 0 to 5: Another card is drawn for the "Player"', PLAYER_CELL),
    Rule('value of 6 or 7: The "Player" hand stands', PLAYER_CELL),
    Rule('automatically wins without the "Banker" hand drawing another card', NATURAL),
    Rule('first two cards total 6 or 7: The "Banker" draws on a total of 0 - 5', STOOD),
    Rule('value of 0 to 2: Another card is drawn for the "Banker"', BANKER_CELL),
    Rule(
        "anything but 8 or no player card drawn",
        TABLEAU + "test_banker_3_stands_against_8_alone",
        "On 3 the banker draws against anything but 8, and where no card was drawn.",
    ),
    Rule("2 to 7 inclusive or no player card drawn", BANKER_CELL),
    Rule("4 to 7 inclusive or no player card drawn", BANKER_CELL),
    Rule("third card was a 6 or 7", TABLEAU + "test_banker_6_looks_at_the_third_card_not_at_the_players_total"),
    Rule('value of 7: The "Banker" hand stands', BANKER_CELL),
    Rule('unless the "Player" hand has the same or higher value', NATURAL),
    Rule("same total, the hand is declared a Tie", HIGHER),
    Rule(
        "are declared a push and remain in place until the beginning of the next hand",
        TIED,
        "Pushed, and the stake stays.",
    ),
    Rule("your win amount will be credited to your purse", TOLD),
    Rule("a message will appear advising you of the amount", TOLD),
)

INTERCASINO = (
    Rule("The cards are shuffled after each hand", ROW),
    Rule("wagers on whether the Player's hand or the Banker's hand is closest to a total of 9", BY_HAND),
    Rule("option to wager on a tie", BY_HAND),
    Rule("8 decks of 52 cards are used", ROW),
    Rule("$1, $5, $25, $100, $500", ROW),
    Rule("To specify a bet that is not equal to an existing chip denomination", TAKEN),
    Rule("withdraw your entire wager", WITHDRAWN),
    Rule("You may repeat your last bet", REBET),
    Rule(
        "automatically adjusted to the minimum bet amount",
        LAYOUT + "test_intercasino_raises_a_lower_stake_to_its_least",
    ),
    Rule("After the player has pressed either the Deal or Pass button", ASKED),
    Rule("All tens and picture cards are worth zero", POINTS),
    Rule("adjusted by subtracting 10 from the total", TOTALS),
    Rule("the player does not ask for a third card", PLAYER_CELL),
    Rule("No hand receives more than three cards", CHART),
    Rule("same total, the hand is declared a Tie", HIGHER),
    Rule("no more cards shall be dealt to either hand", NATURAL),
    Rule("0 to 7 inclusive, the Player's hand shall draw", PLAYER_CELL, "By the player's own rules: it draws on 0–5."),
    Rule("0-5 Player's hand must draw", PLAYER_CELL),
    Rule("0-2 Banker's hand must draw", BANKER_CELL),
    Rule("7 Banker's hand must stand", BANKER_CELL),
    Rule("3 1-2-3-4-5-6-7-9 8", ZERO, "0 is left out of both columns; 0 draws."),
    Rule("4 2-3-4-5-6-7 0,1,8,9", BANKER_CELL),
    Rule("5 4-5-6-7 0-1-2-3-8-9", BANKER_CELL),
    Rule("6 6-7 0-1-2-3-4-5-8-9", BANKER_CELL),
    Rule("totalling 3,4,5 must draw and a Banker hand totalling 6 must stand", STOOD, "0–2 draw too."),
    Rule("A winning Player hand wager 1 to 1", PAYS),
    Rule(
        "A winning Banker hand wager 1 to 1",
        EDGES + "test_edges_of_every_table_per_unit_and_at_its_least_stake",
        "intercasino takes 5 %; intercasino_as_printed takes the page at its word, and the bettor has the edge.",
    ),
    Rule("A winning Tie wager 8 to 1", PAYS),
    Rule("$5 minimum bet. $300 maximum bet", ROW),
    Rule("set your table bet limit below the maximum", OWN_LIMIT),
    Rule("confirm it by typing your PIN", BY_PIN),
    Rule(
        "no more than once per week (Friday 12:00 AM EST)",
        WEEKS + "test_every_change_of_daylight_saving",
        "Friday 00:00 in US Eastern time, daylight saving observed.",
    ),
    Rule("affects the bet limit for all games", EVERYWHERE),
    Rule("Consecutive wins by either the Banker or the Player are displayed in the same column", COLUMNS),
    Rule("A new column is displayed when the Banker or Player starts a new winning streak", COLUMNS),
    Rule("always displayed in the same column as the previous winner", COLUMNS),
    Rule("turn on/off the Sound, Voice and Animation", API),
    Rule("A 9 value wins over any other smaller total", HIGHER),
    Rule("finishes on a total sum of 6 or 7", PLAYER_CELL),
    Rule("5 or less he must take one card openly", PLAYER_CELL),
    Rule("With a total sum of 7, he stops", BANKER_CELL),
    Rule("There are no variations for either the player or the banker", CHART),
    Rule(
        "takes a payment on gaining banker wagers", ROW, "Against “1 to 1” in the pay-out table: intercasino takes 5 %."
    ),
    Rule("commission that is paid on gaining bank bets", ROW, "As above."),
    Rule("bet three ways: on the bank, on the gambler's cards, or for a draw", TAKEN),
    Rule("wagers are made prior to any cards being given out", NEXT),
)

DOPPELGANGER_HOUSE = (
    Rule("Picture cards and tens count as 0; Aces count as 1", POINTS),
    Rule('known as a "Natural" and no additional cards', NATURAL),
    Rule("the first digit of a two-digit number is always dropped", TOTALS),
    Rule("The hand with the highest point total closest to nine wins", HIGHER),
    Rule('Winning "Player" bets are paid even money', PAYS),
    Rule("paid at the odds of 19/20", NINETEEN),
    Rule('the "Tie" bet wins, paying 8 to 1', PAYS),
    Rule("are neither paid nor taken", TIED),
    Rule("1, 2, 3, 4, 5, 0 . | draws", PLAYER_CELL),
    Rule("Stands (Natural)", NATURAL),
    Rule("Banker must always draw on 0, 1, 2", BANKER_CELL, "Unless the player has a natural."),
    Rule("1,2,3,4,5,6,7,9,0", ZERO),
    Rule("2,3,4,5,6,7", BANKER_CELL),
    Rule("When the player stands on 6 or 7, the Banker must draw on totals of 0,1,2,3,4, and 5", STOOD),
    Rule("There are no optional draws", CHART),
    Rule("move your mouse to the amount you wish to play with", API),
    Rule("wins when the first two cards dealt to that hand position are a pair", BY_HAND),
    Rule("Different pair types, have different payouts", DOPPELGANGER, "Not shown; 25, 12 and 6 to 1 are taken."),
    Rule("first two cards drawn are of the same value and suit", PAIRS),
    Rule("same value and colour, but not the same suit", PAIRS),
    Rule("same value but different colours", PAIRS),
    Rule("box under the banker's hand", EVERYTHING),
    Rule("You must have a bet on either the Player, Banker or Tie", REFUSED),
    Rule("a panel displaying the Min and Max bet amounts", ROW),
    Rule("go from lowest to highest bet amounts possible", ROW),
    Rule(
        "deal button will not appear until your bet has met the min/max",
        REFUSED,
        "Showing the button is the service's.",
    ),
    Rule("Baccarat uses 6 decks of cards", ROW),
    Rule("The deck is cut 7 cards before the end", ROW),
    Rule("is shuffled after the cut card is dealt", LAST),
)

VIP = (
    Rule("The cards are shuffled after each hand", ROW),
    Rule("8 decks of 52 cards are used", ROW),
    Rule("stacked by denomination ($1, $5, $25, $100, $500)", ROW),
    Rule("withdraw your entire wager", WITHDRAWN),
    Rule("repeat your last bet by clicking on the ReBet button", REBET),
    Rule(
        "skip the given deal (before your first card is dealt)",
        BETS + "test_who_passes_bets_again_only_on_the_next_coup_or_after_taking_it_back",
    ),
    Rule("bet or pass within 15 seconds", SAT_OUT),
    Rule("automatically excluded from that particular hand", SAT_OUT),
    Rule("wait until the round is over", PACE + "test_who_joins_in_mid_coup_is_not_waited_for_and_bets_on_the_next"),
    Rule("After each player has pressed either the Deal or Pass button", CHOSEN),
    Rule("All tens and picture cards are worth zero", POINTS),
    Rule("adjusted by subtracting 10 from the total", TOTALS),
    Rule("No hand receives more than three cards", CHART),
    Rule("same total, the hand is declared a Tie", HIGHER),
    Rule("no more cards shall be dealt to either hand", NATURAL),
    Rule("0 to 7 inclusive, the Player's hand shall draw", PLAYER_CELL, "By the player's own rules: it draws on 0–5."),
    Rule("0-5 | Player's hand must draw", PLAYER_CELL),
    Rule("6-7 | Player's hand must stand", PLAYER_CELL),
    Rule("0-2 | Banker's hand must draw", BANKER_CELL),
    Rule("7 | Banker's hand must stand", BANKER_CELL),
    Rule("3 | 1-2-3-4-5-6-7-9 | 8", ZERO, "0 is left out of both columns; 0 draws."),
    Rule("4 | 2-3-4-5-6-7 | 0,1,8,9", BANKER_CELL),
    Rule("5 | 4-5-6-7 | 0-1-2-3-8-9", BANKER_CELL),
    Rule("6 | 6-7 | 0-1-2-3-4-5-8-9", BANKER_CELL),
    Rule("totalling 3,4,5 must draw and a Banker hand totalling 6 must stand", STOOD, "0–2 draw too."),
    Rule("A winning Player hand wager | 1 to 1", PAYS),
    Rule(
        "must pay a 5% commission to the bank (minimum commission is $0.25)",
        SETTLING + "test_the_least_commission_of_a_quarter",
        "Never more than the win.",
    ),
    Rule("A winning Tie wager | 8 to 1", PAYS),
    Rule("$5 minimum bet. $300 maximum bet", REFUSED, "What is lower is refused: no raise is spoken of here."),
    Rule("set your table bet limit below the maximum", OWN_LIMIT),
    Rule("confirm it by typing your PIN", BY_PIN),
    Rule(
        "no more than once per week (Friday 12:00 AM EST)",
        WEEKS + "test_every_change_of_daylight_saving",
        "Friday 00:00 in US Eastern time, daylight saving observed.",
    ),
    Rule("affects the bet limit for all games", EVERYWHERE),
    Rule("0 | Repeat last bet", REBET),
    Rule("Enter | Deal", PACE + "test_bets_lock_at_deal"),
    Rule("1 | Bet on Player Hand", BY_HAND),
    Rule("2 | Bet on Banker Hand", BY_HAND),
    Rule("3 | Bet on Tie", BY_HAND),
    Rule("Up Arrow | Increase bet by $1", API),
    Rule("Down Arrow | Decrease bet by $1", API),
    Rule("<Shift> Up Arrow | Increase bet by $10", API),
    Rule("<Shift> Down Arrow | Decrease bet by $10", API),
    Rule("Del or . | Withdraw bet", WITHDRAWN),
    Rule("a tie is indicated by a dash '-'", COLUMNS),
    Rule("displayed in the same column", COLUMNS),
    Rule("A new column is displayed when", COLUMNS),
    Rule(
        "always displayed in the same column as the previous winner",
        ROADS + "test_leading_ties_hang_on_the_first_win_and_open_its_column",
        "A tie before any winner opens the first column.",
    ),
    Rule("the sum of all Banker wins, Player wins, ties and total hands", ROADS + "test_sums_count_every_coup_once"),
)

PAGES = {
    "np": NP,
    "chance": CHANCE,
    "intercasino": INTERCASINO,
    "doppelganger": DOPPELGANGER_HOUSE,
    "vip": VIP,
}
