"""What a shop takes by its size: the coefficients of `retail size`, and two shops to hold it to."""

from collections.abc import Iterator, Sequence

from infra.settings import Settings
from ops.bench.batch_cost import end_session
from ops.bench.broker import run_broker
from ops.bench.coefficients import SHOP, Coefficients, PipelineCosts, ShopCosts, build_figures
from ops.bench.figures import Figure, Yardstick, aim_at_most
from ops.bench.loads import Load, Use, measure_loads
from ops.bench.pipeline_costs import LONG, Windows, fit_log_lines, measure_costs
from ops.bench.receipts import LINES, USUAL, Spread
from ops.bench.report import render_number
from ops.bench.scale import Scale
from ops.bench.size import Demand, compute_size, compute_state_gb
from pipelines.engine.session import start_session

CALM, BUSY = Load(20, USUAL), Load(200, USUAL)
"""The loads by which the processes beside Spark are measured, in one shop."""
HELD = (Load(100, Spread(100, 2_000)), Load(200, Spread(1_000, 5_000, 2 * LINES)))
"""The loads of the two shops that predictions are held to: none was used for the coefficients."""
APART_PERCENT_MAX = 30.0
A_DAY = 1.0


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    pipelines: dict[str, PipelineCosts] = {}
    live: list[Windows] = []
    for name, costs, windows in measure_pipelines(settings, scale):
        pipelines[name] = costs
        live.append(windows)
        yield from build_figures(name, costs, describe_windows(windows))
    calm, busy = measure_loads(settings, "sizing-base", (CALM, BUSY), scale)
    shop = fit_shop(live, calm, busy)
    yield from build_figures(SHOP, shop, describe_base(calm, busy))
    yield from hold_all(settings, scale, Coefficients(shop, pipelines))


def measure_pipelines(
    settings: Settings, scale: Scale
) -> Iterator[tuple[str, PipelineCosts, Windows]]:
    """The costs of each pipeline, in a Spark of the bench's own."""
    own = settings.model_copy(update={"data_dir": settings.data_dir / "sizing"})
    with run_broker(own):
        spark = start_session(own, "sizing")
        try:
            yield from measure_costs(spark, own, scale)
        finally:
            end_session(spark)


def hold_all(settings: Settings, scale: Scale, known: Coefficients) -> Iterator[Figure]:
    """What shops took that the costs do not know, beside what they should take."""
    found: list[Figure] = []
    for number, load in enumerate(HELD, 1):
        [use] = measure_loads(settings, f"sizing-held-{number}", (load,), scale)
        held = tuple(hold(use, known, settings.pipeline_names))
        yield from held
        found += held
    yield compare_all(found)


def describe_windows(live: Windows) -> str:
    few, many, long = (
        f"{each.batch_cpu_ms:.0f} ms of CPU, {each.wall_ms:.0f} by the clock, with "
        f"{each.batch_receipts:.0f} receipts"
        for each in (live.few, live.many, live.long)
    )
    return f"A live batch: {few}; {many}; {long} of {LONG.lines} lines instead of {LINES}."


def fit_shop(live: Sequence[Windows], calm: Use, busy: Use) -> ShopCosts:
    """The costs beside Spark that explain what a shop took under two loads.

    The log's are those of the busy one: the fewer receipts are sent at a time, the larger they are.
    """
    per_line = max(busy.rest_cores - calm.rest_cores, 0) / (
        busy.lines_per_second - calm.lines_per_second
    )
    lines_mb = fit_log_lines(live)
    return ShopCosts(
        cores=max(calm.rest_cores - per_line * calm.lines_per_second, 0),
        line_ms=1000 * per_line,
        memory_gb=calm.memory_gb,
        receipts_mb=busy.log_bytes_per_receipt - busy.load.spread.lines * lines_mb,
        lines_mb=lines_mb,
    )


def describe_base(calm: Use, busy: Use) -> str:
    return " ".join(
        f"With {each.per_second:.0f} receipts/s: Spark {each.spark_cores:.2f} cores, the rest "
        f"{each.rest_cores:.2f}; {each.memory_gb:.2f} GB."
        for each in (calm, busy)
    )


def hold(use: Use, known: Coefficients, names: tuple[str, ...]) -> Iterator[Figure]:
    """What a shop took, beside what it should take by its size.

    It is young, so it remembers what has come so far, not what came within the horizon.
    """
    spread = use.load.spread
    demand = Demand(spread.stores, spread.products, use.per_second, spread.lines, A_DAY, 24 * A_DAY)
    size = compute_size(demand, known, names)
    spark = sum(term.amount for term in size.find("cores").terms[:-1])
    what = f"{spread.stores:,} stores"
    note = (
        f"{use.per_second:.0f} receipts/s of {spread.lines} lines, {spread.products:,} products, "
        f"{use.receipts:,} receipts and {use.shelves:,} shelves so far. "
        f"Spark {use.spark_cores:.2f} cores (predicted {spark:.2f}), the rest "
        f"{use.rest_cores:.2f}."
    )
    log_mb = known.shop.receipts_mb + spread.lines * known.shop.lines_mb
    memory_gb = known.shop.memory_gb + sum(
        compute_state_gb(known.pipelines[name], use.receipts, use.shelves) for name in names
    )
    for kind, unit, measured, predicted in (
        ("cores", "cores", use.cores, size.find("cores").amount),
        ("memory", "GB", use.memory_gb, memory_gb),
        ("log of a million receipts", "MB", use.log_bytes_per_receipt, log_mb),
    ):
        beside = Yardstick("predicted", predicted)
        yield Figure(f"{what}, {kind}", measured, unit, yardstick=beside, note=note)
        note = ""


def compare_all(found: Sequence[Figure]) -> Figure:
    """The figure that is farthest from its prediction."""
    apart = {figure.what: abs(figure.percent - 100) for figure in found}
    worst = max(apart, key=lambda what: apart[what])
    return Figure(
        "farthest from its prediction",
        apart[worst],
        "%",
        aim_at_most(APART_PERCENT_MAX),
        note=f"{worst}. All: "
        + ", ".join(f"{what} {render_number(each)} %" for what, each in apart.items()),
    )
