"""A pipeline's stages from records to changes, in order: live and catching up alike.

Each is a function of frames. A receipt passes through six files: this one,
`transform/validate.py` and the function behind it, `engine/java/Validate.java`;
`transform/lines.py` with the pipeline's own `transform.py`; and `transform/rows.py`, whose
`encode_changelog` makes records of the rows. Around them, the engine reads and writes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pyspark.sql import Column, DataFrame

from contracts import Contract
from contracts.consumer import list_declared
from contracts.errors import Undeclared
from contracts.lines import Line
from contracts.projection import Path
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.lines import (
    NONE,
    Lookups,
    explode_lines,
    extract,
    join_as_of,
    keep_first_copies,
    keep_first_copies_in_stream,
    select_own_key,
)
from pipelines.common.transform.rows import aggregate, contribute, select_view_rows
from pipelines.common.transform.validate import validate


def build_running_rows(
    pipeline: Pipeline,
    records: DataFrame,
    memory: timedelta,
    lookups: Lookups,
    beat_max: Column,
    tasks: int,
) -> DataFrame:
    """The rows that a batch of a stream changes, accounting among them: as in `aggregate`.

    `memory`: how long Spark remembers an event's id, in world time, and `beat_max`: see
    `keep_first_copies_in_stream`. `tasks`: in how many it reads.
    """
    deduplicate = partial(
        keep_first_copies_in_stream, memory=memory, beat_max=beat_max, tasks=tasks
    )
    return run_stages(pipeline, records, deduplicate, lookups)


def build_static_rows(pipeline: Pipeline, records: DataFrame, lookups: Lookups = NONE) -> DataFrame:
    """The rows of all views and of accounting, over a static frame of records: as `aggregate`."""
    return run_stages(pipeline, records, keep_first_copies, lookups)


def run_stages(
    pipeline: Pipeline,
    records: DataFrame,
    deduplicate: Callable[[DataFrame], DataFrame],
    lookups: Lookups,
) -> DataFrame:
    """The rows that records change, accounting among them: as in `aggregate`.

    `deduplicate`: keeps the first copies, of a static frame or of a stream.
    """
    fields = list_fields(pipeline)
    line = choose_line(pipeline, fields)
    events = validate(fields, records, line)
    extracts = extract(pipeline, events)
    copies = deduplicate(extracts)
    lines = explode_lines(pipeline, line, copies)
    joined = join_as_of(lines, lookups)
    contributions = contribute(pipeline, joined)
    return aggregate(pipeline, contributions)


def build_rows(
    pipeline: Pipeline, records: DataFrame, lookups: Lookups = NONE, number: int = 0
) -> DataFrame:
    """The rows of the view with this number, with the columns of its contract."""
    return select_view_rows(pipeline, build_static_rows(pipeline, records, lookups), number)


def list_fields(pipeline: Pipeline) -> Mapping[Contract, Collection[Path]]:
    """The fields of each topic that the pipeline reads.

    Raises Undeclared if the file does not name a topic, or a field of a dimension.
    """
    for dimension in pipeline.dimensions:
        named = set(list_declared(pipeline.name, dimension.topic))
        for field in (*dimension.topic.key, dimension.since, *dimension.columns):
            if (field,) not in named:
                raise Undeclared(pipeline.name, dimension.topic.name, field)
    return {topic: list_declared(pipeline.name, topic) for topic in pipeline.reads}


def choose_line(pipeline: Pipeline, fields: Mapping[Contract, Collection[Path]]) -> Line:
    """What a line has, and the keys by which the views tell the lines of an event apart."""
    line = Line.of(pipeline.name, fields)
    keys = dict.fromkeys(select_own_key(view.contract, line) for view in pipeline.views)
    return replace(line, keys=tuple(key for key in keys if key))
