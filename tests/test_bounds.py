"""Every bound is in the document, and has a test that crosses it."""

from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import pytest

from infra.settings import locate_root
from ops.verify.bounds import list_bounds
from tests.bounds import (
    DOCUMENT,
    NOT_CROSSED,
    CrossingsOfRun,
    find_missing,
    find_reason,
    is_of_all,
    list_crossings,
    render_document,
    select_crossings,
)

BOUNDS = list_bounds()


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


PASSED = [
    f"{one.file.relative_to(locate_root()).as_posix()}::{one.test}" for one in list_crossings()
]
SIGNALS_MAX = "pipelines/fraud/thresholds/signals_max"


def is_of_signals(test: str) -> bool:
    [bound] = [one for one in BOUNDS if one.name == SIGNALS_MAX]
    return any(test.endswith(f"::{one.test}") for one in select_crossings(bound))


def test_a_bound_of_which_no_test_has_passed_is_named() -> None:
    assert find_missing(PASSED) == []
    assert SIGNALS_MAX in find_missing([one for one in PASSED if not is_of_signals(one)])
    assert len(find_missing([])) == len(BOUNDS) - len(list(filter(find_reason, BOUNDS)))


def create_session(*, status: int = 0, source: str = "TESTPATHS", **asked: Any) -> Any:
    """A run that has ended, of all tests unless something else was asked for."""
    option = {"markexpr": "not docker", "keyword": "", "deselect": None, "lf": False}
    found = SimpleNamespace(**{**option, "collectonly": False, **asked})
    chosen = pytest.Config.ArgsSource[source]
    return SimpleNamespace(
        exitstatus=status, config=SimpleNamespace(option=found, args_source=chosen)
    )


def test_a_run_of_all_tests_fails_if_a_bound_was_not_crossed() -> None:
    run, lines = CrossingsOfRun(), list[str]()
    for test in PASSED:
        skipped = is_of_signals(test)
        report = SimpleNamespace(nodeid=f"{test}[1]", when="call", skipped=skipped, failed=False)
        run.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    session = create_session()
    run.pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.TESTS_FAILED
    reporter: Any = SimpleNamespace(write_line=lambda line, red: lines.append(line))
    run.pytest_terminal_summary(reporter)
    assert any(SIGNALS_MAX in line for line in lines)


@pytest.mark.parametrize(
    "asked",
    [{"keyword": "fraud"}, {"markexpr": "spark"}, {"source": "ARGS"}, {"lf": True}],
    ids=str,
)
def test_a_run_of_some_tests_need_not_cross_bounds(asked: dict[str, Any]) -> None:
    session = create_session(**asked)
    assert is_of_all(create_session().config)
    assert not is_of_all(session.config)
    CrossingsOfRun().pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.OK
