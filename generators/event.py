"""An event as the world holds it."""

from typing import Any

# Field by field as in its contract; times are milliseconds since 1970.
Event = dict[str, Any]
