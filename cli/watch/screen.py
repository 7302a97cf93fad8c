"""The overview as one picture that fills the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cli.watch import tables
from cli.watch.feeds import Feed, Feeds
from cli.watch.moments import describe_freshness, find_counted_ms, read_time
from cli.watch.room import TWO_COLUMNS_WIDTH, Room, measure_room
from cli.watch.sales import Sales, summarize
from cli.watch.words import clean, count, render_duration, render_money, render_rate, render_spark

SPARK_WIDTH = 20
STORE_SALES = "public.analytics.store-sales.v1"


def draw(feeds: Feeds, width: int, height: int | None) -> RenderableType:
    """All parts, side by side or below each other."""
    room = measure_room(width, height)
    sales = summarize(feeds.sales.value or (), find_counted_ms(feeds, STORE_SALES))
    parts = [
        _draw_stores(feeds, sales, room),
        _draw_best_sellers(feeds, room),
        _draw_shelves(feeds, room),
        _draw_alerts(feeds, room),
        _draw_orders(feeds, room),
        _draw_pipelines(feeds, room),
    ]
    head = Group(*_draw_head(feeds), _draw_figures(feeds, sales))
    if width < TWO_COLUMNS_WIDTH:
        return Group(head, *parts)
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    for left, right in zip(parts[::2], parts[1::2], strict=True):
        grid.add_row(left, right)
    return Group(head, grid)


def _draw_head(feeds: Feeds) -> Sequence[Text]:
    time = read_time(feeds)
    world = time.describe() if time else f"the world's clock: {_describe_lack(feeds.clock)}"
    lines = [Text(f"{feeds.address} · {world}", style="bold", overflow="ellipsis", no_wrap=True)]
    if feeds.gone_since is not None:
        since = render_duration(feeds.moment() - feeds.gone_since)
        words = f"The API does not answer for {since}; it is asked again. Look: make status"
        lines.append(Text(words, style="bold red"))
    elif any(feed.problem for feed in feeds.all):
        lines.append(Text("Live, but not all of it: the parts say what is missing", style="yellow"))
    else:
        lines.append(Text("Live", style="green"))
    return lines


def _draw_figures(feeds: Feeds, sales: Sales | None) -> Text:
    time = read_time(feeds)
    per_minute = sales.receipts_per_minute if sales else None
    per_second = None
    if per_minute is not None and time is not None:
        per_second = per_minute * time.wall_speed / 60
    pipelines = (feeds.pipelines.value or {"pipelines": ()})["pipelines"]
    lags = [one["lag_records"] for one in pipelines if one.get("lag_records") is not None]
    figures = (
        f"{render_rate(per_second)} receipts/s",
        f"revenue {render_money(sales.revenue_cents if sales else None)} (100 cents)",
        f"{_count_items(feeds.empty)} shelves empty, {_count_items(feeds.low)} low, "
        f"{_count_items(feeds.negative)} below zero",
        f"{_count_items(feeds.alerts)} alerts open",
        f"{count(sum(lags) if lags else None)} records of lag",
    )
    return Text(" · ".join(figures))


def _draw_stores(feeds: Feeds, sales: Sales | None, room: Room) -> Panel:
    stores = sales.stores if sales else {}
    minutes = sales.minutes if sales else ()
    lines = {
        name: [one.cents_by_minute.get(at, 0) for at in minutes] for name, one in stores.items()
    }
    most = max((max(line, default=0) for line in lines.values()), default=0)
    rows = [
        {
            "store": name,
            "revenue_cents": one.revenue_cents,
            "receipts": one.receipts,
            "units": one.units,
            "line": render_spark(lines[name], most, SPARK_WIDTH),
        }
        for name, one in stores.items()
    ]
    title = f"Revenue by store, last {len(minutes)} minutes of the world"
    return _render_frame(
        feeds, feeds.sales, title, tables.STORES, rows, room, shown_max=room.stores_max
    )


def _draw_best_sellers(feeds: Feeds, room: Room) -> Panel:
    best = feeds.best.value
    when = "may still change" if best and not best["final"] else "final"
    title = f"Best sellers of the hour, {when}" if best else "Best sellers of the hour"
    rows = best["items"] if best else []
    return _render_frame(feeds, feeds.best, title, tables.BEST_SELLERS, rows, room)


def _draw_shelves(feeds: Feeds, room: Room) -> Panel:
    lists = (feeds.negative, feeds.empty, feeds.low)
    rows = [row for feed in lists for row in (feed.value or {"items": ()})["items"]]
    worst = next((feed for feed in lists if feed.problem or feed.value is None), feeds.empty)
    columns = tables.list_shelf_columns(_find_world_ms(feeds))
    return _render_frame(
        feeds, worst, "Shelves below zero, empty, low (1 to 5)", columns, rows, room
    )


def _draw_alerts(feeds: Feeds, room: Room) -> Panel:
    rows = (feeds.alerts.value or {"items": ()})["items"]
    columns = tables.list_alert_columns(_find_world_ms(feeds))
    return _render_frame(feeds, feeds.alerts, "Open alerts", columns, rows, room)


def _draw_orders(feeds: Feeds, room: Room) -> Panel:
    rows = (feeds.orders.value or {"items": ()})["items"]
    columns = tables.list_order_columns(_find_world_ms(feeds))
    return _render_frame(feeds, feeds.orders, "Orders", columns, rows, room)


def _draw_pipelines(feeds: Feeds, room: Room) -> Panel:
    rows = (feeds.pipelines.value or {"pipelines": ()})["pipelines"]
    return _render_frame(feeds, feeds.pipelines, "Pipelines", tables.PIPELINES, rows, room)


def _render_frame(
    feeds: Feeds,
    feed: Feed,
    title: str,
    columns: Sequence[tables.Column],
    rows: Sequence[tables.Row],
    room: Room,
    shown_max: int | None = None,
) -> Panel:
    """One part: its rows, their number, and their freshness."""
    visible = rows[: room.rows_max if shown_max is None else shown_max]
    more = f" ({len(visible)} of {len(rows)})" if len(visible) < len(rows) else ""
    body = tables.draw(columns, visible, room.width - 4) if rows else Text(_describe_lack(feed))
    is_old = feed.problem is not None or feeds.gone_since is not None
    return Panel(
        body,
        title=Text(title + more),
        title_align="left",
        subtitle=Text(clean(describe_freshness(feeds, feed)), style="red" if feed.problem else ""),
        subtitle_align="left",
        style="dim" if is_old and feed.value is not None else "",
    )


def _describe_lack(feed: Feed) -> str:
    if feed.problem:
        return clean(feed.problem)
    return "waiting for the first answer" if feed.value is None else "nothing yet"


def _count_items(feed: Feed) -> str:
    """Only one page is fetched: 50+ means that there are more."""
    if feed.value is None:
        return count(None)
    more = "+" if feed.value.get("next") is not None else ""
    return f"{count(len(feed.value['items']))}{more}"


def _find_world_ms(feeds: Feeds) -> float | None:
    time = read_time(feeds)
    return time.world_ms if time else None
