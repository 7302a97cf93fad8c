"""How the quarantine is kept: a row per rejected record, however often it was copied there."""

from contracts import QUARANTINE
from services.api.changelog import Record
from services.api.copying import Layout
from services.api.reading import decode
from services.api.tables import Stored, Table

TABLE = Table(QUARANTINE)
NEWEST_FIRST = ("published_at", *QUARANTINE.key)


def _row(record: Record) -> Stored | None:
    return None if record.value is None else TABLE.stored(decode(record.value).value)


REJECTIONS = Layout(
    topic=QUARANTINE.name,
    create=(
        *TABLE.create,
        f"create index newest on {TABLE.name} ({', '.join(NEWEST_FIRST)})",
        f"create index counts on {TABLE.name} (topic, reason, published_at)",
    ),
    insert=f"insert or replace into {TABLE.name} values ({', '.join('?' for _ in TABLE.columns)})",
    row=_row,
)
