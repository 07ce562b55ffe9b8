"""A typed client of the service's HTTP interface, without Flask; it carries, and judges nothing (see `api.player`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

import urllib3

from shoe.errors import FairshoeError
from shoe.proof.canonical import load_json
from shoe.proof.tlog import Receipt, parse_receipt

TIMEOUT_S: Final = 30.0
_REFUSED_FROM: Final = 400


class ServiceProblem(FairshoeError):
    """The service refused a request: RFC 9457's type, title, status and detail."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.type = str(problem.get("type", "about:blank"))
        super().__init__(f"{status} {problem.get('title', '')}: {problem.get('detail', '')}")


class ServiceUnreachable(FairshoeError):
    """No answer came, or one that is not the service's."""


@dataclass(frozen=True, slots=True)
class Contributed:
    """A contribution taken: its receipt, and the pseudonym and position that the service gave."""

    receipt: Receipt
    client: str
    position: int


@dataclass(frozen=True, slots=True)
class DealtCoup:
    """A coup dealt: its receipt, each card's audit path, and the reveal's receipt where it was the shoe's last."""

    receipt: Receipt
    paths: tuple[tuple[bytes, ...], ...]
    reveal: Receipt | None


class Client:
    """The service at `url`, such as ``http://127.0.0.1:8000``; connections are kept open between requests.

    Every method raises ServiceProblem for a refusal and ServiceUnreachable where no good answer comes.
    """

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url.rstrip("/")
        self._pool = urllib3.PoolManager(timeout=timeout_s, retries=False)

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._pool.clear()

    def make_table(self, preset: str, table: str) -> None:
        """Make a table from a preset."""
        self._post("/v1/tables", {"id": table, "preset": preset})

    def publish_book(self, table: str, size: int) -> Receipt:
        """Publish a seed book of `size` seeds for a table."""
        return _receipt(self._post(f"/v1/tables/{_part(table)}/books", {"size": size}))

    def open_shoe(self, table: str, *, lock_in_s: int, seal_in_s: int, reveal_in_s: int) -> tuple[str, Receipt]:
        """Open the table's next shoe; give its id and the receipt of `open`."""
        deadlines = {"lock_in_s": lock_in_s, "seal_in_s": seal_in_s, "reveal_in_s": reveal_in_s}
        answer = self._post(f"/v1/tables/{_part(table)}/shoes", deadlines)
        return str(answer["shoe"]), _receipt(answer)

    def contribute(self, shoe: str, seed_commitment: bytes) -> Contributed:
        """Commit to a seed (two_phase)."""
        answer = self._post(f"/v1/shoes/{_part(shoe)}/entropy", {"seed_commitment": seed_commitment.hex()})
        return Contributed(_receipt(answer), str(answer["client"]), int(answer["position"]))

    def lock(self, shoe: str) -> Receipt:
        """Close the list of contributions."""
        return _receipt(self._post(f"/v1/shoes/{_part(shoe)}/lock"))

    def open_seed(self, shoe: str, client: str, seed: str) -> Receipt:
        """Open the seed that a client committed to."""
        return _receipt(self._post(f"/v1/shoes/{_part(shoe)}/seeds", {"client": client, "seed": seed}))

    def seal(self, shoe: str) -> Receipt:
        """Seal a locked shoe whose seeds are all open."""
        return _receipt(self._post(f"/v1/shoes/{_part(shoe)}/seal"))

    def deal(self, shoe: str) -> DealtCoup:
        """Deal the next coup."""
        answer = self._post(f"/v1/shoes/{_part(shoe)}/coups")
        paths = tuple(tuple(map(bytes.fromhex, path)) for path in answer["paths"])
        return DealtCoup(_receipt(answer), paths, _receipt(answer["reveal"]) if answer["reveal"] else None)

    def records(self, shoe: str) -> list[bytes]:
        """Fetch all records of a shoe so far, in order."""
        found: list[bytes] = []
        query: dict[str, str] = {}
        while True:
            answer = self._get(f"/v1/shoes/{_part(shoe)}/records", query)
            found += [str(item["record"]).encode() for item in answer["records"]]
            if answer["next"] is None:
                return found
            query = {"after": str(answer["next"])}

    def bundle(self, shoe: str, earlier: int | None = None) -> str:
        """Fetch a shoe's bundle as text; `earlier` asks for the consistency with an older checkpoint of that size."""
        return self._text(f"/v1/shoes/{_part(shoe)}/bundle", {} if earlier is None else {"earlier": str(earlier)})

    def rule_statistics(self, shoe: str) -> list[Mapping[str, Any]]:
        """Fetch a shoe's rule use, a part for each deck count."""
        return list(self._get("/v1/statistics/rules", {"shoe": shoe})["decks"])

    def checkpoint(self) -> str:
        """Fetch the log's signed checkpoint."""
        return self._text("/v1/log/checkpoint")

    def vkey(self) -> str:
        """Fetch the log's verifier key: to be compared with one from elsewhere, not to be believed alone."""
        return self._text("/v1/log/key").strip()

    def _post(self, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return _object(self._request("POST", path, {} if body is None else body))

    def _get(self, path: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        return _object(self._text(path, query))

    def _text(self, path: str, query: Mapping[str, str] | None = None) -> str:
        return self._request("GET", f"{path}?{urlencode(query)}" if query else path)

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
        try:
            response = self._pool.request(method, self._url + path, json=body)
            text = response.data.decode("utf-8")
        except (urllib3.exceptions.HTTPError, UnicodeDecodeError) as error:
            raise ServiceUnreachable(f"{method} {path}: {type(error).__name__}") from None
        if response.status >= _REFUSED_FROM:
            raise ServiceProblem(response.status, _object(text))
        return text


def _part(name: str) -> str:
    return quote(name, safe="")


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = load_json(text)
    except ValueError as error:
        raise ServiceUnreachable(f"the answer is not the service's: {error}") from None
    if not isinstance(value, dict):
        raise ServiceUnreachable("the answer is not an object")
    return value


def _receipt(answer: Mapping[str, Any]) -> Receipt:
    return parse_receipt(str(answer["receipt"]))
