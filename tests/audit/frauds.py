"""What the tests of fraud rules share."""

from datetime import timedelta

from audit.tables import Row
from contracts import ALERTS, build_model

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
CARD = "tok_1"


def only(rows: list[Row]) -> Row:
    (row,) = rows
    build_model(ALERTS).model_validate(row)
    return row
