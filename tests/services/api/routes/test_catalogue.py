"""The catalogue as the API serves it: whole, linked, and with nothing from elsewhere."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from posixpath import join, normpath

import pytest

from contracts import CONTRACTS
from contracts.consumer import CONSUMERS
from contracts.evolution.released import load_released
from contracts.projection import list_leaves
from services.api.http import frame
from tests.contracts.evolution.editing import HERE
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving

ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    with serving(create_sources(MemoryLog(), tmp_path_factory.mktemp("api"))) as answers:
        yield answers


def get_page(api: Answers, path: str) -> str:
    answer = api.get(f"/catalogue/{path}")
    assert answer.status_code == HTTPStatus.OK
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    return answer.text


def find_links(path: str, text: str) -> set[str]:
    """The pages of the catalogue that a page leads to."""
    folder = path.rpartition("/")[0]
    own = {one for one in addresses(text) if not one.startswith("/")}
    return {normpath(join(folder, one)) for one in own}


def addresses(text: str) -> set[str]:
    """Where a page leads to and what it loads."""
    return {one for address in ADDRESS.findall(text) if (one := address.partition("#")[0])}


def test_the_address_leads_to_the_first_page(api: Answers) -> None:
    answer = api.get("/catalogue")
    assert answer.status_code == HTTPStatus.TEMPORARY_REDIRECT
    assert answer.headers["Location"] == "/catalogue/index.html"


def test_every_page_is_reached_from_the_first_and_none_leads_elsewhere(api: Answers) -> None:
    seen: dict[str, str] = {}
    waiting = {"index.html"}
    while waiting:
        path = waiting.pop()
        seen[path] = get_page(api, path)
        if path.endswith(".html"):
            waiting |= find_links(path, seen[path]) - seen.keys()
    assert {f"topics/{name}.html" for name in CONTRACTS} <= seen.keys()
    assert {f"consumers/{name}.html" for name in CONSUMERS} <= seen.keys()
    assert not any("://" in one for text in seen.values() for one in addresses(text))
    assert not any("<script" in text or " style=" in text for text in seen.values())
    around = {one for text in seen.values() for one in addresses(text) if one.startswith("/")}
    assert around >= {"/", "/pipelines", "/docs", f"{frame.PATH}/style.css"}
    for address in around:
        assert api.get(address).status_code in (HTTPStatus.OK, HTTPStatus.TEMPORARY_REDIRECT)


def test_every_page_is_in_the_frame_of_all_pages(api: Answers) -> None:
    for path in ("index.html", "fields.html", "topics/public.sales.receipt.v1.html"):
        text = get_page(api, path)
        assert '<a href="/catalogue" aria-current="page">Catalogue</a>' in text
        assert '<main id="content"' in text


def test_a_topics_page_tells_all_of_its_contract(api: Answers) -> None:
    text = get_page(api, "topics/public.sales.receipt.v1.html")
    for word in ("stores", "2 h", "store_id", "cents", "loyalty", "simulator", "first released"):
        assert word in text
    assert "lines[].units is at most 10000" in text
    assert "&quot;S003-8412-R17&quot;" in text or '"S003-8412-R17"' in text


def test_who_reads_the_catalogue_sees_which_fields_name_a_person(api: Answers) -> None:
    text = get_page(api, "topics/public.sales.receipt.v1.html")
    assert ">personal data<" in text
    assert text.count(">personal<") == 3  # the cashier, the card and the customer
    assert "many sales on one card" in text
    assert "Kept for ever." in text
    assert ">personal data<" not in get_page(api, "topics/public.catalog.product.v1.html")
    fields = get_page(api, "fields.html")
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


def test_what_was_never_released_is_called_a_draft(api: Answers) -> None:
    before = load_released(HERE)
    for name in CONTRACTS:
        drafted = ">draft<" in get_page(api, f"topics/{name}.html")
        assert drafted == (name not in before)


def test_an_unknown_page_is_a_problem_that_says_where_to_begin(api: Answers) -> None:
    answer = api.get("/catalogue/topics/../../../etc/passwd")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert api.get("/catalogue/nothing.html").json()["detail"].endswith("/catalogue/index.html.")
