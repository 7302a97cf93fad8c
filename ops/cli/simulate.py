"""retail simulate: turns the load of the simulated world while it runs."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import DEFAULT_SPEED, Settings, read_settings
from ops.cli import screen
from ops.cli.options import lock_home
from ops.cli.topics import require_broker
from ops.control.load import (
    FACTOR_MAX,
    FACTOR_MIN,
    HITS_MAX,
    QUIET_STORES_MAX,
    RECEIPTS_PER_SECOND_MAX,
    RECEIPTS_PER_SECOND_MIN,
    SPEED_MAX,
    SPEED_MIN,
    Load,
    publish_load,
    read_load,
)

HIT_FACTOR = 5.0
ID_BYTES = 4


def simulate(
    receipts_per_second: Annotated[
        float | None,
        typer.Option(help=f"Of all stores, mean of a week, at speed {DEFAULT_SPEED:g}."),
    ] = None,
    speed: Annotated[float | None, typer.Option(help="World seconds per wall second.")] = None,
    quiet_store: Annotated[
        list[str] | None, typer.Option(metavar="STORE", help="A store that sells nothing now.")
    ] = None,
    loud_store: Annotated[
        list[str] | None, typer.Option(metavar="STORE", help="A quiet store that sells again.")
    ] = None,
    hit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SKU[=FACTOR]",
            help=f"A product that is wanted more, {HIT_FACTOR:g} times unless FACTOR says.",
        ),
    ] = None,
    usual: Annotated[
        bool, typer.Option("--usual", help="First turn everything back to how the world began.")
    ] = False,
) -> None:
    """Turn the load of the running world; without options, show what is in force.

    The world hears it at its next minute. It holds until it is turned again.
    """
    current = require_broker(read_settings())
    if not current.is_simulated:
        raise UserError(
            f"Expected a simulated world, whose load can be turned; found WORLD={current.world}."
        )
    with lock_home(current.data_dir / "load", "turning the load of"):
        before = read_load(current)
        kept = Load(before.load_id) if usual else before
        load = kept._replace(
            receipts_milli=to_milli(
                receipts_per_second, RECEIPTS_PER_SECOND_MIN, RECEIPTS_PER_SECOND_MAX
            )
            or kept.receipts_milli,
            speed_milli=to_milli(speed, SPEED_MIN, SPEED_MAX) or kept.speed_milli,
            quiet_stores=silence(kept.quiet_stores, quiet_store or (), loud_store or (), current),
            hits=add_hits(kept.hits, hit or (), current),
        )
        now_ms = get_wall_ms()
        if load.to_row(now_ms) != before.to_row(now_ms):
            load = load._replace(load_id=f"{now_ms}-{secrets.token_hex(ID_BYTES)}")
            publish_load(current, load, now_ms)
    show(load, current)


def to_milli(value: float | None, low: float, high: float) -> int | None:
    """The value in thousandths. Raises UserError beyond the limits."""
    if value is None:
        return None
    if not low <= value <= high:
        raise UserError(f"Expected a value from {low:g} to {high:g}, found {value:g}.")
    return round(value * 1000)


def silence(
    before: Sequence[str], quiet: Sequence[str], loud: Sequence[str], current: Settings
) -> list[str]:
    """The quiet stores from now on. Raises UserError for a store that the world does not have."""
    last = current.simulator_stores - 1
    for store_id in (*quiet, *loud):
        number = store_id.removeprefix("S")
        if not number.isdecimal() or store_id != f"S{int(number):03d}" or int(number) > last:
            raise UserError(f"Expected a store, S000 to S{last:03d}; found {store_id}.")
    stores = sorted({*before, *quiet} - set(loud))
    if len(stores) > QUIET_STORES_MAX:
        raise UserError(
            f"Expected at most {QUIET_STORES_MAX} quiet stores, found {len(stores)}. "
            "Let some sell again with --loud-store"
        )
    return stores


def add_hits(before: Mapping[str, int], added: Sequence[str], current: Settings) -> dict[str, int]:
    """Demand in percent by sku, from now on. A factor of 1 is no hit. Raises UserError."""
    hits = dict(before)
    for text in added:
        sku, _, factor = text.partition("=")
        hits[parse_sku(sku, current)] = parse_percent(factor or str(HIT_FACTOR))
    hits = {sku: percent for sku, percent in hits.items() if percent != 100}
    if len(hits) > HITS_MAX:
        raise UserError(
            f"Expected at most {HITS_MAX} hits, found {len(hits)}. End some with --hit SKU=1"
        )
    return hits


def parse_sku(sku: str, current: Settings) -> str:
    last, number = current.simulator_products - 1, sku.removeprefix("SKU-")
    if not number.isdecimal() or sku != f"SKU-{int(number):05d}" or int(number) > last:
        raise UserError(f"Expected a product, SKU-00000 to SKU-{last:05d}; found {sku}.")
    return sku


def parse_percent(factor: str) -> int:
    try:
        number = float(factor)
    except ValueError:
        number = 0.0
    if not FACTOR_MIN <= number <= FACTOR_MAX:
        raise UserError(
            f"Expected a factor from {FACTOR_MIN:g} to {FACTOR_MAX:g}, as SKU-00417=8; "
            f"found {factor}."
        )
    return round(number * 100)


def show(load: Load, current: Settings) -> None:
    receipts, speed = current.simulator_receipts_per_second, current.simulator_speed
    hits = (f"{sku} × {percent / 100:g}" for sku, percent in load.hits.items())
    screen.print_table(
        ("load", "in force", "as the world began"),
        [
            ("receipts a second", render_milli(load.receipts_milli, receipts), f"{receipts:g}"),
            ("speed", render_milli(load.speed_milli, speed), f"{speed:g}"),
            ("quiet stores", ", ".join(load.quiet_stores) or "none", "none"),
            ("hits", ", ".join(hits) or "none", "none"),
        ],
    )


def render_milli(milli: int | None, usual: float) -> str:
    return f"{usual if milli is None else milli / 1000:g}"
