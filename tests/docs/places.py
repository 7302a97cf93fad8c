"""Finds the files, links and routes of a document that lead nowhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from contracts import CONTRACTS
from infra.settings import root
from services.api.app import create_app
from services.api.routes.pages import PAGES
from tests.docs.commands import OTHERS
from tests.docs.text import FENCED, list_anchors, list_code, list_spans
from tests.services.memory import MemoryLog
from tests.services.serving import create_sources

LINK = re.compile(r"\]\(([^)\s]+)\)")
ROUTE = re.compile(r"(?:GET |127\.0\.0\.1:8000)(/[^\s'?`,]*)")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
SUFFIXES = (".py", ".md", ".yaml", ".json", ".toml", ".sql", ".conf", ".lock", ".in")
MADE_AT_RUN_TIME = ("data", ".venv")

FIXED_ROUTES = {
    *PAGES,
    "/docs",
    "/openapi.json",
    "/catalogue",
    "/quality",
}  # not part of the document that lists the others


def find_missing_files(text: str, document: Path) -> Iterator[str]:
    """Paths from the repository's root or from the document's folder."""
    for span in list_spans(text):
        named = PATH.fullmatch(span) and ("/" in span or span.endswith(SUFFIXES))
        later = span.split("/")[0] in MADE_AT_RUN_TIME
        there = any((folder / span).exists() for folder in (root(), document.parent))
        if named and not (later or there or span in OTHERS or is_key(span)):
            yield span


def is_key(span: str) -> bool:
    """A record's key, as in `store_id/sku`: fields joined as in a path."""
    return any(span == "/".join(one.key) for one in CONTRACTS.values())


def find_broken_links(text: str, document: Path) -> Iterator[str]:
    for target in LINK.findall(FENCED.sub("", text)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        if not file.exists() or (anchor and anchor not in list_anchors(file)):
            yield target


def find_unknown_routes(text: str, _: Path) -> Iterator[str]:
    known = list_routes()
    for line in list_code(text):
        for route in ROUTE.findall(line):
            if not any(pattern.fullmatch(route) for pattern in known):
                yield route


@cache
def list_routes() -> list[re.Pattern[str]]:
    served = create_app(create_sources(MemoryLog(), Path("unused"))).openapi()["paths"]
    return [
        re.compile(re.sub(r"\{\w+\}", "[^/]+", route).replace(".", r"\."))
        for route in (*served, *FIXED_ROUTES)
    ]
