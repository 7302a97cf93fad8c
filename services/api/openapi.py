"""The API's own description, as it is committed: contracts/http/openapi.json."""

import json
from pathlib import Path
from typing import Any

from contracts import catalog
from infra.settings import Settings
from services.api.app import app, sources

FILE = Path(catalog.__file__).parent / "http" / "openapi.json"


def present() -> dict[str, Any]:
    """The document of the routes as they are; nothing is started for it."""
    return app(sources(Settings())).openapi()


def committed() -> dict[str, Any]:
    """The document as it was written last; empty before the first time."""
    if not FILE.exists():
        return {"paths": {}}
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def write(document: dict[str, Any]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
