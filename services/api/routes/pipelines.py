"""GET /v1/pipelines: the state, the lag, the rate and the record accounting of every pipeline.

GET /v1/pipelines/{pipeline}/difference: the last computed difference of a replay.
"""

import json
import sqlite3
from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from infra.clock import get_wall_ms
from infra.kafka import Offsets
from infra.reports import find_difference
from ops.generations.record import Generation, Generations
from services.api.http.answers import AsOf, date
from services.api.http.parameters import FromSources, FromStore, NoParameters
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound
from services.api.store.accounting import Account, read_accounts, read_newest_ms
from services.api.store.materializer import Materializer
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store
from services.api.store.tables import AnyJson, Document
from services.times import render_instant

router = Router(tags=["pipelines"])

Name = Annotated[str, Path(description="the pipeline", max_length=64)]


class GenerationState(BaseModel):
    number: int
    state: str = Field(description="catching-up, ready, promoted, retired or invalid")
    loaded: bool = Field(description="whether its views could be served at once")
    reason: str | None = Field(None, description="why it is invalid")
    state_partitions: int | None = Field(
        None, description="in how many tasks it runs; absent where it was not recorded"
    )
    read_records: int | None = Field(
        None, description="offsets read, over all its inputs; absent before its first marker"
    )
    left_records: int | None = Field(
        None, description="input offsets that it has not read yet; absent while that is not known"
    )


class Pipeline(BaseModel):
    """Where a pipeline stands. What follows `generation` is there once its views are loaded."""

    pipeline: str
    promoted: int | None = Field(description="the generation that readers should read")
    generations: list[GenerationState] = Field(description="every generation there is")
    loading: str | None = Field(None, description="how far the API is with the promoted one")
    generation: int | None = Field(None, description="the generation that the API reads")
    views: list[str] | None = Field(None, description="the views that it writes")
    lag_records: int | None = Field(None, description="input offsets not counted yet")
    lag_records_by_input: dict[str, int] | None = Field(None, description="the same, per topic")
    rate_per_second: float | None = Field(
        None, description="input records counted per second, over the last minute"
    )
    behind_world_seconds: float | None = Field(
        None, description="world time between the newest record counted and now; 0 without lag"
    )
    marker_written_at: str | None = Field(None, description="when the marker was written")
    batch_ms: int | None = Field(
        None,
        description="how long the marker's batch took, until all its rows were acknowledged; null: "
        "a generation of an earlier version does not say",
    )
    books: list[Account] | None = Field(None, description="one per input partition")
    freshness_ms: int | None = Field(None, description="as in every answer")
    freshness_unknown: str | None = Field(None, description="why freshness_ms is null")
    as_of: AsOf | None = Field(None, description="what has been counted")
    trouble: str | None = Field(
        None, description="why the API does not follow it; absent while it does"
    )


class Pipelines(BaseModel):
    pipelines: list[Pipeline]


class Difference(BaseModel):
    pipeline: str
    before: int | None = Field(description="the generation whose rows were there; null: none")
    after: int | None = Field(description="the one compared with it; null: there is only one")
    computed_at: str | None = Field(description="when, on the wall clock; null: not yet")
    difference: AnyJson | None = Field(
        description="the report that `retail replay diff` prints: per view the rows added, removed "
        "and changed, and what differs in the code; null: nobody has computed it yet"
    )


@router.get(
    "/v1/pipelines",
    summary="Lag, rate and books of every pipeline",
    response_model_exclude_unset=True,
)
def list_pipelines(store: FromStore, _: NoParameters) -> Pipelines:
    return Pipelines(pipelines=describe_all(store))


@router.get(
    "/v1/pipelines/{pipeline}",
    summary="Lag, rate and books of one pipeline",
    response_model_exclude_unset=True,
    responses=ITEM_PROBLEMS,
)
def get_pipeline(store: FromStore, pipeline: Name, _: NoParameters) -> Pipeline:
    return describe(store, find_generations(store, pipeline))


@router.get(
    "/v1/pipelines/{pipeline}/difference",
    summary="What the candidate says otherwise; without a candidate, what the promotion changed",
    description="As `retail replay start` or `diff`, or the POST of this path, last computed it.",
    response_model=Difference,
    responses=ITEM_PROBLEMS,
)
def get_difference(sources: FromSources, pipeline: Name, _: NoParameters) -> JSONResponse:
    generations = find_generations(sources.store, pipeline)
    compared = generations.promoted, generations.candidate
    if generations.candidate is None:
        compared = generations.retired, generations.promoted
    before, after = (None if generation is None else generation.number for generation in compared)
    answer: Document = {"pipeline": pipeline, "before": before, "after": after}
    answer |= {"computed_at": None, "difference": None}
    if before is not None and after is not None:
        file = find_difference(sources.reports, pipeline, before, after)
        if file.is_file():
            answer["computed_at"] = render_instant(file.stat().st_mtime_ns // 1_000_000)
            answer["difference"] = json.loads(file.read_text(encoding="utf-8"))
    return JSONResponse(answer)


def find_generations(store: Store, pipeline: str) -> Generations:
    """The generations of the pipeline. Raises Problem if there is no such pipeline."""
    generations = store.generations.by_pipeline.get(pipeline)
    if generations is None:
        names = ", ".join(sorted(store.generations.by_pipeline)) or "none yet"
        raise NotFound("Unknown pipeline", f"Expected one of {names}, found {pipeline}.")
    return generations


def describe_all(store: Store) -> list[Pipeline]:
    """Every pipeline, by name."""
    return [describe(store, each) for _, each in sorted(store.generations.by_pipeline.items())]


def describe(store: Store, generations: Generations) -> Pipeline:
    """The state of a pipeline. Its figures are set once its views are loaded."""
    name = generations.pipeline
    served = store.generations.find_served(name)
    loading = store.generations.find_loading(name)
    pipeline = Pipeline(
        pipeline=name,
        promoted=generations.promoted.number if generations.promoted else None,
        generations=[_describe_generation(store, each) for each in generations.members],
    )
    if loading is not None:
        pipeline.loading = loading.describe_progress()
    if served is None or served.snapshots is None:
        return pipeline
    pipeline.generation = served.generation.number
    pipeline.views = list(served.generation.views)
    try:
        return _add_figures(store, pipeline, served, served.snapshots)
    except sqlite3.DatabaseError as error:  # a damaged file must not hide the other pipelines
        pipeline.trouble = str(error)
        return pipeline


def _describe_generation(store: Store, generation: Generation) -> GenerationState:
    loaded = store.generations.find(generation.pipeline, generation.number)
    state = GenerationState(
        number=generation.number,
        state=generation.state.value,
        loaded=loaded is not None and loaded.snapshots is not None,
    )
    if generation.reason:
        state.reason = generation.reason
    if generation.state_partitions:
        state.state_partitions = generation.state_partitions
    marker = store.control.markers.get((generation.pipeline, generation.number))
    if marker is not None:
        lags = count_lags(marker.inputs, store.freshness.get_latest_ends())
        state.read_records = sum(marker.inputs.values())
        state.left_records = sum(lags.values()) if lags else None
    return state


def _add_figures(
    store: Store, pipeline: Pipeline, served: Materializer, snapshots: Snapshots
) -> Pipeline:
    """The pipeline with its figures. Raises sqlite3.DatabaseError."""
    with snapshots.open() as snapshot:
        marker = snapshot.marker
        accounts, newest_ms = read_accounts(snapshot), read_newest_ms(snapshot)
    lags = count_lags(marker.inputs, store.freshness.get_latest_ends())
    total = sum(lags.values()) if lags else None
    rate = served.rate.measure_per_second()
    figures = {
        "lag_records": total,
        "lag_records_by_input": lags,
        "rate_per_second": None if rate is None else round(rate, 1),
        "behind_world_seconds": _find_seconds_behind(store, newest_ms, total),
        "marker_written_at": render_instant(marker.written_at_ms),
        "batch_ms": marker.took_ms,
        "books": accounts,
        **date(store, marker),
    }
    figures["as_of"] = AsOf.model_validate(figures["as_of"])
    if served.trouble:
        figures["trouble"] = served.trouble
    return pipeline.model_copy(update=figures)


def count_lags(inputs: Offsets, ends: Offsets) -> dict[str, int] | None:
    """The uncounted records by input topic; None before the ends are known."""
    topics = sorted({topic for topic, _ in inputs})
    if not topics or any((partition not in ends) for partition in inputs):
        return None
    lags = dict.fromkeys(topics, 0)
    for partition, end in ends.items():
        if partition[0] in lags:
            lags[partition[0]] += max(0, end - inputs.get(partition, 0))
    return lags


def _find_seconds_behind(store: Store, newest_ms: int | None, lag: int | None) -> float | None:
    """Seconds of world time from the newest counted record to now; 0 without lag."""
    if lag == 0:
        return 0.0
    world = store.control.world
    if world is None or newest_ms is None:
        return None
    return max(0, world.world_at(get_wall_ms()) - newest_ms) / 1000
