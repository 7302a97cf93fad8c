"""The mapping: which columns of a retailer's files become which fields of an event."""

import codecs
import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from contracts.measures import MEASURES
from generators.importing.numbers import Sign
from generators.importing.times import COUNTED, compile_format, has_hours
from infra.errors import UserError

PIECE = "piece"
"""In a mapping, what is sold by no measure."""
SOLD_BY = (*MEASURES, PIECE)

LINES_MAX = 10_000
EXPECTED = {"missing": "a value", "extra_forbidden": "no such key"}
"""Errors of pydantic whose messages are unclear here."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Constant(_Part):
    """The same value in every row."""

    value: str = Field(min_length=1)


Source = str | Constant
"""A column by its name, or a value for all rows."""
Reason = Literal["count", "damage", "theft"]
NOTHING = ["null", "\\N", "n/a", "#n/a", "<na>", "na", "nan", "none", "nil", "(null)", "-"]


class Rows(_Part):
    """How the files are read. A file's ending says whether it is CSV, Parquet or JSON lines."""

    delimiter: str | None = Field(None, min_length=1, max_length=1)  # of CSV; None: detected
    encoding: str | None = None
    """Of what is not UTF-8, as Python names it, such as cp1252; None: all files are UTF-8."""
    sheets: list[str] = []  # of workbooks; none: all
    each: str | None = Field(None, min_length=1)
    """Of JSON: the list whose elements are the rows; each has what stands beside the list, too."""
    decimal: Sign | dict[str, Sign] | None = None
    """The decimal sign of all numbers, or by column; None: as the whole column shows it."""
    nothing: list[str] = NOTHING  # texts that say no more than an empty cell, in any case
    skip: dict[str, list[str]] = {}
    """Rows that are no sales: by column, the values that mark them; `C*` is what begins so."""
    skip_zero_units: bool = False

    @field_validator("encoding")
    @classmethod
    def _check_encoding(cls, encoding: str | None) -> str | None:
        try:
            "".encode(encoding or "utf-8")
        except LookupError as error:
            raise ValueError("an encoding such as utf-8, cp1252, cp1250 or utf-16") from error
        return encoding and codecs.lookup(encoding).name


class Wide(_Part):
    """A column per day, as in M5: each becomes a row with a name and a value."""

    columns: re.Pattern[str]  # a column that matches is a day
    name: str  # the new column that holds the day column's name
    value: str  # the new column that holds the value

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: re.Pattern[str]) -> re.Pattern[str]:
        if not columns.pattern:
            raise ValueError("a pattern of at least 1 character")
        return columns


class Lookup(_Part):
    """A second file that adds its columns to the rows."""

    file: Path  # relative to the first of the imported files
    match: dict[str, str] = Field(min_length=1)
    """Columns of the second file, and the columns of the rows with the same values."""


class Time(_Part):
    """When a row happened."""

    column: str | list[str] = Field(min_length=1)
    """Of the time; or two, of the day and of the time of day."""
    format: str | list[str] | None = None
    """As strptime reads it, or one of COUNTED; None: ISO 8601."""
    since: date | None = None  # the column counts days; this one is 0
    zone: str = "UTC"  # of the clock that the column was read from
    time_of_day: str | None = Field(None, alias="at", pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")
    """The time of day, where the files say the day only."""

    @field_validator("column")
    @classmethod
    def _check_column(cls, column: str | list[str]) -> str | list[str]:
        if isinstance(column, list) and len(column) > 2:
            raise ValueError("a column, or those of the day and of the time of day")
        return column

    @field_validator("format")
    @classmethod
    def _check_format(cls, format: str | list[str] | None) -> str | list[str] | None:  # noqa: A002
        for form in [format] if isinstance(format, str) else format or []:
            if form not in COUNTED:
                compile_format(form)
        return format

    @field_validator("zone")
    @classmethod
    def _check_zone(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError("a time zone such as Europe/London") from error
        return zone

    @property
    def formats(self) -> list[str]:
        return [self.format] if isinstance(self.format, str) else self.format or []

    @property
    def columns(self) -> list[str]:
        return [self.column] if isinstance(self.column, str) else self.column

    @property
    def has_hours(self) -> bool:
        """Whether the formats read the time of day too."""
        return any(has_hours(form) for form in self.formats)


class Receipts(_Part):
    """Which rows are one receipt."""

    by: list[str] = []
    """Rows of one store with equal values in these columns. Empty: every row is a receipt, as is
    one without a number."""
    restarts: Literal["never", "day", "month", "year"] | None = None
    """When the numbers begin again. None: a number that comes days later is refused."""
    discount: str | None = None
    """A column with what the whole receipt costs less; it may be on the first row only."""
    lines_max: int = Field(LINES_MAX, ge=1, le=LINES_MAX)  # a longer receipt becomes several


class Cancelled(_Part):
    """Which rows are refunds."""

    column: str | None = None
    prefix: str | None = Field(None, min_length=1)
    values: list[str] | None = None
    negative_units: bool = False
    negative_price: bool = False

    @model_validator(mode="after")
    def _check_signs(self) -> "Cancelled":
        signs = [self.prefix is not None, self.values is not None]
        negative = self.negative_units or self.negative_price
        if sum(signs) > 1 or not (sum(signs) or negative):
            raise ValueError("one of prefix, values and negative_units or negative_price")
        if (self.column is None) == any(signs):
            raise ValueError("column together with prefix or values, and only then")
        return self


class Corrections(_Part):
    """Which rows move stock and are neither sale nor refund."""

    column: str
    values: dict[str, Reason] = Field(min_length=1)
    """By a value of the column. What is damage or theft leaves the shelf, whatever its sign."""


class Fields(_Part):
    """What a line of a receipt says."""

    sku: Source | list[str]  # of several columns the first that is not empty
    units: Source
    unit_price: Source | None = None
    amount: Source | None = None  # of the whole line, where the files have no unit price
    discount: Source | None = None
    """What the line costs less, its sign does not matter; 10% is a part of the line."""
    measure: Source | None = None
    """What the row is sold by; units then have up to three decimals. None: by the piece."""
    store: Source
    register_id: Source = Constant(value="till")
    cashier: Source = Constant(value="nobody")
    customer: Source | None = None
    card: Source | None = None

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, measure: Source | None) -> Source | None:
        if isinstance(measure, Constant) and measure.value not in MEASURES:
            raise ValueError(f"a column, or {{value: …}} with one of {', '.join(MEASURES)}")
        return measure

    @model_validator(mode="after")
    def _check_one_price(self) -> "Fields":
        if (self.unit_price is None) == (self.amount is None):
            raise ValueError("one of unit_price and amount")
        return self


class Money(_Part):
    """How the text of a price becomes cents."""

    currency: str = Field(pattern=r"^[A-Z]{3}$")
    decimals: int = Field(2, ge=0, le=4)
    """Decimals of the currency: 0 for JPY, 3 for KWD. Prices are kept in its smallest unit."""
    rounding: Literal["half-up", "half-even", "down"] = "half-up"


class Store(_Part):
    """Where a store is, and when it sells, in minutes of the day in UTC."""

    name: str | None = None
    city: str = "unknown"
    latitude: float = Field(0.0, ge=-90, le=90)
    longitude: float = Field(0.0, ge=-180, le=180)
    opens_at_minute: int = Field(0, ge=0, le=1439)
    closes_at_minute: int = Field(1440, ge=1, le=1440)


class Products(_Part):
    """The fields of a product in the files, and the values assumed for all products."""

    name: Source | None = None
    category: Source = Constant(value="unknown")
    supplier_id: str = "unknown"
    unit_cost_cents: int = Field(0, ge=0)
    pack_size_units: int = Field(1, ge=1)
    lead_time_days: int = Field(7, ge=0, le=365)


class Mapping(_Part):
    """A whole mapping."""

    rows: Rows = Rows()
    wide: Wide | None = None
    lookups: list[Lookup] = Field([], max_length=10)
    time: Time
    receipt: Receipts = Receipts()
    cancelled: Cancelled | None = None
    corrections: Reason | Corrections | None = None
    """Rows with negative units that are no refunds adjust the stock, for this reason; so do those
    at a price of 0, if negative units mark refunds."""
    fields: Fields
    measures: dict[str, str] = {}
    """By a value of the measure's column: the measure that it stands for, or `piece`."""
    money: Money
    products: Products = Products()
    stores: dict[str, Store] = {}  # details of a store, by its id
    prices: Literal["usual", "none"] = "usual"
    """Price list: the median price of each sku in the files, or none."""
    opening_stock: Literal["covering", "none"] = "covering"
    """The least stock with which no shelf of the files runs below zero, or none."""

    @field_validator("measures")
    @classmethod
    def _check_measures(cls, measures: dict[str, str]) -> dict[str, str]:
        if set(measures.values()) - set(SOLD_BY):
            raise ValueError(f"for each value of the column one of {', '.join(SOLD_BY)}")
        return measures

    @model_validator(mode="after")
    def _check_their_column(self) -> "Mapping":
        if self.measures and not isinstance(self.fields.measure, str):
            raise ValueError("measures together with a column as fields.measure, and only then")
        return self

    def list_required(self) -> list[str]:
        """The columns without which a row cannot be read, each once."""
        fields = self.fields
        sku = fields.sku[0] if isinstance(fields.sku, list) else fields.sku
        sources = (fields.store, sku, fields.units, fields.unit_price, fields.amount)
        signs = [self.cancelled.column] if self.cancelled else []
        if isinstance(self.corrections, Corrections):
            signs.append(self.corrections.column)
        named = (*self.receipt.by, *self.time.columns, *sources, fields.measure, *signs)
        return _list_names((*named, *self.rows.skip))

    def list_optional(self) -> list[str]:
        """The columns that some of the files may lack."""
        fields, products = self.fields, self.products
        people = (fields.customer, fields.card, fields.cashier, fields.register_id)
        named = (*people, fields.discount, self.receipt.discount, products.name, products.category)
        choices = fields.sku[1:] if isinstance(fields.sku, list) else []
        required = self.list_required()
        return [name for name in _list_names((*named, *choices)) if name not in required]

    def list_numbers(self) -> list[str]:
        fields = self.fields
        sources = (fields.units, fields.unit_price, fields.amount, fields.discount)
        return _list_names((*sources, self.receipt.discount))

    def list_columns(self) -> list[str]:
        return [*self.list_required(), *self.list_optional()]


def _list_names(sources: Iterable[object]) -> list[str]:
    return [*dict.fromkeys(source for source in sources if isinstance(source, str))]


def read_mapping(file: Path) -> Mapping:
    """Read a mapping. Raises UserError, which lists every wrong key with what was expected."""
    try:
        document: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(
            f"{file} should be a mapping, but there is none. "
            "Write a first one: retail import --draft FILE"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{file} should hold a mapping in YAML, but: {error}") from error
    try:
        return Mapping.model_validate(document)
    except ValidationError as error:
        wrong = [f"{file} is no mapping yet:"]
        for fault in error.errors(include_url=False):
            place = ".".join(map(str, fault["loc"])) or "the mapping"
            value = "nothing" if fault["type"] == "missing" else repr(fault["input"])[:80]
            message = fault["msg"].removeprefix("Value error, ")
            expected = EXPECTED.get(fault["type"], message)
            wrong.append(f"  {place}: expected {expected}, found {value}")
        raise UserError("\n".join(wrong)) from error
