"""One attempt to deliver: a POST to an address that was looked at, within a time, whose answer is a number alone.

A receiver is somebody else's server: it may be slow, endless, or point elsewhere. The connection is made here and not
by a pool, so that it goes to the very address that was checked, and can be cut off whatever it is waiting for.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Event, Timer
from typing import Final

from api.webhooks.addresses import Reach, Resolve, Target, Unreachable, parse_target, reachable, resolve
from shoe.errors import FairshoeError, InputError
from shoe.proof.note import parse_decimal

CONNECT_S: Final = 5.0
TOTAL_S: Final = 20.0
"""How long a connection may take, and all of an attempt from then on, in seconds."""

MAX_ANSWER_BYTES: Final = 65_536
"""So much of an answer's body is read, for its sender's sake, and thrown away."""

MAX_RETRY_AFTER_S: Final = 24 * 60 * 60
GONE: Final = 410
_AGENT: Final = "fairshoe-webhooks/1"


class NotDelivered(FairshoeError):
    """An attempt failed: why, for the operator's list; whether for good; how long the receiver asked us to wait."""

    def __init__(self, reason: str, *, gone: bool = False, wait_s: int = 0) -> None:
        super().__init__(reason)
        self.gone, self.wait_s = gone, wait_s


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a receiver is waited for, in seconds: to connect, and for all that comes after."""

    connect_s: float = CONNECT_S
    total_s: float = TOTAL_S


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends deliveries to what is within reach; `look_up` gives a host's addresses."""

    reach: Reach = "public"
    patience: Patience = Patience()
    look_up: Resolve = resolve
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context, repr=False)

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Deliver a body: return once the receiver has answered 2xx; raises NotDelivered for anything else."""
        try:
            target = parse_target(url, self.reach)
            addresses = reachable(target, self.reach, self.look_up)
        except (InputError, Unreachable) as error:
            raise NotDelivered(str(error)) from None
        with self._connected(target, addresses) as connection:
            connection.putrequest("POST", target.path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": target.authority, "User-Agent": _AGENT, "Content-Type": "application/json", **headers}
            for name, text in {**sent, "Content-Length": str(len(body)), "Connection": "close"}.items():
                connection.putheader(name, text)
            connection.endheaders(body)
            with connection.getresponse() as response:
                _judge(response)

    @contextmanager
    def _connected(self, target: Target, addresses: list[str]) -> Iterator[HTTPConnection]:
        """Connect to the first address that takes it; whatever fails from then on is NotDelivered."""
        connection, late = HTTPConnection(target.host, target.port), Event()
        connected = self._connect(target, addresses)
        try:
            connected = self._wrapped(target, connected)
            watch = Timer(self.patience.total_s, _cut_off, (connected, late))
            watch.daemon = True
            watch.start()
            try:
                if isinstance(connected, ssl.SSLSocket):
                    connected.do_handshake()
                connection.sock = connected
                yield connection
            finally:
                watch.cancel()
        except (OSError, HTTPException, ValueError) as error:
            slow = late.is_set() or isinstance(error, TimeoutError)
            reason = f"it takes over {self.patience.total_s:g} s" if slow else f"no answer: {type(error).__name__}"
            raise NotDelivered(reason) from None
        finally:
            connection.close()
            connected.close()

    def _connect(self, target: Target, addresses: list[str]) -> socket.socket:
        failed = ""
        for address in addresses:
            try:
                connected = socket.create_connection((address, target.port), self.patience.connect_s)
            except OSError as error:
                failed = type(error).__name__
            else:
                connected.settimeout(self.patience.total_s)
                return connected
        raise NotDelivered(f"no connection: {failed}")

    def _wrapped(self, target: Target, connected: socket.socket) -> socket.socket:
        """Put TLS around a connection, its handshake still to be made: that is to be watched too."""
        if target.scheme == "http":
            return connected
        return self.trust.wrap_socket(connected, server_hostname=target.host, do_handshake_on_connect=False)


def _cut_off(connected: socket.socket, late: Event) -> None:
    late.set()
    try:
        # TLS's own way would wait for the other side; this one ends whatever read is under way.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return


def _judge(response: HTTPResponse) -> None:
    """Take an answer's status; a redirection is a failure too, for who sends elsewhere is to change the URL."""
    status = response.status
    if 200 <= status < 300:
        _throw_away(response)
        return
    wait_s = _read_wait(response.headers.get("Retry-After"))
    raise NotDelivered(f"it answers {status}", gone=status == GONE, wait_s=wait_s)


def _throw_away(response: HTTPResponse) -> None:
    try:
        response.read(MAX_ANSWER_BYTES)
    except (OSError, HTTPException):
        return  # its status has come, and says all


def _read_wait(text: str | None) -> int:
    """Read Retry-After in whole seconds, a day at most; 0 without one and for any other form, a date among them."""
    try:
        return min(MAX_RETRY_AFTER_S, parse_decimal(text or "0", "Retry-After"))
    except InputError:
        return 0
