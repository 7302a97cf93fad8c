"""Great Expectations: validates frames, and keeps the newest validations as pages."""

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

os.environ["GX_ANALYTICS_ENABLED"] = "false"  # read at the import

import great_expectations as gx
from great_expectations.core import ExpectationValidationResult, RunIdentifier
from great_expectations.core.validation_definition import ValidationDefinition
from great_expectations.data_context import AbstractDataContext
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.data_context.types.resource_identifiers import ExpectationSuiteIdentifier

from contracts.times import EPOCH, MILLISECOND, to_text
from infra.checks import EVIDENCE_ROWS_MAX, Outcome
from infra.errors import UserError
from pipelines.lake.quality.checks import Frame

SITE, RUN = "pages", "checks"
VALIDATIONS, RESULTS = "validations", "results"
RUNS_KEPT = 20
"""The newest validations of each suite that the pages show."""
TEXT_MAX = 200
"""The characters that evidence keeps of a value."""
FORMAT = {"result_format": "SUMMARY", "partial_unexpected_count": EVIDENCE_ROWS_MAX}


class NotValidated(UserError):
    """Great Expectations could not compute an expectation."""


class Docs:
    """The suites, and a folder with a page for each of their validations."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._context = create_context(folder)
        self._source = self._context.data_sources.add_pandas("lake")
        self._definitions: dict[str, ValidationDefinition] = {}

    def validate(self, table: str, frame: Frame, now_ms: int) -> list[Outcome]:
        """What came of each expectation of the frame. Raises NotValidated."""
        answer = self._define(table, frame).run(
            batch_parameters={"dataframe": frame.rows.to_pandas(integer_object_nulls=True)},
            result_format=FORMAT,
            run_id=RunIdentifier(RUN, EPOCH + now_ms * MILLISECOND),
        )
        return [judge(frame, result) for result in answer.results]

    def publish(self) -> None:
        """Write the pages of the validations that have none; drop all but the newest."""
        store = self._context.validation_results_store
        prune(self._folder / RESULTS, self._folder / VALIDATIONS)
        new: Any = [key for key in store.list_keys() if not self._find_page(key).exists()]
        suites: Any = [ExpectationSuiteIdentifier(name) for name in self._definitions]
        for keys in (suites, new):
            if keys:  # of none, it would write all pages again
                self._context.build_data_docs(site_names=[SITE], resource_identifiers=keys)

    def _find_page(self, key: Any) -> Path:
        return (self._folder / VALIDATIONS).joinpath(*key.to_tuple()).with_suffix(".html")

    def _define(self, table: str, frame: Frame) -> ValidationDefinition:
        name = name_suite(table, frame.suite)
        if name not in self._definitions:
            suite = gx.ExpectationSuite(name=name, expectations=list(frame.expectations))
            asset = self._source.add_dataframe_asset(name)
            self._definitions[name] = self._context.validation_definitions.add(
                gx.ValidationDefinition(
                    name=name,
                    data=asset.add_batch_definition_whole_dataframe("all"),
                    suite=self._context.suites.add(suite),
                )
            )
        return self._definitions[name]


def name_suite(table: str, suite: str) -> str:
    """The name of a table's suite in Great Expectations, and of the folder of its pages."""
    return f"{table} {suite}".replace(".", "-").replace("/", " ")  # either would make a folder


def create_context(folder: Path) -> AbstractDataContext:
    """A context that keeps validations and pages in the folder, and reports to nobody."""
    config = DataContextConfig(store_backend_defaults=InMemoryStoreBackendDefaults())
    config.stores[config.validation_results_store_name]["store_backend"] = keep(folder / RESULTS)
    config.data_docs_sites = {
        SITE: {
            "class_name": "SiteBuilder",
            "store_backend": keep(folder),
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        }
    }
    context = gx.get_context(mode="ephemeral", project_config=config)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def keep(folder: Path) -> dict[str, str]:
    return {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)}


def prune(results: Path, pages: Path) -> None:
    """Remove all but the newest runs of each suite, each in a folder SUITE/RUN/TIME."""
    for suite in results.glob(f"*/{RUN}"):
        for run in sorted(suite.iterdir(), key=lambda each: each.name)[:-RUNS_KEPT]:
            shutil.rmtree(run)
            shutil.rmtree(pages / run.relative_to(results), ignore_errors=True)


def judge(frame: Frame, result: ExpectationValidationResult) -> Outcome:
    expected = result.expectation_config
    name = str(expected.description if expected else "an expectation")
    if (raised := find_exception(result.exception_info)) is not None:
        raise NotValidated(f"{frame.suite}: {name}: {raised}")
    if result.success:
        return Outcome(frame.suite, name, success=True)
    places = result.result.get("partial_unexpected_index_list")
    bad = frame.rows if places is None else frame.rows.take([int(place) for place in places])
    return Outcome(
        suite=frame.suite,
        expectation=name,
        success=False,
        unexpected=int(result.result.get("unexpected_count", frame.rows.num_rows)),
        rows=tuple(map(to_document, bad.slice(0, EVIDENCE_ROWS_MAX).to_pylist())),
    )


def find_exception(info: Mapping[str, Any]) -> str | None:
    """The message of the first exception; the information is of one, or of several by name."""
    each: Sequence[Any] = [info] if "raised_exception" in info else list(info.values())
    return next((one["exception_message"] for one in each if one["raised_exception"]), None)


def to_document(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row in JSON, without long values."""
    return {name: to_plain(value) for name, value in row.items()}


def to_plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    return to_text(value) if isinstance(value, datetime) else str(value)[:TEXT_MAX]
