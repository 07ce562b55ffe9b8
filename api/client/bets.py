"""Bets of a seat, and its purse: laid, passed, taken back until the deal, and held with their proofs afterwards.

And for the game client that runs the table: what everyone chose, and coups played unattended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from api.client.calls import Calls, given, part
from api.client.fields import Fields
from api.client.results import Choice, Choices, HeldBet, Looped, LoopedCoup, Purse, SeatChoice, SettledBet
from shoe.errors import ProofError
from shoe.proof.bundle import HeldLine
from shoe.proof.records import BetLine, parse_bet_line


class Bets(Calls):
    """The calls on bets at ``/v1/shoes/ID``, and at ``/v1/seats/ID``."""

    def bet(self, shoe: str, stakes: Mapping[str, int], number: int | None = None) -> Choice:
        """Bet on a shoe's next coup, stakes in minor units by the bet's name: all are accepted, or none.

        `number` is the coup that they are meant for, refused where another is the next. Raises ProofError for lines of
        other bets than were asked for, or of lower stakes.
        """
        asked = given(bets=listed(stakes), number=number)
        choice = _choice(self._post(f"/v1/shoes/{part(shoe)}/bets", asked), shoe)
        laid = {line.bet: line.stake for line in choice.lines}
        if laid.keys() != stakes.keys() or any(laid[name] < stake for name, stake in stakes.items()):
            raise ProofError("answer: its lines are not the bets that were asked for")
        return choice

    def rebet(self, shoe: str, number: int | None = None) -> Choice:
        """Lay again what the seat had on the last coup at the table that was dealt with bets of it."""
        return self._choose(shoe, "bets/rebet", number)

    def ready(self, shoe: str, number: int | None = None) -> Choice:
        """Choose Deal: the seat's bets on a shoe's next coup are made."""
        return self._choose(shoe, "ready", number)

    def sit_out(self, shoe: str, number: int | None = None) -> Choice:
        """Pass: sit a shoe's next coup out."""
        return self._choose(shoe, "passes", number)

    def withdraw(self, shoe: str, number: int | None = None) -> Choice:
        """Take back all that the seat has on a shoe's next coup, its pass too."""
        return self._choose(shoe, "bets/withdraw", number)

    def preserve(self, seat: str, *, preserve: bool) -> Purse:
        """Set whether the seat's bets are laid again after every coup."""
        return _purse(self._post(f"/v1/seats/{part(seat)}/settings", {"preserve": preserve}))

    def choices(self, shoe: str) -> Choices:
        """Show a game client what everyone at the table chose for a shoe's next coup, and whether it may be dealt."""
        answer = self._get(f"/v1/shoes/{part(shoe)}/choices")
        return Choices(
            answer.text("shoe"),
            answer.number("number"),
            answer.maybe("began", answer.text),
            answer.maybe("closes", answer.text),
            answer.flag("may_deal"),
            tuple(map(_seat_choice, answer.parts("seats"))),
        )

    def loop(self, shoe: str, seat: str, stakes: Mapping[str, int], coups: int) -> Looped:
        """Deal up to so many coups of a shoe unattended, a seat's bets laid anew for each; for a game client.

        The records are in the log as of coups dealt singly: `records` and `coup` show them.
        """
        asked = {"seat": seat, "bets": listed(stakes), "coups": coups}
        answer = self._post(f"/v1/shoes/{part(shoe)}/loop", asked)
        return Looped(
            shoe=answer.text("shoe"),
            seat=answer.text("seat"),
            client=answer.text("client"),
            coups=tuple(map(_looped_coup, answer.parts("coups"))),
            reason=answer.text("reason"),
            staked_minor=answer.number("staked_minor"),
            net_minor=answer.number("net_minor"),
            balance_minor=answer.number("balance_minor"),
            owed_minor=answer.number("owed_minor"),
        )

    def own_bets(self, shoe: str) -> Iterator[HeldBet]:
        """List the seat's bets in a shoe, coup by coup, the withdrawn ones too."""
        for coup in self._pages(f"/v1/shoes/{part(shoe)}/bets", "coups", lambda answer: answer):
            index = coup.maybe("bets_index", coup.number)
            yield from (_held(bet, shoe, coup.number("number"), index) for bet in coup.parts("bets"))

    def purse(self, seat: str) -> Purse:
        """Show what a seat may stake and what it has on the table."""
        return _purse(self._get(f"/v1/seats/{part(seat)}/purse"))

    def _choose(self, shoe: str, what: str, number: int | None) -> Choice:
        return _choice(self._post(f"/v1/shoes/{part(shoe)}/{what}", given(number=number)), shoe)


def read_settled(answer: Fields) -> SettledBet:
    """Read what a coup made of one bet."""
    return SettledBet(
        seat=answer.text("seat"),
        client=answer.text("client"),
        bet=answer.text("bet"),
        stake=answer.number("stake"),
        result=answer.text("result"),
        net_minor=answer.number("net_minor"),
        commission_minor=answer.number("commission_minor"),
        returned_minor=answer.number("returned_minor"),
        left_minor=answer.number("left_minor"),
        balance_minor=answer.number("balance_minor"),
    )


def _purse(answer: Fields) -> Purse:
    return Purse(
        answer.text("seat"),
        answer.text("table"),
        answer.number("balance_minor"),
        answer.number("staked_minor"),
        answer.number("owed_minor"),
        answer.flag("preserve"),
    )


def listed(stakes: Mapping[str, int]) -> list[dict[str, str | int]]:
    """Print stakes by bet as requests name them."""
    return [{"bet": name, "stake": stake} for name, stake in stakes.items()]


def _seat_choice(answer: Fields) -> SeatChoice:
    stakes = {bet.text("bet"): bet.number("stake") for bet in answer.parts("bets")}
    player = answer.maybe("player", answer.text)
    return SeatChoice(answer.text("seat"), player, answer.text("state"), answer.flag("missing"), stakes)


def _looped_coup(answer: Fields) -> LoopedCoup:
    return LoopedCoup(
        answer.number("number"),
        answer.number("index"),
        answer.text("outcome"),
        answer.number("staked_minor"),
        answer.number("net_minor"),
    )


def _choice(answer: Fields, shoe: str) -> Choice:
    number, client = answer.number("number"), answer.text("client")
    lines = tuple(_line(bet, shoe, number) for bet in answer.parts("bets"))
    if any(line.client != client for line in lines):
        raise ProofError("answer: a line is of another player than the answer")
    return Choice(shoe, number, client, lines, answer.number("balance_minor"))


def _line(answer: Fields, shoe: str, number: int) -> BetLine:
    text = answer.text("line")
    line = answer.parsed("line", lambda _: parse_bet_line(text.encode()))
    beside = (answer.text("bet"), answer.number("stake"), answer.text("salt"))
    if (line.bet, line.stake, line.salt) != beside or (line.shoe, line.number) != (shoe, number):
        raise ProofError("answer: a line says something else than what stands beside it")
    return line


def _held(answer: Fields, shoe: str, number: int, bets_index: int | None) -> HeldBet:
    line = _line(answer, shoe, number)
    index, path = answer.maybe("index", answer.number), answer.maybe("path", answer.hashes)
    proof = None if index is None or path is None else HeldLine(line.to_bytes(), index, path)
    amounts = (answer.maybe(name, answer.number) for name in ("net_minor", "returned_minor", "commission_minor"))
    return HeldBet(line, answer.text("state"), answer.flag("carried"), bets_index, proof, *amounts)
