"""Traces of posted events: from the request to the answers that hold them.

They are off by default: then these classes do nothing, and the process does not import
OpenTelemetry's SDK.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from infra.kafka import Offsets
from infra.settings import Settings
from services.api.store.marker import Marker

Headers = Sequence[tuple[str, bytes]]


class Publication:
    """One event on its way into the log, and its part of a trace."""

    headers: Headers = ()
    """The headers of its record, so that others can continue the trace."""

    def store(self, partition: int, offset: int) -> None:
        """Note that the log holds the event."""

    def fail(self, reason: str) -> None:
        """Note that the event is not in the log, or that its outcome is unknown."""


class Traces:
    """No traces."""

    def publish(self, topic: str, request_headers: Mapping[str, str]) -> Publication:
        """Begin the publication of a posted event, as part of the trace that the request names."""
        return Publication()

    def commit(self, marker: Marker) -> None:
        """Note that answers hold the records that the marker covers. Any thread may call it."""

    def read(self, view: str, wanted: Offsets) -> AbstractContextManager[None]:
        """A span while an answer waits for these records; offsets are those of the records."""
        return nullcontext()

    def stop(self) -> None:
        """Send the remaining spans."""


def create_traces(settings: Settings) -> Traces:
    """Traces to the endpoint of the settings; none by default."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return Traces()
    from services.api.store.otel import export_traces  # it takes memory and time to import

    return export_traces(endpoint)
