"""Contracts: the only place where fields, keys, units, rules and topic settings are written."""

from contracts.catalog import (
    ADJUSTMENTS,
    BOOKS,
    CLOCKS,
    CONTRACTS,
    GENERATIONS,
    HEARTBEATS,
    LEDGER,
    MARKERS,
    PRICE_CHANGES,
    PRODUCTS,
    QUARANTINE,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    STOCK_LEVELS,
    STORES,
    contract,
)
from contracts.codec import Decoded, decode, encode, key
from contracts.digests import digest
from contracts.errors import BadContract, StaleLock, Undecodable, Unencodable, UnknownContract
from contracts.mapping import avro_schema, rule_sql, spark_ddl
from contracts.models import model
from contracts.schemas import schema_id, schemas_of
from contracts.shape import Contract, Field, Row, Rule, TopicSettings

__all__ = [
    "ADJUSTMENTS",
    "BOOKS",
    "CLOCKS",
    "CONTRACTS",
    "GENERATIONS",
    "HEARTBEATS",
    "LEDGER",
    "MARKERS",
    "PRICE_CHANGES",
    "PRODUCTS",
    "QUARANTINE",
    "RECEIPTS",
    "REFUNDS",
    "RELEASES",
    "SHIPMENTS",
    "STOCK_LEVELS",
    "STORES",
    "BadContract",
    "Contract",
    "Decoded",
    "Field",
    "Row",
    "Rule",
    "StaleLock",
    "TopicSettings",
    "Undecodable",
    "Unencodable",
    "UnknownContract",
    "avro_schema",
    "contract",
    "decode",
    "digest",
    "encode",
    "key",
    "model",
    "rule_sql",
    "schema_id",
    "schemas_of",
    "spark_ddl",
]
