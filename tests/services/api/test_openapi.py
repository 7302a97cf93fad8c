"""What OpenAPI promises is what the routes say."""

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from contracts import STOCK_LEVELS
from services.api.app import create_app
from services.api.routes import (
    actions,
    audit,
    clock,
    differences,
    events,
    examples,
    history,
    orders,
    pipelines,
    positions,
    prices,
    products,
    promotions,
    quarantine,
    registry,
    stock,
    stock_outs,
    topics,
    views,
)
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources

ERRORS = {"application/problem+json", registry.MEDIA_TYPE}

SHAPES = [
    (stock.Shelf, examples.SHELF | examples.DATES),
    (stock.StockPage, examples.PAGE),
    (products.ProductStock, examples.PRODUCT),
    (pipelines.Pipelines, examples.PIPELINES),
    (differences.Difference, examples.DIFFERENCE),
    (actions.Done, examples.DONE),
    (audit.AuditPage, examples.AUDIT_PAGE),
    (history.Available, examples.HISTORY),
    (views.View, examples.VIEW),
    (events.PublishedEvent, examples.PUBLISHED),
    (clock.WorldTime, examples.WORLD_TIME),
    (prices.Price, examples.PRICE | examples.PRICES_AS_OF),
    (prices.PricePage, examples.PRICE_PAGE),
    (prices.PriceHistory, examples.PRICE_HISTORY),
    (promotions.PromotionPage, examples.PROMOTION_PAGE),
    (orders.OrderPage, examples.ORDER_PAGE),
    (positions.Positions, examples.POSITIONS),
    (history.PastShelf, examples.PAST_SHELF),
    (history.MovementPage, examples.MOVEMENT_PAGE),
    (stock_outs.StockOutPage, examples.STOCK_OUT_PAGE),
    (history.AlertHistory, examples.ALERT_HISTORY),
    (quarantine.QuarantinePage, examples.QUARANTINE_PAGE),
    (quarantine.Rejected, examples.REJECTED),
    (topics.Topic, topics.EXAMPLE),
]


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    return create_app(create_sources(MemoryLog(), tmp_path)).openapi()


def list_operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


@pytest.mark.parametrize(("shape", "example"), SHAPES)
def test_an_example_has_the_shape_that_is_documented(
    shape: type[BaseModel], example: dict[str, Any]
) -> None:
    assert json.loads(json.dumps(example)) == example
    shape.model_validate(example, strict=False)  # JSON spells times as text
    assert set(example) <= set(shape.model_fields)


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
