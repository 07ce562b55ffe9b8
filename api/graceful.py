"""A worker that nobody can hold up: it waits for requests without a thread, and for what is slow only so long.

gunicorn's own threads wait for a new connection's first byte, and then, without end, for the rest of the request's
head: as many slow or silent callers as there are threads, and nobody else is answered. Here one poller collects the
requests of all connections, a thread is taken once one is complete, or its body known to be large; and from then on
the rest of the body and the answer have a time each.
"""

from __future__ import annotations

import errno
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Final

from gunicorn.arbiter import Arbiter
from gunicorn.util import write_error
from gunicorn.workers.gthread import TConn, ThreadWorker

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

HEAD_S: Final = 10.0
"""How long a caller may take from connecting, or from a further request's first byte, to the end of its request."""

BODY_S: Final = 30.0
SEND_S: Final = 30.0
"""How long reading a large body may take once its head is read, and sending each piece of an answer."""

KEEPALIVE_S: Final = 15
"""How long a connection is kept for a further request."""

_PIECE: Final = 8192
_HEAD_LIMIT: Final = 64 * 1024
"""Bytes within which a head must have ended; the parser has tighter limits for each of its lines."""

_BODY_LIMIT: Final = 64 * 1024
"""Bytes of body that are collected without a thread."""

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,6})[ \t]*\r\n", re.IGNORECASE)
_EXPECTS: Final = re.compile(rb"\r\nexpect:", re.IGNORECASE)
_NOBODY: Final = {errno.EAGAIN, errno.ECONNABORTED, errno.EINVAL}
_STOP_S: Final = 1.0


class TimedSocket(socket.socket):
    """A connection on which receiving must be over at `latest`, a monotonic time, and sending takes a bounded time.

    Raises TimeoutError where it isn't. Without effect on a socket that doesn't block.
    """

    latest: float | None = None

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive some bytes in the time that is left."""
        if self.latest is None or self.gettimeout() == 0:
            return super().recv(size, flags)
        left_s = self.latest - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the request was not sent in time")
        with self._within(left_s):
            return super().recv(size, flags)

    def sendall(self, data: ReadableBuffer, flags: int = 0) -> None:
        """Send all bytes in half a minute at most."""
        with nullcontext() if self.gettimeout() == 0 else self._within(SEND_S):
            super().sendall(data, flags)

    @contextmanager
    def _within(self, limit_s: float) -> Iterator[None]:
        prior = self.gettimeout()
        self.settimeout(limit_s if prior is None else min(prior, limit_s))
        try:
            yield
        finally:
            # A connection that its peer has closed meanwhile has no time-out to be put back.
            with suppress(OSError):
                self.settimeout(prior)


class _Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection with what has come so far of its next request, and how many bytes a thread waits for."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.come = bytearray()
        self.wanted: int | None = None
        self.too_long = False

    def receive(self) -> bool | None:
        """Take what is there; say True once it is enough for a thread, False once the caller is gone, else None."""
        try:
            piece = self.sock.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return False
        if not piece:
            return False
        # The end of the head may lie across two pieces.
        searched = max(0, len(self.come) - len(_HEAD_END) + 1)
        self.come += piece
        if self.wanted is None and (end := self.come.find(_HEAD_END, searched)) >= 0:
            self.wanted = end + len(_HEAD_END) + _awaited_body(self.come[: end + 2])
        self.too_long = self.wanted is None and len(self.come) > _HEAD_LIMIT
        return True if self.too_long or (self.wanted is not None and len(self.come) >= self.wanted) else None

    def hand_on(self) -> None:
        """Give what has come to the parser, and the rest of the request its time."""
        self.init()
        self.parser.unreader.unread(bytes(self.come))
        self.come.clear()
        self.wanted, self.data_ready, self.sock.latest = None, True, time.monotonic() + BODY_S


def _awaited_body(head: bytearray) -> int:
    """Count the bytes of body to collect: none of one that is large, or of unknown length, or waits to be asked for."""
    length = _LENGTH.search(head)
    size = int(length[1]) if length and not _EXPECTS.search(head) else 0
    return size if size <= _BODY_LIMIT else 0


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's worker with threads, whose threads begin where a request has come."""

    def accept(self, listener: socket.socket) -> None:
        """Take a new connection, and wait for its request beside all others."""
        try:
            accepted, client = listener.accept()
        except OSError as error:
            # Somebody else took it, the caller left, or the server is being stopped.
            if error.errno in _NOBODY:
                return
            raise
        connection = TimedSocket(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.nr_conns += 1
        self._await_request(_Connection(self.cfg, connection, client, listener.getsockname()))

    def on_client_socket_readable(self, conn: _Connection, client: socket.socket) -> None:
        """Wait for a further request on a connection that was kept."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await_request(conn)
        self.on_pending_socket_readable(conn, client)

    def on_pending_socket_readable(self, conn: _Connection, client: socket.socket) -> None:
        """Collect a request; once enough has come, take a thread for it."""
        found = conn.receive()
        if found is None:
            return
        self.poller.unregister(client)
        self.pending_conns.remove(conn)
        if found:
            conn.hand_on()
            self.enqueue_req(conn)
        else:
            self.nr_conns -= 1
            conn.close()

    def handle(self, conn: _Connection) -> Any:
        """Answer a request in a thread; one whose head doesn't end is refused."""
        if not conn.too_long:
            return super().handle(conn)
        conn.sock.setblocking(True)
        with suppress(OSError):
            write_error(conn.sock, 431, "Request Header Fields Too Large", "")
        return False

    def _await_request(self, conn: _Connection) -> None:
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + (HEAD_S if self.alive else _STOP_S)
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _cap_keepalive(self, deadline: float) -> None:
        """Wait for nobody who has not asked for anything by the time a stopping worker closes what it keeps."""
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)


class PromptArbiter(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's master, which refuses new connections from the moment that it is told to stop.

    Closing the listening socket is not enough while any process has it: callers would wait in its queue for nobody.
    """

    def stop(self, graceful: bool = True) -> None:
        """Refuse whoever comes now, then let the workers finish."""
        for listener in self.LISTENERS:
            with suppress(OSError):
                listener.sock.shutdown(socket.SHUT_RDWR)
        super().stop(graceful)
