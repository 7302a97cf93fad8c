"""The gate of orders: minute by minute it orders what the promoted generation calls for."""

from dataclasses import replace
from typing import Any

from contracts import POSITION_CHANGES, PROPOSALS, PURCHASE_ORDERS, Row
from contracts.consumer import create_reader
from contracts.times import to_epoch_ms
from infra.errors import UserError
from infra.kafka import create_admin
from infra.settings import Settings
from ops.control.reading import Reader
from ops.generations.marker import Marker
from ops.generations.record import Generation
from services.gate import Duty, Rows, find_published, select_outputs
from services.moves import KEPT_MS
from services.ordering.decision import Level, Order, Positions, Shelf

PIPELINE = "reorder"
MINUTE_MS = 60_000
READER = Reader(create_reader("ordering"))


class OrderAnswers:
    """The orders called for by one generation's rows, after a minute that was answered."""

    def __init__(self, settings: Settings, generation: Generation, answered_ms: int) -> None:
        """Raises UserError for a generation whose rows do not say what moved by minute."""
        if POSITION_CHANGES.name not in generation.outputs:
            raise UserError(
                f"{generation} should write {POSITION_CHANGES.name}, but was made by older code. "
                f"Let the present code make one: make replay PIPELINE={PIPELINE}"
            )
        self.generation = generation
        self.positions = Positions(answered_ms)
        self._client = create_admin(settings)
        self._rows = {
            contract: Rows(settings, READER, contract)
            for contract in (PROPOSALS, POSITION_CHANGES, PURCHASE_ORDERS)
        }
        self.given: dict[str, int] = {}
        """The orders of the last KEPT_MS, by id: the minute that each answers."""

    @property
    def is_outdated(self) -> bool:
        return self.positions.moves.is_outdated

    def take_until(self, marker: Marker) -> bool:
        ends = find_published(self._client, PURCHASE_ORDERS)
        if ends is None:
            return False
        for row in self._rows[PROPOSALS].read_new(
            select_outputs(self.generation, marker, PROPOSALS)
        ):
            level = read_review(row)
            self.positions.take_review(read_shelf(row), row["moved_units"], level)
        for row in self._rows[POSITION_CHANGES].read_new(
            select_outputs(self.generation, marker, POSITION_CHANGES)
        ):
            opened = row["order_up_to_units"] is not None
            self.positions.take_change(
                read_shelf(row),
                to_epoch_ms(row["changed_at"]),
                row["moved_units"],
                read_level(row, row["changed_at"], 0) if opened else None,
            )
        for row in self._rows[PURCHASE_ORDERS].read_new(ends):
            order_id, moment_ms = row["purchase_order_id"], to_epoch_ms(row["review_at"])
            if order_id not in self.given:
                self.given[order_id] = moment_ms
                self.positions.take_order(read_shelf(row), row["units"])
        self._forget_given()  # all of its own were read again
        return True

    def answer(self, moment_ms: int, now_ms: int) -> list[Row]:
        """The orders until this minute that nobody has given; they count as given then."""
        orders = self.positions.answer(moment_ms)
        new = {order.order_id: order for order in orders if order.order_id not in self.given}
        self.given |= {order_id: order.moment_ms for order_id, order in new.items()}
        self.positions.moves.forget()
        return [build_row(order, now_ms) for order in new.values()]

    def _forget_given(self) -> None:
        forgotten_ms = self.positions.moves.answered_ms - KEPT_MS
        self.given = {
            order_id: minute_ms
            for order_id, minute_ms in self.given.items()
            if minute_ms > forgotten_ms
        }


def read_shelf(row: Row) -> Shelf:
    return Shelf(row["store_id"], row["sku"])


def read_level(row: Row, since: Any, review_days: int | None) -> Level:
    """The levels in a row of a view. The oldest reviews do not say how often shelves are looked
    at: once a day.
    """
    return Level(
        to_epoch_ms(since),
        row["reorder_point_units"],
        row["order_up_to_units"],
        row["pack_size_units"],
        row["lead_time_days"],
        row["lead_time_hours"] or 0,
        row["measure"],
        1 if review_days is None else review_days,
    )


def read_review(row: Row) -> Level:
    """The levels in a row of a review. The oldest ones have one point for the day."""
    level = read_level(row, row["review_at"], row["review_days"])
    return replace(level, points=tuple(point["units"] for point in row["reorder_points"] or ()))


def build_row(order: Order, now_ms: int) -> Row:
    """The purchase order's record."""
    return {
        "purchase_order_id": order.order_id,
        "ordered_at": now_ms,
        "review_at": order.moment_ms,
        "store_id": order.shelf.store_id,
        "sku": order.shelf.sku,
        "units": order.units,
        "pack_size_units": order.level.pack_size_units,
        "lead_time_days": order.level.lead_time_days,
        "lead_time_hours": order.level.lead_time_hours,
    }


ORDERING = Duty(
    name="ordering",
    pipeline=PIPELINE,
    step_ms=MINUTE_MS,
    reader=READER,
    publishes=PURCHASE_ORDERS,
    says="orders, by the levels",
    begin=OrderAnswers,
)
