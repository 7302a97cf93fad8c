"""The API serves each contract as its file is written."""

from http import HTTPStatus

from contracts import CONTRACTS
from tests.contracts.evolution.editing import HERE
from tests.services.serving import Answers


def test_every_contract_is_listed_and_its_file_is_served_as_it_is(quiet: Answers) -> None:
    listed = quiet.json("/v1/contracts")["contracts"]
    assert [(one["name"], one["kind"]) for one in listed] == [
        (name, one.kind) for name, one in sorted(CONTRACTS.items())
    ]
    for one in listed:
        answer = quiet.get(one["address"])
        assert answer.status_code == HTTPStatus.OK
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.content == (HERE / CONTRACTS[one["name"]].file).read_bytes()


def test_a_contract_that_is_not_there_is_not_found(quiet: Answers) -> None:
    for name in ("public.sales.receipt.v9", "..%2fREADME.md"):
        assert quiet.get(f"/v1/contracts/{name}").status_code == HTTPStatus.NOT_FOUND
