"""Where a webhook may go: the form of its URL, and addresses of the public internet unless any are allowed.

Whoever can name a URL must not get at what only this machine reaches: its own ports, its neighbours, the cloud's
metadata. So a name counts for nothing; each address that it stands for is looked at, and the one that was looked at is
the one connected to.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

from shoe.errors import FairshoeError, InputError, expected

Reach = Literal["public", "any"]
Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], list[str]]
"""Gives the addresses of a host and port; raises OSError where there are none."""

MAX_URL: Final = 2048
_PORTS: Final = {"http": 80, "https": 443}
_PRINTABLE: Final = frozenset(map(chr, range(0x21, 0x7F)))
_SPECIAL_V4: Final = tuple(
    map(
        IPv4Network,
        [
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "168.63.129.16/32",
        ],
    )
)
"""IANA's registry of special-purpose addresses, which Python's releases know in parts; multicast and what is reserved;
and one that is public by its number, yet answered by the host beneath a virtual machine of Azure."""

_UNICAST_V6: Final = IPv6Network("2000::/3")
_SPECIAL_V6: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
"""The same within what is given out as global unicast: Teredo and 6to4 hold an IPv4 address."""


class Unreachable(FairshoeError):
    """A URL that a webhook may not go to, or whose host has no address."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart: what to connect to, and what to ask for there."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Print the header Host: the port only where it isn't the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str, reach: Reach) -> Target:
    """Take a webhook's URL apart; raises InputError for one of another form, or that can't be within reach.

    That is ``https`` with a host, without user and fragment, up to 2,048 printable characters of ASCII; ``http`` only
    where any address is within reach. The error does not show path and query, which may hold a token.
    """
    schemes = ("https",) if reach == "public" else ("https", "http")
    wanted = f"a URL {' or '.join(f'{scheme}://…' for scheme in schemes)}"
    if len(url) > MAX_URL or set(url) - _PRINTABLE or "\\" in url:
        raise InputError(f"url: expected up to {MAX_URL} printable characters of ASCII, none a backslash, got others")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InputError(f"url: expected {wanted} with a host and a port of 1…65535, got another form") from None
    if parts.scheme not in schemes:
        raise InputError(expected(wanted, parts.scheme, "url"))
    if not parts.hostname or "@" in parts.netloc or "#" in url or "%" in parts.netloc or port == 0:
        raise InputError(f"url: expected {wanted} with a host, no user, fragment or port 0, got another form")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = Target(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], path)
    _refuse_literal(target.host, reach)
    return target


def _refuse_literal(host: str, reach: Reach) -> None:
    """Refuse early what never could be reached; names, and odd spellings, are looked up when a delivery is sent."""
    try:
        address = ip_address(host)
    except ValueError:
        return
    if reach == "public" and not is_public(address):
        raise InputError(expected("a host on the public internet", host, "url"))


def resolve(host: str, port: int) -> list[str]:
    """Look a host up as the system does; raises OSError where it has no address."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError("no name of a host") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def reachable(target: Target, reach: Reach, look_up: Resolve) -> list[str]:
    """Look a target's host up, and give its addresses once each of them may be connected to.

    One that may not be rules out all: whoever answers for the name is not to be trusted with the choice. Raises
    Unreachable, saying why.
    """
    try:
        found = look_up(target.host, target.port)
    except OSError:
        found = []
    if not found:
        raise Unreachable("the host has no address")
    for each in found:
        if reach == "public" and not is_public(ip_address(each)):
            raise Unreachable(f"the host has the address {each}, which is not on the public internet")
    return found


def is_public(address: Address) -> bool:
    """Say whether an address is one of the public internet, and stands for no other one inside of it.

    Source: IANA's registries of special-purpose addresses (RFC 6890) and of IPv6's address space.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    return address in _UNICAST_V6 and not any(address in network for network in _SPECIAL_V6)
