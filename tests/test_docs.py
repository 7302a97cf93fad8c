"""What the documents name is there: targets, commands, modules, files, links, routes, variables."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.catalogue.table import table
from infra.settings import root
from tests import decisions
from tests.docs.commands import (
    find_unknown_commands,
    find_unknown_modules,
    find_unknown_targets,
    find_unknown_variables,
)
from tests.docs.places import find_broken_links, find_missing_files, find_unknown_routes
from tests.rooms import ROOMS

DOCUMENTS = sorted(
    [
        *root().glob("*.md"),
        *(file for room in (*ROOMS, "docs") for file in (root() / room).rglob("*.md")),
    ]
)
REQUIRED = {
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    *(f"docs/{name}.md" for name in ("settings", "benchmarks", "accuracy", "containers")),
    "docs/observability.md",
    "docs/glossary.md",
    "docs/exactness.md",
    "docs/decisions/README.md",
    *(f"{room}/README.md" for room in ROOMS),
    "pipelines/common/README.md",
    "services/api/README.md",
}
PICTURE_BYTES_MAX = 200_000
LINES_MAX = {"README.md": 150, "ARCHITECTURE.md": 200}

Finder = Callable[[str, Path], Iterator[str]]

FINDERS: tuple[Finder, ...] = (
    find_unknown_targets,
    find_unknown_commands,
    find_unknown_modules,
    find_missing_files,
    find_broken_links,
    find_unknown_routes,
    find_unknown_variables,
)


def test_the_documents_are_there() -> None:
    assert {str(document.relative_to(root())) for document in DOCUMENTS} >= REQUIRED


@pytest.mark.parametrize(("name", "lines_max"), LINES_MAX.items())
def test_a_document_for_newcomers_is_short(name: str, lines_max: int) -> None:
    assert len((root() / name).read_text().splitlines()) <= lines_max


@pytest.mark.parametrize("picture", sorted((root() / "docs").glob("*.png")), ids=lambda at: at.name)
def test_a_picture_is_small_and_is_shown(picture: Path) -> None:
    assert picture.stat().st_size < PICTURE_BYTES_MAX
    assert f"](docs/{picture.name})" in (root() / "README.md").read_text()


def test_the_table_of_topics_is_the_one_that_is_generated() -> None:
    assert f"\n\n{table()}\n" in (root() / "ARCHITECTURE.md").read_text()


def test_the_index_of_decisions_is_the_one_that_the_records_make() -> None:
    records = decisions.read(root() / "docs" / "decisions")
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    index = (root() / "docs" / "decisions" / "README.md").read_text()
    assert f"\n\n{decisions.render_index(records)}" in index


def test_every_pipeline_has_a_readme() -> None:
    rooms = {file.parent for file in root().glob("pipelines/*/pipeline.py")}
    assert {room for room in rooms if not (room / "README.md").exists()} <= {
        root() / "pipelines" / "common"
    }


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(root())))
def test_every_name_in_a_document_exists(document: Path, find: Finder) -> None:
    assert list(find(document.read_text(), document)) == []


@pytest.mark.parametrize(
    ("find", "right", "wrong", "found"),
    [
        (
            find_unknown_targets,
            "`make up SIMULATOR_SPEED=60`",
            "`make down && make coffee`",
            "make coffee",
        ),
        (find_unknown_targets, "we make do", "```\nmake coffee   # a cup\n```", "make coffee"),
        (find_unknown_targets, "`make up`", "`make PORT_BASE=8100 coffee`", "make coffee"),
        (
            find_unknown_commands,
            "`retail score fraud`",
            "`retail score coffee`",
            "retail score coffee",
        ),
        (
            find_unknown_commands,
            "`bin/retail status --json`",
            "`retail status --xml`",
            "retail status --xml",
        ),
        (
            find_unknown_modules,
            "`python -m infra.jars.lock`",
            "`python -m infra.jars.key`",
            "infra.jars.key",
        ),
        (
            find_unknown_modules,
            "`python -m contracts.lock`",
            "`python -m contract.lock`",
            "contract.lock",
        ),
        (
            find_missing_files,
            "`contracts/topics`, `data/api`",
            "`contracts/themes`",
            "contracts/themes",
        ),
        (find_missing_files, "`Makefile`, `store_id/sku`", "`design.md`", "design.md"),
        (find_broken_links, "[law](LICENSE), [web](https://a.b/c)", "[law](LICENCE)", "LICENCE"),
        (
            find_broken_links,
            "[a](README.md#your-own-data)",
            "[b](README.md#proofs)",
            "README.md#proofs",
        ),
        (find_unknown_routes, "`GET /v1/stock/S003/SKU-7`", "`GET /v2/stock`", "/v2/stock"),
        (
            find_unknown_routes,
            "`curl 127.0.0.1:8000/v1/stock?limit=1`",
            "`GET /v1/shelf`",
            "/v1/shelf",
        ),
        (find_unknown_variables, "`make reset YES=1`", "`make up PORT=1`", "PORT"),
        (find_unknown_variables, "`PORT_BASE`, `COMPONENT=api`", "`DATA_FOLDER`", "DATA_FOLDER"),
    ],
)
def test_a_wrong_name_is_found_and_a_right_one_is_not(
    find: Finder, right: str, wrong: str, found: str
) -> None:
    readme = root() / "README.md"
    assert list(find(right, readme)) == []
    assert list(find(f"{right}\n\n{wrong}\n", readme)) == [found]
