import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from infra.settings import Settings
from infra.wait import wait_until
from ops.faults.healing import Ages, Sight, fetch_ages, watch

FRESH: Ages = {"inventory": 0.5, "fraud": 0.0}


def sight() -> Sight:
    return Sight(FRESH)


def test_an_answer_ages_until_a_newer_one_comes() -> None:
    seen = sight()
    seen.note(10.0, 10.0, FRESH)
    seen.note(14.0, 14.5, {"inventory": None, "fraud": 0.0})  # of this one it is not known
    assert seen.stale_seconds == 5.0  # what was held at 9.5
    seen.note(15.0, 15.0, FRESH)
    assert seen.stale_seconds == 5.0


def test_nothing_is_old_before_every_age_is_known() -> None:
    seen = sight()
    seen.note(10.0, 10.0, {"inventory": 60.0, "fraud": None})
    assert (seen.begun, seen.stale_seconds) == (False, 0.0)
    seen.note(11.0, 11.0, {"inventory": None, "fraud": 1.0})
    assert (seen.begun, seen.stale_seconds) == (True, 61.0)


def test_silence_lasts_from_the_first_request_without_an_answer_to_the_next_answer() -> None:
    seen = sight()
    for asked, now, ages in ((1.0, 1.0, FRESH), (2.0, 3.0, None), (4.0, 5.0, None)):
        seen.note(asked, now, ages)
    assert seen.unanswered_seconds == 3.0
    seen.note(6.0, 6.5, FRESH)
    seen.note(9.0, 9.0, FRESH)
    assert seen.unanswered_seconds == 4.5
    seen.note(20.0, 21.0, None)
    assert seen.unanswered_seconds == 4.5


def test_what_was_before_the_fault_is_forgotten_but_not_what_is_held() -> None:
    seen = sight()
    seen.note(1.0, 9.0, FRESH)
    seen.forget()
    assert (seen.begun, seen.stale_seconds) == (True, 0.0)


def served(name: str, freshness_ms: int | None) -> dict[str, Any]:
    return {"pipeline": name, "freshness_ms": freshness_ms, "as_of": {"inputs": {}}}


@contextmanager
def api(pipelines: list[dict[str, Any]]) -> Iterator[Settings]:
    """An API that says this of its pipelines."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"pipelines": pipelines}).encode())

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    running = Thread(target=server.serve_forever)
    running.start()
    try:
        yield Settings(api_address=f"127.0.0.1:{server.server_port}", pipelines="inventory,fraud")
    finally:
        server.shutdown()
        running.join()
        server.server_close()


def test_the_api_says_how_old_its_answers_are() -> None:
    with api([served("fraud", None), served("inventory", 1_500), served("visits", 9)]) as settings:
        assert fetch_ages(settings) == {"inventory": 1.5, "fraud": None}


def test_a_pipeline_that_is_not_loaded_is_no_answer() -> None:
    with (
        api([served("inventory", 1), {"pipeline": "fraud"}]) as settings,
        pytest.raises(LookupError, match="no views of fraud"),
    ):
        fetch_ages(settings)


def test_whoever_watches_goes_on_when_nobody_answers() -> None:
    answers: list[Ages] = []

    def fetch() -> Ages:
        if not answers:
            raise ConnectionRefusedError
        return answers[0]

    with watch(FRESH, fetch) as seen:
        wait_until(lambda: seen.unanswered_seconds > 0, "silence is noted")
        answers.append(FRESH)
        wait_until(lambda: seen.begun, "an answer is noted")
