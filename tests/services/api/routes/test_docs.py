"""The pages to click through come from this machine alone."""

import re
from http import HTTPStatus

from tests.services.serving import Answers

ADDRESS = re.compile(r'(?:src|href)="([^"]+)"')


def test_the_page_and_all_that_it_loads_come_from_the_api(api: Answers) -> None:
    page = api.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    loaded = [address for address in ADDRESS.findall(page.text) if address != "data:,"]
    assert len(loaded) == 3
    for address in loaded:
        assert address.startswith("/docs/")
        assert api.get(address).status_code == HTTPStatus.OK


def test_the_page_may_run_no_script_but_the_ones_it_names(api: Answers) -> None:
    page = api.get("/docs")
    policy = page.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy)
    assert "unsafe" not in page.headers["content-security-policy"]
    assert not re.search(r"<script>|<style|\son\w+=", page.text)


def test_the_start_script_reads_the_document_that_the_api_serves(api: Answers) -> None:
    assert 'url: "/openapi.json"' in api.get("/docs/start.js").text
    assert api.json("/openapi.json")["openapi"].startswith("3.")
