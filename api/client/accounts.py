"""API keys, and who the client is to the service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.client.calls import Calls, part
from api.client.fields import Fields
from api.client.results import Key, MadeKey, Me


class Accounts(Calls):
    """The calls at ``/v1/keys`` and ``/v1/me``."""

    def make_key(self, roles: Sequence[str], name: str, expires_in_s: int | None = None) -> MadeKey:
        """Make an API key with roles, good for so many seconds, or until it is revoked."""
        answer = self._post("/v1/keys", {"roles": list(roles), "name": name, "expires_in_s": expires_in_s})
        return MadeKey(
            answer.text("id"),
            answer.text("prefix"),
            answer.texts("roles"),
            answer.text("name"),
            answer.maybe("expires", answer.text),
            answer.text("token"),
        )

    def api_keys(self) -> Iterator[Key]:
        """List the API keys by age, without their tokens."""
        return self._pages("/v1/keys", "keys", _key)

    def revoke_key(self, key: str) -> Key:
        """Revoke an API key: its token is good no more."""
        return _key(self._post(f"/v1/keys/{part(key)}/revoke"))

    def me(self) -> Me:
        """Say who the client is to the service."""
        answer = self._get("/v1/me")
        kind, table = (answer.maybe(name, answer.text) for name in ("kind", "table"))
        return Me(answer.text("id"), kind, answer.texts("roles"), table)


def _key(answer: Fields) -> Key:
    return Key(
        answer.text("id"),
        answer.text("prefix"),
        answer.texts("roles"),
        answer.text("name"),
        answer.text("created"),
        answer.maybe("expires", answer.text),
        answer.maybe("revoked", answer.text),
    )
