"""Differences between two OpenAPI documents: those that clients notice are found, and no others."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from contracts.evolution.http import DEPTH_MAX, find_breaks

Document = dict[str, Any]

SHELF = {
    "type": "object",
    "properties": {
        "units": {"type": "integer"},
        "state": {"type": "string", "enum": ["ok", "low"]},
        "seen": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["units", "state"],
}
OLD: Document = {
    "paths": {
        "/v1/stock": {
            "get": {
                "parameters": [
                    {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 500}},
                    {"in": "query", "name": "sort", "schema": {"enum": ["sku", "units"]}},
                ],
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "array",
                                    "items": {"$ref": "#/components/schemas/Shelf"},
                                }
                            }
                        }
                    },
                    "404": {"content": {"application/problem+json": {"schema": {}}}},
                },
            },
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"sku": {"type": "string"}},
                                "required": [],
                            }
                        }
                    }
                },
                "responses": {"201": {}},
            },
        }
    },
    "components": {"schemas": {"Shelf": SHELF}},
}

STOCK = OLD["paths"]["/v1/stock"]


def find_stock(document: Document, method: str = "get") -> Any:
    return document["paths"]["/v1/stock"][method]


def find_shelf(document: Document) -> Any:
    return document["components"]["schemas"]["Shelf"]


def find_body(document: Document) -> Any:
    return find_stock(document, "post")["requestBody"]["content"]["application/json"]["schema"]


LIMIT = "GET /v1/stock: query parameter limit"
ANSWER = "GET /v1/stock: answer 200"

BREAKS: list[tuple[Callable[[Document], object], str]] = [
    (lambda d: d["paths"].pop("/v1/stock"), "GET /v1/stock is gone"),
    (lambda d: d["paths"]["/v1/stock"].pop("post"), "POST /v1/stock is gone"),
    (lambda d: find_stock(d)["parameters"].pop(0), f"{LIMIT} is gone"),
    (lambda d: find_stock(d)["parameters"][0].update(required=True), f"{LIMIT} is required now"),
    (
        lambda d: find_stock(d)["parameters"].append(
            {"in": "query", "name": "store", "required": True, "schema": {}}
        ),
        "GET /v1/stock: query parameter store is required now",
    ),
    (lambda d: find_stock(d)["parameters"][0]["schema"].update(maximum=100), "maximum 500 → 100"),
    (lambda d: find_stock(d)["parameters"][0]["schema"].update(type="string"), "integer → string"),
    (lambda d: find_stock(d)["parameters"][1]["schema"].update(enum=["sku"]), "may not be units"),
    (lambda d: find_stock(d)["responses"].pop("200"), "no answer 200 any more"),
    (lambda d: find_shelf(d)["properties"].pop("units"), f"{ANSWER}[]: units is gone"),
    (
        lambda d: find_shelf(d)["properties"]["units"].update(type="string"),
        f"{ANSWER}[].units: integer → string",
    ),
    (lambda d: find_shelf(d)["required"].remove("units"), f"{ANSWER}[]: units may be absent now"),
    (lambda d: find_shelf(d)["properties"]["state"]["enum"].append("out"), "may also be out"),
    (lambda d: find_body(d)["required"].append("sku"), "POST /v1/stock: body: sku is required now"),
    (
        lambda d: find_shelf(d)["properties"].update(
            units={"anyOf": [{"type": "integer"}, {"type": "null"}]}
        ),
        "integer → integer, null",
    ),
]

HARMLESS: list[Callable[[Document], object]] = [
    lambda d: d,
    lambda d: d["paths"].update({"/v1/prices": STOCK}),
    lambda d: find_stock(d)["parameters"].append({"in": "query", "name": "store", "schema": {}}),
    lambda d: find_stock(d)["parameters"][0]["schema"].update(maximum=1000),
    lambda d: find_stock(d)["parameters"][1]["schema"]["enum"].append("store"),
    lambda d: find_stock(d)["parameters"][1].update(
        schema={"type": "array", "items": {"enum": ["sku", "units"]}}
    ),
    lambda d: find_shelf(d)["properties"].update(colour={"type": "string"}),
    lambda d: find_shelf(d)["required"].append("seen"),
    lambda d: find_shelf(d)["properties"].update(seen={"type": "string"}),
    lambda d: find_shelf(d)["properties"]["state"]["enum"].pop(),
    lambda d: find_stock(d)["responses"].pop("404"),
    lambda d: find_stock(d)["responses"].update({"503": {}}),
    lambda d: find_body(d)["properties"].update(note={"type": "string"}),
    lambda d: find_stock(d).update(summary="Shelves", description="Better words."),
]


@pytest.mark.parametrize(("change", "message"), BREAKS)
def test_what_a_client_notices_is_told(change: Callable[[Document], object], message: str) -> None:
    new = deepcopy(OLD)
    change(new)
    assert any(message in one for one in find_breaks(OLD, new)), list(find_breaks(OLD, new))


@pytest.mark.parametrize("change", HARMLESS)
def test_what_no_client_notices_is_not(change: Callable[[Document], object]) -> None:
    new = deepcopy(OLD)
    change(new)
    assert list(find_breaks(OLD, new)) == []


def nested(depth: int, leaf: dict[str, Any]) -> dict[str, Any]:
    """A document with an answer of objects within each other, and that in the last one."""
    schema: dict[str, Any] = {"type": "object", "properties": leaf}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"inner": schema}}
    content = {"application/json": {"schema": schema}}
    return {"paths": {"/a": {"get": {"responses": {"200": {"content": content}}}}}}


@pytest.mark.parametrize("depth", [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1, 10 * DEPTH_MAX])
def test_what_is_gone_is_seen_so_deep_and_no_deeper(depth: int) -> None:
    broken = list(find_breaks(nested(depth, {"units": {"type": "integer"}}), nested(depth, {})))
    assert [one.split(": ")[-1] for one in broken] == ["units is gone"] * (depth <= DEPTH_MAX)


def test_a_document_that_refers_to_itself_has_an_end() -> None:
    schema = {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/A"}}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}
    document = {
        "paths": {"/a": {"get": {"responses": {"200": {"content": content}}}}},
        "components": {"schemas": {"A": schema}},
    }
    assert list(find_breaks(document, document)) == []
