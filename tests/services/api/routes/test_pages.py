"""The pages: whole, closed to other sites, and asking only for what the API answers."""

import re
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.routing import Match

from services.api.app import create_app
from services.api.routes import pages
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources

BYTES_MAX = 100_000
ADDRESS = re.compile(r'(?:src|href)="([^"#]+)"')
IMPORT = re.compile(r'from "\./([\w.]+)"')
ASKED = re.compile(r"""["`](/[a-z][^"`\s]*)["`]""")
PLACED = re.compile(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")

SCRIPTS = {file.name: file.read_text() for file in pages.FOLDER.glob("*.js")}
SWAGGER_UI = pages.FOLDER / "vendor" / "swagger-ui"


def load(api: Answers, path: str) -> dict[str, str]:
    """All that a browser loads for a page, by address: itself, what it names, what that imports."""
    loaded: dict[str, str] = {}
    waiting = [path]
    while waiting:
        address = waiting.pop()
        if address in loaded:
            continue
        answer = api.get(address)
        assert answer.status_code == HTTPStatus.OK, address
        loaded[address] = answer.text
        if address == path:
            named = ADDRESS.findall(answer.text)
            waiting += [each for each in named if each.startswith(pages.PATH)]
        waiting += [f"{pages.PATH}/{name}" for name in IMPORT.findall(answer.text)]
    return loaded


@pytest.mark.parametrize("path", pages.PAGES)
def test_a_page_leads_to_the_others_and_all_that_it_loads_is_the_apis_and_small(
    quiet: Answers, path: str
) -> None:
    loaded = load(quiet, path)
    assert set(pages.LINKS) <= set(ADDRESS.findall(loaded[path]))
    assert f"{pages.PATH}/{pages.PAGES[path].lower()}.js" in loaded
    assert f"{pages.PATH}/style.css" in loaded
    assert sum(len(text.encode()) for text in loaded.values()) < BYTES_MAX
    for text in loaded.values():
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("path", [*pages.PAGES, pages.API_DOCS])
def test_a_page_may_run_no_script_but_its_own_and_has_nothing_inline(
    quiet: Answers, path: str
) -> None:
    page = quiet.get(path)
    policy = page.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "connect-src 'self'"} <= set(policy)
    assert "unsafe" not in page.headers["content-security-policy"]
    assert ("img-src 'self'" in policy) == (path != pages.API_DOCS)
    assert page.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", page.text)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/pages/shop.js", "text/javascript; charset=utf-8"),
        ("/pages/style.css", "text/css; charset=utf-8"),
        ("/pages/icon.svg", "image/svg+xml"),
    ],
)
def test_a_browser_asks_again_for_what_has_changed(quiet: Answers, address: str, kind: str) -> None:
    first = quiet.get(address)
    assert first.headers["content-type"] == kind
    assert first.headers["cache-control"] == "no-cache"
    again = quiet.request("GET", address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (HTTPStatus.NOT_MODIFIED, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = quiet.request("GET", address, headers={"If-None-Match": '"another"'})
    assert other.content == first.content


def test_the_reference_is_swagger_ui_as_it_was_published(quiet: Answers) -> None:
    """It reads /openapi.json, and is served from here."""
    published = (SWAGGER_UI / "README.md").read_text()
    assert '<div id="reference">' in quiet.get(pages.API_DOCS).text
    assert 'url: "/openapi.json"' in SCRIPTS["docs.js"]
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        address = f"{pages.PATH}/vendor/swagger-ui/{name}"
        assert address in quiet.get(pages.API_DOCS).text
        assert sha256(quiet.get(address).content).hexdigest() in published


def test_every_address_in_the_scripts_is_a_route_of_the_api(tmp_path: Path) -> None:
    routes = create_app(create_sources(MemoryLog(), tmp_path)).routes
    asked = [address for text in SCRIPTS.values() for address in ASKED.findall(text)]
    addresses = {PLACED.sub("x", address) for address in asked}  # x for each inserted value
    assert {"/v1/clock", "/v1/pipelines", "/v1/stock/x/x", "/v1/alerts/x/x/x"} <= addresses
    for address in addresses:
        scope: dict[str, Any] = {"type": "http", "path": urlsplit(address).path}
        assert any(
            route.matches({**scope, "method": method})[0] is Match.FULL
            for route in routes
            for method in ("GET", "POST")
        ), address
