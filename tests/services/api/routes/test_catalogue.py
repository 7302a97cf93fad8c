"""The catalogue as the API serves it: whole, linked, and with nothing from elsewhere."""

import re
from http import HTTPStatus
from posixpath import join, normpath

from contracts import CONTRACTS
from contracts.consumer import CONSUMERS
from contracts.evolution.released import load_released
from contracts.projection import list_leaves
from services.api.routes import pages
from tests.contracts.evolution.editing import HERE
from tests.services.serving import Answers

ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')


def get_page(quiet: Answers, path: str) -> str:
    answer = quiet.get(f"/catalogue/{path}")
    assert answer.status_code == HTTPStatus.OK
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    return answer.text


def find_links(path: str, text: str) -> set[str]:
    """The pages of the catalogue that a page leads to."""
    folder = path.rpartition("/")[0]
    own = {one for one in addresses(text) if not one.startswith("/")}
    return {normpath(join(folder, one)) for one in own}


def addresses(text: str) -> set[str]:
    """Where a page leads to and what it loads."""
    return {one for address in ADDRESS.findall(text) if (one := address.partition("#")[0])}


def test_the_address_leads_to_the_first_page(quiet: Answers) -> None:
    answer = quiet.get("/catalogue")
    assert answer.status_code == HTTPStatus.TEMPORARY_REDIRECT
    assert answer.headers["Location"] == "/catalogue/index.html"


def test_every_page_is_reached_from_the_first_and_none_leads_elsewhere(quiet: Answers) -> None:
    seen: dict[str, str] = {}
    waiting = {"index.html"}
    while waiting:
        path = waiting.pop()
        seen[path] = get_page(quiet, path)
        waiting |= find_links(path, seen[path]) - seen.keys()
    assert {f"topics/{name}.html" for name in CONTRACTS} <= seen.keys()
    assert {f"consumers/{name}.html" for name in CONSUMERS} <= seen.keys()
    assert not any("://" in one for text in seen.values() for one in addresses(text))
    assert not any("<script" in text or " style=" in text for text in seen.values())
    around = {one for text in seen.values() for one in addresses(text) if one.startswith("/")}
    assert around >= {
        "/",
        "/pipelines",
        "/docs",
        f"{pages.PATH}/style.css",
        f"{pages.PATH}/catalogue.css",
    }
    for address in around:
        assert quiet.get(address).status_code in (HTTPStatus.OK, HTTPStatus.TEMPORARY_REDIRECT)


def test_who_reads_the_catalogue_sees_which_fields_name_a_person(quiet: Answers) -> None:
    text = get_page(quiet, "topics/public.sales.receipt.v1.html")
    assert ">personal data<" in text
    assert text.count(">personal<") == 3  # the cashier, the card and the customer
    assert "many sales on one card" in text
    assert "Kept for ever." in text
    assert ">personal data<" not in get_page(quiet, "topics/public.catalog.product.v1.html")
    fields = get_page(quiet, "fields.html")
    personal = [row for row in fields.split("<tr>") if ">personal<" in row]
    assert [re.findall(r"<code>(\w+)</code>", row)[0] for row in personal] == [
        name
        for name, _ in sorted(
            (path[-1], one.name)
            for one in CONTRACTS.values()
            for path, field in list_leaves(one.fields)
            if field.personal
        )
    ]


def test_what_was_never_released_is_called_a_draft(quiet: Answers) -> None:
    before = load_released(HERE)
    for name in CONTRACTS:
        drafted = ">draft<" in get_page(quiet, f"topics/{name}.html")
        assert drafted == (name not in before)
