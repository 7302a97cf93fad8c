"""retail size: what it prints, and what it refuses."""

import json
from datetime import date

import pytest
from typer.testing import CliRunner, Result

from ops.bench.document import Machine
from ops.bench.size import Impossible, UnknownCosts
from ops.cli import size as command
from ops.cli.main import build_application
from tests.ops.bench.costs import COSTS

MACHINE = Machine(
    measured_on=date(2026, 11, 25),
    cores=2,
    memory_gib=8,
    load_per_minute=0.1,
    system="Linux",
    python="3.11",
)


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "read_coefficients", lambda: (COSTS, MACHINE))


def run(*words: str) -> Result:
    return CliRunner().invoke(build_application(["size"]), ["size", *words])


def find_line(printed: Result, what: str) -> str:
    return next(line for line in printed.output.splitlines() if line.strip().startswith(what))


def test_each_need_has_its_amount_and_each_term_its_formula() -> None:
    printed = run("--stores", "100", "--products", "1000", "--receipts-per-second", "200")
    assert printed.exit_code == 0
    for what, unit in (("cores", "cores"), ("memory", "GB"), ("disk", "GB")):
        assert f" {unit}  the sum of" in find_line(printed, what)
    assert "4 partitions  4 by the contract" in find_line(printed, "partitions")
    assert find_line(printed, "broker, API").endswith("= 0.2 + 600 lines/s × 0.05 ms")
    assert "200 receipts/s" in find_line(printed, "inventory")
    assert "100,000 shelves × 100 bytes" in find_line(printed, "state of inventory")
    assert "of 2026-11-25, 2 cores" in printed.output


def test_what_one_task_cannot_read_is_said() -> None:
    assert "Beyond this" not in run().output
    printed = run("--receipts-per-second", "5000")
    assert find_line(printed, "Beyond this: fraud falls behind").endswith("of 3 lines.")


def test_a_program_gets_the_same_numbers_with_the_demand_they_are_of() -> None:
    document = json.loads(run("--stores", "7", "--retention-days", "3", "--json").output)
    assert (document["demand"]["stores"], document["demand"]["days"]) == (7, 3)
    needs = {need["what"]: need for need in document["needs"]}
    assert needs.keys() == {"cores", "memory", "partitions", "disk"}
    cores = needs["cores"]
    assert cores["amount"] == pytest.approx(sum(term["amount"] for term in cores["terms"]))


def test_pipelines_are_those_of_the_settings_or_as_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINES", "fraud")
    assert "replay of fraud" in run().output
    assert "replay of visits" not in run().output
    assert "replay of visits" in run("--pipelines", "inventory,visits").output


def test_a_pipeline_that_is_named_twice_counts_once() -> None:
    assert run("--pipelines", "visits,visits").output == run("--pipelines", "visits").output


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--stores", "0"), Impossible),
        (("--receipts-per-second", "-5"), Impossible),
        (("--lines-per-receipt", "nan"), Impossible),
        (("--pipelines", "coffee"), UnknownCosts),
        (("--pipelines", ""), UnknownCosts),
    ],
)
def test_an_impossible_shop_is_refused(words: tuple[str, ...], error: type[Exception]) -> None:
    assert isinstance(run(*words).exception, error)


def test_what_is_no_number_is_a_wrong_use() -> None:
    printed = run("--stores", "many")
    assert printed.exit_code == 2
    assert "'--stores': Input should be a valid integer" in printed.output
