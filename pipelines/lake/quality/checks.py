"""Checks the lake against expectations: `check` gives the verdicts and writes the Data Docs."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # read at the import

import great_expectations as gx
from great_expectations import expectations as gxe
from great_expectations.core import ExpectationValidationResult
from great_expectations.data_context import AbstractDataContext
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.datasource.fluent import SparkDatasource
from great_expectations.expectations.expectation import Expectation
from pyspark.sql import DataFrame, SparkSession

from contracts import RECEIPTS, Contract
from infra.kafka import Offsets
from infra.lake import find_newest_version, read_coverage
from infra.reports import name_suite
from pipelines.lake.quality.expectations import EVENTS as OF_EVENTS
from pipelines.lake.quality.expectations import build_frames, list_expectations
from pipelines.lake.quality.sums import (
    DailyTotals,
    compare_by_day,
    count_records,
    find_wrong_sums,
    select_below,
)
from pipelines.lake.session import prepare_for
from pipelines.lake.tables import EVENTS, Lake, Table
from pipelines.lake.transform import MOVES

SITE = "reports"
FORMAT = {"result_format": "SUMMARY", "partial_unexpected_count": 5}
COMPARED = ("units_sold", "units_refunded")
"""The daily facts that the daily view has too."""


@dataclass(frozen=True)
class Verdict:
    """The result for one table."""

    table: str
    version: int
    suite: str
    expectations: int
    failed: tuple[str, ...]
    """The failed expectations, each with a few values."""


@dataclass(frozen=True)
class Pinned:
    """A table at one version, with its coverage of the log there."""

    table: Table
    version: int
    ends: Offsets

    def read(self, spark: SparkSession) -> DataFrame:
        """The rows at this version, with the table's columns."""
        return self.table.read(spark, self.version)


def pin(table: Table) -> Pinned:
    version = find_newest_version(table.folder)
    return Pinned(table, version, read_coverage(table.folder, version).ends)


@dataclass(frozen=True)
class Suite:
    """The expectations of a frame."""

    name: str
    of: Pinned
    frame: DataFrame
    expectations: Iterable[Expectation]


def check(
    spark: SparkSession, lake: Lake, docs: Path, totals: DailyTotals | None = None
) -> list[Verdict]:
    """The verdicts on each table, at its newest version.

    It also writes them as pages under the folder `docs`. `totals`: those of a view to compare with;
    the lake must hold at least the log that the view has counted.
    """
    gold = pin(lake.gold)  # first, so that its sources cover at least as much
    silver = {topic: pin(lake.silver(topic)) for topic in EVENTS}
    bronze = pin(lake.bronze)
    prepare_for(spark, sum(bronze.ends.values()))
    suites = (
        check_records(bronze, count_records(spark, bronze.read(spark), bronze.ends)),
        *(
            suite
            for topic, pinned in silver.items()
            for suite in check_silver(spark, topic, pinned)
        ),
        check_gold(spark, gold, silver),
        *([check_view(spark, silver, totals)] if totals else []),
    )
    context = create_context_with(docs)
    source = context.data_sources.add_spark("lake", persist=False)
    verdicts = [reach_verdict(context, source, suite) for suite in suites]
    context.build_data_docs(site_names=[SITE])
    return verdicts


def check_records(bronze: Pinned, counts: DataFrame) -> Suite:
    return Suite(
        "records of each partition",
        bronze,
        counts,
        (
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A="records",
                column_B="different",
                description="every offset below what it says it holds has a record, once",
            ),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="gaps_max",
                column_B="gaps",
                or_equal=True,
                description="no gap but those of transactions",
            ),
            gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A="offsets",
                column_B="after_last",
                or_equal=True,
                description="no record from where on it says it holds none",
            ),
        ),
    )


def check_silver(spark: SparkSession, topic: Contract, silver: Pinned) -> Iterator[Suite]:
    """A suite per frame of the topic: its events, and the items of each array."""
    events = silver.read(spark)
    once = gxe.ExpectCompoundColumnsToBeUnique(
        column_list=["_partition", "event_id", "event_time"], description="an event is there once"
    )
    for name, frame in build_frames(topic, events, "_partition", "_offset").items():
        rules = list_expectations(topic).get(name, {}).values()
        if name == OF_EVENTS:
            yield Suite(name, silver, frame, (once, *rules))
        elif rules:
            yield Suite(name, silver, frame, rules)


def check_gold(spark: SparkSession, gold: Pinned, silver: Mapping[Contract, Pinned]) -> Suite:
    moves = select_below({topic: silver[topic].read(spark) for topic in MOVES}, gold.ends)
    return Suite(
        "rows that silver does not add up to",
        gold,
        find_wrong_sums(gold.read(spark), moves),
        (gxe.ExpectTableRowCountToEqual(value=0, description="there is none"),),
    )


def check_view(
    spark: SparkSession, silver: Mapping[Contract, Pinned], totals: DailyTotals
) -> Suite:
    moves = {topic: silver[topic].read(spark) for topic in MOVES}
    return check_totals(silver[RECEIPTS], compare_by_day(spark, moves, totals, COMPARED), totals)


def check_totals(receipts: Pinned, days: DataFrame, totals: DailyTotals) -> Suite:
    return Suite(
        f"totals of each day against {totals.name}",
        receipts,
        days,
        [
            gxe.ExpectColumnPairValuesToBeEqual(
                column_A=name, column_B=f"{name}_served", description=f"{name} as in the view"
            )
            for name in COMPARED
        ],
    )


def create_context_with(docs: Path) -> AbstractDataContext:
    """A context for one check that writes its pages into the folder."""
    context = create_own_context()
    context.add_data_docs_site(
        SITE,
        {
            "class_name": "SiteBuilder",
            "store_backend": {
                "class_name": "TupleFilesystemStoreBackend",
                "base_directory": str(docs),
            },
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        },
    )
    return context


def create_own_context() -> AbstractDataContext:
    """A context that writes nothing and reports to nobody."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def reach_verdict(context: AbstractDataContext, source: SparkDatasource, suite: Suite) -> Verdict:
    table = suite.of.table.folder
    name = name_suite(table.name, suite.name)
    made = context.suites.add(gx.ExpectationSuite(name=name, expectations=list(suite.expectations)))
    asset = source.add_dataframe_asset(name)
    whole = asset.add_batch_definition_whole_dataframe("all")
    definition = context.validation_definitions.add(
        gx.ValidationDefinition(name=name, data=whole, suite=made)
    )
    frame = suite.frame.persist()
    try:
        result = definition.run(batch_parameters={"dataframe": frame}, result_format=FORMAT)
    finally:
        frame.unpersist()
    return Verdict(
        table=table.name,
        version=suite.of.version,
        suite=suite.name,
        expectations=len(result.results),
        failed=tuple(
            describe_failure(outcome) for outcome in result.results if not outcome.success
        ),
    )


def describe_failure(result: ExpectationValidationResult) -> str:
    """The expectation, and the values found instead."""
    found = result.result.get("partial_unexpected_list") or result.result.get("observed_value")
    if result.exception_info.get("raised_exception"):
        found = result.exception_info.get("exception_message")
    expected = result.expectation_config
    return f"{expected.description if expected else 'an expectation'}: {found}"
