"""Servers that only this machine may use: which addresses those are, and whether a request names one of them.

A web page elsewhere can make a browser send requests to this machine under another host name (DNS
rebinding). So the studio, and the service unless told to listen to others, answer only requests whose Host
is one of `HOSTS`.
"""

from __future__ import annotations

import ipaddress
import re
import socket

from aspectra.errors import InputError

HOST = "127.0.0.1"
HOSTS = frozenset((HOST, "localhost", "::1"))


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach the address."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(
            f"No address {host!r} on this machine ({error.strerror}). Give one of its own, e.g. 0.0.0.0."
        ) from None
    return all(ipaddress.ip_address(address[4][0]).is_loopback for address in found)


def names_this_machine(host: str | None, port: int | None = None) -> bool:
    """Tell whether a Host header names this machine and, if given, exactly this port."""
    name, found = split_host(host or "")
    return name in HOSTS and (port is None or found == str(port))


def split_host(host: str) -> tuple[str, str]:
    """Split "[::1]:80" or "localhost:80" into name and port; what has another form has no name."""
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:]+)\]|([^\[\]:]+))(?::([0-9]*))?", host)
    return (found[1] or found[2], found[3] or "") if found else ("", "")
