"""The app: its routes, and the store, whose threads start and end with the app."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from socket import gethostname

from fastapi import FastAPI

from infra.clock import get_wall_ms
from infra.identities import open_edge
from infra.kafka import EndOffsets, create_admin, create_producer
from infra.lake import locate_folders
from infra.reports import locate_reports
from infra.security.tokens import list_tokens
from infra.settings import Settings
from infra.token import read_token
from ops.generations.record import Generation
from services.api.commands import Commands
from services.api.http import problems
from services.api.http.answers import Slots
from services.api.http.guard import Guard
from services.api.http.limits import Limits
from services.api.http.parameters import Profile, Sources
from services.api.http.router import CountRequests
from services.api.lake.tables import Lake
from services.api.routes import (
    actions,
    best_sellers,
    catalog,
    checks,
    contracts,
    events,
    exports,
    health,
    history,
    markdowns,
    metrics,
    orders,
    pages,
    pipelines,
    prices,
    quarantine,
    registry,
    stock,
    stream,
    views,
)
from services.api.store.audit import Audit
from services.api.store.changelog import Changelog
from services.api.store.control import Control
from services.api.store.database import locate_folder
from services.api.store.freshness import Freshness, ReadEnds
from services.api.store.materializer import Materializer, OnLoaded, OpenLog
from services.api.store.materializers import Announce, Materializers, Registration, create_announcer
from services.api.store.mirror import Mirror
from services.api.store.mirrored import MIRRORED
from services.api.store.publisher import OVERRIDES, Publisher
from services.api.store.store import Commits, Store

DESCRIPTION = """Stock on every shelf, from the log.

Every answer is taken at one marker of the pipeline that made it: `as_of` says what has been
counted, `freshness_ms` how long ago the log held no more than that. Errors are problem documents
(RFC 9457). Unknown query parameters are refused.

Routes under `actions` need the token of the shop. They run the commands of the same name, and
`GET /v1/audit` lists who did what. In a shop that runs with `SECURE=on` every route but `/healthz`
and `/readyz` needs a token: of the role reader to read, publisher to publish events, operator to
act, to see who did what, and for all of that. So many requests a second may come with one token.

One route publishes events. It neither writes a view nor waits for one: the view follows the log.
"""
REQUESTS_PER_SECOND_MAX = 200.0
"""With one token; four seconds' worth may come at once."""


ROUTES = (
    *(catalog, stock, prices, markdowns, orders, history, checks, pipelines),
    *(views, exports, best_sellers, stream),
    *(events, actions, quarantine, health),
    *(contracts, registry, metrics, pages),
)

RETAIL = (sys.executable, "-m", "ops.cli.main")


def create_app(sources: Sources) -> FastAPI:
    """The routes over these sources. The store starts and ends with the app."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sources.store.start()
        yield
        sources.store.stop()

    app = FastAPI(
        title="Retail",
        version="1",
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.sources = sources
    app.state.streams = Slots("streams", stream.STREAMS_MAX)
    app.state.exports = Slots("exports", exports.EXPORTS_MAX)
    app.state.figures = metrics.create_registry(sources)
    app.state.end_streams = sources.store.end_streams
    if sources.profile is not None:
        app.add_middleware(Guard, profile=sources.profile, audit=sources.audit)
    app.add_middleware(Limits, hosts=sources.hosts)
    app.add_middleware(CountRequests, registry=app.state.figures)
    problems.install(app)
    for noun in ROUTES:
        app.router.routes.extend(noun.router.routes)
    return app


def create_sources(settings: Settings) -> Sources:
    """The sources for these settings. It starts nothing and reads nothing."""
    store = create_store(settings)
    return Sources(
        store=store,
        lake=Lake(locate_folders(settings)),
        reports=locate_reports(settings),
        commands=Commands(RETAIL, partial(read_token, settings)),
        audit=Audit(store.publisher.publish, store.find_world_ms),
        hosts=settings.hosts,
        profile=create_profile(settings) if settings.secure else None,
        edge=open_edge(settings),
    )


def create_profile(settings: Settings) -> Profile:
    """The profile of a secure shop, with the tokens of the data folder."""
    from infra.security.certificates import list_ends  # here: others need no keys

    return Profile(
        list_tokens=partial(list_tokens, settings),
        requests_per_second_max=REQUESTS_PER_SECOND_MAX,
        requests_at_once_max=round(4 * REQUESTS_PER_SECOND_MAX),
        find_wall_ms=get_wall_ms,
        list_ends=partial(list_ends, settings),
    )


def create_store(settings: Settings) -> Store:
    return build_store(
        locate_folder(settings),
        partial(Changelog, settings),
        EndOffsets(create_admin(settings)).read,
        Publisher(lambda: create_producer(settings, **OVERRIDES)),
        f"api at {gethostname()}:{settings.api_port}",
        create_announcer(create_producer(settings, linger_ms=0)),
    )


def build_store(
    folder: Path,
    open_log: OpenLog,
    read_ends: ReadEnds,
    publisher: Publisher,
    name: str,
    announce: Announce,
) -> Store:
    """A store over a log. `name`: that of the API among the readers of the log."""
    commits = Commits()

    def create(generation: Generation, path: Path, on_loaded: OnLoaded) -> Materializer:
        return Materializer(
            generation, path, open_log, on_loaded, commits.notify, freshness.measure_wait
        )

    generations = Materializers(folder, create)
    freshness = Freshness(generations.list_inputs, read_ends)
    return Store(
        control=Control(open_log, generations.apply),
        generations=generations,
        commits=commits,
        freshness=freshness,
        publisher=publisher,
        registration=Registration(name, generations.list_loaded, announce),
        mirrors={
            layout.topic: Mirror(layout, folder / layout.file, open_log) for layout in MIRRORED
        },
    )
