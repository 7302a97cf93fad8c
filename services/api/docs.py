"""GET /docs: the API to click through, without a byte from outside.

The script and its style come from an installed package; only that package's files are used.
"""

from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

PATH = "/docs"
SECONDS_KEPT = 3_600  # by the browser; the script alone is 1.6 MB

# Nothing from elsewhere, nothing inline: what a schema or an answer holds cannot become a script.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",  # the style's arrows are data
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}

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


def routes() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    served = {name: (_shipped(name), kind) for name, kind in PACKAGE_FILES.items()}
    served["start.js"] = START.encode(), "text/javascript"
    for name, (content, kind) in served.items():
        router.add_api_route(f"{PATH}/{name}", _serving(content, kind))

    @router.get(PATH)
    async def get_docs() -> HTMLResponse:
        return HTMLResponse(PAGE, headers=HEADERS)

    return router


def _serving(content: bytes, kind: str) -> Callable[[], Awaitable[Response]]:
    headers = {**HEADERS, "Cache-Control": f"max-age={SECONDS_KEPT}"}

    async def get_file() -> Response:
        return Response(content, media_type=kind, headers=headers)

    return get_file


def _shipped(name: str) -> bytes:
    return (files("fastapi_swagger") / "resources" / name).read_bytes()
