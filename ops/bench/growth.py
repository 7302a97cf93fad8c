"""Whether a live batch costs more when much is remembered, or when one key is hot."""

from collections.abc import Iterator
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.settings import Settings
from infra.wait import repeat_in_thread
from ops.bench import yardstick
from ops.bench.batch_cost import Cost, end_session, measure_cost
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, aim_at_most
from ops.bench.generations import (
    catch_up,
    create,
    create_live_pace,
    load_with_yardstick_pace,
)
from ops.bench.live_events import (
    Make,
    append,
    make_hot_receipt,
    make_receipt,
    make_receipt_of_hot_customer,
    make_refund,
)
from ops.bench.receipts import publish
from ops.bench.scale import Scale
from pipelines.engine.query import Run, start
from pipelines.engine.session import start_session

APART_MS = 3
"""World time between two receipts: a million are within the horizon, so all are remembered."""
PER_BATCH = 10
"""Events that are published for each batch."""
HOT_LINES = 200
"""Movements of the hot shelf in one receipt."""
GROWTH_MAX = 1.5
HOT_MAX = 1.0


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "growth"})
    with run_broker(own):
        spark = start_session(own, "growth")
        try:
            for name, make in (
                ("inventory", make_receipt),
                ("fraud", make_refund),
                ("visits", make_receipt),
            ):
                measure_batch(spark, own, scale, name, make)  # thrown away: Java is young
            yield measure_hot_cashier(spark, own, scale)
            yield measure_hot_customer(spark, own, scale)
            yield measure_hot_shelf(spark, own, scale)
            yield from measure_remembered(spark, own, scale)
        finally:
            end_session(spark)


def measure_hot_cashier(spark: SparkSession, settings: Settings, scale: Scale) -> Figure:
    """A batch of fraud whose refunds are all of one cashier, who has made very many."""
    hot = partial(make_refund, cashiers=1)
    append(settings, scale.hot_refunds, hot)
    return compare_costs(
        f"cashier with {scale.hot_refunds:,} refunds",
        measure_batch(spark, settings, scale, "fraud", hot),
        measure_batch(spark, settings, scale, "fraud", make_refund),
        f"{PER_BATCH} cashiers",
    )


def measure_hot_customer(spark: SparkSession, settings: Settings, scale: Scale) -> Figure:
    """A batch of visits whose receipts are all of one customer, who has very many that day."""
    append(settings, scale.hot_receipts, make_receipt_of_hot_customer)
    return compare_costs(
        f"customer with {scale.hot_receipts:,} receipts",
        measure_batch(spark, settings, scale, "visits", make_receipt_of_hot_customer),
        measure_batch(spark, settings, scale, "visits", make_receipt),
        "many customers",
    )


def measure_hot_shelf(spark: SparkSession, settings: Settings, scale: Scale) -> Figure:
    """A batch of inventory whose movements are all of one shelf, which has very many."""
    append(settings, scale.hot_movements // HOT_LINES, partial(make_hot_receipt, lines=HOT_LINES))
    return compare_costs(
        f"shelf with {scale.hot_movements:,} movements",
        measure_batch(spark, settings, scale, "inventory", make_hot_receipt),
        measure_batch(spark, settings, scale, "inventory", make_receipt),
        "many shelves",
    )


def compare_costs(what: str, hot: Cost, cold: Cost, others: str) -> Figure:
    note = f"{PER_BATCH} events a batch of the hot key: {hot} As many of {others}: {cold}"
    return Figure(what, hot.cpu_seconds / cold.cpu_seconds, "×", aim_at_most(HOT_MAX), note=note)


def measure_remembered(spark: SparkSession, settings: Settings, scale: Scale) -> Iterator[Figure]:
    """A batch of inventory with more and more ids in its state."""
    published, found = 0, list[Cost]()
    for ids in scale.remembered:
        publish(settings, published, ids, APART_MS)
        published = ids
        found.append(measure_batch(spark, settings, scale, "inventory", make_receipt))
        yield Figure(
            f"batch with {ids:,} ids", 1000 * found[-1].cpu_seconds, "ms", note=f"{found[-1]}"
        )
    seconds = [each.cpu_seconds for each in found]
    yield Figure(
        "dearest batch, × the cheapest",
        max(seconds) / min(seconds),
        "×",
        aim_at_most(GROWTH_MAX),
        note="Of inventory, in one partition of state; one batch in 64 walks all of it.",
    )


def measure_batch(
    spark: SparkSession, settings: Settings, scale: Scale, name: str, make: Make
) -> Cost:
    """What a live batch with these events costs a new generation that has read all before them."""
    publish_some = partial(append, settings, PER_BATCH, make)
    with repeat_in_thread(publish_some, yardstick.SECONDS_PER_BATCH):
        started = partial(start_live, settings=settings, name=name)
        return measure_cost(spark, started, scale, scale.compile_seconds)


def start_live(spark: SparkSession, settings: Settings, name: str) -> StreamingQuery:
    """The live query of a new generation of the pipeline, once it has read all there is."""
    pipeline = load_with_yardstick_pace(name)
    work = Run(spark, settings, pipeline, create(settings, pipeline))
    catch_up(work)
    return start(work, create_live_pace(pipeline))
