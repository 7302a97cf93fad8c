"""What OpenAPI promises is what the routes say."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from contracts import STOCK_LEVELS
from services.api.app import create_app
from services.api.routes import registry
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources

ERRORS = {"application/problem+json", registry.MEDIA_TYPE}


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return create_app(create_sources(MemoryLog(), tmp_path)).openapi()


def list_operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_every_operation_has_a_name_of_its_own_a_summary_and_its_errors(
    document: dict[str, Any],
) -> None:
    every = list_operations(document)
    names = [operation["operationId"] for operation in every]
    assert sorted(set(names)) == sorted(names)
    assert set(names) >= {"getShelf", "listStock", "getProductStock", "listPipelines", "getView"}
    for operation in every:
        assert operation["summary"]
        for status in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR):
            content = operation["responses"][str(int(status))]["content"]
            assert set(content) <= ERRORS


def test_the_fields_of_a_shelf_come_from_its_contract(document: dict[str, Any]) -> None:
    properties = document["components"]["schemas"]["Shelf"]["properties"]
    for field in STOCK_LEVELS.fields:
        assert properties[field.name]["description"] == field.description
        assert properties[field.name].get("unit") == field.unit
