"""Statistics: counts beside their exact expectation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.answers.terms import Moment, TableId, count, whole
from api.payloads import Payload
from shoe.game.bets.record import MAX_BETS
from shoe.game.tableau import OUTCOMES, RULE_WORDS
from shoe.proof.canonical import MAX_INTEGER

Words = Annotated[str, Field(description="What the rule says.", json_schema_extra={"enum": [*RULE_WORDS.values()]})]
RuleLabel = Annotated[str, Field(description="The rule class by its name.", json_schema_extra={"enum": [*RULE_WORDS]})]
OutcomeLabel = Annotated[str, Field(description="The outcome.", json_schema_extra={"enum": [*OUTCOMES]})]
Observed = Annotated[int, count("How often it was seen.")]
Decimal = Annotated[str, whole(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?", "A real number as decimal text.")]


class Expected(Payload):
    """A count beside its exact expectation."""

    observed: Observed
    expected: Annotated[str, whole("[0-9]+(/[0-9]+)?", "The exact expectation, a fraction.")]
    expected_decimal: Annotated[Decimal, Field(description="The expectation as decimal text.")]
    deviation: Annotated[Decimal, Field(description="How many standard errors the count lies above it, decimal text.")]


class ExpectedRule(Expected):
    """A rule class's count beside its exact expectation."""

    words: Words
    label: RuleLabel


class ExpectedOutcome(Expected):
    """An outcome's count beside its exact expectation."""

    label: OutcomeLabel


class SeenRule(Payload):
    """A rule class's count."""

    words: Words
    label: RuleLabel
    observed: Observed


class SeenOutcome(Payload):
    """An outcome's count."""

    label: OutcomeLabel
    observed: Observed


class Judged(Payload):
    """How much was judged."""

    shuffles: Annotated[int, count("Shuffles whose coups are judged.")]
    coups: Annotated[int, count("Coups judged.")]


class JudgedRules(Judged):
    """Judged coups by rule class."""

    rules: Annotated[list[ExpectedRule], Field(description="The 15 rule classes.")]
    merged_rules: Annotated[list[ExpectedRule], Field(description="The 14 with the one-sided naturals together.")]


class JudgedOutcomes(Judged):
    """Judged coups by outcome."""

    outcomes: Annotated[list[ExpectedOutcome], Field(description="Player, banker, tie.")]


class DealtRules(Payload):
    """All dealt coups by rule class."""

    coups: Annotated[int, count("Coups dealt.")]
    rules: Annotated[list[SeenRule], Field(description="The 15 rule classes.")]
    merged_rules: Annotated[list[SeenRule], Field(description="The 14 with the one-sided naturals together.")]


class DealtOutcomes(Payload):
    """All dealt coups by outcome."""

    coups: Annotated[int, count("Coups dealt.")]
    outcomes: Annotated[list[SeenOutcome], Field(description="Player, banker, tie.")]


Decks = Annotated[int, Field(ge=1, le=16, description="The number of decks: each has probabilities of its own.")]


class RulesOfDecks(Payload):
    """The use of each rule in shoes of one number of decks."""

    decks: Decks
    judged: Annotated[JudgedRules, Field(description="Coups with exact probabilities, beside their expectation.")]
    dealt: Annotated[DealtRules, Field(description="Every coup dealt; not to be judged.")]


class OutcomesOfDecks(Payload):
    """The outcomes in shoes of one number of decks."""

    decks: Decks
    judged: Annotated[JudgedOutcomes, Field(description="Coups with exact probabilities, beside their expectation.")]
    dealt: Annotated[DealtOutcomes, Field(description="Every coup dealt; not to be judged.")]


Minor = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER, description="An amount in minor units.")]
Whole = Annotated[int, count("A number of bets.")]
Exact = Annotated[str, whole("-?[0-9]+(/[0-9]+)?", "An exact expectation, a fraction.")]


class PayoutSum(Payload):
    """What was won and lost with one stake on every coup."""

    label: Annotated[str, Field(min_length=1, max_length=32, description="The bet's name, or `all` for their sum.")]
    wins: Annotated[Whole, Field(description="Bets won.")]
    money_minor: Annotated[Minor, Field(ge=0, description="What they won beside their stakes, commission taken off.")]
    returns_minor: Annotated[Minor, Field(ge=0, description="The stakes of these wins, which go back with them.")]
    in_minor: Annotated[Minor, Field(ge=0, description="What the croupier pushed to the bettor: money and returns.")]
    out_minor: Annotated[Minor, Field(ge=0, description="What the bettor pushed to the board: all stakes.")]
    sum_minor: Annotated[Minor, Field(description="In less out: the result before ties are looked at.")]
    ties_minor: Annotated[Minor, Field(ge=0, description="Stakes given back, or left, neither won nor lost.")]
    total_minor: Annotated[Minor, Field(description="What the bettor has in the end: the sum and the ties.")]
    ties: Annotated[Whole, Field(description="Bets neither won nor lost.")]
    losses: Annotated[Whole, Field(description="Bets lost.")]
    games: Annotated[Whole, Field(description="All bets: wins, ties and losses.")]


class ExpectedPayout(PayoutSum):
    """The same of judged coups, beside its exact expectation."""

    expected_wins: Annotated[Exact, Field(description="The exact expectation of the wins, a fraction.")]
    expected_ties: Annotated[Exact, Field(description="The exact expectation of the ties, a fraction.")]
    expected_total_minor: Annotated[Exact, Field(description="The exact expectation of the total, a fraction.")]
    expected_total_decimal: Annotated[Decimal, Field(description="The same as decimal text.")]
    deviation: Annotated[Decimal, Field(description="How many standard errors the total lies above it, decimal text.")]


class JudgedPayouts(Judged):
    """Judged coups, paid."""

    bets: Annotated[list[ExpectedPayout], Field(max_length=MAX_BETS, description="The table's bets.")]
    sum: Annotated[PayoutSum, Field(description="All of them together.")]


class DealtPayouts(Payload):
    """All dealt coups, paid."""

    coups: Annotated[int, count("Coups dealt.")]
    bets: Annotated[list[PayoutSum], Field(max_length=MAX_BETS, description="The table's bets.")]
    sum: Annotated[PayoutSum, Field(description="All of them together.")]


class PayoutsOfTerms(Payload):
    """The pay-out table of tables of one number of decks and the same terms."""

    decks: Decks
    tables: Annotated[int, Field(ge=1, description="How many tables these are.")]
    stake_minor: Annotated[int, Field(ge=1, description="The stake on every bet: the default one of the table.")]
    minor_per_unit: Annotated[int, Field(ge=1, description="Minor units in a unit of money.")]
    judged: Annotated[JudgedPayouts, Field(description="Coups with exact probabilities, beside their expectation.")]
    dealt: Annotated[DealtPayouts, Field(description="Every coup dealt; not to be judged.")]


class StatisticsScope(Payload):
    """Which coups were counted, as asked."""

    table: Annotated[TableId | None, Field(description="Of this table; null for all.")]
    shoe: Annotated[str | None, Field(max_length=64, description="Of this shoe; null for all.")]
    from_: Annotated[Moment | None, Field(alias="from", description="From this time on; null from the beginning.")]
    to: Annotated[Moment | None, Field(description="Before this time; null to the end.")]


class Statistics(Payload):
    """Counts, and what they are counts of."""

    scope: Annotated[StatisticsScope, Field(description="Which coups were counted.")]
    judged: Annotated[str, Field(description="What the judged coups are, in words.")]
    dealt: Annotated[str, Field(description="What the dealt coups are, in words.")]


class RuleStatistics(Statistics):
    """The use of each rule beside its exact expectation."""

    decks: Annotated[list[RulesOfDecks], Field(max_length=16, description="One for each number of decks.")]


class PayoutStatistics(Statistics):
    """What every bet would have given, as if one stake had been on each of them every time."""

    terms: Annotated[list[PayoutsOfTerms], Field(description="One for each number of decks and terms.")]


class OutcomeStatistics(Statistics):
    """Player, banker and tie beside their exact expectation."""

    decks: Annotated[list[OutcomesOfDecks], Field(max_length=16, description="One for each number of decks.")]
