"""Traces of posted events: from the request to the answers that hold them.

Off by default: then nothing below does anything, and OpenTelemetry's SDK is not imported.
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
    """What its record carries, so that others can continue the trace."""

    def store(self, partition: int, offset: int) -> None:
        """The log holds it."""

    def fail(self, reason: str) -> None:
        """The event is not in the log, or its outcome is unknown."""


class Traces:
    """No traces."""

    def publish(self, topic: str, request_headers: Mapping[str, str]) -> Publication:
        """Begin with an event that somebody posts: a part of the trace that the request names."""
        return Publication()

    def commit(self, marker: Marker) -> None:
        """Note that answers hold what the marker covers. Any thread may call it."""

    def read(self, view: str, wanted: Offsets) -> AbstractContextManager[None]:
        """The time that an answer waits for these records; offsets are those of the records."""
        return nullcontext()

    def stop(self) -> None:
        """Send what is left."""


def create_traces(settings: Settings) -> Traces:
    """Traces that go where the settings say; none by default."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return Traces()
    from services.api.store.otel import export_traces  # which takes memory, and a moment to import

    return export_traces(endpoint)
