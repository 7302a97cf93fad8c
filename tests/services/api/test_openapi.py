"""What OpenAPI promises is what the routes say."""

from http import HTTPStatus

from contracts import STOCK_LEVELS
from services.api import openapi
from services.api.routes import registry

ERRORS = {"application/problem+json", registry.MEDIA_TYPE}


def test_every_operation_has_a_name_of_its_own_a_summary_and_its_errors() -> None:
    every = [
        operation for path in openapi.render()["paths"].values() for operation in path.values()
    ]
    names = [operation["operationId"] for operation in every]
    assert sorted(set(names)) == sorted(names)
    assert set(names) >= {"getShelf", "listStock", "getProductStock", "listPipelines", "getView"}
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
