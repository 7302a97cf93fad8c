"""An event as the world holds it."""

from typing import Any

# Values by field name, as in the contract; times are milliseconds since 1970.
Event = dict[str, Any]
