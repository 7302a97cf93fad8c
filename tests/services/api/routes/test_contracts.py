"""The API serves each contract as its file."""

from http import HTTPStatus

from contracts import CONTRACTS
from tests.contracts.evolution.editing import HERE
from tests.services.serving import Answers


def test_every_contract_is_listed_and_its_file_is_served_as_it_is(quiet: Answers) -> None:
    listed = quiet.json("/v1/contracts")["contracts"]
    assert [(contract["name"], contract["kind"]) for contract in listed] == [
        (name, contract.kind) for name, contract in sorted(CONTRACTS.items())
    ]
    for row in listed:
        answer = quiet.get(row["address"])
        assert answer.status_code == HTTPStatus.OK
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.content == (HERE / CONTRACTS[row["name"]].file).read_bytes()
