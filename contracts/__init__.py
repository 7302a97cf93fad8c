"""Contracts: the only place that defines fields, keys, units, rules and topic settings."""

# ruff: noqa: F403, F405

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.catalog import *
    from contracts.codec import *
    from contracts.digests import *
    from contracts.dimensions import *
    from contracts.errors import *
    from contracts.mapping import *
    from contracts.models import *
    from contracts.schemas import *
    from contracts.shape import *

__all__ = [
    "ACTIONS",
    "ADJUSTMENTS",
    "ALERTS",
    "BEST_SELLERS",
    "BOOKS",
    "CLOCKS",
    "CONFIRMATIONS",
    "CONTRACTS",
    "DAILY_DEMAND",
    "DIMENSIONS",
    "ERASURES",
    "GENERATIONS",
    "HEARTBEATS",
    "INCIDENTS",
    "LEDGER",
    "LOADS",
    "MARKDOWN_PROPOSALS",
    "MARKERS",
    "NOTICE",
    "ON_ITS_WAY",
    "POSITION_CHANGES",
    "PRICE_CHANGES",
    "PRODUCTS",
    "PROMOTIONS",
    "PROPOSALS",
    "PURCHASE_ORDERS",
    "QUARANTINE",
    "READERS",
    "RECEIPTS",
    "REFUNDS",
    "RELEASES",
    "SHIPMENTS",
    "STOCK_LEVELS",
    "STORES",
    "STORE_SALES",
    "VISITS",
    "BadContract",
    "Contract",
    "Decoded",
    "Field",
    "Row",
    "Rule",
    "TopicSettings",
    "Undecodable",
    "Unencodable",
    "build_avro_schema",
    "build_model",
    "compute_digest",
    "decode",
    "encode",
    "encode_key",
    "find_schemas",
    "get_contract",
    "get_schema_id",
    "holds_from",
    "render_spark_ddl",
]

# What is found without the contracts of this repository comes first.
MODULES = (
    "errors",
    "shape",
    "mapping",
    "models",
    "schemas",
    "catalog",
    "codec",
    "digests",
    "dimensions",
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A name of one of these modules, when it is first asked for.

        The contracts are loaded no sooner: what checks them has to run while one is bad.
        """
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        modules = (import_module(f"{__name__}.{module}") for module in MODULES)
        value = next(getattr(module, name) for module in modules if hasattr(module, name))
        globals()[name] = value
        return value
