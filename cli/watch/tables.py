"""The tables of the overview: their columns, and those that a narrow table leaves out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from cli.watch.words import (
    NONE,
    clean,
    count,
    render_duration,
    render_moment,
    render_money,
    render_rate,
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column, and the width of its table from which on it is shown."""

    head: str
    render: Callable[[Row], str]
    is_number: bool = False
    width_min: int = 0


def draw(columns: Iterable[Column], rows: Iterable[Row], width: int) -> Table:
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold")
    visible = [column for column in columns if width >= column.width_min]
    for column in visible:
        table.add_column(
            column.head,
            justify="right" if column.is_number else "left",
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in rows:
        # As Text: the text of an event is neither markup nor a control sequence.
        table.add_row(*(Text(clean(column.render(row))) for column in visible))
    return table


MEASURES: Mapping[str, Callable[[int], str]] = {
    "card-velocity": lambda value: f"{count(value)} sales",
    "impossible-travel": lambda value: f"{count(value)} km/h",
    "sweethearting": lambda value: f"{render_money(value)} × 100 c",
    "refund-without-receipt": lambda value: f"{render_money(value)} × 100 c",
    "refund-rate": lambda value: f"{count(value)} refunds",
    "bulk-purchase": lambda value: f"{render_money(value)} packs",
}
"""The measure of each rule, with its unit."""


def _measure(row: Row, name: str) -> str:
    return MEASURES.get(row["rule"], count)(row[name])


def _describe_order(row: Row, world_ms: float | None) -> str:
    confirmation = row["confirmation"]
    if confirmation is None:
        return "waits for the supplier"
    if confirmation["shipped_units"] == 0:
        return "nothing will come"
    arrives = render_moment(confirmation["arrives_at"], world_ms)
    return f"{count(confirmation['shipped_units'])} units by {arrives}"


def _describe_age(row: Row) -> str:
    age_ms = row.get("freshness_ms")
    return render_duration(None if age_ms is None else age_ms / 1000)


def _describe_generations(row: Row) -> str:
    served = row.get("generation")
    names = [] if served is None else [f"g{served}"]
    others = (one for one in row["generations"] if one["number"] != served)
    return ", ".join([*names, *(f"g{one['number']} {one['state']}" for one in others)]) or NONE


def describe_standing(row: Row) -> str:
    """Whether the pipeline is served, and why not."""
    if row.get("trouble"):
        return f"in trouble: {row['trouble']}"
    if row.get("generation") is not None:
        return f"served; {row['loading']}" if row.get("loading") else "served"
    if row.get("loading"):
        return str(row["loading"])
    invalid = next((one for one in row["generations"] if one["state"] == "invalid"), None)
    if invalid is None:
        return "not served"
    return f"not served: g{invalid['number']} is invalid, {invalid.get('reason') or 'no reason'}"


STORES = (
    Column("store", lambda row: row["store"]),
    Column("revenue (100 cents)", lambda row: render_money(row["revenue_cents"]), is_number=True),
    Column("receipts", lambda row: count(row["receipts"]), is_number=True, width_min=40),
    Column("units", lambda row: count(row["units"]), is_number=True, width_min=60),
    Column("by minute", lambda row: row["line"], width_min=50),
)

BEST_SELLERS = (
    Column("rank", lambda row: count(row["rank"]), is_number=True, width_min=40),
    Column("sku", lambda row: row["sku"]),
    Column("units", lambda row: count(row["units"]), is_number=True),
    Column(
        "revenue (100 cents)",
        lambda row: render_money(row["revenue_cents"]),
        is_number=True,
        width_min=48,
    ),
)


def list_shelf_columns(world_ms: float | None) -> tuple[Column, ...]:
    return (
        Column("store", lambda row: row["store_id"]),
        Column("sku", lambda row: row["sku"]),
        Column("units", lambda row: count(row["units_on_hand"]), is_number=True),
        Column(
            "on the way", lambda row: count(row["units_in_transit"]), is_number=True, width_min=48
        ),
        Column(
            "last event", lambda row: render_moment(row["last_event_time"], world_ms), width_min=60
        ),
    )


def list_alert_columns(world_ms: float | None) -> tuple[Column, ...]:
    return (
        Column("rule", lambda row: row["rule"]),
        Column("store", lambda row: row["store_id"] or NONE, width_min=40),
        Column("measured", lambda row: _measure(row, "measured"), is_number=True),
        Column("limit", lambda row: _measure(row, "threshold"), is_number=True, width_min=60),
        Column("decided", lambda row: render_moment(row["decided_at"], world_ms), width_min=48),
    )


def list_order_columns(world_ms: float | None) -> tuple[Column, ...]:
    return (
        Column("store", lambda row: row["store_id"]),
        Column("sku", lambda row: row["sku"]),
        Column("units", lambda row: count(row["units"]), is_number=True, width_min=40),
        Column("what became of it", lambda row: _describe_order(row, world_ms)),
    )


PIPELINES = (
    Column("pipeline", lambda row: row["pipeline"]),
    Column("lag", lambda row: count(row.get("lag_records")), is_number=True),
    Column(
        "records/s",
        lambda row: render_rate(row.get("rate_per_second")),
        is_number=True,
        width_min=40,
    ),
    Column("fresh", _describe_age, is_number=True),
    Column("generations", _describe_generations, width_min=56),
    Column("standing", describe_standing),
)
