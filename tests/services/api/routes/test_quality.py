"""The Data Docs as the API serves them: what is in their folder, and nothing else."""

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from services.api.routes.quality import find_below
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return tmp_path / "quality"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Answers]:
    with serving(create_sources(MemoryLog(), tmp_path)) as answers:
        yield answers


def test_before_they_are_written_it_says_what_to_do(api: Answers) -> None:
    answer = api.get("/quality/index.html")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert "make quality" in answer.json()["detail"]


def test_they_are_served_and_may_fetch_nothing_from_elsewhere(api: Answers, docs: Path) -> None:
    (docs / "validations").mkdir(parents=True)
    (docs / "index.html").write_text("<p>all is well</p>")
    (docs / "validations" / "one.html").write_text("<p>one</p>")
    assert api.get("/quality").headers["Location"] == "/quality/index.html"
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
