"""A reader of the event stream."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from contracts import STOCK_LEVELS
from tests.services.serving import Answers

STREAM = f"/v1/stream?view={STOCK_LEVELS.name}"


@dataclass(frozen=True)
class Told:
    kind: str
    id: str | None
    data: Any

    def units(self) -> dict[str, int]:
        return {row["sku"]: row["units_on_hand"] for row in self.data["rows"]}


@contextmanager
def following(
    api: Answers, last_event_id: str | None = None, path: str = STREAM
) -> Iterator[Iterator[Told]]:
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    with api.stream(path, headers) as answer:
        assert answer.is_success, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield parse_events(answer.iter_lines())


def parse_events(lines: Iterable[str]) -> Iterator[Told]:
    """The events; comments and what is not part of one are passed over."""
    members: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            members[name] = value
        elif line == "":
            if "event" in members:
                yield Told(members["event"], members.get("id"), json.loads(members["data"]))
            members = {}
