"""How the quarantine is kept: a row per rejected record, however often it was copied there."""

from contracts import QUARANTINE
from services.api.copying import of_rows
from services.api.tables import Table

TABLE = Table(QUARANTINE)
NEWEST_FIRST = ("published_at", *QUARANTINE.key)

REJECTIONS = of_rows(
    TABLE,
    "replace",
    f"create index newest on {TABLE.name} ({', '.join(NEWEST_FIRST)})",
    f"create index counts on {TABLE.name} (topic, reason, published_at)",
)
