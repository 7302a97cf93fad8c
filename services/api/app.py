"""The API: its routes, and the background threads that live as long as it does."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from socket import gethostname

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from infra.kafka import admin, end_offsets, producer
from infra.lake import folders
from infra.settings import Settings
from services.api import (
    best_sellers,
    catalogue,
    docs,
    events,
    exports,
    health,
    history,
    limits,
    metrics,
    orders,
    pipelines,
    prices,
    problems,
    products,
    quality,
    quarantine,
    registry,
    rows,
    shortcuts,
    stock,
    stock_outs,
    stream,
    times,
    topics,
    views,
)
from services.api.changelog import Changelog
from services.api.commits import Commits
from services.api.control import Control
from services.api.copying import Copy
from services.api.freshness import Freshness
from services.api.generation import Generation
from services.api.generations import Generations
from services.api.lake import Lake
from services.api.materializer import Materializer, OnLoaded
from services.api.orderbook import ANSWERS, ORDERS
from services.api.pricebook import PRICEBOOK
from services.api.publishing import OVERRIDES, Publishing
from services.api.registering import Registering, telling
from services.api.rejections import REJECTIONS
from services.api.sources import Sources
from services.api.traffic import Counted, Traffic

DESCRIPTION = """Stock on every shelf, from the log.

Every answer is taken at one marker of the pipeline that made it: `as_of` says what has been
counted, `freshness_ms` how long ago the log held no more than that. Errors are problem documents
(RFC 9457). Unknown query parameters are refused.

One route publishes events. It neither writes a view nor waits for one: the view follows the log.
"""


def app(sources: Sources) -> FastAPI:
    """The routes over these sources, whose threads start and end with the app."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sources.start()
        yield
        sources.stop()

    made = FastAPI(
        title="Retail",
        version="1",
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    made.state.end_streams = sources.end_streams
    figures = CollectorRegistry()
    made.add_middleware(limits.Limits)
    made.add_middleware(Counted, traffic=Traffic(figures))
    problems.install(made)
    for nouns in (
        *(stock, products, prices, orders, history, stock_outs, pipelines),
        *(views, rows, exports, shortcuts, best_sellers, stream),
        *(events, quarantine, quality, times, health),
    ):
        made.include_router(nouns.routes(sources))
    for nouns in (topics, registry, docs, catalogue):
        made.include_router(nouns.routes())
    made.include_router(metrics.routes(sources, figures))
    return made


def sources(settings: Settings) -> Sources:
    client = admin(settings)
    commits = Commits()

    def open_log(topics: Iterable[str]) -> Changelog:
        return Changelog(settings, topics)

    def make(generation: Generation, path: Path, on_loaded: OnLoaded) -> Materializer:
        return Materializer(generation, path, open_log, on_loaded, commits.tell)

    generations = Generations(settings.data_dir / "api", make)
    return Sources(
        control=Control(open_log, generations.promote),
        generations=generations,
        commits=commits,
        freshness=Freshness(generations.inputs, lambda topics: end_offsets(client, topics)),
        publishing=Publishing(lambda: producer(settings, **OVERRIDES)),
        registering=Registering(
            f"api at {gethostname()}:{settings.api_port}",
            generations.loaded,
            telling(producer(settings, linger_ms=0)),
        ),
        prices=Copy(PRICEBOOK, settings.data_dir / "api" / "prices.sqlite", open_log),
        orders=Copy(ORDERS, settings.data_dir / "api" / "orders.sqlite", open_log),
        answers=Copy(ANSWERS, settings.data_dir / "api" / "confirmations.sqlite", open_log),
        rejections=Copy(REJECTIONS, settings.data_dir / "api" / "quarantine.sqlite", open_log),
        lake=Lake(folders(settings)),
        data_docs=settings.data_docs,
    )
