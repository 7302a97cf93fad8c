"""What a candidate changes, and how far it has read, as the page Replay asks for it."""

from http import HTTPStatus
from pathlib import Path

from contracts import RECEIPTS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.showing import Shop
from tests.services.showing_files import write_report
from tests.services.writing import promote

DIFFERENCE = "/v1/pipelines/fraud/difference"


def test_nobody_has_compared_until_there_is_a_report(
    log: MemoryLog, api: Answers, tmp_path: Path
) -> None:
    Shop(log)
    api.ready(pipeline="fraud")
    first = api.json(DIFFERENCE)
    assert (first["before"], first["after"], first["difference"]) == (2, 3, None)
    write_report(tmp_path)
    difference = api.json(DIFFERENCE)
    [view] = difference["difference"]["views"]
    assert (view["added"], view["removed"], view["changed"]) == (2, 0, 0)
    assert difference["computed_at"].endswith("Z")


def test_a_pipeline_with_one_generation_has_nothing_to_compare(
    log: MemoryLog, api: Answers
) -> None:
    Shop(log)
    api.ready(pipeline="inventory")
    difference = api.json("/v1/pipelines/inventory/difference")
    assert (difference["before"], difference["after"], difference["difference"]) == (None, 1, None)
    assert api.get("/v1/pipelines/nothing/difference").status_code == HTTPStatus.NOT_FOUND


def test_a_candidate_says_how_far_it_has_read(log: MemoryLog, api: Answers) -> None:
    shop = Shop(log)
    for _ in range(10):
        log.publish((RECEIPTS.name, 0), b"", b"")
    api.ready(pipeline="fraud")
    shop.candidate.mark(sold=4)
    promote(log, shop.fraud, shop.candidate)
    pipeline = api.eventually(
        "/v1/pipelines/fraud",
        lambda answer: answer["generations"][1].get("left_records") == 6,
    )
    assert pipeline["generations"][1]["read_records"] == 4
