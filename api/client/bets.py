"""Bets of a seat, and its purse: laid, passed, taken back until the deal, and held with their proofs afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from api.client.calls import Calls, part
from api.client.fields import Fields
from api.client.results import Choice, HeldBet, Purse, SettledBet
from shoe.errors import ProofError
from shoe.proof.bundle import HeldLine
from shoe.proof.records import BetLine, parse_bet_line


class Bets(Calls):
    """The calls at ``/v1/shoes/ID/bets`` and ``/v1/seats/ID/purse``."""

    def bet(self, shoe: str, stakes: Mapping[str, int]) -> Choice:
        """Bet on a shoe's next coup, stakes in minor units by the bet's name: all are accepted, or none.

        Raises ProofError for lines of other bets than were asked for, or of lower stakes.
        """
        asked = [{"bet": name, "stake": stake} for name, stake in stakes.items()]
        choice = _choice(self._post(f"/v1/shoes/{part(shoe)}/bets", {"bets": asked}), shoe)
        laid = {line.bet: line.stake for line in choice.lines}
        if laid.keys() != stakes.keys() or any(laid[name] < stake for name, stake in stakes.items()):
            raise ProofError("answer: its lines are not the bets that were asked for")
        return choice

    def sit_out(self, shoe: str) -> Choice:
        """Pass: sit a shoe's next coup out."""
        return _choice(self._post(f"/v1/shoes/{part(shoe)}/passes"), shoe)

    def withdraw(self, shoe: str) -> Choice:
        """Take back all that the seat has on a shoe's next coup, its pass too."""
        return _choice(self._post(f"/v1/shoes/{part(shoe)}/bets/withdraw"), shoe)

    def own_bets(self, shoe: str) -> Iterator[HeldBet]:
        """List the seat's bets in a shoe, coup by coup, the withdrawn ones too."""
        for coup in self._pages(f"/v1/shoes/{part(shoe)}/bets", "coups", lambda answer: answer):
            index = coup.maybe("bets_index", coup.number)
            yield from (_held(bet, shoe, coup.number("number"), index) for bet in coup.parts("bets"))

    def purse(self, seat: str) -> Purse:
        """Show what a seat may stake and what it has on the table."""
        answer = self._get(f"/v1/seats/{part(seat)}/purse")
        return Purse(
            answer.text("seat"),
            answer.text("table"),
            answer.number("balance_minor"),
            answer.number("staked_minor"),
        )


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
