"""Every bound is in the document, and has a test that crosses it."""

from fnmatch import fnmatchcase

from audit.bounds import bounds
from tests.bounds import (
    DOCUMENT,
    NOT_CROSSED,
    find_reason,
    list_crossings,
    render_document,
    select_crossings,
)

BOUNDS = bounds()


def test_no_two_bounds_have_one_name() -> None:
    names = [one.name for one in BOUNDS]
    assert len(set(names)) == len(names) > 300


def test_bounds_of_every_kind_are_found() -> None:
    names = {one.name for one in BOUNDS}
    assert names >= {
        "public.sales.receipt.v1/lines.maxItems",
        "public.sales.receipt.v1/horizon",
        "public.sales.receipt.v1/skew",
        "public.fraud.alert.v1/retention",
        "public.analytics.store-sales.v1/grace",
        "pipelines/fraud/thresholds/signals_max",
        "services/api/http/limits/BODY_BYTES_MAX",
        "services/ordering/decision/units_per_order_max",
        "settings/PIPELINE_RECORDS_PER_BATCH_MAX",
    }


def test_every_bound_is_crossed_by_a_test() -> None:
    assert [one.name for one in BOUNDS if not select_crossings(one) and not find_reason(one)] == []


def test_what_is_not_crossed_is_listed_once_and_there() -> None:
    for listed in NOT_CROSSED:
        named = [one for one in BOUNDS if fnmatchcase(one.name, listed)]
        assert named, f"{listed} is no bound"
        assert not any(map(select_crossings, named)), (
            f"{listed} is crossed, and need not be excused"
        )


def test_a_test_crosses_what_there_is() -> None:
    named = [(one.test, name) for one in list_crossings() for name in one.crosses]
    assert [
        (test, name)
        for test, name in named
        if not any(fnmatchcase(bound.name, name) for bound in BOUNDS)
    ] == []


def test_the_document_is_as_the_bounds_and_their_tests_are() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render_document(), (
        "write it: python -m tests.bounds"
    )
