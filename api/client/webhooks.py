"""Webhooks, and the events on their way to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.client.calls import Calls, given, part
from api.client.fields import Fields
from api.client.results import Delivery, MadeWebhook, Webhook


class Webhooks(Calls):
    """The calls at ``/v1/webhooks``."""

    def make_webhook(self, url: str, events: Sequence[str], table: str | None = None) -> MadeWebhook:
        """Have events of all tables, or of one, sent to a URL."""
        return _made(self._post("/v1/webhooks", {"url": url, "events": list(events), **given(table=table)}))

    def webhooks(self) -> Iterator[Webhook]:
        """List the webhooks by age, without their secrets."""
        return self._pages("/v1/webhooks", "webhooks", _webhook)

    def rotate_webhook(self, webhook: str) -> MadeWebhook:
        """Give a webhook a new secret; the one before signs beside it for a day."""
        return _made(self._post(f"{_at(webhook)}/rotate"))

    def disable_webhook(self, webhook: str) -> Webhook:
        """Tell a webhook nothing more."""
        return _webhook(self._post(f"{_at(webhook)}/disable"))

    def enable_webhook(self, webhook: str) -> Webhook:
        """Tell a webhook of events again."""
        return _webhook(self._post(f"{_at(webhook)}/enable"))

    def deliveries(self, webhook: str, state: str | None = None) -> Iterator[Delivery]:
        """List a webhook's deliveries by age, of one state (pending, delivered, dead) or of any."""
        return self._pages(f"{_at(webhook)}/deliveries", "deliveries", _delivery, given(state=state))

    def redeliver(self, webhook: str, delivery: str) -> Delivery:
        """Try a delivery again now."""
        return _delivery(self._post(f"{_at(webhook)}/deliveries/{part(delivery)}/redeliver"))

    def redeliver_dead(self, webhook: str) -> int:
        """Try all dead deliveries again now; give their number."""
        return self._post(f"{_at(webhook)}/redeliver").number("redelivered")


def _at(webhook: str) -> str:
    return f"/v1/webhooks/{part(webhook)}"


def _webhook(answer: Fields) -> Webhook:
    return Webhook(
        answer.text("id"),
        answer.text("url"),
        answer.texts("events"),
        answer.maybe("table", answer.text),
        answer.text("state"),
        answer.maybe("reason", answer.text),
    )


def _made(answer: Fields) -> MadeWebhook:
    return MadeWebhook(_webhook(answer), answer.text("secret"))


def _delivery(answer: Fields) -> Delivery:
    return Delivery(
        answer.text("id"),
        answer.text("type"),
        answer.maybe("index", answer.number),
        answer.text("state"),
        answer.number("attempts"),
        answer.maybe("error", answer.text),
    )
