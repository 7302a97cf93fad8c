"""A web hook goes to a host on the list, and into no private network unless that is allowed."""

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from infra.errors import UserError
from infra.settings import Settings
from services.subscriptions.addresses import (
    ADDRESS_CHARACTERS_MAX,
    AllowList,
    Refused,
    create_allow_list,
    is_public,
    list_own_networks,
    parse_address,
)

PUBLIC = "93.184.215.14"
PRIVATE = (
    *("127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "255.255.255.255", "224.0.0.1", "192.0.2.1"),
    *("::1", "::", "fe80::1", "fc00::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:93.184.215.14", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1"),
)


def allow(*hosts: str, ips: tuple[str, ...] = (PUBLIC,), networks: str = "") -> AllowList:
    allowed = tuple(ip_network(one) for one in networks.split(",") if one)
    return AllowList(frozenset(hosts), allowed, lambda *_: list(ips))


@pytest.mark.parametrize(
    "text",
    [
        "ftp://hooks.example.com/",
        "hooks.example.com",
        "https://",
        "https:///path",
        "https://user:secret@hooks.example.com/",
        "https://user@hooks.example.com/",
        "https://hooks.example.com/?token=secret",
        "https://hooks.example.com/#part",
        "https://hooks.example.com:port/",
        "https://hooks.example.com:99999/",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/a\r\nHost: elsewhere",
        "https://hooks_example.com/",
        "https://hööks.example.com/",
        "https://[::1]/",
        "https://hooks.example.com\\@elsewhere/",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="https://host:port/path"):
        parse_address(text)


def test_an_address_has_parts() -> None:
    place = parse_address("https://hooks.example.com/stock/S003")
    assert (place.host, place.port, place.path) == ("hooks.example.com", 443, "/stock/S003")
    assert place.origin == "https://hooks.example.com:443"
    assert parse_address("http://hooks.example.com:8080").path == "/"


def test_an_address_has_a_length() -> None:
    start = "https://hooks.example.com/"
    longest = start + "a" * (ADDRESS_CHARACTERS_MAX - len(start))
    assert parse_address(longest).path.endswith("a")
    with pytest.raises(Refused, match="at most 1000 characters"):
        parse_address(f"{longest}a")


def test_only_a_host_on_the_list_may_be_sent_to() -> None:
    allowed = allow("hooks.example.com", "other.example.com:8443")
    allowed.parse("https://hooks.example.com/a")
    allowed.parse("https://other.example.com:8443/a")
    for refused in (
        "https://hooks.example.com:8443/a",
        "https://other.example.com/a",
        "https://sub.hooks.example.com/a",
        "https://hooks.example.com.elsewhere.net/a",
        "https://127.0.0.1/a",
    ):
        with pytest.raises(Refused, match="SUBSCRIPTION_HOSTS"):
            allowed.parse(refused)


@pytest.mark.parametrize("ip", PRIVATE)
def test_an_address_that_is_not_of_the_whole_internet_is_refused(ip: str) -> None:
    assert not is_public(ip_address(ip))
    place = parse_address("https://hooks.example.com/")
    for ips in ((ip,), (PUBLIC, ip), (ip, PUBLIC)):
        with pytest.raises(Refused, match="private network"):
            allow("hooks.example.com", ips=ips).find_ip(place)


def test_a_public_address_is_not_refused() -> None:
    place = parse_address("https://hooks.example.com/")
    for ip in (PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"):
        assert allow("hooks.example.com", ips=(ip,)).find_ip(place) == ip


def test_the_machines_own_networks_are_refused_also_where_they_are_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ip_network("127.0.0.0/8") in set(list_own_networks())
    monkeypatch.setattr(
        "services.subscriptions.addresses.list_own_networks",
        lambda: iter([ip_network("93.184.215.0/24")]),
    )
    with pytest.raises(Refused, match="that of this machine"):
        allow("hooks.example.com").find_ip(parse_address("https://hooks.example.com/"))


def test_a_private_network_may_be_allowed_and_only_there_http() -> None:
    place = parse_address("http://hooks.example.com/")
    allowed = allow("hooks.example.com", ips=("10.1.2.3",), networks="10.1.0.0/16")
    assert allowed.find_ip(place) == "10.1.2.3"
    with pytest.raises(Refused, match="private network"):
        allow("hooks.example.com", ips=("10.2.0.1",), networks="10.1.0.0/16").find_ip(place)
    with pytest.raises(Refused, match="https"):
        allow("hooks.example.com").find_ip(place)


def test_a_name_that_leads_elsewhere_later_is_refused_then() -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    allowed = AllowList(frozenset({"hooks.example.com"}), resolve=lambda *_: next(answers))
    place = allowed.parse("https://hooks.example.com/")
    assert allowed.find_ip(place) == PUBLIC
    with pytest.raises(Refused):
        allowed.find_ip(place)


def test_the_settings_say_where_to() -> None:
    allowed = create_allow_list(
        Settings(
            subscription_hosts="hooks.example.com,10.0.0.7:9000",
            subscription_networks="10.0.0.0/8,fd00::/8",
        )
    )
    assert allowed.hosts == {"hooks.example.com", "10.0.0.7:9000"}
    assert allowed.networks == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
    assert allowed.find_ip(allowed.parse("http://10.0.0.7:9000/")) == "10.0.0.7"
    assert create_allow_list(Settings()).hosts == frozenset()


@pytest.mark.parametrize(
    "wrong",
    [
        {"subscription_hosts": "https://hooks.example.com"},
        {"subscription_hosts": "*.example.com"},
        {"subscription_networks": "10.0.0.0/33"},
        {"subscription_networks": "everywhere"},
    ],
)
def test_a_setting_that_names_no_host_or_network_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, UserError)):
        Settings(**wrong)
