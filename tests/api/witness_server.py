"""A real witness for tests: C2SP tlog-witness over loopback HTTP, written from its text, and able to misbehave.

Nothing of the project checks or makes anything here: signatures are `cryptography`'s, the consistency check is RFC
9162's in `tests/reference`. A test may have an honest answer spoiled on its way, or take the connection over.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tests.reference.merkle_reference import climb_consistency

DASH = "\N{EM DASH} "


class Answered(NamedTuple):
    """Status, body and media type of an answer."""

    status: int
    body: bytes
    media_type: str = "text/plain"


@dataclass
class WitnessServer:
    """A witness that knows one log, by its vkey; `now` gives the time that it states, in POSIX seconds.

    `cosigned` is what it cosigned last, size and root; `asked` every request's body; `spoil` makes another answer of
    an honest one; `take_over` answers in its own way, and may wait for `closing`.
    """

    log_vkey: str
    now: Callable[[], float]
    name: str = "witness.example/w1"
    seed: bytes = bytes(range(1, 33))
    cosigned: tuple[int, bytes] | None = None
    asked: list[bytes] = field(default_factory=list)
    spoil: Callable[[Answered], Answered] | None = None
    take_over: Callable[[BaseHTTPRequestHandler], None] | None = None
    closing: Event = field(default_factory=Event)
    url: str = ""
    lock: Any = field(default_factory=Lock)

    @property
    def private_key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @property
    def key_id(self) -> bytes:
        typed = b"\x04" + self.private_key.public_key().public_bytes_raw()
        return hashlib.sha256(self.name.encode() + b"\n" + typed).digest()[:4]

    @property
    def vkey(self) -> str:
        typed = b"\x04" + self.private_key.public_key().public_bytes_raw()
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(typed).decode()}"

    def line(self, text: str, time_s: int | None = None) -> bytes:
        """A cosignature line over a checkpoint's text."""
        time_s = int(self.now()) if time_s is None else time_s
        made = self.private_key.sign(f"cosignature/v1\ntime {time_s}\n{text}".encode())
        encoded = base64.b64encode(self.key_id + time_s.to_bytes(8, "big") + made).decode()
        return f"{DASH}{self.name} {encoded}\n".encode()

    def add_checkpoint(self, body: bytes) -> Answered:
        """Answer as tlog-witness says, check by check in its order."""
        head, checkpoint = body.decode().split("\n\n", 1)
        old_line, *proof_lines = head.split("\n")
        text, signature_lines = checkpoint.split("\n\n")
        text += "\n"
        origin, size, root = text.split("\n")[0], int(text.split("\n")[1]), base64.b64decode(text.split("\n")[2])
        assert old_line.startswith("old ")
        old, proof = int(old_line[4:]), [base64.b64decode(line, validate=True) for line in proof_lines]
        assert len(proof) <= 63
        if origin != self.log_vkey.split("+")[0]:
            return Answered(404, b"")
        if not self.signed_by_the_log(text, signature_lines):
            return Answered(403, b"")
        if old > size:
            return Answered(400, b"")
        with self.lock:
            held, held_root = self.cosigned or (0, hashlib.sha256().digest())
            if old != held or (old == size and root != held_root):
                return Answered(409, b"%d\n" % held, "text/x.tlog.size")
            if not consistent(old, held_root, size, root, proof):
                return Answered(422, b"")
            self.cosigned = size, root
        return Answered(200, self.line(text))

    def signed_by_the_log(self, text: str, signature_lines: str) -> bool:
        name, key_id, encoded = self.log_vkey.split("+", 2)
        for line in signature_lines.strip("\n").split("\n"):
            signer, signature = line.removeprefix(DASH).split(" ")
            made = base64.b64decode(signature)
            if (signer, made[:4].hex()) == (name, key_id):
                key = Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:])
                try:
                    key.verify(made[4:], text.encode())
                except InvalidSignature:
                    return False
                return True
        return False


def consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: list[bytes]) -> bool:
    """RFC 9162 §2.1.4.2, and what tlog-witness says of the old size 0 and of equal sizes."""
    if old in (0, new):
        return not proof
    path = [old_root, *proof] if old & (old - 1) == 0 else proof
    return bool(path) and climb_consistency(old, new, path) == (old_root, new_root)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    witness: WitnessServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.witness.asked.append(body)
        if self.path != "/w/add-checkpoint":
            self.answer(Answered(404, b"no such path"))
        elif self.witness.take_over is not None:
            self.close_connection = True
            self.witness.take_over(self)
        else:
            answered = self.witness.add_checkpoint(body)
            self.answer(answered if self.witness.spoil is None else self.witness.spoil(answered))

    def answer(self, answered: Answered) -> None:
        self.send_response(answered.status)
        self.send_header("Content-Type", answered.media_type)
        self.send_header("Content-Length", str(len(answered.body)))
        self.end_headers()
        self.wfile.write(answered.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that hangs up is nothing to speak of."""


@contextmanager
def served_witness(log_vkey: str, now: Callable[[], float], **more: Any) -> Iterator[WitnessServer]:
    """A witness at work on a free port of 127.0.0.1 until the block is left."""
    witness = WitnessServer(log_vkey, now, **more)
    handler = type("Handler", (_Handler,), {"witness": witness})
    with _Server(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        witness.url = f"http://127.0.0.1:{server.server_address[1]}/w"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield witness
        finally:
            witness.closing.set()
            server.shutdown()
            thread.join()
