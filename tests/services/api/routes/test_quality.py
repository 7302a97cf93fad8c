"""The Data Docs as the API serves them: what is in their folder, and nothing else."""

import json
import os
import re
from html import unescape
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from infra.reports import VERDICTS
from services.api.http import frame
from services.api.routes.quality import find_below
from tests.services.serving import Answers


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "quality"


def test_before_they_are_written_it_says_what_to_do(api: Answers) -> None:
    for path in ("/quality", "/quality/index.html"):
        answer = api.get(path)
        assert answer.status_code == HTTPStatus.NOT_FOUND
        assert "make quality" in answer.json()["detail"]


def test_they_are_served_and_may_fetch_nothing_from_elsewhere(api: Answers, docs: Path) -> None:
    (docs / "validations").mkdir(parents=True)
    (docs / "index.html").write_text("<p>all is well</p>")
    (docs / "validations" / "one.html").write_text("<p>one</p>")
    assert api.get("/quality").status_code == HTTPStatus.OK
    answer = api.get("/quality/index.html")
    assert answer.status_code == HTTPStatus.OK
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "http" not in answer.headers["Content-Security-Policy"]
    assert api.get("/quality/validations/one.html").text == "<p>one</p>"


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "validations", "", "away.html"])
def test_nothing_beside_them_is_served(docs: Path, name: str) -> None:
    (docs / "validations").mkdir(parents=True)
    secret = docs.parent / "secret.txt"
    secret.write_text("no")
    (docs / "away.html").symlink_to(secret)
    assert find_below(docs, name) is None


VERDICT: dict[str, Any] = {
    "table": "sales.receipt.v1",
    "version": 1_204,
    "suite": "events",
    "expectations": 21,
    "failed": ["units is at most 10000: [10001]"],
}
FOREIGN = """<html><head><link rel="stylesheet" href="https://elsewhere.example/a.css">
<script src="https://elsewhere.example/a.js"></script>
<style>b { background: url('https://elsewhere.example/logo.png') }</style></head>
<body><nav class="navbar"><nav><img src="https://elsewhere.example/logo.png"></nav></nav>
<p>21 expectations</p><script>start();</script></body></html>"""


def test_the_verdicts_are_listed_and_each_leads_to_its_newest_page_in_the_frame(
    api: Answers, docs: Path
) -> None:
    pages = docs / "validations" / "sales-receipt-v1 events"
    for at, name in enumerate(("older", "newer")):
        (pages / name).mkdir(parents=True)
        (pages / name / "one.html").write_text(FOREIGN)
        os.utime(pages / name / "one.html", (at, at))
    (docs / "index.html").write_text(FOREIGN)
    summary = {"checked_at": "2026-03-02T10:41:07.212Z", "not_compared": "", "tables": [VERDICT]}
    (docs / VERDICTS).write_text(json.dumps(summary))
    listed = api.get("/quality").text
    assert "20 expectations met, 1 not" in listed
    assert VERDICT["failed"][0] in listed
    [address] = re.findall(r'href="(/quality[?][^"]+)"', listed)
    framed = api.request("GET", unescape(address)).text
    assert '<a href="/quality" aria-current="page">Data Docs</a>' in framed
    [source] = re.findall(r'<iframe src="([^"]+)"', framed)
    assert source.endswith("/newer/one.html")
    answer = api.get(source)
    assert "21 expectations" in answer.text
    assert "elsewhere" not in answer.text
    assert "<script" not in answer.text
    assert f'<link rel="stylesheet" href="{frame.PATH}/catalogue.css"></head>' in answer.text
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy


@pytest.mark.parametrize("page", ["nothing.html", "../secret.txt", "/etc/passwd"])
def test_a_page_that_is_not_theirs_is_not_framed(api: Answers, docs: Path, page: str) -> None:
    docs.mkdir()
    (docs / "index.html").write_text("<p>all is well</p>")
    (docs.parent / "secret.txt").write_text("no")
    assert api.get("/quality", page=page).status_code == HTTPStatus.NOT_FOUND


def test_pages_without_a_summary_say_how_to_get_one(api: Answers, docs: Path) -> None:
    docs.mkdir()
    (docs / "index.html").write_text("<p>all is well</p>")
    assert "Write it: make quality" in api.get("/quality").text
