"""Sales by store, product and time: each view is a statement beside its contract."""

from datetime import timedelta
from pathlib import Path

from contracts import CONTRACTS, PRODUCTS, RECEIPTS, REFUNDS
from pipelines.analytics.transform import PRODUCT, build_line_columns, extract_store
from pipelines.common.pipeline import Dimension, Pipeline
from pipelines.common.transform.statements import build_aggregates, load_view, to_rows

HERE = Path(__file__).parent / "views"
READS = (RECEIPTS, REFUNDS)

VIEWS = tuple(
    load_view(file, CONTRACTS[f"public.analytics.{file.stem}.v1"])
    for file in sorted(HERE.glob("*.sql"))
)

PIPELINE = Pipeline(
    name="analytics",
    extracts=dict.fromkeys(READS, extract_store),
    views=VIEWS,
    aggregates=lambda: build_aggregates(VIEWS),
    to_rows=lambda added: to_rows(VIEWS, added),
    dimensions=(Dimension(PRODUCTS, since="effective_at", columns=PRODUCT),),
    line_columns=build_line_columns,
    every=timedelta(seconds=5),
)
