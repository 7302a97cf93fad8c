"""GET /v1/contracts: the contracts that this process runs with, each as its file is written."""

from http import HTTPStatus
from pathlib import Path

from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from contracts import CONTRACTS, catalog
from services.api.http.parameters import NoParameters
from services.api.http.problems import NO_PROBLEMS, NotFound, document_responses
from services.api.http.router import Router
from services.api.routes.topics import Name

FOLDER = Path(catalog.__file__).parent
TEXTS = {name: (FOLDER / one.file).read_text(encoding="utf-8") for name, one in CONTRACTS.items()}

router = Router(tags=["topics"])


class ContractFile(BaseModel):
    name: str = Field(description="the topic or view")
    kind: str = Field(description="topic or view")
    address: str = Field(description="where its file is")


class ContractFiles(BaseModel):
    contracts: list[ContractFile]


@router.get("/v1/contracts", summary="Every contract and where its file is", responses=NO_PROBLEMS)
async def list_contracts(_: NoParameters) -> ContractFiles:
    return ContractFiles(
        contracts=[
            ContractFile(name=name, kind=one.kind, address=f"/v1/contracts/{name}")
            for name, one in sorted(CONTRACTS.items())
        ]
    )


@router.get(
    "/v1/contracts/{name}",
    summary="One contract's file, in the Open Data Contract Standard",
    response_class=PlainTextResponse,
    responses=document_responses(HTTPStatus.NOT_FOUND),
)
async def get_contract_file(name: Name, _: NoParameters) -> PlainTextResponse:
    if name not in TEXTS:
        raise NotFound("Unknown contract", f"Expected a name in GET /v1/contracts, found {name}.")
    return PlainTextResponse(TEXTS[name])
