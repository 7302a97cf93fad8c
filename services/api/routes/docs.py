"""GET /docs: a page to try the API on, without content from other sites.

The script and its style come from an installed package; only that package's files are used.
"""

from collections.abc import Mapping
from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from services.api.http import static

PATH = "/docs"
SECONDS_KEPT = 3_600  # by the browser; the script alone is 1.6 MB

# Nothing from other sites and nothing inline: no text of a schema or an answer becomes a script.
# The style's arrows are data.
POLICY = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
HEADERS = static.create_headers(POLICY)

PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Retail: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{PATH}/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="{PATH}/swagger-ui-bundle.js"></script>
<script src="{PATH}/start.js"></script>
</body>
</html>
"""

START = """SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
"""

PACKAGE_FILES: Mapping[str, str] = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
}


router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def get_docs() -> HTMLResponse:
    return HTMLResponse(PAGE, headers=HEADERS)


def _add_file(name: str, content: bytes, kind: str) -> None:
    headers = {**HEADERS, "Cache-Control": f"max-age={SECONDS_KEPT}"}

    @router.get(f"{PATH}/{name}")
    async def get_file() -> Response:
        return Response(content, media_type=kind, headers=headers)


def _read(name: str) -> bytes:
    return (files("fastapi_swagger") / "resources" / name).read_bytes()


for _name, _kind in PACKAGE_FILES.items():
    _add_file(_name, _read(_name), _kind)
_add_file("start.js", START.encode(), "text/javascript")
