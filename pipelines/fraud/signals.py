"""The contributions of receipts and refunds: signals by rule, subject and interval."""

import operator
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import get_args, get_type_hints

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts import PRICE_CHANGES, PRODUCTS, RECEIPTS, REFUNDS, STORES
from contracts.lines import LINES
from contracts.times import MILLISECOND
from pipelines.common.pipeline import Contribution, Dimension, Extract
from pipelines.common.transform.columns import compute_amount, escape_key_part
from pipelines.fraud.rules import Signal
from pipelines.fraud.thresholds import Thresholds

DIMENSIONS = (
    Dimension(PRICE_CHANGES, since="effective_at", columns={"price_cents": "list_price_cents"}),
    Dimension(
        PRODUCTS,
        since="effective_at",
        columns={"pack_size_units": "pack_size_units", "measure": "product_measure"},
    ),
    Dimension(
        STORES,
        since="effective_at",
        columns={"latitude_microdegrees": "latitude", "longitude_microdegrees": "longitude"},
    ),
)

SIGNAL = "signal"
"""The column with a contribution as a signal, in the form of `encode_signal`."""

PRICED = ("units", "unit_price_cents", "measure")
"""The fields of a line that say what it comes to."""


def extract_sale(receipt: Column) -> Extract:
    return to_extract(receipt) | {
        "customer_id": receipt["customer_id"],
        "receipt_event_id": F.lit(None).cast("string"),
        "receipt_event_time": F.lit(None).cast("timestamp"),
        "refunded_cents": F.lit(None).cast("long"),
    }


def extract_refund(refund: Column) -> Extract:
    return to_extract(refund) | {
        "customer_id": F.lit(None).cast("string"),
        "receipt_event_id": refund["receipt_event_id"],
        "receipt_event_time": refund["receipt_event_time"],
        "refunded_cents": sum_cents(F.col(LINES)),
    }


def sum_cents(lines: Column) -> Column:
    """The sum of all lines of an event, in cents. It uses a lambda, but only refunds run it."""
    return F.aggregate(
        lines,
        F.lit(0).cast("long"),
        lambda cents, line: cents + compute_amount(*[line[name] for name in PRICED]),
    )


def to_extract(event: Column) -> dict[str, Column]:
    return {name: event[name] for name in ("event_id", "store_id", "cashier_id", "card_token")}


def build_line_columns() -> Mapping[str, Column]:
    """What a line came to, in cents."""
    return {"amount_cents": compute_amount_at(F.col("unit_price_cents"))}


def build_contributions(limits: Thresholds) -> list[Contribution]:
    """The signals of a line of a receipt or a refund."""
    return [
        *build_of_card(limits),
        build_sweethearting(limits),
        *build_unbacked(limits),
        build_refund_rate(limits),
        build_bulk(limits),
    ]


def build_of_card(limits: Thresholds) -> Iterator[Contribution]:
    """A sale is a signal in its interval, and context in the next if it reaches there."""
    event_time, card = F.col("event_time"), F.col("card_token")
    with_card = is_of_receipt() & F.col("first_line") & card.isNotNull()
    placed = with_card & F.col("latitude").isNotNull()
    in_window = event_time + F.lit(limits.card_sales_window)
    in_reach = event_time + F.lit(limits.travel_gap_max)
    for rule, lasting, when, until, reaches in (
        ("card-velocity", limits.card_sales_interval, with_card, in_window, operator.gt),
        ("impossible-travel", limits.travel_interval, placed, in_reach, operator.ge),
    ):
        own = compute_start(event_time, lasting)
        following = own + F.lit(lasting)
        yield create_signal(rule, card, own, lasting, when)
        yield create_signal(
            rule, card, following, lasting, when & reaches(until, following), kind="context"
        )


def build_sweethearting(limits: Thresholds) -> Contribution:
    """Lines far below the list price of their time; the amount is what they would have come to,
    less what they came to.

    Prices are compared as they are, whatever they are per: weighed goods that a cashier sells for
    a piece's price are given away, too.
    """
    price, listed = F.col("unit_price_cents"), F.col("list_price_cents")
    return create_signal(
        "sweethearting",
        F.col("cashier_id"),
        compute_start(F.col("event_time"), limits.sweethearting_interval),
        limits.sweethearting_interval,
        is_of_receipt() & (price < F.floor(listed * limits.line_percent_max / 100)),
        amount=compute_amount_at(listed) - F.col("amount_cents"),
    )


def build_unbacked(limits: Thresholds) -> list[Contribution]:
    """The cents that a receipt sold and that were refunded for it, by sku."""
    lasting = limits.refund_interval + limits.return_period
    return [
        create_signal(
            "refund-without-receipt",
            receipt,
            compute_start(issued, limits.refund_interval),
            lasting,
            when,
            kind=kind,
            about=F.col("sku"),
            amount=F.col("amount_cents"),
        )
        for kind, receipt, issued, when in (
            ("sold", F.col("event_id"), F.col("event_time"), is_of_receipt()),
            (
                "refunded",
                F.col("receipt_event_id"),
                F.col("receipt_event_time"),
                ~is_of_receipt() & is_naming_receipt(limits),
            ),
        )
    ]


def build_refund_rate(limits: Thresholds) -> Contribution:
    """One signal per refund; the sum of its lines decides whether it is worth a look."""
    worth_a_look = F.col("refunded_cents") >= limits.blind_refund_cents_min
    return create_signal(
        "refund-rate",
        F.col("cashier_id"),
        compute_start(F.col("event_time"), limits.refund_rate_interval),
        limits.refund_rate_interval,
        ~is_of_receipt() & F.col("first_line"),
        kind=F.when(~is_naming_receipt(limits) & worth_a_look, "blind").otherwise("other"),
        about=F.col("card_token"),
    )


def build_bulk(limits: Thresholds) -> Contribution:
    """Lines of at least `packs_line_hundredths_min`, on receipts without a customer id.

    Of a pack whose units are others than the line's, nothing is known.
    """
    comparable = F.col("measure").eqNullSafe(F.col("product_measure"))
    hundredths = F.when(comparable, F.floor(F.col("units") * 100 / F.col("pack_size_units")))
    return create_signal(
        "bulk-purchase",
        F.coalesce("card_token", "event_id"),
        compute_start(F.col("event_time"), limits.bulk_interval),
        limits.bulk_interval,
        is_of_receipt()
        & F.col("customer_id").isNull()
        & (hundredths >= limits.packs_line_hundredths_min),
        about=F.col("sku"),
        amount=hundredths,
    )


def compute_amount_at(price_cents: Column) -> Column:
    """What a line comes to at this price, in cents."""
    return compute_amount(F.col("units"), price_cents, F.col("measure"))


def is_naming_receipt(limits: Thresholds) -> Column:
    """Whether a refund names a receipt within the return period."""
    issued, event_time = F.col("receipt_event_time"), F.col("event_time")
    recent = issued >= event_time - F.lit(limits.return_period)
    ahead = issued <= event_time + F.lit(limits.receipt_ahead_max)
    return F.coalesce(F.col("receipt_event_id").isNotNull() & recent & ahead, F.lit(False))


def create_signal(
    rule: str,
    subject: Column,
    begun: Column,
    lasting: timedelta,
    when: Column,
    *,
    kind: Column | str = "own",
    about: Column | None = None,
    amount: Column | None = None,
) -> Contribution:
    nothing = F.lit(None)
    return Contribution(
        {
            "rule": F.lit(rule),
            "subject": subject,
            "interval_start": begun,
            "lasting": F.lit(lasting),
            "kind": F.lit(kind) if isinstance(kind, str) else kind,
            "about": (nothing if about is None else about).cast("string"),
            "amount": (nothing if amount is None else amount).cast("long"),
        },
        when,
    )


def derive_columns() -> Mapping[str, Column]:
    """The subject as a part of the key, the end of the interval, and the signal."""
    moments = {name: F.unix_millis(name) for name in ("event_time", "published")}
    return {
        "subject": escape_key_part(F.col("subject")),
        "interval_end": F.col("interval_start") + F.col("lasting"),
        SIGNAL: encode_signal(**moments),
    }


def is_of_receipt() -> Column:
    return F.col("topic") == RECEIPTS.name


def compute_start(time: Column, lasting: timedelta) -> Column:
    """The start of the interval that contains the moment; intervals count from 1970, UTC."""
    milliseconds = F.unix_millis(time)
    return F.timestamp_millis(milliseconds - F.pmod(milliseconds, F.lit(lasting // MILLISECOND)))


READS = {RECEIPTS: extract_sale, REFUNDS: extract_refund}


SEPARATOR = "/"
"""It sorts before every other character of the text: the parts are hexadecimal digits."""
DIGITS = 16
SIGN = -(2**63)
"""The sign bit of a 64-bit number, and the least of them."""
NUMBERS = {name for name, kind in get_type_hints(Signal).items() if int in (kind, *get_args(kind))}
"""The fields of a signal that are 64-bit numbers; the others are texts."""


def encode_signal(**fields: Column) -> Column:
    """The text of the signal whose other fields are columns of the same names."""
    columns = {name: fields.get(name, F.col(name)) for name in Signal._fields}
    parts = [
        encode_number(column) if name in NUMBERS else F.hex(column.cast("binary"))
        for name, column in columns.items()
    ]
    return F.concat_ws(SEPARATOR, *[F.coalesce(part, F.lit("")) for part in parts])


def encode_number(number: Column) -> Column:
    """The number as digits of a fixed length, in which negative numbers come first."""
    return F.lpad(F.hex(number.cast("long").bitwiseXOR(F.lit(SIGN))), DIGITS, "0")


def decode_signal(text: str) -> Signal:
    """The signal of a text. A field without digits is None: no text field of a signal is empty."""
    parts = zip(Signal._fields, text.split(SEPARATOR), strict=True)
    return Signal(*[decode_part(name, digits) for name, digits in parts])  # type: ignore[arg-type]


def decode_part(name: str, digits: str) -> int | str | None:
    if not digits:
        return None
    return int(digits, 16) + SIGN if name in NUMBERS else bytes.fromhex(digits).decode()
