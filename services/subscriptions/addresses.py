"""Where web hooks may go: hosts on a list, and no address of the machine's own networks."""

import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from urllib.parse import urlsplit

import psutil

from infra.settings import Settings

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str, int], list[str]]
"""The addresses of a host, as numbers. Raises OSError."""

ADDRESS_CHARACTERS_MAX = 1_000
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
PATH = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*")
PORTS = {"https": 443, "http": 80}
UNICAST = IPv6Network("2000::/3")
"""All of IPv6 that is routed; what stands for an IPv4 address is beyond it, or 6to4."""


class Refused(Exception):
    """A web hook must not go there."""


@dataclass(frozen=True)
class Place:
    """A receiver's address, in parts."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def parse_address(text: str) -> Place:
    """The address of a receiver. Raises Refused."""
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        parts, port = urlsplit(""), 0
    host = parts.hostname or ""
    plain = f"{parts.scheme}://{parts.netloc}{parts.path}" == text
    if not (
        plain
        and "@" not in parts.netloc
        and len(text) <= ADDRESS_CHARACTERS_MAX
        and parts.scheme in PORTS
        and HOST.fullmatch(host)
        and PATH.fullmatch(parts.path)
    ):
        raise Refused(
            f"expected an address as https://host:port/path of at most {ADDRESS_CHARACTERS_MAX} "
            "characters, without user, query and fragment"
        )
    return Place(parts.scheme, host, port, parts.path or "/")


def resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


@dataclass(frozen=True)
class AllowList:
    """The hosts that may be sent to, and the networks of this machine that are no secret to them.

    The name is resolved at each call of `find_ip`, so a name that leads elsewhere later is refused
    then.
    """

    hosts: frozenset[str]
    """host or host:port; without a port, that of the scheme."""
    networks: tuple[Network, ...] = ()
    """Networks that are allowed although they are private; to them alone http is."""
    resolve: Resolve = resolve

    def parse(self, text: str) -> Place:
        """The address, if its host is on the list. Raises Refused."""
        place = parse_address(text)
        known = {f"{place.host}:{place.port}"}
        if place.port == PORTS[place.scheme]:
            known.add(place.host)
        if not known & self.hosts:
            raise Refused(
                f"expected a host that SUBSCRIPTION_HOSTS names, found {place.host}:{place.port}"
            )
        return place

    def find_ip(self, place: Place) -> str:
        """The first address of the host, if all of them are allowed. Raises Refused and OSError."""
        found = self.resolve(place.host, place.port)
        for one in found:
            self._check(ip_address(one), place)
        return found[0]

    def _check(self, ip: Ip, place: Place) -> None:
        if any(ip in network for network in self.networks):
            return
        if not is_public(ip) or any(ip in network for network in list_own_networks()):
            raise Refused(
                f"{place.host} leads into a private network or that of this machine, which "
                "SUBSCRIPTION_NETWORKS does not allow"
            )
        if place.scheme != "https":
            raise Refused("expected https, since the address is not in SUBSCRIPTION_NETWORKS")


def create_allow_list(settings: Settings) -> AllowList:
    networks = tuple(ip_network(one) for one in split(settings.subscription_networks))
    return AllowList(frozenset(split(settings.subscription_hosts)), networks)


def split(text: str) -> tuple[str, ...]:
    return tuple(one for one in text.split(",") if one)


def is_public(ip: Ip) -> bool:
    """Whether the address is one of the whole internet, and stands for no other."""
    if isinstance(ip, IPv6Address) and (ip not in UNICAST or ip.sixtofour is not None):
        return False
    return ip.is_global and not ip.is_multicast


def list_own_networks() -> Iterator[Network]:
    """The networks that this machine is part of."""
    for interface in psutil.net_if_addrs().values():
        for one in interface:
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.netmask:
                bits = bin(int(ip_address(one.netmask))).count("1")
                yield ip_interface(f"{one.address.partition('%')[0]}/{bits}").network
