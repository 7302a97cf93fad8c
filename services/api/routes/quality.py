"""GET /quality: the Data Docs of the lake, as the last `make quality` wrote them.

Great Expectations' own first page needs scripts of other sites, so this one replaces it. The other
pages appear in the shared frame, without their scripts.
"""

import json
import re
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote, urlencode

from fastapi import Response
from fastapi.responses import FileResponse, HTMLResponse

from contracts.catalogue.markup import (
    Html,
    join,
    list_items,
    render_element,
    render_link,
    render_table,
)
from infra.reports import VERDICTS, name_suite
from services.api.http import frame, static
from services.api.http.router import Router
from services.api.http.sources import FromSources

PATH = frame.DATA_DOCS
TITLE = "Data Docs"

# The pages have their own styles. No script runs, and only the page around them may embed them.
HEADERS = static.create_headers(
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:", framed_by="'self'"
)
FROM_ELSEWHERE = re.compile(
    r"<script\b.*?</script>"
    r"|<nav class=\"navbar.*?</nav>"  # it leads to the first page
    r"|<footer\b.*?</footer>"
    r"|<(?:link|img)\b[^>]*\bhttps?://[^>]*>"
    r"|url\(['\"]?https?://[^)]*\)",
    re.DOTALL | re.IGNORECASE,
)
"""References to other sites, the elements that need them, and a newsletter."""

STYLE = f'<link rel="stylesheet" href="{frame.PATH}/catalogue.css"></head>'
"""The API's own style, in place of Bootstrap's."""

EXPECTED = (
    f"a page of the Data Docs, found {{found}}. They begin at {PATH}, once make quality has made "
    "them; that needs the lake: make up LAKE=on."
)


class TableVerdict(TypedDict):
    """The verdict on a table, at one version."""

    table: str
    version: int
    suite: str
    expectations: int
    """The number of checked expectations."""
    failed: list[str]
    """The failed expectations, in words."""


class Summary(TypedDict):
    """The content of VERDICTS, as `retail verify --lake` writes it."""

    checked_at: str
    tables: list[TableVerdict]
    not_compared: str | None
    """Why there is no comparison of the totals with a view; None: there is one."""


router = Router(include_in_schema=False)


@router.get(PATH)
def get_data_docs(sources: FromSources, page: str | None = None) -> Response:
    """All verdicts; or one page of Great Expectations, in the frame."""
    if not sources.has_data_docs:
        raise static.describe_unknown(EXPECTED, "none")
    if page is not None and find_below(sources.data_docs, page) is None:
        raise static.describe_unknown(EXPECTED, page)
    content = _render_verdicts(sources.data_docs) if page is None else _render_framed(page)
    framed = frame.Page(PATH, TITLE, content, kind="text")
    return HTMLResponse(frame.render(framed, has_data_docs=True), headers=frame.HEADERS)


@router.get(f"{PATH}/{{name:path}}")
def get_page(sources: FromSources, name: str) -> Response:
    """A file as Great Expectations wrote it, in our colours, without what comes from elsewhere."""
    file = find_below(sources.data_docs, name)
    if file is None:
        raise static.describe_unknown(EXPECTED, name)
    if file.suffix != ".html":
        return FileResponse(file, headers=HEADERS)
    text = FROM_ELSEWHERE.sub("", file.read_text(encoding="utf-8"))
    return HTMLResponse(text.replace("</head>", STYLE, 1), headers=HEADERS)


def find_below(folder: Path, name: str) -> Path | None:
    """The file of that name below the folder, if there is one."""
    try:
        file = (folder / name).resolve()
        return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
    except (OSError, ValueError):  # no file can have the name: too long, or a NUL in it
        return None


def _render_framed(page: str) -> Html:
    return join(
        render_element("p", render_link(f"All {TITLE}", PATH), class_="ways"),
        render_element("h1", TITLE),
        render_element(
            "iframe", src=f"{PATH}/{quote(page)}", title="What Great Expectations found"
        ),
    )


def _render_verdicts(folder: Path) -> Html:
    file = folder / VERDICTS
    lead = "The result of make quality: the lake's tables, checked against their contracts."
    if not file.is_file():
        words = "There is no summary of them. Write it: make quality"
        return join(
            render_element("h1", TITLE), render_element("p", lead), render_element("p", words)
        )
    summary: Summary = json.loads(file.read_text(encoding="utf-8"))
    tables = summary["tables"]
    failed = sum(len(one["failed"]) for one in tables)
    kept = sum(one["expectations"] for one in tables) - failed
    not_compared = summary["not_compared"]
    return join(
        render_element("h1", TITLE),
        render_element("p", lead, class_="lead"),
        render_element(
            "p", f"Checked {summary['checked_at']}: {kept:,} expectations met, {failed:,} not."
        ),
        render_element("p", f"Totals not compared with a view: {not_compared}")
        if not_compared
        else None,
        render_table(
            ("table", "version", "of what", "expectations", "not met"),
            *(_render_verdict(folder, one) for one in tables),
        ),
    )


def _render_verdict(folder: Path, one: TableVerdict) -> tuple[str | Html, ...]:
    page = find_newest(folder, name_suite(one["table"], one["suite"]))
    suite = one["suite"]
    if page is not None:
        suite = render_link(suite, f"{PATH}?{urlencode({'page': page})}")
    failed = list_items(*one["failed"], class_="tight") if one["failed"] else "none"
    return one["table"], f"{one['version']:,}", suite, f"{one['expectations']:,}", failed


def find_newest(folder: Path, suite: str) -> str | None:
    """Great Expectations' newest page of a suite, below the folder; None if there is none."""
    pages = (folder / "validations" / suite).rglob("*.html")
    newest = max(pages, key=lambda page: page.stat().st_mtime_ns, default=None)
    return None if newest is None else newest.relative_to(folder).as_posix()
