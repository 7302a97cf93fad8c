"""GET /v1/promotions: the promotion plans of a product."""

from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import PROMOTIONS, build_model
from services.api.http.answers import TopicsPage, date_by_offsets
from services.api.http.pages import PageRequest
from services.api.http.parameters import PageParameters, Sku
from services.api.http.problems import LIST_PROBLEMS
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.routes.prices import Announced
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import Plan, list_plans
from services.api.store.selection import WHOLE_MAX
from services.api.store.tables import Document
from services.times import render_instant

router = Router(tags=["prices"])

TIMES = ("event_time", "starts_at", "ends_at", "effective_at", "published_at", "holds_from")


class Promotion(Announced, build_model(PROMOTIONS)):  # type: ignore[misc]  # made at run time
    """A plan. Of two plans for the same days, the one that holds from later on counts."""


class PromotionPage(TopicsPage):
    sku: str
    items: list[Promotion] = Field(description="the last to start first; empty: none was planned")


@router.get(
    "/v1/promotions/{sku}",
    summary="Every promotion of a product, planned ones too, the last first",
    **examples.answer(PromotionPage, examples.PROMOTION_PAGE, LIST_PROBLEMS),
)
def list_promotions(store: FromStore, sku: Sku, query: PageParameters) -> JSONResponse:
    request = PageRequest(query.limit, query.cursor, f"promotions of {sku}", (int, int))
    starts_at, offset = request.find_place() or (WHOLE_MAX, WHOLE_MAX)
    with store.promotions.open() as connection:
        before = (int(starts_at), int(offset))
        plans = list_plans(connection, sku, before, request.rows_max)
        inputs = read_offsets(connection, PROMOTIONS.name)
    page = request.build(plans, lambda plan: (plan.starts_at, plan.offset))
    items = [_render(plan) for plan in page.items]
    return JSONResponse({"sku": sku, "items": items, "next": page.next, **date_by_offsets(inputs)})


def _render(plan: Plan) -> Document:
    values = plan._asdict()
    del values["offset"]
    return {**values, **{name: render_instant(values[name]) for name in TIMES}}
