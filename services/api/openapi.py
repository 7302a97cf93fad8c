"""The OpenAPI document of the API, and its committed copy: contracts/http/openapi.json.

`python -m services.api.openapi` writes the copy.
"""

import json
from pathlib import Path

from contracts import catalog
from infra.settings import Settings
from services.api.app import create_app, create_sources
from services.api.store.tables import AnyJson

FILE = Path(catalog.__file__).parent / "http" / "openapi.json"


def render() -> AnyJson:
    """The document of the current routes. It starts nothing."""
    return create_app(create_sources(Settings())).openapi()


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    text = json.dumps(render(), indent=1, sort_keys=True, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")
