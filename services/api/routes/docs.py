"""GET /docs: every route on one page, to read and to try, from the OpenAPI document."""

from functools import lru_cache

from fastapi import FastAPI, Request, Response

from services.api.http import frame, reference
from services.api.http.router import Router
from services.api.http.sources import FromSources
from services.api.http.static import File, IfNoneMatch

PATH = frame.API_DOCS

router = Router(include_in_schema=False)


@router.get(PATH)
def get_docs(request: Request, sources: FromSources, if_none_match: IfNoneMatch = None) -> Response:
    page = _render(request.app, sources.has_data_docs).encode()
    return File(page, "text/html", frame.HEADERS).respond(if_none_match)


@lru_cache(maxsize=2)  # with the link to Data Docs, and without
def _render(app: FastAPI, has_data_docs: bool) -> str:
    content = reference.render(app.openapi())
    return frame.render(
        frame.Page(PATH, "API docs", content, script="docs.js", kind="text"), has_data_docs
    )
