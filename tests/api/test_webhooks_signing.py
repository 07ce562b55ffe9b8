"""Signatures of Standard Webhooks: against the published vector, and against the standard's own library, both ways."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from api.webhooks.signing import Secret, check_delivery, parse_secret, sign_delivery
from shoe.errors import InputError, SignatureError

SPEC_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105  # published
SPEC_ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
SPEC_TIME = 1_614_265_330
SPEC_BODY = b'{"test": 2432232314}'
SPEC_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
"""The vector that the reference libraries of Standard Webhooks share, their test of `sign`."""

SECRET = Secret(bytes(range(32)))
OTHER = Secret(bytes(range(1, 33)))
NOW_S = 1_769_860_800
BODY = b'{"type":"webhook.test"}'


def headers(*secrets: Secret, at: int = NOW_S, body: bytes = BODY) -> dict[str, str]:
    return sign_delivery(secrets or (SECRET,), "0190-id", at, body)


# --- made ----------------------------------------------------------------------------------------


def test_the_published_vector() -> None:
    made = sign_delivery([parse_secret(SPEC_SECRET)], SPEC_ID, SPEC_TIME, SPEC_BODY)
    assert made == {
        "webhook-id": SPEC_ID,
        "webhook-timestamp": str(SPEC_TIME),
        "webhook-signature": SPEC_SIGNATURE,
    }
    assert check_delivery([parse_secret(SPEC_SECRET)], made, SPEC_BODY, SPEC_TIME) == SPEC_ID


@given(st.binary(min_size=24, max_size=64), st.text(max_size=200), st.integers(0, 4_000_000_000))
def test_the_standards_own_library_makes_the_same(key: bytes, body: str, seconds: int) -> None:
    data = body.encode()
    made = sign_delivery([Secret(key)], "id-1", seconds, data)["webhook-signature"]
    assert made == Webhook(Secret(key).print()).sign("id-1", datetime.fromtimestamp(seconds, UTC), body)
    by_definition = hmac.digest(key, b"id-1.%d." % seconds + data, hashlib.sha256)
    assert made == f"v1,{base64.b64encode(by_definition).decode()}"


@pytest.mark.parametrize("secrets", [(SECRET,), (SECRET, OTHER), (OTHER, SECRET)])
def test_the_standards_own_library_takes_what_is_made_while_a_secret_is_rotated(secrets: tuple[Secret, ...]) -> None:
    made = headers(*secrets, at=int(time.time()))
    assert Webhook(SECRET.print()).verify(BODY, made) == {"type": "webhook.test"}
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET.print()).verify(BODY + b" ", made)


def test_what_the_standards_own_library_makes_is_taken() -> None:
    made = Webhook(SECRET.print()).sign("msg_1", datetime.fromtimestamp(NOW_S, UTC), BODY.decode())
    given_headers = {"Webhook-Id": "msg_1", "WEBHOOK-TIMESTAMP": str(NOW_S), "webhook-signature": made}
    assert check_delivery([SECRET], given_headers, BODY, NOW_S) == "msg_1"


@pytest.mark.parametrize("bad", ["", "a.b", "a b", "ä", "x" * 129, "a\n"])
def test_an_id_that_would_blur_what_is_signed_is_refused(bad: str) -> None:
    with pytest.raises(InputError, match=r"^webhook-id: expected 1–128 letters, digits, _ and -, got "):
        sign_delivery([SECRET], bad, NOW_S, BODY)


# --- checked -------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [(SECRET,), (OTHER,), (OTHER, SECRET), (Secret(bytes(24)), SECRET)])
def test_one_of_several_signatures_by_one_of_several_secrets_is_enough(held: tuple[Secret, ...]) -> None:
    assert check_delivery(held, headers(SECRET, OTHER), BODY, NOW_S) == "0190-id"


def test_signatures_of_other_versions_are_passed_over() -> None:
    made = headers()
    made["webhook-signature"] = f"v1a,AAAA v2,x {made['webhook-signature']} nonsense"
    assert check_delivery([SECRET], made, BODY, NOW_S) == "0190-id"


@pytest.mark.parametrize("apart", [-300, -1, 0, 300])
def test_five_minutes_apart_is_near_enough(apart: int) -> None:
    assert check_delivery([SECRET], headers(at=NOW_S + apart), BODY, NOW_S) == "0190-id"


@pytest.mark.parametrize("apart", [-301, 301, -100_000])
def test_over_five_minutes_apart_is_a_repetition_or_a_wrong_clock(apart: int) -> None:
    with pytest.raises(SignatureError, match=r"^webhook-timestamp: expected a time within 300 s of 1769860800, got "):
        check_delivery([SECRET], headers(at=NOW_S + apart), BODY, NOW_S)


def _other_signature(made: dict[str, str]) -> None:
    made["webhook-signature"] = headers(OTHER)["webhook-signature"]


ALTERED = {
    "another id": lambda made: made.update({"webhook-id": "0190-ie"}),
    "another time": lambda made: made.update({"webhook-timestamp": str(NOW_S + 1)}),
    "another secret": _other_signature,
    "no secret's": lambda made: made.update({"webhook-signature": "v1," + base64.b64encode(bytes(32)).decode()}),
}


@pytest.mark.parametrize("name", ALTERED)
def test_a_delivery_that_was_altered_is_refused(name: str) -> None:
    made = headers()
    ALTERED[name](made)
    with pytest.raises(SignatureError, match=r"^webhook-signature: expected one made with the secret over this id"):
        check_delivery([SECRET], made, BODY, NOW_S)


@pytest.mark.parametrize("body", [b"", BODY[:-1], BODY + b" ", BODY.replace(b"t", b"T", 1)])
def test_another_body_is_refused(body: bytes) -> None:
    with pytest.raises(SignatureError):
        check_delivery([SECRET], headers(), body, NOW_S)


def test_a_full_stop_can_not_be_moved_from_one_part_to_another() -> None:
    made = sign_delivery([SECRET], "id", NOW_S, b"5.x")
    made |= {"webhook-id": "id", "webhook-timestamp": str(NOW_S) + ".5"}
    with pytest.raises(InputError, match="whole seconds"):
        check_delivery([SECRET], made, b"x", NOW_S)


@pytest.mark.parametrize(
    ("header", "text", "says"),
    [
        ("webhook-id", None, "webhook-id: expected this header, got none"),
        ("webhook-id", "a.b", "webhook-id: expected 1–128 letters, digits, _ and -, got 'a.b'"),
        ("webhook-timestamp", None, "webhook-timestamp: expected this header, got none"),
        ("webhook-timestamp", "1e9", "webhook-timestamp: expected whole seconds since 1970, got '1e9'"),
        ("webhook-timestamp", "+1769860800", "webhook-timestamp: expected whole seconds since 1970, got '+1769860800'"),
        ("webhook-timestamp", "١٧٦٩٨٦٠٨٠٠", "webhook-timestamp: expected whole seconds since 1970, got '١٧٦٩٨٦٠٨٠٠'"),
        ("webhook-timestamp", "1769860800\n", "webhook-timestamp: expected whole seconds since 1970"),
        ("webhook-signature", None, "webhook-signature: expected v1, and base64 of 32 bytes, got another form"),
        ("webhook-signature", "", "webhook-signature: expected v1, and base64 of 32 bytes, got another form"),
        ("webhook-signature", "v1,AAAA", "webhook-signature: expected v1, and base64 of 32 bytes, got another form"),
        ("webhook-signature", "v1,ä", "webhook-signature: expected v1, and base64 of 32 bytes, got another form"),
        ("webhook-signature", "v1a,AAAA", "webhook-signature: expected v1, and base64 of 32 bytes, got another form"),
        ("webhook-signature", "v1,A " * 17, "webhook-signature: expected at most 16 signatures, got 18"),
    ],
)
def test_a_header_of_another_form_is_named(header: str, text: str | None, says: str) -> None:
    made: dict[str, str] = headers()
    del made[header]
    if text is not None:
        made[header] = text
    with pytest.raises(InputError) as refused:
        check_delivery([SECRET], made, BODY, NOW_S)
    assert str(refused.value).startswith(says)


def test_base64_with_bits_that_nothing_prints_is_refused() -> None:
    made = headers()
    signature = made["webhook-signature"]
    last = signature[-2]
    other = chr(ord(last) + 1)
    assert base64.b64decode(signature[3:]) == base64.b64decode(signature[3:-2] + other + "=")
    with pytest.raises(InputError, match="got another form"):
        check_delivery([SECRET], made | {"webhook-signature": signature[:-2] + other + "="}, BODY, NOW_S)


# --- secrets -------------------------------------------------------------------------------------


@given(st.binary(min_size=24, max_size=64))
def test_a_secret_prints_and_reads_back(key: bytes) -> None:
    printed = Secret(key).print()
    assert printed == "whsec_" + base64.b64encode(key).decode()
    assert parse_secret(printed) == Secret(key)
    assert repr(Secret(key)) == "Secret()"


@pytest.mark.parametrize("size", [0, 1, 23, 65, 1000])
def test_a_secret_of_another_size_is_refused(size: int) -> None:
    wanted = f"secret of a webhook: expected 24–64 bytes, got '{size} bytes'"
    with pytest.raises(InputError) as refused:
        parse_secret("whsec_" + base64.b64encode(bytes(size)).decode())
    assert str(refused.value) == wanted


@pytest.mark.parametrize(
    "text", ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_ä"]
)
def test_a_secret_of_another_form_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_secret(text)
    assert "MfKQ" not in str(refused.value)
    assert str(refused.value).startswith("secret of a webhook: expected ")
