"""The OpenAPI document of the API, and its committed copy: contracts/http/openapi.json."""

import json
from pathlib import Path

from contracts import catalog
from infra.settings import Settings
from services.api.app import create_app, create_sources
from services.api.http.problems import Specification

FILE = Path(catalog.__file__).parent / "http" / "openapi.json"


def render() -> Specification:
    """The document of the present routes. It starts nothing."""
    return create_app(create_sources(Settings())).openapi()


def read_committed() -> Specification:
    """The committed document; empty where there is none."""
    if not FILE.exists():
        return {"paths": {}}
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def write(document: Specification) -> None:
    FILE.parent.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
