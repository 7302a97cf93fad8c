"""Every error is a problem document, whoever raises it."""

from http import HTTPStatus

import pytest

from services.api.http.limits import URL_BYTES_MAX
from tests.services.clients import STREAM
from tests.services.serving import Answers, check_problem

SEE = "GET /openapi.json says what a path takes."
MEMBERS = {"type", "title", "status", "detail", "instance"}


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/v2/stock", 404, "Expected one of the paths in GET /openapi.json"),
        ("GET", "/v1/stock/", 404, "Expected one of the paths"),
        ("POST", "/v1/stock", 405, f"Expected GET, found POST. {SEE}"),
        ("DELETE", "/v1/stock/S001/A", 405, "Expected GET, found DELETE"),
        ("GET", "/v1/pipelines?limit=3", 422, "limit: expected no such query parameter"),
        ("GET", "/healthz?x=1", 422, "x: expected no such query parameter"),
        ("GET", "/v1/views/public.stock.v1", 404, "Expected one of public.analytics."),
        ("GET", "/v1/contracts/public.v9", 404, "Expected a name in GET /v1/contracts"),
        ("GET", "/v1/stock", 503, "Expected a promoted generation"),
        ("GET", "/v1/markdowns?state=paused", 422, "state: input should be"),
        ("GET", "/v1/stream", 422, "view: field required"),
        ("GET", "/v1/stream?view=public.stock.v1", 404, "Expected one of public.analytics"),
        ("GET", f"{STREAM}&view=public.fraud.alert.v1", 422, "view: expected once"),
        ("GET", f"{STREAM}&since=1", 422, "since: expected no such query parameter"),
        ("GET", STREAM, 503, "Expected a promoted generation"),
        ("GET", f"/v1/stock?sku={'x' * URL_BYTES_MAX}", 414, "at most 4096 bytes"),
    ],
)
def test_an_error_says_what_was_expected_and_found(
    quiet: Answers, method: str, path: str, status: int, detail: str
) -> None:
    answer = quiet.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.keys() >= MEMBERS
    assert problem["status"] == status
    assert problem["type"].startswith("urn:retail:problem:")
    assert problem["instance"] == path.split("?")[0]
    assert detail in problem["detail"]


def test_a_mistake_of_ours_is_an_error_document_without_its_insides(
    quiet: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.api.routes.health._classify", None)
    answer = quiet.get("/readyz")
    check_problem(answer, HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error")
    assert "NoneType" not in answer.text
