"""Lists come in pages: together they are the whole, and a cursor fits its own question."""

from collections.abc import Iterator
from http import HTTPStatus
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from contracts import ALERTS, STORE_SALES
from contracts.schemas import get_schema_id
from tests.services.memory import MemoryLog
from tests.services.serving import OPENAPI, Answers, check_problem
from tests.services.showing import SHELF, Shop, serving_shop
from tests.services.world import NOON

Query = dict[str, Any]
STORE, SKU = SHELF
ROWS = f"/v1/views/{STORE_SALES.name}/rows"
LISTS: list[tuple[str, Query, Query]] = [
    ("/v1/stock", {"limit": 2}, {"sku": SKU}),
    ("/v1/stock", {"limit": 2, "sort": "-units_on_hand"}, {}),
    (ROWS, {"limit": 7, "store_id": "S001"}, {"store_id": "S002"}),
    (ROWS, {"limit": 7, "store_id": "S001", "order": "newest"}, {}),
    ("/v1/products", {"limit": 2}, {"q": "milk"}),
    ("/v1/stores", {"limit": 5}, {}),
    ("/v1/suppliers", {"limit": 1}, {}),
    ("/v1/orders", {"limit": 1}, {"sku": SKU}),
    (f"/v1/prices/{SKU}/history", {"limit": 1}, {}),
    ("/v1/markdowns", {"limit": 1}, {"state": "ended"}),
    (f"/v1/promotions/{SKU}", {"limit": 1}, {}),
    ("/v1/quarantine", {"limit": 1}, {"reason": "late"}),
    ("/v1/audit", {"limit": 3}, {"who": "nobody"}),
    (f"/v1/history/movements/{STORE}/{SKU}", {"limit": 2}, {"since": NOON.isoformat()}),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    """Something in every list; five actions were refused."""
    log = MemoryLog()
    Shop(log)
    with serving_shop(log, tmp_path_factory.mktemp("shop")) as api:
        for _ in range(5):
            api.request("POST", "/v1/pipelines/fraud/rollback")
        api.await_items("/v1/audit", 5)
        yield api


@pytest.mark.parametrize(("path", "query"), [listed[:2] for listed in LISTS])
def test_pages_put_together_are_the_whole_list(shop: Answers, path: str, query: Query) -> None:
    whole = shop.json(path, **{**query, "limit": 500})["items"]
    pages = [shop.json(path, **query)]
    while pages[-1]["next"]:
        pages.append(shop.json(path, **query, cursor=pages[-1]["next"]))
    assert len(pages) > 1
    assert [item for page in pages for item in page["items"]] == whole
    assert all(len(page["items"]) == query["limit"] for page, _ in pairwise(pages))


@pytest.mark.parametrize(("path", "query", "other"), [listed for listed in LISTS if listed[2]])
def test_a_cursor_of_another_question_is_refused(
    shop: Answers, path: str, query: Query, other: Query
) -> None:
    following = shop.json(path, **query)["next"]
    answer = shop.get(path, **{**query, **other, "cursor": following})
    check_problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY, "Cursor of another question")


NAMES: Query = {
    "store_id": STORE,
    "sku": SKU,
    "name": STORE_SALES.name,
    "pipeline": "inventory",
    "subject": f"{STORE_SALES.name}-value",
    "version": "latest",
    "id": get_schema_id(STORE_SALES),
}
"""What stands for a parameter of a path."""
BY_LIST = {
    "/v1/alerts/{key}": "/v1/alerts",
    "/v1/history/alerts/{key}": "/v1/alerts",
    "/v1/views/{name}/rows/{key}": ROWS,
    "/v1/quarantine/{topic}/{partition}/{offset}": "/v1/quarantine",
}
"""Where an item is taken from whose place is in its list only."""


def list_documents() -> Iterator[tuple[str, Query]]:
    """Every path that answers with JSON, and the schema of its answers."""
    for path, operations in OPENAPI["paths"].items():
        content = operations.get("get", {"responses": {"200": {}}})["responses"]["200"]
        for kind, answer in content.get("content", {}).items():
            if kind.endswith(("/json", "+json")):
                yield path, answer["schema"]


@pytest.mark.parametrize(
    ("path", "schema"), list(list_documents()), ids=lambda parameter: str(parameter)[:60]
)
def test_an_answer_has_what_its_document_says_and_nothing_else(
    shop: Answers, path: str, schema: Query
) -> None:
    names = NAMES
    if path in BY_LIST:
        [first, *_] = shop.json(BY_LIST[path])["items"]
        contract = ALERTS if "alerts" in path else STORE_SALES
        key = "/".join(quote(str(first.get(field)), safe="") for field in contract.key)
        names = {**NAMES, "key": key, **first}
    answer = shop.get(path.format_map(names))
    assert answer.status_code == HTTPStatus.OK, answer.text
    closed = close({**schema, "components": OPENAPI["components"]})
    wrong = [error.message for error in Draft202012Validator(closed).iter_errors(answer.json())]
    assert wrong == []


def close(schema: Any) -> Any:
    """The same, where an object with named members has no others."""
    if isinstance(schema, list):
        return [close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {} if "additionalProperties" in schema or "properties" not in schema else CLOSED
    return {**{name: close(each) for name, each in schema.items()}, **rest}


CLOSED = {"additionalProperties": False}
