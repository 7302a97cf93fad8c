"""The API is what its committed document says: the same document, and answers that keep it."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest

from contracts import STOCK_LEVELS
from infra.settings import Settings
from services.api import openapi
from services.api.app import create_sources
from services.api.commands import Commands
from services.api.http.problems import REGISTRY_MEDIA_TYPE
from tests.services.broker import KafkaLog
from tests.services.serving import OPENAPI, TOKEN, Answers, find_failures, serving
from tests.services.world import NOON, announce, beat
from tests.services.writing import Writing, promote

ERRORS = {"application/problem+json", REGISTRY_MEDIA_TYPE}


def test_every_operation_has_a_name_of_its_own_a_summary_and_its_errors() -> None:
    every = [
        operation for path in openapi.render()["paths"].values() for operation in path.values()
    ]
    names = [operation["operationId"] for operation in every]
    assert sorted(set(names)) == sorted(names)
    assert set(names) >= {"getShelf", "listStock", "listPipelines", "getView"}
    for operation in every:
        assert operation["summary"]
        for status in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR):
            content = operation["responses"][str(int(status))]["content"]
            assert set(content) <= ERRORS


def test_the_fields_of_a_shelf_come_from_its_contract() -> None:
    properties = openapi.render()["components"]["schemas"]["Shelf"]["properties"]
    for field in STOCK_LEVELS.fields:
        assert properties[field.name]["description"] == field.description
        assert properties[field.name].get("unit") == field.unit


SECONDS_MAX = 150
EXAMPLES_MAX = 15
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
CONFIGURATION = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
"""
"""503: a view that no pipeline here writes; that it says so is documented."""
STREAMS = "/v1/stream"
"""It never ends, and says so in its own tests."""


@pytest.fixture
def api(kafka: Settings, tmp_path: Path) -> Iterator[Answers]:
    """An API over a real broker, with something to answer with; a command only says its words."""
    log = KafkaLog(kafka)
    inventory = Writing(log)
    promote(log, inventory)
    inventory.row(1, "SKU-00417", 3)
    log.flush()
    inventory.mark()
    announce(log)
    beat(log, NOON)
    log.flush()
    sources = create_sources(kafka.model_copy(update={"data_dir": tmp_path}))
    with serving(replace(sources, commands=Commands(("echo",), lambda: TOKEN))) as answers:
        yield answers.ready()


def test_the_committed_document_is_the_routes_own() -> None:
    assert openapi.render() == OPENAPI, "commit it: python -m services.api.openapi"


@pytest.mark.thorough
@pytest.mark.e2e
def test_whatever_a_client_makes_of_the_document_is_answered_by_it(
    api: Answers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the token, so that actions are asked for as well."""
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run"),
            f"{api.address}/openapi.json",
            *("--checks", ",".join(CHECKS), "--max-examples", str(EXAMPLES_MAX)),
            *("--exclude-path", STREAMS, "--phases", "examples,coverage,fuzzing"),
            *("--header", f"Authorization: Bearer {TOKEN}"),
            *("--generation-deterministic", "--no-color"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert find_failures(caplog.records) == []
