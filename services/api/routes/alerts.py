"""GET /v1/alerts: the rows of the view of alerts, the newest first."""

from fastapi.responses import JSONResponse

from contracts import ALERTS
from services.api.http.problems import ITEM_PROBLEMS
from services.api.http.read_your_writes import ViewParameters
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.routes.rows import (
    PAGE_PROBLEMS,
    Key,
    Order,
    RowPage,
    RowsParameters,
    find_row,
    list_rows_of,
)
from services.api.routes.views import TABLES
from services.api.store.tables import AnyJson

TABLE = TABLES[ALERTS.name]

router = Router(tags=["shortcuts"])


@router.get(
    "/v1/alerts",
    summary=f"Rows of {TABLE.view}, the newest first, filtered, in pages",
    **examples.answer(RowPage, examples.render_page(TABLE), PAGE_PROBLEMS),
)
async def list_alerts(store: FromStore, query: RowsParameters) -> JSONResponse:
    return JSONResponse(await list_rows_of(store, TABLE, query, Order.NEWEST))


@router.get(
    "/v1/alerts/{key:path}",
    summary=f"One row of {TABLE.view}, by {'/'.join(TABLE.key)}",
    **examples.answer(AnyJson, examples.render_row(TABLE), ITEM_PROBLEMS),
)
async def get_alert(store: FromStore, key: Key, query: ViewParameters) -> JSONResponse:
    return JSONResponse(await find_row(store, TABLE, key, query))
